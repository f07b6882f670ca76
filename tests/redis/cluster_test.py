"""scripts/cluster in a reduced form: six nodes, a killed master, and slots that move.

The script fails if a field is lost or differs. It runs without sanitizers only: tests/tools has
tests of the commands that run with them.
"""
import json
import os
import subprocess
import sys
import unittest

from server import MODULE, PRELOAD, SKIPPED, main

FIELDS = 3000
PARTITIONS = 32
FAILOVER_SECONDS_MAX = 30  # on a busy machine; about 4 otherwise
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class Cluster(unittest.TestCase):
    def test_no_field_is_lost_or_wrong(self):
        build = os.path.dirname(MODULE)
        path = os.path.join(build, "cluster_figures.json")
        line = [os.path.join(ROOT, "scripts", "cluster"), "--brief", "--fields", str(FIELDS), "--partitions",
                str(PARTITIONS), "--build", build, "--json", path, "--words", ""]
        done = subprocess.run(line, capture_output=True, text=True, timeout=500, check=False)
        if done.returncode == SKIPPED:
            self.skipTest(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout[-5000:] + done.stderr[-5000:])
        with open(path, encoding="utf-8") as file:
            figures = json.load(file)
        self.assertEqual((figures["fields"], figures["lost"], figures["wrong"]), (FIELDS, 0, 0))
        self.assertGreater(figures["acknowledged"], FIELDS // 50)
        self.assertGreater(figures["moved_partitions"], 0)
        self.assertGreater(figures["moved"] + figures["asked"], 0)
        self.assertLess(figures["failover_seconds"], FAILOVER_SECONDS_MAX)


if __name__ == "__main__":
    if PRELOAD != "-":
        print("skipped: runs without sanitizers only")
        sys.exit(SKIPPED)
    main()
