# SPDX-License-Identifier: MIT
"""trn-vm, inside the world: see options.USAGE."""

import sys

import machine
import options


def main():
    try:
        chosen = options.parse(sys.argv[1:])
    except options.UsageError as error:
        print(f"trn-vm: {error}; see tools/vm/trn-vm --help", file=sys.stderr)
        return 2
    return machine.run(chosen)


sys.exit(main())
