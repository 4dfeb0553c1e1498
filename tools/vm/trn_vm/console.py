# SPDX-License-Identifier: MIT
"""The guest's console: its end, and what counts as a kernel report."""

import re

REPORTS = re.compile(
    r"KASAN: |KFENCE: |KCSAN: "
    r"|\bBUG: |\bBUG at |\bBUG [a-z].* \(|kernel BUG"
    r"|\bWARNING: (?!.*Spectre)"
    r"|possible (circular|recursive) locking|inconsistent lock state"
    r"|suspicious RCU usage|held lock freed|bad unlock balance|lock held when returning"
    r"|still has locks held|Invalid wait context|irq lock inversion|HARDIRQ-safe|possible irq"
    r"|possible deadlock|Unregistered DMA|DMA-API: |UBSAN: "
    r"|INFO: task .* blocked|soft lockup|hard LOCKUP|detected stalls|self-detected stall"
    r"|\bOops\b|general protection fault|Unable to handle kernel|unable to handle (page|kernel)"
    r"|refcount_t: |ODEBUG: |list_(add|del) corruption|sleeping function called"
    r"|scheduling while atomic|bad page|Bad page state|workqueue lockup|double fault"
    r"|Slab .* not empty|cache still has objects|Objects remaining")

PANIC = re.compile(r"Kernel panic - not syncing")

# Announcements of a facility that starts, by the word that its reports begin with.
HARMLESS = re.compile(r"DMA-API: (preallocated|debugging (enabled|disabled)|.*dma_debug)"
                      r"|KASAN: .*(initialized|shadow)|kmemleak: Kernel memory leak detector")

# The kernel's taint flags that a report leaves: a bad page, an oops, a warning, a soft lockup.
TAINTS = {5: "bad page", 7: "oops", 9: "warning", 14: "soft lockup"}

REPORT_LINES = 40


def lines(path):
    try:
        with open(path, errors="replace") as log:
            return [line.rstrip("\r\n") for line in log]
    except FileNotFoundError:
        return []


def tail(path, count=30):
    return lines(path)[-count:]


def is_report(line):
    return REPORTS.search(line) and not HARMLESS.search(line)


def reports(path):
    """The lines of all reports, each with what follows it."""
    found = []
    left = 0
    for line in lines(path):
        if is_report(line):
            left = REPORT_LINES
        if left:
            found.append(line)
            left -= 1
    return found


def panicked(path):
    return any(PANIC.search(line) for line in lines(path))


def taint_names(bits):
    return [name for bit, name in TAINTS.items() if bits >> bit & 1]
