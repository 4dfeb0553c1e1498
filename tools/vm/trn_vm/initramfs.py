# SPDX-License-Identifier: MIT
"""The first root file system: busybox, a few modules, and what to run."""

import os
import shlex

import world
from world import TREE, VM_DIR

# For the sysroot and the work tree by 9p, and the ports.
MODULES = ("virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay")

VERBS = {"run": "command", "shell": "shell"}  # functions of guest/second

# Parameters of the driver that watch the time, which means nothing under icount: off, or an hour.
UNTIMED = {"heartbeat_ms": 0, "job_timeout_ms": 0, "admin_timeout_ms": 3600000}

PASSED = ("TERM", "COLORTERM", "NO_COLOR", "CI", "TZ")


def guest_environment(build):
    path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    env = {
        "PATH": f"{build}/bin:{build}/tests/vm:{path}",
        "LD_LIBRARY_PATH": f"{build}/lib",
        "HOME": "/root",
        "USER": "root",
        "SHELL": "/bin/bash",
        "LANG": "C.UTF-8",
    }
    for name, value in os.environ.items():
        if name in PASSED or name.startswith(("TRN_", "CK_")) or name.endswith("SAN_OPTIONS"):
            env[name] = value
    return env


def settings(options, kernel, build, directory):
    """A shell file that the guest's init reads."""
    env = guest_environment(build)
    env["TRN_LANE"] = kernel.lane
    if not options.no_module:
        env["TRN_MODULE"] = str(kernel.driver())
    lines = [f"export {name}={shlex.quote(value)}" for name, value in env.items()]
    nvme = kernel.module_files(["nvme"]) if options.nvme else []
    needed, params = [], []
    if not options.no_module:
        driver = kernel.driver().read_bytes()
        needed = kernel.module_files(world.modinfo(driver, "depends"))
        params = module_parameters(options, driver)
    lines += [
        f"tree={shlex.quote(str(TREE))}",
        f"directory={shlex.quote(directory)}",
        f"verb={VERBS[options.verb]}",
        f"suspend={1 if options.suspend else ''}",
        f"load_module={'' if options.no_module else 1}",
        f"needed_modules=({shlex.join(map(str, needed))})",
        f"nvme_modules=({shlex.join(map(str, nvme))})",
        f"module_params=({shlex.join(params)})",
        f"command=({shlex.join(options.command)})",
    ]
    return "\n".join(lines) + "\n"


def module_parameters(options, driver):
    """What the user wants, and what counting instructions needs."""
    params = list(options.module_param)
    if options.icount:
        known = [entry.split(":")[0] for entry in world.modinfo(driver, "parm")]
        params += [f"{name}={value}" for name, value in UNTIMED.items() if name in known]
    return params


def build(path, options, kernel, build_dir, directory):
    modules = kernel.module_files(MODULES)
    archive = Archive()
    for name in ("bin", "dev", "proc", "sys", "root", "tree", "modules", "trn"):
        archive.directory(name)
    archive.file("bin/busybox", open("/bin/busybox", "rb").read(), 0o755)
    archive.file("init", (VM_DIR / "guest/first").read_bytes(), 0o755)
    for number, module in enumerate(modules):
        archive.file(f"modules/{number:02}-{module.name}", module.read_bytes())
    archive.file("trn/settings", settings(options, kernel, build_dir, directory).encode())
    archive.file("trn/tree", str(TREE).encode())
    archive.write(path)


class Archive:
    """A cpio archive in the format that the kernel unpacks."""

    def __init__(self):
        self.parts = []
        self.inode = 0

    def add(self, name, mode, data=b""):
        self.inode += 1
        name = name.encode() + b"\0"
        fields = (self.inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name), 0)
        header = b"070701" + b"".join(b"%08X" % field for field in fields) + name
        self.parts += [header, bytes(-len(header) % 4), data, bytes(-len(data) % 4)]

    def directory(self, name):
        self.add(name, 0o40755)

    def file(self, name, data, mode=0o644):
        self.add(name, 0o100000 | mode, data)

    def write(self, path):
        self.add("TRAILER!!!", 0)
        with open(path, "wb") as out:
            out.write(b"".join(self.parts))
