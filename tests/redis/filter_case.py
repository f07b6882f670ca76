"""Tests that every type of filter passes: saving, copying, replacing, damage. A class has create()
(makes self.key), state() (replies that tell its contents) and TYPE."""
import os
import random
import sys

from dump import damaged
from resp import Refused
from server import ServerTest

DAMAGES = int(os.environ.get("BB_TEST_DAMAGES", "600")) // 2


class FilterCase(ServerTest):
    OPTIONS = {"save": "", "appendonly": "no"}
    KEY = "filter"

    def seeded(self):
        seed = int(os.environ.get("BB_TEST_SEED", "1"))
        print(f"seed {seed}  (BB_TEST_SEED={seed})", file=sys.stderr)
        return random.Random(seed)


class TypeTests:
    """Mixed into a FilterCase."""

    def test_type(self):
        self.create(self.KEY)
        self.assertEqual(self.redis("TYPE", self.KEY), self.TYPE)
        self.assertGreater(self.redis("MEMORY", "USAGE", self.KEY), 100)

    def digest(self, *keys):
        return self.redis("DEBUG", "DIGEST-VALUE", *keys)

    def test_dump_and_restore(self):
        self.create(self.KEY)
        payload = self.redis("DUMP", self.KEY)
        self.assertEqual(self.redis("RESTORE", "other", 0, payload), "OK")
        self.assertEqual(self.state("other"), self.state(self.KEY))
        first, second = self.digest(self.KEY, "other")
        self.assertEqual(first, second)

    def test_reload_from_rdb(self):
        self.create(self.KEY)
        before = self.state(self.KEY), self.digest(self.KEY)
        self.assertEqual(self.redis("DEBUG", "RELOAD"), "OK")
        self.assertEqual((self.state(self.KEY), self.digest(self.KEY)), before)

    def test_rewrite_of_the_aof(self):
        self.redis("CONFIG", "SET", "aof-use-rdb-preamble", "no")
        self.addCleanup(self.redis, "CONFIG", "SET", "appendonly", "no")
        self.create(self.KEY)
        before = self.state(self.KEY), self.digest(self.KEY)
        self.redis("CONFIG", "SET", "appendonly", "yes")
        self.wait_for_rewrite()
        self.assertEqual(self.redis("DEBUG", "LOADAOF"), "OK")
        self.assertEqual((self.state(self.KEY), self.digest(self.KEY)), before)

    def wait_for_rewrite(self):
        """CONFIG SET appendonly starts one."""
        for _ in range(2000):
            info = self.redis("INFO", "persistence").decode()
            if "aof_rewrite_in_progress:0" in info and "aof_rewrite_scheduled:0" in info:
                self.assertIn("aof_last_bgrewrite_status:ok", info)
                return
            self.redis("DEBUG", "SLEEP", "0.005")
        self.fail("the rewrite does not end")

    def test_copy_rename_and_unlink(self):
        self.create(self.KEY)
        before = self.state(self.KEY)
        self.assertEqual(self.redis("COPY", self.KEY, "copy"), 1)
        self.redis("RENAME", self.KEY, "renamed")
        self.assertEqual(self.state("copy"), before)
        self.assertEqual(self.state("renamed"), before)
        self.assertEqual(self.redis("UNLINK", "copy", "renamed"), 2)
        self.assertEqual(self.redis("EXISTS", "copy", "renamed"), 0)

    def test_damaged_payloads(self):
        """RESTORE refuses them, or makes a filter that can be saved; the server lives."""
        self.create(self.KEY)
        rng = self.seeded()
        payload = self.redis("DUMP", self.KEY)
        refused = 0
        for bad in damaged(payload, rng, DAMAGES):
            try:
                self.redis("RESTORE", "bad", 0, bad, "REPLACE")
                self.redis("DUMP", "bad")
                self.redis("MEMORY", "USAGE", "bad")
            except Refused as error:
                self.assertIn("Bad data format", str(error))
                refused += 1
        print(f"{refused} of {DAMAGES} damaged payloads refused", file=sys.stderr)
        self.assertGreater(refused, DAMAGES // 4)
        self.assertEqual(self.redis("RESTORE", "good", 0, payload), "OK")
        self.assertEqual(self.state("good"), self.state(self.KEY))

    def test_commands_refuse_other_types(self):
        self.redis("SET", "text", "x")
        for command in self.commands_of("text"):
            self.assertEqual(self.refused(*command),
                             "WRONGTYPE Operation against a key holding the wrong kind of value", command)
        self.create(self.KEY)
        self.assertIn("WRONGTYPE", self.refused("GET", self.KEY))
