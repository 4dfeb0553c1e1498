# SPDX-License-Identifier: MIT
"""The command line."""

import argparse
import re
import sys

USAGE = """\
Usage: tools/vm/trn-vm run [OPTION...] -- CMD...
       tools/vm/trn-vm shell [OPTION...]

Boots a guest with virtual chips, loads trn.ko and runs CMD there, or a shell on
this terminal.  The guest's files are the sysroot (changes are lost) and this work
tree, writable and at its own path; what was built for the guest is first in PATH.

  --kernel LANE     stable (default), backports, or debug
  --gen GEN         generation of the chips: inf2, trn1, trn2 (default), trn3, trn4
  --chips N         how many chips (default 1; 0 to 24)
  --hbm SIZE        HBM of each chip, e.g. 144G (default: the generation's)
  --aperture SIZE   HBM aperture of each chip, a power of two (default 256M)
  --largest-page SIZE  largest leaf of page tables that chips take: 4K, 2M, 1G (default)
  --defect CHIP=KIND  make that chip a faulty one; kinds: never-ready, bad-identify,
                    no-heartbeat, no-aperture, small-bar
  --no-module       do not load trn.ko
  --module-param NAME=VALUE  parameter for trn.ko
  --smp N           virtual CPUs (default 2)
  --mem SIZE        guest memory (default 2G)
  --iommu           give the guest an IOMMU
  --nvme SIZE       also give the guest QEMU's NVMe disk, /dev/nvme0n1, of zeroes and in
                    memory, with a queue for polling: a peer for benchmarks (not debug)
  --suspend         a guest that can suspend to RAM; it boots a few seconds slower, and has no
                    files any more after it has slept but those in memory
  --icount          count instructions: one nanosecond of guest time each, one CPU,
                    no heartbeat check, no job timeout, an hour for admin commands
  --timeout S       end the run after S seconds (default 600, 0 is never)
  --append ARGS     more kernel command line
  --log FILE        keep the guest's console there

CMD's output and exit status are passed on.  Other statuses: 124 time-out, 125 the
VM could not be run, 126 the guest's kernel panicked or printed a report (KASAN,
lockdep, a leak, ...), 130 interrupted.  CMD's standard input is empty.

In a shell, Ctrl-] ends the guest at once.
"""

LANES = ("stable", "backports", "debug")
GENERATIONS = ("inf2", "trn1", "trn2", "trn3", "trn4")


class UsageError(Exception):
    pass


class Parser(argparse.ArgumentParser):
    """argparse, with errors of one line."""

    def error(self, message):
        raise UsageError(message)


def size(text):
    """Bytes of '144G' and the like."""
    match = re.fullmatch(r"([0-9]+)([KMGT]?)(i?B)?", text, re.IGNORECASE)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is no size; write for example 256M or 144G")
    return int(match[1]) << (10 * " KMGT".index(match[2].upper() or " "))


def count(low, high):
    def parse(text):
        if not text.isdigit() or not low <= int(text) <= high:
            raise argparse.ArgumentTypeError(f"'{text}' is no number from {low} to {high}")
        return int(text)

    return parse


def seconds(text):
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value < 1e9:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of seconds")
    return value


def name_value(text):
    if not re.fullmatch(r"[A-Za-z0-9_]+=[^\s]*", text):
        raise argparse.ArgumentTypeError(f"'{text}' should look like NAME=VALUE")
    return text


def parse(argv):
    if not argv:
        raise UsageError("which command, run or shell?")
    if argv[0] in ("-h", "--help", "help"):
        sys.stdout.write(USAGE)
        sys.exit(0)
    verb, rest = argv[0], argv[1:]
    if verb not in ("run", "shell"):
        raise UsageError(f"no command '{verb}'; there are run and shell")
    command = []
    if "--" in rest:
        command = rest[rest.index("--") + 1:]
        rest = rest[:rest.index("--")]
    if "-h" in rest or "--help" in rest:
        sys.stdout.write(USAGE)
        sys.exit(0)

    parser = Parser(add_help=False, allow_abbrev=False)
    parser.add_argument("--kernel", default="stable", choices=LANES)
    parser.add_argument("--gen", default="trn2", choices=GENERATIONS)
    parser.add_argument("--chips", type=count(0, 24), default=1)
    parser.add_argument("--hbm", type=size)
    parser.add_argument("--aperture", type=size, default=256 << 20)
    parser.add_argument("--largest-page")
    parser.add_argument("--defect", action="append", default=[])
    parser.add_argument("--no-module", action="store_true")
    parser.add_argument("--module-param", action="append", default=[], type=name_value)
    parser.add_argument("--smp", type=count(1, 8), default=2)
    parser.add_argument("--mem", type=size, default=2 << 30)
    parser.add_argument("--iommu", action="store_true")
    parser.add_argument("--nvme", type=size)
    parser.add_argument("--suspend", action="store_true")
    parser.add_argument("--icount", action="store_true")
    parser.add_argument("--timeout", type=seconds)
    parser.add_argument("--append", default="")
    parser.add_argument("--log")
    options = parser.parse_args(rest)

    options.verb = verb
    options.command = command
    if verb == "run" and not command:
        raise UsageError("run needs a command: trn-vm run [OPTION...] -- CMD...")
    if verb == "shell":
        if command:
            raise UsageError("shell takes no command; use run")
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError("shell needs a terminal; use run")
    if options.aperture & (options.aperture - 1) or options.aperture < 1 << 20:
        raise UsageError("--aperture must be a power of two, 1M or more")
    if options.defect and not options.chips:
        raise UsageError(f"--defect {options.defect[0]}: there is no such chip, --chips is 0")
    if options.mem < 256 << 20:
        raise UsageError("--mem must be 256M or more")
    if options.nvme is not None:
        if options.nvme < 1 << 20 or options.nvme % 4096:
            raise UsageError("--nvme must be 1M or more, a multiple of 4096 bytes")
        if options.kernel == "debug":
            raise UsageError("--nvme: the debug kernel has no nvme driver; use stable or backports")
    if options.timeout is None:
        options.timeout = 600 if verb == "run" else 0
    if options.icount:
        options.smp = 1
    return options
