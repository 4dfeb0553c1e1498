# SPDX-License-Identifier: MIT
"""trn-vm, inside the world: see options.USAGE."""

import sys

import machine
import options


def main():
    try:
        return machine.run(options.parse(sys.argv[1:]))
    except options.UsageError as error:
        print(f"trn-vm: {error}; see tools/vm/trn-vm --help", file=sys.stderr)
        return 2


sys.exit(main())
