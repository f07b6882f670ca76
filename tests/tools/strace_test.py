"""The engine's own count of preads equals the count of the kernel's system call tracer.

Method: `measure` runs under strace -c -P for each table file. All of the engine's reads of tables,
including those at opening, are part of the four runs whose counts are in the JSON. Where strace is
missing or not permitted the test reports this and is skipped.
"""
import json
import os
import re
import subprocess
import unittest

from tool import BINARY, ToolTest, main, strace_works, traceable, words


@unittest.skipUnless(strace_works(), "strace is not available here: the engine's preads were not compared with it")
class Strace(ToolTest):
    def setUp(self):
        super().setUp()
        keys = words(6000)
        self.load(keys[::2], "--write-buffer", "64K")
        self.keys = self.write("keys", "".join(f"{key}\n" for key in keys))
        self.measure()

    def command(self):
        return [BINARY, "measure", self.store, "--keys", self.keys, "--json", "--cache-off"]

    def measure(self, *wrapper):
        process = subprocess.run([*wrapper, *self.command()], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                 env=traceable(), timeout=300, check=False)
        self.assertEqual(process.returncode, 0, process.stderr[-2000:])
        return process.stdout

    def preads(self, path):
        """calls of pread64 in the summary of strace -c"""
        with open(path, encoding="utf-8") as file:
            for line in file:
                match = re.match(r"\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?pread64$", line)
                if match:
                    return int(match.group(1))
        return 0

    def test_preads_of_the_table_files(self):
        tables = self.tables()
        summary = self.path("summary")
        paths = [argument for table in tables for argument in ("-P", os.path.abspath(table))]
        document = json.loads(self.measure("strace", "-f", "-c", "-o", summary, *paths))
        engine = sum(run["engine_reads"] for run in document["runs"])
        self.assertGreater(engine, 0)
        self.assertEqual(self.preads(summary), engine)


if __name__ == "__main__":
    main()
