# SPDX-License-Identifier: MIT
"""Where things are: the work tree, its build, and the kernels."""

import os
import pathlib
import re
import subprocess

TREE = pathlib.Path(__file__).resolve().parents[3]
VM_DIR = TREE / "tools/vm"
BUILD = pathlib.Path(os.environ.get("TRN_BUILD", TREE / "build/world"))


class CannotRun(Exception):
    """The VM could not be run: exit status 125."""


def world(*arguments):
    """What tools/vm/world prints."""
    done = subprocess.run([VM_DIR / "world", *arguments], text=True, capture_output=True)
    if done.returncode:
        raise CannotRun(done.stderr.strip().removeprefix("world: "))
    return done.stdout.strip()


class Kernel:
    """A lane's kernel: image, release, and the directory of its modules."""

    def __init__(self, lane):
        self.lane = lane
        if lane == "debug":
            directory = pathlib.Path(world("kernel-dir"))
            self.release = (directory / "release").read_text().strip()
            self.image = directory / "vmlinuz"
            self.modules = None  # all built in
            return
        for line in (pathlib.Path(world("dir")) / ".complete").read_text().splitlines():
            words = line.split()
            if words[:2] == ["lane", lane]:
                self.release = words[2]
        self.modules = pathlib.Path("/usr/lib/modules") / self.release
        self.image = self.modules / "vmlinuz"

    def driver(self):
        return BUILD / "kernel" / self.lane / "trn.ko"

    def module_files(self, names):
        """Files of the named modules and what they depend on, in loading order."""
        if not self.modules:
            return []
        depends = {}
        for line in (self.modules / "modules.dep").read_text().splitlines():
            path, _, needed = line.partition(":")
            depends[module_name(path)] = (path, needed.split())
        files = []
        for name in names:
            if name not in depends:  # built in
                continue
            path, needed = depends[name]
            # modules.dep names the outermost dependency last.
            for file in [*reversed(needed), path]:
                if file not in files:
                    files.append(file)
        return [self.modules / file for file in files]


def module_name(path):
    return os.path.basename(path).split(".")[0].replace("-", "_")


def modinfo(module, field):
    """Values of a field in a module's own description; "depends" is split."""
    values = [value.decode() for value in re.findall(rb"(?<=\0)%s=([^\0]*)" % field.encode(), module)]
    if field == "depends":
        return [module_name(name) for value in values for name in value.split(",") if name]
    return values


def check_built(options, kernel):
    """All that must have been built before, or CannotRun."""
    wanted = []
    if options.chips:
        wanted.append(BUILD / "bin/trn-vdev")
    if not options.no_module:
        wanted.append(kernel.driver())
    for path in wanted:
        if not path.exists():
            target = "make modules-debug" if path.suffix == ".ko" and kernel.lane == "debug" else "make guest"
            raise CannotRun(f"{path} is not built; run: {target}")
