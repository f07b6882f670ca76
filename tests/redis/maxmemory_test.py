"""The memory of stores: used_memory counts it, maxmemory limits it, and evictions free it.

Method: stores with known buffers and caches, and the server's own counts before and after."""
import os
import time

from resp import Refused
from server import ServerTest, main

MIB = 1 << 20
BUFFER = 4 * MIB
WAIT_SECONDS = 60


class Memory(ServerTest):
    OPTIONS = {"save": "", "maxmemory-policy": "noeviction"}

    def setUp(self):
        self.redis("CONFIG", "SET", "maxmemory", 0)
        self.redis("CONFIG", "SET", "maxmemory-policy", "noeviction")
        super().setUp()
        self.redis("CONFIG", "RESETSTAT")
        self.wait_until(lambda: self.used() < 4 * MIB)

    def info(self, section, name):
        line, = [line for line in self.redis("INFO", section).decode().splitlines() if line.startswith(name + ":")]
        return int(line.split(":")[1])

    def used(self):
        return self.info("memory", "used_memory")

    def wait_until(self, is_true):
        """For threads that release memory."""
        end = time.monotonic() + WAIT_SECONDS
        while not is_true():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.001)

    def create(self, *keys):
        for key in keys:
            self.redis("BB.CREATE", key, "BUFFER", BUFFER)

    def fill(self, key, count):
        for at in range(0, count, 100):
            pairs = [part for i in range(at, at + 100) for part in (b"field%06d" % i, os.urandom(1000))]
            self.redis("BB.MPUT", key, *pairs)
        self.redis("BB.COMPACT", key)

    def test_used_memory_counts_a_store(self):
        start = self.used()
        self.create("s")
        created = self.used()
        self.assertGreater(created - start, BUFFER)
        self.fill("s", 10000)
        before = self.used()
        self.redis("BB.MGET", "s", *(b"field%06d" % i for i in range(0, 10000, 3)))
        self.assertGreater(self.used() - before, MIB)  # the cache of 2 MiB
        self.redis("DEL", "s")
        self.wait_until(lambda: self.used() - start < MIB // 2)

    def test_writes_are_refused_above_maxmemory(self):
        self.create("s")
        self.fill("s", 1000)
        self.redis("CONFIG", "SET", "maxmemory", self.used() - MIB)
        for command in (("PUT", "s", "a", "1"), ("MPUT", "s", "a", "1"), ("CREATE", "t"), ("LOADCHUNK", "s", "x")):
            self.assertRegex(self.refused("BB." + command[0], *command[1:]), "^OOM ")
        self.assertEqual(len(self.redis("BB.GET", "s", "field000007")), 1000)
        self.assertEqual(self.redis("BB.EXISTS", "s", "a"), 0)
        self.assertEqual(self.redis("BB.DEL", "s", "field000007"), "OK")
        self.assertEqual(self.redis("DEL", "s"), 1)
        self.create("t")
        self.assertEqual(self.redis("BB.PUT", "t", "a", "1"), "OK")

    def test_new_stores_are_refused_at_maxmemory(self):
        self.redis("CONFIG", "SET", "maxmemory", self.used() + 5 * BUFFER)
        created = 0
        with self.assertRaisesRegex(Refused, "^OOM "):
            while created < 20:
                self.create(created)
                created += 1
        self.assertIn(created, range(3, 6))

    def test_as_few_stores_as_needed_are_evicted(self):
        for lazy in ("no", "yes"):
            with self.subTest(lazy=lazy):
                self.setUp()
                self.redis("CONFIG", "SET", "lazyfree-lazy-eviction", lazy)
                self.create(*range(8))
                self.redis("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
                self.redis("CONFIG", "SET", "maxmemory", self.used() - BUFFER // 2)
                self.redis("SET", "key", "value")
                self.assertEqual(self.info("stats", "evicted_keys"), 1)
                self.assertEqual(self.redis("DBSIZE"), 8)

    def test_a_store_with_data_in_memory_is_evicted(self):
        self.create("s")
        self.redis("BB.MPUT", "s", *(part for i in range(1000) for part in (i, b"x" * 1000)))
        self.redis("CONFIG", "SET", "maxmemory-policy", "volatile-ttl")
        self.redis("EXPIRE", "s", 1000)
        self.redis("CONFIG", "SET", "maxmemory", self.used() - MIB)
        self.redis("SET", "key", "value")
        self.assertEqual(self.redis("EXISTS", "s"), 0)
        self.assertIsNone(self.redis("BB.GET", "s", "1"))


if __name__ == "__main__":
    main()
