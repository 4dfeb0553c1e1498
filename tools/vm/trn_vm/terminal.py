# SPDX-License-Identifier: MIT
"""The user's terminal, for `shell`."""

import os
import sys
import termios
import tty

ESCAPE = b"\x1d"  # Ctrl-]


class Terminal:
    """Raw while it is entered; what is typed goes to `port`."""

    def __init__(self, port):
        self.port = port
        self.saved = None

    def __enter__(self):
        self.saved = termios.tcgetattr(0)
        tty.setraw(0)
        return self

    def __exit__(self, *_exception):
        termios.tcsetattr(0, termios.TCSADRAIN, self.saved)

    def typed(self):
        """Hands typing on; False when the user wants out."""
        data = os.read(0, 4096)
        if ESCAPE in data or not data:
            return False
        self.port.sendall(data)
        return True

    @staticmethod
    def show(data):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
