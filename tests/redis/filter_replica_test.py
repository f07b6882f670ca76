"""A replica has the filters of its master, from the full copy and from later commands.

Method: a master with one filter of each type, a replica that joins, more commands, WAIT, and the
digests of both; then the same commands on a third server."""
import os
import tempfile
import time
import unittest

from ports import free_port
from server import Server, main

BEFORE = [("BF.RESERVE", "bloom", 0.01, 100), ("BF.MADD", "bloom", *range(1000)),
          ("CF.INSERT", "cuckoo", "ITEMS", *range(500)), ("CMS.INITBYDIM", "sketch", 100, 4),
          ("BB.FILTER.BUILD", "ribbon", 0.01, *range(300))]
AFTER = [("BF.ADD", "bloom", "new"), ("BF.MADD", "bloom", *range(900, 1500)), ("CF.DEL", "cuckoo", 7),
         ("CMS.INCRBY", "sketch", "a", 5), ("SADD", "set", *range(50)), ("BB.FILTER.BUILDFROM", "other", 0.01, "set"),
         ("BB.FILTER.UNION", "ribbon", 2, "ribbon", "other"), ("BF.ADD", "created", "x")]
KEYS = ["bloom", "cuckoo", "sketch", "ribbon", "other", "created"]


class Replica(unittest.TestCase):
    def start(self, name, **options):
        directory = os.path.join(self.directory.name, name)
        os.mkdir(directory)
        server = Server(directory, **options).start()
        self.addCleanup(server.kill)
        client = server.client()
        self.addCleanup(client.close)
        return client

    def wait_for_link(self, replica):
        for _ in range(1000):
            if "master_link_status:up" in replica("INFO", "replication").decode():
                return
            time.sleep(0.01)
        self.fail("the replica does not join")

    def test_digests_are_equal(self):
        self.directory = tempfile.TemporaryDirectory(prefix="bb-redis.")
        self.addCleanup(self.directory.cleanup)
        port = free_port()
        master = self.start("master", port=port, repl_diskless_sync_delay=0)
        master.pipeline(BEFORE)
        replica = self.start("replica", replicaof=f"127.0.0.1 {port}")
        self.wait_for_link(replica)
        master.pipeline(AFTER)
        self.assertEqual(master("WAIT", 1, 10000), 1)
        digests = master("DEBUG", "DIGEST-VALUE", *KEYS)
        self.assertEqual(replica("DEBUG", "DIGEST-VALUE", *KEYS), digests)
        alone = self.start("alone")
        alone.pipeline(BEFORE + AFTER)
        self.assertEqual(alone("DEBUG", "DIGEST-VALUE", *KEYS), digests)
        self.assertNotIn("0" * 40, digests)


if __name__ == "__main__":
    main()
