# SPDX-License-Identifier: MIT
"""QEMU: its command line and its process."""

import json
import os
import socket
import subprocess

import vmlinux
from world import BUILD, TREE, world

MSG_TIMEOUT_MS = 1000  # after which QEMU gives a dead trn-vdev up


def kvm_is_real():
    """/dev/kvm alone proves nothing: some machines have it and no more."""
    modules = ("kvm_intel", "kvm_amd")
    return os.access("/dev/kvm", os.R_OK | os.W_OK) and any(
        os.path.isdir(f"/sys/module/{name}") for name in modules)


def chip_device(chip, directory):
    return {
        "driver": "vfio-user-pci",
        "id": f"chip{chip}",
        "bus": f"port{chip}",
        "socket": {"type": "unix", "path": os.path.join(directory, f"chip{chip}.sock")},
        "x-msg-timeout": MSG_TIMEOUT_MS,
    }


def tsc_khz():
    """None where there is no such counter, and the guest measures by itself."""
    program = BUILD / "bin/trn-tsc-khz"
    if not program.exists():
        return None
    return int(subprocess.run([program], check=True, stdout=subprocess.PIPE).stdout)


def kernel_arguments(options, kernel, kvm):
    words = ["console=ttyS0", "panic=-1", "nokaslr", "mitigations=off", "audit=0",
             "random.trust_cpu=on", "rcupdate.rcu_expedited=1", "8250.nr_uarts=1",
             # A busy host is slow, which is no fault of the guest's.
             "watchdog_thresh=30", "rcupdate.rcu_cpu_stall_timeout=60"]
    if not kvm:
        words += ["tsc=reliable", "no_timer_check", "lpj=4000000"]
    if not kvm and not options.icount and (khz := tsc_khz()):
        words.append(f"tsc_early_khz={khz}")
    if options.iommu:
        words += ["intel_iommu=on", "iommu=nopt"]
    if options.icount:
        # When nobody runs, the clock jumps to the next timer: time-outs would pass at once.
        # Who waits for the chip waits long in the guest's time: no task hangs.
        words += ["nowatchdog", "idle=poll", "sysctl.kernel.hung_task_timeout_secs=0"]
    return " ".join(words + options.append.split())


class Qemu:
    """Started in __init__; `ports` has our ends of the guest's ports."""

    def __init__(self, options, kernel, initramfs, directory):
        self.ends = []
        self.ports = {}
        kvm = kvm_is_real() and not options.icount
        arguments = ["qemu-system-x86_64", "-nodefaults", "-no-user-config", "-no-reboot"]
        arguments += ["-display", "none", "-vga", "none"]
        arguments += self.machine(options, kvm)
        # QEMU would load an unpacked kernel anew when the guest wakes up.
        image = kernel.image if options.suspend else vmlinux.unpacked(kernel.image)
        arguments += ["-kernel", str(image), "-initrd", initramfs]
        arguments += ["-append", kernel_arguments(options, kernel, kvm)]
        arguments += ["-serial", f"file:{directory}/console.log"]
        arguments += self.file_systems()
        arguments += self.serial_ports(options)
        arguments += ["-device", "virtio-rng-pci"]
        for chip in range(options.chips):
            slot = chip + 1
            arguments += ["-device", f"pcie-root-port,id=port{chip},chassis={slot},slot={slot}"]
            arguments += ["-device", json.dumps(chip_device(chip, directory))]
        if options.nvme:
            arguments += self.nvme(options.nvme, directory)
        self.log_path = os.path.join(directory, "qemu.log")
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                pass_fds=[end.fileno() for end in self.ends], start_new_session=True)
        for end in self.ends:
            end.close()

    def machine(self, options, kvm):
        # Hot plug as PCIe does it, on all kernels alike.
        arguments = ["-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"]
        machine = "q35,memory-backend=ram,usb=off,sata=off,smbus=off,vmport=off,hpet=off"
        if options.iommu:
            machine += ",kernel-irqchip=split" if kvm else ""
            arguments += ["-device", "intel-iommu,intremap=on,caching-mode=on"]
        arguments += ["-machine", machine]
        arguments += ["-object", f"memory-backend-memfd,id=ram,size={options.mem},share=on"]
        arguments += ["-m", f"size={options.mem}b", "-smp", str(options.smp)]
        if kvm:
            arguments += ["-accel", "kvm", "-cpu", "host"]
        else:
            thread = "single" if options.icount else "multi"
            # Apertures of many GiB need more physical address bits than the default.
            arguments += ["-accel", f"tcg,thread={thread},tb-size=512"]
            arguments += ["-cpu", "max,la57=off,phys-bits=46"]
        if options.icount:
            arguments += ["-icount", "shift=0,sleep=off"]
        return arguments

    def file_systems(self):
        arguments = []
        for tag, path, more in (("sysroot", world("dir"), ",readonly=on"),
                                ("tree", str(TREE), ",multidevs=remap")):
            arguments += ["-fsdev", f"local,id={tag},path={path},security_model=none{more}"]
            arguments += ["-device", f"virtio-9p-pci,fsdev={tag},mount_tag={tag}"]
        return arguments

    def nvme(self, size, directory):
        path = os.path.join(directory, "nvme")
        with open(path, "wb") as disk:
            disk.truncate(size)
        return ["-blockdev", f"raw,node-name=nvme,file.driver=file,file.filename={path}",
                "-device", "nvme,drive=nvme,serial=trn-vm"]

    def serial_ports(self, options):
        arguments = ["-device", "virtio-serial-pci,id=serial,max_ports=8"]
        names = ["stdout", "stderr", "status", "control"]
        if options.verb == "shell":
            names.append("size")
        for name in names:
            arguments += ["-chardev", self.chardev(name)]
            arguments += ["-device", f"virtserialport,bus=serial.0,chardev={name},name=trn.{name}"]
        if options.verb == "shell":
            arguments += ["-chardev", self.chardev("terminal")]
            arguments += ["-device", "virtconsole,bus=serial.0,chardev=terminal,name=terminal"]
        return arguments

    def chardev(self, name):
        """A socket that exists in no file system, so that it cannot be left behind."""
        ours, theirs = socket.socketpair()
        self.ports[name] = ours
        self.ends.append(theirs)
        return f"socket,id={name},fd={theirs.fileno()}"

    def log_tail(self):
        with open(self.log_path, errors="replace") as log:
            return "".join("    " + line for line in log.readlines()[-10:])

    def stop(self):
        self.process.kill()
        self.process.wait()
