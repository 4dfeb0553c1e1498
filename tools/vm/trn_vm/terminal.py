# SPDX-License-Identifier: MIT
"""The user's terminal, for `shell`."""

import os
import signal
import termios
import tty

ESCAPE = b"\x1d"  # Ctrl-]


class Terminal:
    """Raw while it is entered; what is typed goes to `port`, its size to `size_port`."""

    def __init__(self, port, size_port):
        self.port = port
        self.size_port = size_port
        self.saved = None

    def __enter__(self):
        self.saved = termios.tcgetattr(0)
        tty.setraw(0)
        self.tell_size()
        signal.signal(signal.SIGWINCH, lambda *_: self.tell_size())
        return self

    def tell_size(self):
        columns, rows = os.get_terminal_size(0)
        self.size_port.sendall(f"{rows} {columns}\n".encode())

    def __exit__(self, *_exception):
        termios.tcsetattr(0, termios.TCSADRAIN, self.saved)

    def typed(self):
        """Hands typing on; False when the user wants out."""
        data = os.read(0, 4096)
        if ESCAPE in data or not data:
            return False
        self.port.sendall(data)
        return True
