"""A server whose stores are in a directory of a test."""
import os
import shutil
import tempfile
import time
import unittest

from server import Server

CHILD_SECONDS = 120


class StoreFiles(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.mkdtemp(prefix="bb-redis.")
        self.addCleanup(self.remove_directory)
        self.server = None
        self.addCleanup(lambda: self.server.kill() if self.server is not None else None)

    def remove_directory(self):
        """A child of a killed server may still be removing its files."""
        while os.path.isdir(self.directory):
            shutil.rmtree(self.directory, ignore_errors=True)

    def start(self, **options):
        self.server = Server(self.directory, **options).start()
        self.addCleanup(self.server.kill)
        return self.server.client()

    def end(self, redis, kill=False):
        redis.close()
        if kill:
            self.server.kill()
        else:
            self.assertEqual(self.server.stop(), 0, self.server.log()[-5000:])
        self.assertNotIn("Sanitizer", self.server.log())

    def saved(self):
        return sorted(name for name in os.listdir(os.path.join(self.directory, "bb")) if name.endswith(".saved"))

    def wait_for_child(self, redis):
        end = time.monotonic() + CHILD_SECONDS
        while b"rdb_bgsave_in_progress:1" in redis("INFO", "persistence") or \
                b"aof_rewrite_in_progress:1" in redis("INFO", "persistence"):
            self.assertLess(time.monotonic(), end, f"the child does not end:\n{self.server.log()}")

    def is_adopted(self, redis, key):
        """The directory of the saved state was taken, without a write to the store."""
        stats = redis("BB.STATS", key)
        return stats[stats.index("writes") + 1] == 0
