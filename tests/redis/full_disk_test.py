"""Stores on a full disk: in a small file system of a user namespace, if the system allows one."""
import os
import shutil
import subprocess
import tempfile
import time

from resp import Refused
from server import Server, main
from store_files import StoreFiles


class FullDisk(StoreFiles):
    def small_disk(self, root):
        """A wrapper for a server that sees a file system of 8 MB there."""
        os.makedirs(root, exist_ok=True)
        mount = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
                 'mount -t tmpfs -o size=8m tmpfs "$0" && exec "$@"', root]
        if subprocess.run([*mount, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no user namespaces")
        return mount

    def fill(self, path):
        """Takes all space, twice: a compaction that runs may free some when it ends."""
        with open(path, "wb", buffering=0) as file:
            for pause in (0.3, 0):
                try:
                    while file.write(bytes(4096)) > 0:
                        pass
                except OSError:
                    time.sleep(pause)

    def test_full_disk(self):
        root = os.path.join(self.directory, "disk")
        mount = self.small_disk(root)
        self.server = Server(self.directory, module_arguments=["DIR", root], wrapper=mount).start()
        redis = self.server.client()
        redis("BB.CREATE", "s", "BUFFER", 65536)
        refusal, count = None, 0
        while refusal is None and count < 3000:
            try:
                redis("BB.PUT", "s", "field%05d" % count, os.urandom(10000))
                count += 1
            except Refused as refused:
                refusal = str(refused)
        self.assertRegex(refusal, "^BBFULL ")
        self.assertEqual(redis("BB.EXISTS", "s", "field00003"), 1)
        self.assertEqual(len(redis("BB.GET", "s", "field%05d" % (count - 1))), 10000)
        self.assertEqual(sum(redis("BB.MEXISTS", "s", *("field%05d" % i for i in range(count)))), count)
        filler = f"/proc/{self.server.process.pid}/root{root}/filler"
        self.fill(filler)
        redis("BGSAVE")
        self.wait_for_child(redis)
        self.assertIn(b"rdb_last_bgsave_status:err", redis("INFO", "persistence"))
        self.assertRegex(self.server.log(), "a store cannot be saved: .*space")
        os.remove(filler)
        redis("DEL", "s")
        end = time.monotonic() + 20
        reply = None
        while reply != "OK" and time.monotonic() < end:  # a thread removes the files
            reply = redis.pipeline([("BB.PUT", "t", "a", os.urandom(4000000))])[0]
        self.assertEqual(reply, "OK")
        self.end(redis)

    def test_a_replica_with_a_full_disk_refuses_the_store(self):
        redis = self.start(port=7383, repl_diskless_sync_delay=0)
        other = tempfile.mkdtemp(prefix="bb-redis.")
        self.addCleanup(shutil.rmtree, other)
        root = os.path.join(other, "disk")
        redis("BB.CREATE", "s", "BUFFER", 65536)
        server = Server(other, module_arguments=["DIR", root], wrapper=self.small_disk(root)).start()
        self.addCleanup(server.kill)
        with server.client() as replica:
            replica("REPLICAOF", "127.0.0.1", 7383)
            while b"master_link_status:up" not in replica("INFO", "replication"):
                pass
            for i in range(1200):
                redis("BB.PUT", "s", "field%05d" % i, os.urandom(10000))
            end = time.monotonic() + 20
            reply = None
            while not isinstance(reply, Refused) and time.monotonic() < end:
                reply = replica.pipeline([("BB.GET", "s", "field00000")])[0]
            self.assertRegex(str(reply), "^BBINCOMPLETE ")
            self.assertIn("lost a write", server.log())
            replica("REPLICAOF", "NO", "ONE")
            redis("RESTORE", "t", 0, replica("DUMP", "s"))
            with self.assertRaisesRegex(Refused, "BBINCOMPLETE"):
                redis("BB.GET", "t", "field00000")
        server.kill()
        self.end(redis)


if __name__ == "__main__":
    main()
