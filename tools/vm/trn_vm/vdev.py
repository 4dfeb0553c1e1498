# SPDX-License-Identifier: MIT
"""The device model's process and its control socket."""

import contextlib
import ctypes
import json
import os
import select
import signal
import socket
import subprocess
import time

from options import UsageError
from world import BUILD, CannotRun

READY_TIMEOUT = 20
WRONG_OPTIONS = 2  # trn-vdev's exit status, after one line that says which

SYS_PIDFD_GETFD = 438  # on every architecture


def process_sockets(pid):
    """Duplicates of a child's sockets."""
    libc = ctypes.CDLL(None, use_errno=True)
    pidfd = os.pidfd_open(pid)
    try:
        found = []
        for number in os.listdir(f"/proc/{pid}/fd"):
            if not os.readlink(f"/proc/{pid}/fd/{number}").startswith("socket:"):
                continue
            fd = libc.syscall(SYS_PIDFD_GETFD, pidfd, int(number), 0)
            if fd < 0:
                raise OSError(ctypes.get_errno(), "cannot take trn-vdev's sockets over")
            found.append(socket.socket(fileno=fd))
        return found
    finally:
        os.close(pidfd)


class Vdev:
    def __init__(self, options, directory):
        self.directory = directory
        self.log_path = os.path.join(directory, "vdev.log")
        self.process = None
        self.expected_death = False
        self.control = None
        self.command = [str(BUILD / "bin/trn-vdev"), "--socket-dir", directory]
        self.command += ["--gen", options.gen, "--chips", str(options.chips)]
        self.command += ["--aperture", str(options.aperture)]
        if options.hbm is not None:
            self.command += ["--hbm", str(options.hbm)]
        if options.largest_page is not None:
            self.command += ["--largest-page", options.largest_page]
        for defect in options.defect:
            self.command += ["--defect", defect]

    def start(self):
        for name in os.listdir(self.directory):
            if name.endswith(".sock"):
                os.unlink(os.path.join(self.directory, name))
        env = dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "lib"))
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=log,
                env=env, start_new_session=True)
        self.expected_death = False
        if not self.wait_ready():
            self.stop()
            if self.process.returncode == WRONG_OPTIONS:
                raise UsageError(self.log_tail().strip().removeprefix("trn-vdev: "))
            raise CannotRun("trn-vdev did not start:\n" + self.log_tail())

    def wait_ready(self):
        deadline = time.monotonic() + READY_TIMEOUT
        seen = b""
        while b"ready\n" not in seen:
            wait = deadline - time.monotonic()
            if wait <= 0 or not select.select([self.process.stdout], [], [], wait)[0]:
                return False
            data = os.read(self.process.stdout.fileno(), 4096)
            if not data:
                return False
            seen += data
        return True

    def log_tail(self):
        try:
            with open(self.log_path, errors="replace") as log:
                return "".join("    " + line for line in log.readlines()[-15:])
        except FileNotFoundError:
            return ""

    def died(self):
        """Whether it ended though nobody asked for it."""
        return bool(self.process) and not self.expected_death and self.process.poll() is not None

    def kill(self):
        """Sudden death.

        QEMU 11.1.3 aborts when a server dies with a request unread in its socket (the
        reset that it then reads is an error that it reports twice).  So the sockets
        outlive the process for the moment that it takes to read what is there: QEMU sees
        the end of the stream, and no reply, as from any other death.
        """
        self.expected_death = True
        sockets = process_sockets(self.process.pid)
        self.process.kill()
        self.process.wait()
        for connection in sockets:
            with contextlib.suppress(OSError):  # nothing more to read, or a listening socket
                while connection.recv(1 << 16, socket.MSG_DONTWAIT):
                    pass
            connection.close()
        self.close_control()

    def stop(self):
        if not self.process:
            return
        self.expected_death = True
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(2)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.close_control()

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/status") as status:
            for line in status:
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) * 1024
        raise OSError("no VmRSS")

    def close_control(self):
        if self.control:
            self.control.close()
            self.control = None

    def request(self, message):
        """One request to the control socket, and its reply."""
        if not self.control:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(30)
            connection.connect(os.path.join(self.directory, "control.sock"))
            self.control = connection.makefile("rwb")
            connection.close()
        try:
            self.control.write(json.dumps(message).encode() + b"\n")
            self.control.flush()
            reply = self.control.readline()
        except OSError:
            self.close_control()
            raise
        if not reply:
            self.close_control()
            raise OSError("trn-vdev closed its control socket")
        return json.loads(reply)
