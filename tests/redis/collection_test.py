"""bloomblock cluster with a real server: it prints the same as the commands for a local store.

Method: fields and values of random bytes, with many common prefixes and more entries per partition
than a page of BB.SCAN; every form of range is compared. BB_TEST_SEED sets the seed.
"""
import itertools
import json
import os
import random
import subprocess
import sys
import unittest

from ports import free_port
from server import MODULE, SKIPPED, ServerTest, main

TOOL = os.path.join(os.path.dirname(MODULE or "."), "tools", "bloomblock")
PARTITIONS = 5
ENTRIES = 3000
SEED = int(os.environ.get("BB_TEST_SEED", "20261123"))


def run(*arguments, stdin=b""):
    return subprocess.run([TOOL, *arguments], input=stdin, capture_output=True, timeout=300, check=False)


class Collection(ServerTest):
    OPTIONS = {"port": free_port(), "bind": "127.0.0.1"}

    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.store = self.path("local")

    def tearDown(self):
        run("destroy", self.store, "--yes")

    def cluster(self, name, *arguments, stdin=b""):
        seed = f"127.0.0.1:{self.OPTIONS['port']}"
        done = run("cluster", name, "--seed", seed, "--partitions", str(PARTITIONS), "c", *arguments, stdin=stdin)
        self.assertNotIn(b"Sanitizer", done.stderr)
        return done

    def both(self, name, *arguments, **options):
        """Standard output and code of the command with the collection; equal with the store."""
        ours = self.cluster(name, *arguments, **options)
        theirs = run(name, self.store, *arguments, **options)
        self.assertEqual((ours.returncode, ours.stdout), (theirs.returncode, theirs.stdout), (arguments, ours.stderr))
        return ours

    def field(self):
        return bytes(self.random.choices(b"\0\x01ab\xff", k=self.random.randrange(9)))

    def fill(self):
        """Lines of hexadecimal digits; fields repeat, so that later lines replace earlier ones."""
        fields = [self.field().hex() for _ in range(ENTRIES)]
        path, options = self.path("lines"), ["--tsv", "--hex", "--batch", "37"]
        with open(path, "w", encoding="ascii") as file:
            for field in fields:
                file.write(f"{field}\t{self.random.randbytes(self.random.randrange(20)).hex()}\n")
        self.assertEqual(self.cluster("load", path, *options).returncode, 0)
        self.assertEqual(run("load", self.store, path, *options).returncode, 0)
        return fields

    def test_scans_equal_a_store(self):
        self.fill()
        ends = [None, "", *sorted(self.field().hex() for _ in range(3))]
        ranges = [[word for name, value in (("--from", low), ("--to", high)) if value is not None
                   for word in (name, value)] for low, high in itertools.product(ends, repeat=2)]
        ranges += [["--prefix", self.field()[:2].hex()] for _ in range(6)]
        for words in [[], *self.random.sample(ranges, 12)]:
            self.both("scan", "--hex", *words)
            self.both("scan", "--hex", "--reverse", "--limit", str(self.random.randrange(600)), *words)
        self.assertGreater(int(self.both("scan", "--count").stdout), PARTITIONS * 256)
        self.both("scan")
        self.both("scan", "--keys-only")
        ours, theirs = self.cluster("scan", "--json").stdout, run("scan", self.store, "--json").stdout
        self.assertEqual(json.loads(ours), json.loads(theirs))

    def test_values_equal_a_store(self):
        fields = self.fill()
        some = self.random.sample(fields, 50) + [self.field().hex() for _ in range(50)]
        self.both("get", "--hex", *some)
        self.both("get", "--hex", "--raw", *some)
        self.both("get", "--hex", "--quiet", *some[:3])
        keys = self.path("keys")
        with open(keys, "w", encoding="ascii") as file:
            file.writelines(f"{field}\n" for field in some)
        self.assertEqual(self.cluster("get", "--hex", "--keys", keys, "--batch", "9").stdout,
                         run("get", self.store, "--hex", *some).stdout)

    def test_counts_are_added(self):
        self.fill()
        count = int(self.cluster("scan", "--count").stdout)
        before = json.loads(self.cluster("stat", "--json").stdout)
        self.cluster("get", "--quiet", *(f"absent {i}" for i in range(200)))
        after = json.loads(self.cluster("stat", "--json").stdout)
        self.assertEqual(after["lookups"] - before["lookups"], 200)
        self.assertEqual(after["lookups_found"], before["lookups_found"])
        self.assertEqual(after["partitions"], PARTITIONS)
        self.assertGreaterEqual(after["fields_estimated"], count)
        self.assertIn(b"filters avoided", self.cluster("stat").stdout)

    def test_wrong_type_is_named(self):
        self.redis("MSET", *(word for i in range(PARTITIONS) for word in ("c:{%d}" % i, "text")))
        for name, arguments in (("get", ["key"]), ("scan", []), ("stat", []), ("load", [])):
            done = self.cluster(name, *arguments, stdin=b"key\n")
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertIn(b"WRONGTYPE", done.stderr)


def is_built():
    return os.path.exists(TOOL) and b"built without hiredis" not in run("cluster", "get").stderr


if __name__ == "__main__":
    if MODULE is not None and not is_built():
        print("skipped: the command is not built, or built without hiredis")
        sys.exit(SKIPPED)
    print(f"seed {SEED}  (BB_TEST_SEED={SEED} repeats)", file=sys.stderr)
    main()
