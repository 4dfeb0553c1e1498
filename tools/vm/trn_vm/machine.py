# SPDX-License-Identifier: MIT
"""One run: starts everything, passes output on, and says how it ended."""

import contextlib
import os
import selectors
import shutil
import signal
import sys
import tempfile
import time

import console
import initramfs
import world
from control import Control
from qemu import Qemu
from terminal import Terminal
from vdev import Vdev
from world import CannotRun

TIMED_OUT, CANNOT_RUN, REPORTED, INTERRUPTED = 124, 125, 126, 130

# Until the guest must be about to run CMD.  Generous: a busy host is many times slower.
BOOT_TIMEOUT = {"stable": 300, "backports": 300, "debug": 900}


def say(text):
    print(f"trn-vm: {text}", file=sys.stderr, flush=True)


class Machine:
    def __init__(self, options):
        self.options = options
        self.vdev = None
        self.qemu = None
        self.status = None  # CMD's
        self.taint = 0
        self.leaks = []
        self.leak_lines = 0
        self.ready = False
        self.problem = None
        self.signalled = False
        self.status_rest = b""
        # /run is this process's own in the world and goes with it.
        self.directory = tempfile.mkdtemp(prefix="trn-vm-", dir="/run")
        self.console = os.path.join(self.directory, "console.log")

    def run(self):
        """The exit status."""
        wakeup, wakeup_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(wakeup_end)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self.on_signal)
        try:
            self.start()
            self.watch(wakeup)
        finally:
            self.stop()
            if self.options.log:
                with contextlib.suppress(FileNotFoundError):
                    shutil.copyfile(self.console, self.options.log)
            try:
                status = self.verdict()
            finally:
                shutil.rmtree(self.directory, ignore_errors=True)
        return status

    def on_signal(self, _number, _frame):
        self.signalled = True

    def start(self):
        kernel = world.Kernel(self.options.kernel)
        world.check_built(self.options, kernel)
        if self.options.chips:
            self.vdev = Vdev(self.options, self.directory)
            self.vdev.start()
        image = os.path.join(self.directory, "initramfs")
        initramfs.build(image, self.options, kernel, world.BUILD, os.getcwd())
        self.started = time.monotonic()
        self.qemu = Qemu(self.options, kernel, image, self.directory)
        Control(self.qemu.ports["control"], self.vdev).start()

    def stop(self):
        if self.qemu:
            self.qemu.stop()
            self.drain()
        if self.vdev:
            self.vdev.stop()

    # Passing output on

    def watch(self, wakeup):
        ports = self.qemu.ports
        self.selector = selectors.DefaultSelector()
        self.selector.register(wakeup, selectors.EVENT_READ, lambda: self.on_wakeup(wakeup))
        self.handlers = {
            "stdout": self.to_stream(sys.stdout.buffer),
            "stderr": self.to_stream(sys.stderr.buffer),
            "status": self.on_status,
        }
        if self.options.verb == "shell":
            self.handlers["terminal"] = self.to_stream(sys.stdout.buffer)
        for name, handler in self.handlers.items():
            ports[name].setblocking(False)
            self.selector.register(ports[name], selectors.EVENT_READ, (name, handler))
        with contextlib.ExitStack() as stack:
            if self.options.verb == "shell":
                terminal = stack.enter_context(Terminal(ports["terminal"], ports["size"]))
                self.selector.register(0, selectors.EVENT_READ, terminal)
            self.loop()

    def loop(self):
        while self.status is None and not self.problem:
            for key, _events in self.selector.select(0.5):
                if isinstance(key.data, tuple):
                    self.read_port(key.fileobj, key.data[1])
                elif isinstance(key.data, Terminal):
                    ports = self.qemu.ports
                    ports["terminal"].setblocking(True)
                    if not key.data.typed():
                        self.problem = "interrupted"
                    ports["terminal"].setblocking(False)
                else:
                    key.data()
            self.check()

    def on_wakeup(self, wakeup):
        os.read(wakeup, 4096)
        if self.signalled:
            self.problem = "interrupted"

    def read_port(self, port, handler):
        try:
            data = port.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            handler(data)
        else:
            with contextlib.suppress(KeyError):
                self.selector.unregister(port)

    def drain(self):
        """What the guest wrote before QEMU ended."""
        if not hasattr(self, "handlers"):
            return
        for name, handler in self.handlers.items():
            with contextlib.suppress(OSError):
                while data := self.qemu.ports[name].recv(1 << 16):
                    handler(data)

    def to_stream(self, stream):
        def write(data):
            try:
                stream.write(data)
                stream.flush()
            except BrokenPipeError:
                self.problem = "interrupted"

        return write

    # What the guest says

    def on_status(self, data):
        *lines, self.status_rest = (self.status_rest + data).split(b"\n")
        for line in lines:
            self.on_status_line(line.decode(errors="replace"))

    def on_status_line(self, line):
        if self.leak_lines:
            self.leaks.append(line)
            self.leak_lines -= 1
            return
        word, _, rest = line.partition(" ")
        if word == "ready":
            self.ready = True
        elif word == "failed":
            self.problem = rest
        elif word == "leaks":
            self.leak_lines = int(rest)
        elif word == "tainted":
            self.taint = int(rest)
        elif word == "status":
            self.status = int(rest)

    def check(self):
        elapsed = time.monotonic() - self.started
        if self.problem or self.status is not None:
            return
        if self.qemu.process.poll() is not None:
            self.problem = "ended"
        elif not self.ready and elapsed > BOOT_TIMEOUT[self.options.kernel]:
            self.problem = f"the guest did not boot in {elapsed:.0f} s"
        elif self.options.timeout and elapsed > self.options.timeout:
            self.problem = "timed out"

    # How it ended

    def verdict(self):
        if self.vdev and self.vdev.died():
            say(f"trn-vdev ended by itself (status {self.vdev.process.returncode}); the end of its log:\n"
                + self.vdev.log_tail().rstrip("\n"))
        if not self.qemu:
            return INTERRUPTED if self.signalled else CANNOT_RUN
        if console.panicked(self.console):
            say("the guest's kernel panicked; the end of its console:")
            self.print_console(60)
            return REPORTED
        if self.kernel_reported():
            return REPORTED
        if self.problem == "interrupted":
            say("interrupted")
            return INTERRUPTED
        if self.problem == "timed out":
            say(f"time-out after {self.options.timeout:g} s; the end of the guest's console:")
            self.print_console(30)
            return TIMED_OUT
        if self.problem == "ended":
            say("QEMU ended before the command did:\n" + self.qemu.log_tail().rstrip("\n"))
            self.print_console(30)
            return CANNOT_RUN
        if self.problem:
            say(f"{self.problem}; the end of the guest's console:")
            self.print_console(30)
            return CANNOT_RUN
        return self.status

    def kernel_reported(self):
        report = console.reports(self.console)
        taints = console.taint_names(self.taint)
        if report:
            say("the guest's kernel printed a report:")
            self.print_lines(report[:400])
        if self.leaks:
            say("the guest's kernel leaked memory:")
            self.print_lines(self.leaks[:200])
        if taints and not report:
            say(f"the guest's kernel is tainted by: {', '.join(taints)}; the end of its console:")
            self.print_console(60)
        if (report or self.leaks or taints) and self.status not in (0, None):
            say(f"the command's own status was {self.status}")
        return bool(report or self.leaks or taints)

    def print_console(self, count):
        self.print_lines(console.tail(self.console, count))

    @staticmethod
    def print_lines(lines):
        for line in lines:
            print("    " + line, file=sys.stderr)


def run(options):
    try:
        return Machine(options).run()
    except CannotRun as error:
        say(error)
        return CANNOT_RUN
