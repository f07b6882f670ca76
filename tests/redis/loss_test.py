"""Changes that a server counts as made and cannot make: starts with an AOF, and replicas.

Method: the directory of stores cannot be used, because it holds files of another program, another
server uses it, or a file has its name."""
import os
import shutil
import tempfile
import time

from ports import free_port
from resp import Refused
from server import START_SECONDS, Server, main
from store_files import StoreFiles

SYNC_SECONDS = 30


class Starts(StoreFiles):
    OPTIONS = {"appendonly": "yes", "appendfsync": "always"}

    def fill(self):
        redis = self.start(**self.OPTIONS)
        redis("BB.PUT", "s", "a", "1")
        redis("BB.PUT", "s", "b", "2")
        self.end(redis)

    def check_refused(self, reason):
        server = Server(self.directory, **self.OPTIONS)
        self.addCleanup(server.kill)
        server.launch()
        self.assertEqual(server.process.wait(START_SECONDS), 1)
        self.assertRegex(server.log(), f"AOF has a store that cannot be loaded, so the server ends: .*{reason}")

    def check_loaded(self):
        redis = self.start(**self.OPTIONS)
        self.assertEqual(redis("BB.MGET", "s", "a", "b"), [b"1", b"2"])
        self.end(redis)

    def test_an_aof_is_not_loaded_without_its_stores(self):
        """Regression: the server began without the stores, and the next rewrite lost them."""
        self.fill()
        mark = os.path.join(self.directory, "bb", "BLOOMBLOCK")
        os.rename(mark, mark + "2")
        self.check_refused("another program")
        os.rename(mark + "2", mark)
        self.check_loaded()

    def test_an_aof_is_not_loaded_while_another_server_has_the_directory(self):
        self.fill()
        other = tempfile.mkdtemp(prefix="bb-redis.")
        self.addCleanup(shutil.rmtree, other)
        server = Server(other, module_arguments=["DIR", self.directory]).start()
        self.addCleanup(server.kill)
        with server.client() as redis:
            redis("BB.PUT", "t", "a", "1")
        self.check_refused("process")
        server.kill()
        self.check_loaded()

    def test_an_aof_with_copies_is_not_loaded_without_them(self):
        """COPY and RESTORE are commands of the server, so the data type ends it."""
        for command in (("COPY", "s", "t"), ("RESTORE", "u", "0")):
            redis = self.start(**self.OPTIONS)
            redis("FLUSHALL")
            redis("BB.PUT", "s", "a", "1")
            payload = (redis("DUMP", "s"),) if command[0] == "RESTORE" else ()
            if payload:
                redis("DEL", "s")
            redis(*command, *payload)
            self.end(redis)
            bb = os.path.join(self.directory, "bb")
            shutil.rmtree(bb)
            with open(bb, "w", encoding="ascii"):
                pass
            self.check_refused("bb")
            os.remove(bb)
            redis = self.start(**self.OPTIONS)
            self.assertEqual(redis("BB.GET", command[1 if payload else 2], "a"), b"1")
            self.end(redis)


class Replicas(StoreFiles):
    def start_replica(self, prepare=lambda root: None, **options):
        """self.master and self.replica are clients of two servers that are in sync."""
        port = free_port()
        self.master = self.start(port=port, repl_diskless_sync_delay=0)
        self.other = tempfile.mkdtemp(prefix="bb-redis.")
        self.addCleanup(shutil.rmtree, self.other)
        self.root = os.path.join(self.other, "bb")
        prepare(self.root)
        self.second = Server(self.other, **options).start()
        self.addCleanup(lambda: self.second.kill())
        self.replica = self.second.client()
        self.replica("REPLICAOF", "127.0.0.1", port)
        self.wait_for_sync()

    def wait_for_sync(self):
        end = time.monotonic() + SYNC_SECONDS
        while b"master_link_status:up" not in self.replica("INFO", "replication"):
            self.assertLess(time.monotonic(), end, self.second.log()[-2000:])
            time.sleep(0.01)

    def wait_for_replica(self):
        self.assertEqual(self.master("WAIT", 1, SYNC_SECONDS * 1000), 1)

    def finish(self):
        self.replica.close()
        self.assertEqual(self.second.stop(), 0, self.second.log()[-5000:])
        self.assertNotIn("Sanitizer", self.second.log())
        self.end(self.master)

    def restart_replica(self, **options):
        self.replica.close()
        self.assertEqual(self.second.stop(), 0, self.second.log()[-5000:])
        self.second = Server(self.other, **options).start()
        self.replica = self.second.client()

    def check_incomplete(self, key):
        self.assertEqual(self.replica("EXISTS", key), 1)
        for command in (("GET", key, "a"), ("MGET", key, "a"), ("EXISTS", key, "a"), ("MEXISTS", key, "a"),
                        ("SCAN", key), ("LEN", key), ("LEN", key, "EXACT")):
            with self.assertRaisesRegex(Refused, "^BBINCOMPLETE", msg=command):
                self.replica("BB." + command[0], *command[1:])

    @staticmethod
    def make_foreign(root):
        os.mkdir(root)
        with open(os.path.join(root, "foreign"), "w", encoding="ascii"):
            pass

    def test_a_replica_that_cannot_create_a_store_refuses_it(self):
        """Regression: the next write created a store without earlier data or mark."""
        self.start_replica(self.make_foreign)
        self.master("BB.CREATE", "s", "BLOCK", 8192)
        self.master("BB.PUT", "s", "a", "1")
        self.master("BB.PUT", "t", "a", "1")
        self.wait_for_replica()
        os.remove(os.path.join(self.root, "foreign"))
        for key in ("s", "t"):
            self.master("BB.PUT", key, "b", "2")
        self.wait_for_replica()
        for key in ("s", "t"):
            self.check_incomplete(key)
        self.assertRegex(self.second.log(), "a store lost a write.*another program")
        info = dict(zip(*[iter(self.replica("BB.INFO", "s"))] * 2))
        self.assertEqual((info["is_incomplete"], info["tables"], info["directory"]), (1, 0, ""))
        self.replica("BB.STATS", "s")
        for command in ("FLUSH", "COMPACT", "VERIFY"):
            with self.assertRaisesRegex(Refused, "^BBINCOMPLETE", msg=command):
                self.replica("BB." + command, "s")
        self.assertGreater(self.replica("MEMORY", "USAGE", "s"), 0)
        self.replica("DEBUG", "DIGEST-VALUE", "s")
        self.master("RESTORE", "u", 0, self.replica("DUMP", "s"))
        self.wait_for_replica()
        self.check_incomplete("u")
        self.finish()

    def test_a_store_that_could_not_be_created_is_saved_with_its_mark(self):
        self.start_replica(self.make_foreign)
        self.master("BB.PUT", "s", "a", "1")
        self.master("BB.PUT", "t", "a", "1")
        self.wait_for_replica()
        self.replica("REPLICAOF", "NO", "ONE")
        self.check_incomplete("s")
        with self.assertRaisesRegex(Refused, "^BBINCOMPLETE"):
            self.replica("BB.PUT", "s", "b", "2")
        os.remove(os.path.join(self.root, "foreign"))
        self.replica("COPY", "s", "copy")
        self.check_incomplete("copy")
        self.replica("DEL", "t")
        self.replica("BB.PUT", "t", "b", "2")
        for save in ("SAVE", "BGSAVE"):
            self.replica(save)
            self.wait_for_child(self.replica)
            self.restart_replica()
            self.check_incomplete("s")
            self.assertEqual(self.replica("BB.GET", "t", "b"), b"2")
        self.replica("COPY", "s", "copy2")  # it has a directory since the restart
        self.check_incomplete("copy2")
        self.replica("FLUSHALL")
        self.replica("BB.PUT", "s", "b", "2")
        self.finish()

    def test_a_full_sync_replaces_a_store_that_could_not_be_created(self):
        self.start_replica(self.make_foreign)
        self.master("BB.PUT", "s", "a", "1")
        self.wait_for_replica()
        os.remove(os.path.join(self.root, "foreign"))
        self.replica("REPLICAOF", "NO", "ONE")
        self.replica("REPLICAOF", "127.0.0.1", self.server.options["port"])
        self.wait_for_sync()
        self.assertEqual(self.replica("BB.GET", "s", "a"), b"1")
        self.finish()

    def test_a_replica_that_cannot_copy_a_store_refuses_the_copy(self):
        """Regression: the copy was missing, and its next write created an unmarked store."""
        self.start_replica()
        self.master("BB.PUT", "s", "a", "1")
        self.wait_for_replica()
        os.rename(self.root, self.root + "2")
        with open(self.root, "w", encoding="ascii"):
            pass
        self.master("COPY", "s", "copy")
        self.master("RESTORE", "restored", 0, self.master("DUMP", "s"))
        self.master("BB.PUT", "new", "a", "1")
        self.wait_for_replica()
        os.remove(self.root)
        os.rename(self.root + "2", self.root)
        for key in ("copy", "restored", "new"):
            self.master("BB.PUT", key, "b", "2")
        self.wait_for_replica()
        for key in ("copy", "restored", "new"):
            self.check_incomplete(key)
        self.assertEqual(self.replica("BB.GET", "s", "a"), b"1")
        self.finish()

    def test_the_aof_of_a_replica_has_the_writes_that_it_could_not_make(self):
        """So a start with space loads the store completely, and not without a mark."""
        self.start_replica(self.make_foreign, appendonly="yes")
        self.wait_for_child(self.replica)  # until then the server does not end
        self.master("BB.PUT", "s", "a", "1")
        self.master("BB.PUT", "s", "b", "2")
        self.wait_for_replica()
        self.check_incomplete("s")
        os.remove(os.path.join(self.root, "foreign"))
        self.restart_replica(appendonly="yes")
        self.assertEqual(self.replica("BB.MGET", "s", "a", "b"), [b"1", b"2"])
        self.finish()


if __name__ == "__main__":
    main()
