# SPDX-License-Identifier: MIT
"""The port by which tests in the guest break things: JSON lines, one request, one reply.

{"to": "vdev", ...}            goes to trn-vdev's control socket
{"to": "vm", "verb": VERB}     is for us: see VERBS
"""

import json
import threading

from qemu import chip_device
from world import CannotRun


class Control(threading.Thread):
    def __init__(self, port, vdev, monitor, options):
        super().__init__(daemon=True)
        self.stream = port.makefile("rwb")
        self.vdev = vdev
        self.monitor = monitor
        self.options = options

    def run(self):
        try:
            for line in self.stream:
                reply = self.handle(line)
                # "ok" comes first, for clients that do not parse.
                reply = {"ok": reply.pop("ok", None) is True, **reply}
                self.stream.write(json.dumps(reply).encode() + b"\n")
                self.stream.flush()
        except (OSError, ValueError):
            pass  # QEMU is gone

    def handle(self, line):
        try:
            request = json.loads(line)
            target = request.pop("to")
            if target == "vdev":
                self.need_vdev()
                return self.vdev.request(request)
            if target == "vm":
                verb = self.VERBS.get(request.get("verb"))
                if not verb:
                    raise ValueError("no such verb; there are " + ", ".join(self.VERBS))
                return {"ok": True, **(verb(self, request) or {})}
            raise ValueError("'to' must be vdev or vm")
        except KeyError as error:
            return {"ok": False, "error": f"the request lacks {error}"}
        except (OSError, ValueError, AttributeError, TypeError, CannotRun) as error:
            return {"ok": False, "error": str(error)}

    def need_vdev(self):
        if not self.vdev:
            raise ValueError("this VM has no chips")

    def chip(self, request):
        self.need_vdev()
        chip = request["chip"]
        if not isinstance(chip, int) or not 0 <= chip < self.options.chips:
            raise ValueError(f"chip must be 0 to {self.options.chips - 1}")
        return chip

    def kill_vdev(self, _request):
        self.need_vdev()
        self.vdev.kill()

    def start_vdev(self, _request):
        self.need_vdev()
        if self.vdev.process.poll() is None:
            raise ValueError("trn-vdev is running")
        self.vdev.start()

    def vdev_rss(self, _request):
        self.need_vdev()
        return {"bytes": self.vdev.resident_bytes()}

    def unplug(self, request):
        self.monitor.command("device_del", id=f"chip{self.chip(request)}")

    def plug(self, request):
        chip = self.chip(request)
        self.monitor.command("device_add", **chip_device(chip, self.vdev.directory))

    VERBS = {
        "kill-vdev": kill_vdev,
        "start-vdev": start_vdev,
        "vdev-rss": vdev_rss,
        "unplug": unplug,
        "plug": plug,
    }
