# SPDX-License-Identifier: MIT
"""The port by which tests in the guest break things: JSON lines, one request, one reply.

{"to": "vdev", ...}            goes to trn-vdev's control socket
{"to": "vm", "verb": VERB}     is for us: see VERBS

There is no verb that takes a chip out of its slot: QEMU 11.1 aborts when a
vfio-user-pci device with MSI-X is deleted.  In the guest, sysfs has remove and rescan.
"""

import json
import threading

from world import CannotRun


class Control(threading.Thread):
    def __init__(self, port, vdev):
        super().__init__(daemon=True)
        self.stream = port.makefile("rwb")
        self.vdev = vdev

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

    VERBS = {
        "kill-vdev": kill_vdev,
        "start-vdev": start_vdev,
        "vdev-rss": vdev_rss,
    }
