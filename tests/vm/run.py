#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""trn-run from outside, on programs that trn-neff assembles; and the example application."""
import json
import os
import struct
import subprocess
import tempfile
import unittest

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../Documentation/examples")

# y = x in another type: fp32 in, bf16 out, rounded stochastically.
ROUND = """
.name "round"
.core
.variable "x" input fp32 64x4
.variable "y" output bf16 64x4
.engine vector
dma_load shape=64x4 local=sbuf[0,0]:fp32:1 binding=0 dtype=fp32 stride=16,4 release=0:1
copy shape=64x4 out=sbuf[0,32]:bf16:1 in=sbuf[0,0]:fp32:1 flags=stochastic acquire=0:1 release=1:1
dma_store shape=64x4 local=sbuf[0,32]:bf16:1 binding=1 dtype=bf16 stride=8,2 acquire=1:1
halt
"""

# y = x, bf16.
SAME = """
.core
.variable "x" input bf16 4x2
.variable "y" output bf16 4x2
.engine sync
dma_load shape=4x2 local=sbuf[0,0]:bf16:1 binding=0 dtype=bf16 stride=4,2 release=0:1
dma_store shape=4x2 local=sbuf[0,0]:bf16:1 binding=1 dtype=bf16 stride=4,2 acquire=0:1
halt
"""

# count += 1, which is the output; what is loaded and stored is a state.
COUNT = """
.core
.variable "state" state-buffer int32 1
.variable "n" output int32
.engine vector
dma_load shape=1 local=sbuf[0,0]:int32:1 binding=0 dtype=int32 release=0:1
tensor_scalar shape=1 op=add out=sbuf[0,0]:int32:1 in=sbuf[0,0]:int32:1 scalar=1 acquire=0:1 release=1:1
nop acquire=1:1
dma_store shape=1 local=sbuf[0,0]:int32:1 binding=0 dtype=int32
dma_store shape=1 local=sbuf[0,0]:int32:1 binding=1 dtype=int32
halt
"""

# Core 0: y = x.  Core 1: z = x.
TWO = """
.name "two"
.core
.variable "x" input int8 16
.variable "y" output int8 16
.engine sync
dma_load shape=1x16 local=sbuf[0,0]:int8:1 binding=0 dtype=int8 stride=0,1 release=0:1
dma_store shape=1x16 local=sbuf[0,0]:int8:1 binding=1 dtype=int8 stride=0,1 acquire=0:1
halt
.core
.variable "z" output int8 16
.variable "x" input int8 16
.engine gpsimd
dma_load shape=1x16 local=sbuf[0,0]:int8:1 binding=1 dtype=int8 stride=0,1 ring=7 release=0:1
dma_store shape=1x16 local=sbuf[0,0]:int8:1 binding=0 dtype=int8 stride=0,1 ring=7 acquire=0:1
halt
"""

# Waits for a semaphore that nobody releases.
STUCK = """
.core
.variable "n" output int32
.engine scalar
nop
nop acquire=5:1
halt
"""


def save(path, descr, shape, data):
    """A .npy file; data: bytes."""
    dimensions = "".join(f"{n}, " for n in shape)
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({dimensions}), }}"
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data)


def load(path):
    """descr, shape and bytes of a .npy file."""
    with open(path, "rb") as file:
        content = file.read()
    length = 10 + struct.unpack("<H", content[8:10])[0]
    header = eval(content[10:length], {})  # a literal, as numpy.load() takes it
    return header["descr"], header["shape"], content[length:]


def floats(values):
    return struct.pack(f"<{len(values)}f", *values)


class Run(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(directory.name)

    def run_command(self, *words, status=0):
        """Runs it, and expects the exit status; gives stdout and stderr."""
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, f"{words}: {done.stderr}")
        return done.stdout, done.stderr

    def refused(self, status, text, *words):
        """One line on stderr that has the text, and nothing on stdout."""
        out, err = self.run_command("trn-run", *words, status=status)
        self.assertEqual(out, "")
        self.assertIn(text, err)
        self.assertEqual(err.count("\n"), 1, err)

    def assemble(self, text):
        with open("p.asm", "w", encoding="utf-8") as file:
            file.write(text)
        self.run_command("trn-neff", "asm", "p.asm", "p.neff")

    def scale(self):
        self.run_command("trn-neff", "asm", os.path.join(EXAMPLES, "scale.asm"), "p.neff")
        save("x.npy", "<f4", (4, 8), floats([i / 2 for i in range(32)]))

    def test_example(self):
        self.scale()
        out, err = self.run_command("example-scale", "p.neff")
        wanted = [[2 * (8 * row + i) + row + 1 for i in range(8)] for row in range(4)]
        self.assertEqual([[float(y) for y in line.split()] for line in out.splitlines()], wanted)
        self.assertRegex(err, r"^core \d: \d+ cycles\n$")

    def test_arrays(self):
        self.scale()
        out, err = self.run_command("trn-run", "p.neff", "--in", "x=x.npy", "--out", "y=y.npy")
        self.assertEqual(out, "")
        self.assertRegex(err, r"\nmodelled time +\d+\.\d+ us\n")
        self.assertRegex(err, r"^p.neff: 1 execution\nwall time +\d+\.\d+ us\n")
        descr, shape, data = load("y.npy")
        self.assertEqual((descr, shape), ("<f4", (4, 8)))
        self.assertEqual(data, floats([i + i // 8 + 1 for i in range(32)]))

    def test_statistics(self):
        self.scale()
        out, err = self.run_command("trn-run", "--in", "x=x.npy", "p.neff", "--repeat", "4",
                                    "--core", "1", "--stats", "json")
        self.assertEqual(err, "")
        stats = json.loads(out)
        self.assertEqual((stats["program"], stats["executions"]), ("p.neff", 4))
        self.assertGreater(stats["wall_ns"]["least"], 0)
        self.assertLessEqual(stats["wall_ns"]["least"], stats["wall_ns"]["mean"])
        self.assertLessEqual(stats["wall_ns"]["mean"], stats["wall_ns"]["most"])
        part, = stats["parts"]
        self.assertEqual((part["core"], part["instructions"], part["dma_bytes"]), (1, 7, 272))
        self.assertEqual(part["modelled_ps"], stats["modelled_ps"])
        # 16 for an instruction, 4 for control, and a cycle for each element of a partition.
        self.assertEqual(part["busy_cycles"]["scalar"], 4 + 16 + 8 + 4)
        # A DMA takes 1.3 us to begin; one loads, then another stores.
        self.assertGreater(part["modelled_ps"], 2 * 1300000)
        self.assertLess(part["modelled_ps"], 3 * 1300000)

    def test_profile(self):
        self.scale()
        self.run_command("trn-run", "p.neff", "--in", "x=x.npy", "--profile", "t.json")
        with open("t.json", encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        tracks = {(e["pid"], e["args"]["name"]): e["tid"]
                  for e in events if e["name"] == "thread_name"}
        self.assertEqual({name for pid, name in tracks if pid == 1},
                         {"queue", "scalar engine", "sync engine", "DMA ring 0: loads",
                          "DMA ring 1: stores"})
        for pid in 1, 2:
            def of(name):
                slices = [e for e in events if e["ph"] == "X" and
                          (e["pid"], e["tid"]) == (pid, tracks[pid, name])]
                for one, other in zip(slices, slices[1:]):
                    self.assertLessEqual(one["ts"] + one["dur"], other["ts"] + 1e-6)
                return slices

            whole, = of("queue")
            self.assertEqual((whole["name"], whole["ts"]), ("scale", 0))
            self.assertEqual([e["name"] for e in of("scalar engine")], ["nop", "activate", "halt"])
            loads, stores = of("DMA ring 0: loads"), of("DMA ring 1: stores")
            self.assertEqual([e["name"] for e in loads], ["dma_load", "dma_load"])
            self.assertEqual([e["name"] for e in stores], ["dma_store"])
            self.assertEqual(stores[0]["args"]["instruction"], 2)
            activate = of("scalar engine")[1]
            self.assertTrue(activate["args"]["text"].startswith("activate shape=4x8x1x1 "))
            for event in events:
                if event["ph"] == "X" and event["pid"] == pid:
                    self.assertLessEqual(event["ts"] + event["dur"], whole["dur"] + 1e-6)
            if pid == 1:
                self.assertAlmostEqual(loads[0]["ts"], 1.3, delta=0.1)
                self.assertGreaterEqual(activate["ts"], loads[1]["ts"] + loads[1]["dur"])
                self.assertGreaterEqual(stores[0]["ts"], activate["ts"] + activate["dur"] + 1.3)

    def test_profile_without_room(self):
        self.scale()
        out, err = self.run_command("trn-run", "p.neff", "--in", "x=x.npy", "--profile", "t.json",
                                    "--profile-records", "5", "--stats", "json")
        self.assertEqual(json.loads(out)["parts"][0]["profile_records"], 7)
        self.assertEqual(err, "trn-run: the profile has room for 5 of the 7 records of part 0: "
                              "use --profile-records 7\n")
        with open("t.json", encoding="utf-8") as file:
            slices = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]
        self.assertEqual(len(slices), 2 * (1 + 5))

    def test_bits(self):
        self.assemble(SAME)
        bits = struct.pack("<8H", 0x3f80, 0, 0x8000, 0x7f80, 0x7fc1, 1, 0xff7f, 0x1234)
        for descr in "<V2", "|V2", "<u2":
            save("x.npy", descr, (4, 2), bits)
            self.run_command("trn-run", "p.neff", "--in", "x=x.npy", "--out", "y=y.npy")
            self.assertEqual(load("y.npy"), ("<V2", (4, 2), bits))
        save("x.npy", "<f2", (4, 2), bits)
        self.refused(3, "x is bf16, so 'descr' must be '<V2', but it is '<f2'",
                     "p.neff", "--in", "x=x.npy")

    def test_seed(self):
        self.assemble(ROUND)
        save("x.npy", "<f4", (64, 4), floats([1 + i / 2**16 for i in range(256)]))
        results = []
        for seed in "0", "7", "7", "0xffffffffffffffff":
            self.run_command("trn-run", "p.neff", "--in", "x=x.npy", "--out", "y=y.npy",
                             "--seed", seed)
            results.append(load("y.npy")[2])
        self.assertEqual(results[1], results[2])
        self.assertEqual(len(set(results)), 3)
        for result in results:
            # Neighbours of a number between 1 and 1 + 2^-7.
            self.assertLessEqual(set(struct.unpack("<256H", result)), {0x3f80, 0x3f81})

    def test_state(self):
        self.assemble(COUNT)
        self.run_command("trn-run", "p.neff", "--repeat", "5", "--out", "n=n.npy")
        self.assertEqual(load("n.npy"), ("<i4", (), struct.pack("<i", 5)))
        self.run_command("trn-run", "p.neff", "--out", "n=n.npy")
        self.assertEqual(load("n.npy")[2], struct.pack("<i", 1))

    def test_two_cores(self):
        self.assemble(TWO)
        save("x.npy", "|i1", (16,), bytes(range(16)))
        for core in [], ["--core", "1"]:
            out, _ = self.run_command("trn-run", "p.neff", "--in", "x=x.npy", "--out", "y=y.npy",
                                      "--out", "z=z.npy", "--profile", "t.json", "--stats", "json",
                                      *core)
            self.assertEqual(load("y.npy"), ("|i1", (16,), bytes(range(16))))
            self.assertEqual(load("z.npy"), ("|i1", (16,), bytes(range(16))))
            parts = json.loads(out)["parts"]
            self.assertEqual(len(parts), 2)
            if core:
                self.assertEqual([part["core"] for part in parts], [1, 2])
        with open("t.json", encoding="utf-8") as file:
            processes = [e["args"]["name"] for e in json.load(file)["traceEvents"]
                         if e["name"] == "process_name"]
        self.assertEqual(processes, [
            "part 0 on core 1: modelled time", "part 0 on core 1: device's own time",
            "part 1 on core 2: modelled time", "part 1 on core 2: device's own time"])
        self.refused(2, "--core 7: the program runs on 2 cores from there on",
                     "p.neff", "--in", "x=x.npy", "--core", "7")

    def test_failing_program(self):
        self.assemble(STUCK)
        self.refused(1, "scalar engine at instruction 1: deadlock", "p.neff", "--out", "n=n.npy")
        self.assertFalse(os.path.exists("n.npy"))

    def test_mistakes(self):
        self.scale()
        self.refused(2, "input 'x' has no array: expected --in 'x=FILE.npy'", "p.neff")
        self.refused(2, "--in w: the program has no input of that name",
                     "p.neff", "--in", "w=x.npy")
        self.refused(2, "--in bias: the program has no input of that name",
                     "p.neff", "--in", "bias=x.npy")
        self.refused(2, "--out x: the program has no output of that name",
                     "p.neff", "--in", "x=x.npy", "--out", "x=x.npy")
        self.refused(1, "no.npy: cannot be opened", "p.neff", "--in", "x=no.npy")
        save("bad.npy", "<f4", (8, 4), bytes(128))
        self.refused(3, "dimension 0 must be 4, but in the file it is 8",
                     "p.neff", "--in", "x=bad.npy")
        self.refused(1, "there is no device 77", "p.neff", "--device", "77")
        with open("p.neff", "r+b") as file:
            file.seek(2000)
            file.write(b"x")
        self.refused(3, "p.neff: HASH", "p.neff", "--in", "x=x.npy")


if __name__ == "__main__":
    unittest.main(verbosity=1)
