# SPDX-License-Identifier: MIT
"""The kernel proper out of its compressed image.

QEMU starts it by its PVH entry, and the guest is spared a decompression that costs
seconds without KVM.  The result is kept in the cache.
"""

import hashlib
import os
import pathlib
import struct
import subprocess
import zlib

XEN_ELFNOTE_PHYS32_ENTRY = 18


def unpacked(image):
    """Path of the kernel that QEMU should load: unpacked if that works, else `image`."""
    data = image.read_bytes()
    cache = pathlib.Path(os.environ["TRN_CACHE"])
    path = cache / f"vmlinux-{hashlib.sha256(data).hexdigest()[:12]}"
    if path.exists():
        return path
    kernel = unpack(data)
    if not kernel or not has_pvh_entry(kernel):
        return image
    part = path.with_suffix(f".{os.getpid()}")
    part.write_bytes(kernel)
    part.rename(path)
    for old in cache.glob("vmlinux-*"):
        if old != path and old.stat().st_atime < path.stat().st_mtime - 7 * 86400:
            old.unlink(missing_ok=True)
    return path


def unpack(data):
    """The payload of a bzImage (see the kernel's Documentation/arch/x86/boot.rst)."""
    if data[0x202:0x206] != b"HdrS":
        return None
    sectors = data[0x1F1] or 4
    offset, length = struct.unpack_from("<II", data, 0x248)
    start = (sectors + 1) * 512 + offset
    payload = data[start:start + length]
    if payload.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(31).decompress(payload)
    if payload.startswith(b"\x28\xb5\x2f\xfd"):
        # Four bytes with the size follow the stream; zstd complains, after all is done.
        return subprocess.run(["zstd", "-dcq"], input=payload[:-4], capture_output=True).stdout
    return None


def has_pvh_entry(kernel):
    if kernel[:5] != b"\x7fELF\x02":
        return False
    phoff, = struct.unpack_from("<Q", kernel, 32)
    entsize, count = struct.unpack_from("<HH", kernel, 54)
    for number in range(count):
        kind, _flags, offset, _v, _p, size = struct.unpack_from("<IIQQQQ", kernel, phoff + number * entsize)
        if kind == 4 and note_in(kernel[offset:offset + size]):
            return True
    return False


def note_in(notes):
    while len(notes) >= 12:
        name_size, size, kind = struct.unpack_from("<III", notes)
        if kind == XEN_ELFNOTE_PHYS32_ENTRY and notes[12:16] == b"Xen\0":
            return True
        notes = notes[12 + (name_size + 3 & ~3) + (size + 3 & ~3):]
    return False
