"""Stores: commands, errors, saving, loading and damage."""
import os
import random
import shutil
import tempfile
import time

from dump import body, sealed
from resp import Refused
from server import Server, ServerTest, main
from store_files import StoreFiles


def fields(count, step=1):
    return [b"field%08d" % i for i in range(0, count * step, step)]


def fill(redis, key, count, step=1, value=b"value"):
    """Fields with even numbers if step is 2; the value contains the field."""
    names = fields(count, step)
    for at in range(0, count, 500):
        pairs = [part for name in names[at:at + 500] for part in (name, value + name)]
        redis("BB.MPUT", key, *pairs)
    return names


def scan_all(redis, key, *options):
    """All pairs, by following the cursor."""
    pairs, cursor = [], None
    while True:
        after = () if cursor is None else ("AFTER", cursor)
        cursor, part = redis("BB.SCAN", key, *options, *after)
        pairs += list(zip(part[::2], part[1::2]))
        if cursor is None:
            return pairs


class Commands(ServerTest):
    def test_put_get_delete(self):
        self.assertEqual(self.redis("BB.PUT", "s", "a", "1"), "OK")
        self.assertEqual(self.redis("BB.MPUT", "s", "b", "2", "c", ""), "OK")
        self.assertEqual(self.redis("BB.GET", "s", "a"), b"1")
        self.assertEqual(self.redis("BB.MGET", "s", "a", "x", "c", "b"), [b"1", None, b"", b"2"])
        self.assertEqual(self.redis("BB.EXISTS", "s", "b"), 1)
        self.assertEqual(self.redis("BB.MEXISTS", "s", "b", "x"), [1, 0])
        self.assertEqual(self.redis("BB.DEL", "s", "a", "x"), "OK")
        self.assertIsNone(self.redis("BB.GET", "s", "a"))
        self.assertEqual(self.redis("BB.DELRANGE", "s", "b", "c"), "OK")
        self.assertEqual(self.redis("BB.MGET", "s", "a", "b", "c"), [None, None, b""])
        self.assertEqual(self.redis("TYPE", "s"), "bbstore-1")

    def test_binary_fields(self):
        field, value = bytes(range(256)), os.urandom(100000)
        self.redis("BB.PUT", "s", field, value)
        self.redis("BB.PUT", "s", b"", b"empty")
        self.redis("BB.FLUSH", "s")
        self.assertEqual(self.redis("BB.GET", "s", field), value)
        self.assertEqual(self.redis("BB.GET", "s", b""), b"empty")
        self.assertEqual(len(scan_all(self.redis, "s")), 2)

    def test_missing_keys(self):
        self.assertIsNone(self.redis("BB.GET", "s", "a"))
        self.assertEqual(self.redis("BB.MEXISTS", "s", "a", "b"), [0, 0])
        self.assertEqual(self.redis("BB.SCAN", "s"), [None, []])
        self.assertEqual(self.redis("BB.LEN", "s"), 0)
        self.assertEqual(self.redis("BB.DEL", "s", "a"), "OK")
        self.assertEqual(self.redis("BB.DELRANGE", "s", "a", "b"), "OK")
        self.assertEqual(self.redis("EXISTS", "s"), 0)
        self.assertEqual(self.refused("BB.FLUSH", "s"), "ERR no such key")

    def test_create(self):
        self.assertEqual(self.redis("BB.CREATE", "s", "TARGET", "0.001", "BLOCK", 8192, "COMPRESSION", "none",
                                    "BUFFER", 1 << 20, "CACHE", 1 << 20), "OK")
        self.assertEqual(self.refused("BB.CREATE", "s"), "ERR the store exists")
        self.assertEqual(self.redis("BB.CREATE", "t", "filterbits", "8"), "OK")
        for options in (("TARGET",), ("TARGET", "x"), ("NONSENSE", 1), ("BLOCK", -1)):
            self.assertEqual(self.refused("BB.CREATE", "u", *options), "ERR syntax error")
        for options in (("TARGET", 2), ("BLOCK", 1), ("BUFFER", 1), ("CACHE", 1 << 50), ("FILTERBITS", 1000)):
            self.assertRegex(self.refused("BB.CREATE", "u", *options), f"ERR .*{options[0]} ")
        self.assertEqual(self.redis("EXISTS", "u"), 0)

    def test_mistakes(self):
        self.redis("SET", "text", "x")
        wrong = "WRONGTYPE Operation against a key holding the wrong kind of value"
        for command in (("GET", "f"), ("MGET", "f"), ("EXISTS", "f"), ("PUT", "f", "v"), ("DEL", "f"), ("SCAN",),
                        ("LEN",), ("CREATE",), ("FLUSH",), ("DELRANGE", "a", "b")):
            self.assertEqual(self.refused("BB." + command[0], "text", *command[1:]), wrong)
        arity = "ERR wrong number of arguments for 'BB.MPUT' command"
        self.assertEqual(self.refused("BB.MPUT", "s", "a", "1", "b").lower(), arity.lower())
        self.assertIn("65536", self.refused("BB.PUT", "s", b"x" * 65537, "v"))
        self.assertEqual(self.redis("EXISTS", "s"), 0)
        self.redis("BB.PUT", "s", "a", "1")
        self.assertIn("65536", self.refused("BB.GET", "s", b"x" * 65537))
        self.assertIn("65536", self.refused("BB.MPUT", "s", "b", "2", b"x" * 65537, "v"))
        self.assertIsNone(self.redis("BB.GET", "s", "b"))
        for option in ("FROM", "TO", "PREFIX", "AFTER"):
            self.assertEqual(self.refused("BB.SCAN", "s", option, b"x" * 65537),
                             "ERR FROM, TO, PREFIX and AFTER have at most 65536 bytes")
        for options in (("LIMIT", 0), ("LIMIT", "x"), ("FROM",), ("X",)):
            self.assertEqual(self.refused("BB.SCAN", "s", *options), "ERR syntax error")
        self.assertIn("checksum", self.refused("BB.LOADCHUNK", "s", b"x" * 20))

    def test_scan(self):
        names = fill(self.redis, "s", 1000)
        self.redis("BB.FLUSH", "s")
        self.redis("BB.DEL", "s", names[7])
        names.remove(names[7])
        pairs = [(name, b"value" + name) for name in names]
        self.assertEqual(scan_all(self.redis, "s"), pairs)
        self.assertEqual(scan_all(self.redis, "s", "LIMIT", 7), pairs)
        self.assertEqual(scan_all(self.redis, "s", "LIMIT", 7, "REVERSE"), pairs[::-1])
        self.assertEqual(scan_all(self.redis, "s", "FROM", names[10], "TO", names[500]), pairs[10:500])
        self.assertEqual(scan_all(self.redis, "s", "FROM", names[10], "TO", names[500], "REVERSE", "LIMIT", 50),
                         pairs[10:500][::-1])
        some = [pair for pair in pairs if pair[0].startswith(b"field000001")]
        self.assertEqual(scan_all(self.redis, "s", "PREFIX", "field000001"), some)
        self.assertEqual(scan_all(self.redis, "s", "PREFIX", "field000001", "REVERSE", "LIMIT", 9), some[::-1])
        self.assertEqual(scan_all(self.redis, "s", "PREFIX", "field000001", "TO", some[3][0]), some[:3])
        self.assertEqual(scan_all(self.redis, "s", "PREFIX", "x"), [])
        for options in (("FROM", "b", "TO", "a"), ("FROM", "b", "TO", "b"), ("FROM", "field", "TO", "a", "REVERSE"),
                        ("FROM", "g", "PREFIX", "field"), ("TO", "a", "PREFIX", "field"), ("TO", "")):
            self.assertEqual(self.redis("BB.SCAN", "s", *options), [None, []], options)
        self.assertEqual(self.redis("BB.SCAN", "s", "LIMIT", 1), [names[0], list(pairs[0])])

    def test_len(self):
        fill(self.redis, "s", 3000)
        self.assertEqual(self.redis("BB.LEN", "s"), 3000)
        self.redis("BB.FLUSH", "s")
        self.assertEqual(self.redis("BB.LEN", "s"), 3000)
        self.redis("BB.DEL", "s", *fields(100))
        self.assertAlmostEqual(self.redis("BB.LEN", "s"), 2900, delta=300)
        self.assertEqual(self.redis("BB.LEN", "s", "EXACT"), 2900)

    def pairs(self, *command):
        reply = self.redis(*command)
        return dict(zip(reply[::2], reply[1::2]))

    def test_fields_on_disk_are_read_in_order(self):
        """A block client waits, so that its commands are executed in order."""
        names = fill(self.redis, "s", 5000)
        self.redis("BB.COMPACT", "s")
        commands, expected = [], []
        for i, name in enumerate(names[::10]):
            commands += [("BB.GET", "s", name), ("BB.PUT", "s", name, b"%d" % i), ("BB.GET", "s", name)]
            expected += [b"value" + name, "OK", b"%d" % i]
        self.assertEqual(self.redis.pipeline(commands), expected)
        found = self.redis("BB.MGET", "s", *names[1::3], "absent")
        self.assertEqual(found, [b"value" + name if names.index(name) % 10 else b"%d" % (names.index(name) // 10)
                                 for name in names[1::3]] + [None])

    def test_absent_fields_are_not_read(self):
        names = fill(self.redis, "s", 5000, step=2)
        self.redis("BB.COMPACT", "s")
        absent = sorted(set(fields(10000)) - set(names))
        self.redis("BB.MEXISTS", "s", *absent)
        before = self.pairs("BB.STATS", "s")
        self.assertEqual(sum(self.redis("BB.MEXISTS", "s", *absent)), 0)
        after = self.pairs("BB.STATS", "s")
        self.assertEqual(after["lookups"] - before["lookups"], len(absent))
        self.assertLess(after["system_reads"] - before["system_reads"], len(absent) // 20)
        self.assertEqual(after["block_requests_wasted"] - before["block_requests_wasted"],
                         after["block_requests"] - before["block_requests"])
        self.assertEqual(float(after["wasted_target"]), 0.01)

    def test_info_and_explain(self):
        self.redis("BB.CREATE", "s", "TARGET", "0.001")
        names = fill(self.redis, "s", 2000)
        self.redis("BB.FLUSH", "s")
        self.redis("BB.DEL", "s", names[3])
        info = self.resp3("BB.INFO", "s")
        self.assertEqual(float(info["TARGET"]), 0.001)
        self.assertEqual(info["entries_in_tables"], 2000)
        self.assertTrue(os.path.isdir(info["directory"]))
        lines = self.redis("BB.EXPLAIN", "s", names[5])
        self.assertEqual(lines[-1], b"present")
        self.assertRegex(lines[-2], b"^level 0, .*bbt: table filter maybe;.*: value$")
        self.assertEqual(self.redis("BB.EXPLAIN", "s", names[3]), [b"memory 0: deletion", b"absent"])
        self.assertEqual(self.resp3("BB.VERIFY", "s")["damaged"], 0)
        for name in ("INFO", "STATS", "VERIFY", "COMPACT"):
            self.assertEqual(self.refused("BB." + name, "none"), "ERR no such key")

    def test_writes_that_wait_keep_their_order(self):
        """A small buffer fills faster than it can be written to tables."""
        self.redis("BB.CREATE", "s", "BUFFER", 65536)
        value = os.urandom(20000)
        with self.server.client() as other:
            for i in range(120):
                self.redis.send("BB.MPUT", "s", "field%04d" % i, value, "last", i)
                other.send("BB.PUT", "s", "other%04d" % i, value)
            self.assertEqual([self.redis.read() for _ in range(120)], ["OK"] * 120)
            self.assertEqual([other.read() for _ in range(120)], ["OK"] * 120)
        self.assertEqual(self.redis("BB.GET", "s", "last"), b"119")
        self.assertEqual(self.redis("BB.LEN", "s", "EXACT"), 241)
        self.assertGreater(self.pairs("BB.STATS", "s")["writes_waited"], 0)

    def test_a_store_is_removed_while_writes_wait(self):
        self.redis("BB.CREATE", "s", "BUFFER", 65536)
        value = os.urandom(20000)
        with self.server.client() as other:
            for i in range(200):
                other.send("BB.PUT", "s", "f%d" % i, value)
            self.redis("DEL", "s")
            replies = {str(other.read()) for _ in range(200)}
        self.assertLessEqual(replies, {"OK", "TRYAGAIN the key was changed while the write waited"})

    def test_transactions_and_scripts(self):
        fill(self.redis, "s", 1000)
        self.redis("BB.FLUSH", "s")
        self.redis("MULTI")
        for command in (("BB.PUT", "s", "a", "1"), ("BB.GET", "s", "a"), ("BB.GET", "s", fields(9)[-1]),
                        ("BB.SCAN", "s", "LIMIT", 1), ("BB.LEN", "s", "EXACT"), ("BB.FLUSH", "s")):
            self.assertEqual(self.redis(*command), "QUEUED")
        replies = self.redis("EXEC")
        self.assertEqual(replies[:3], ["OK", b"1", b"value" + fields(9)[-1]])
        self.assertEqual(replies[4:], [1001, "OK"])
        script = "redis.call('BB.PUT', KEYS[1], 'b', '2'); return redis.call('BB.MGET', KEYS[1], 'b', ARGV[1])"
        self.assertEqual(self.redis("EVAL", script, 1, "s", fields(5)[-1]), [b"2", b"value" + fields(5)[-1]])

    def test_commands_without_a_change_do_not_disturb_watch(self):
        """Regression: a key that was opened for a write counted as changed."""
        self.redis("SET", "text", "x")
        self.redis("BB.PUT", "s", "a", "1")
        self.redis("BF.ADD", "b", "x")
        for changes, key, *command in (
                (False, "text", "BB.PUT", "text", "a", "1"), (False, "s", "BB.CREATE", "s"),
                (False, "none", "BB.DEL", "none", "a"), (False, "b", "BF.ADD", "b", "x"),
                (True, "s", "BB.PUT", "s", "a", "2"), (True, "s", "BB.DEL", "s", "a"),
                (True, "new", "BB.CREATE", "new"), (True, "new2", "BB.PUT", "new2", "a", "1"),
                (True, "b", "BF.ADD", "b", "y"), (True, "c", "CF.ADD", "c", "y"),
                (True, "r", "BB.FILTER.BUILD", "r", "0.1", "y"), (True, "k", "CMS.INITBYDIM", "k", 10, 2)):
            with self.server.client() as other:
                other("WATCH", key)
                self.redis.pipeline([tuple(command)])
                other("MULTI")
                other("PING")
                self.assertEqual(other("EXEC"), None if changes else ["PONG"], command)

    def test_key_commands(self):
        names = fill(self.redis, "s", 2000)
        digest = self.redis("DEBUG", "DIGEST-VALUE", "s")
        self.redis("COPY", "s", "t")
        self.redis("RENAME", "s", "u")
        self.redis("BB.PUT", "u", "more", "1")
        self.assertEqual(self.redis("DEBUG", "DIGEST-VALUE", "t"), digest)
        self.assertNotEqual(self.redis("DEBUG", "DIGEST-VALUE", "u"), digest)
        self.redis("SWAPDB", 0, 1)
        self.assertEqual(self.redis("EXISTS", "t"), 0)
        self.redis("SWAPDB", 0, 1)
        self.assertEqual(self.redis("BB.GET", "t", names[-1]), b"value" + names[-1])
        self.redis("PEXPIRE", "t", 1)
        while self.redis("EXISTS", "t"):
            pass
        self.assertGreater(self.redis("MEMORY", "USAGE", "u"), 10000)
        self.redis("UNLINK", "u")
        self.assertEqual(self.redis("DBSIZE"), 0)

    def test_keys_of_commands(self):
        for command in (("BB.CREATE", "k", "TARGET", "0.1"), ("BB.MPUT", "k", "f", "v", "g", "w"), ("BB.SCAN", "k"),
                        ("BB.MGET", "k", "f", "g"), ("BB.DELRANGE", "k", "a", "b"), ("BB.COMPACT", "k")):
            self.assertEqual(self.redis("COMMAND", "GETKEYS", *command), [b"k"])
        self.redis("ACL", "SETUSER", "reader", "on", "nopass", "~*", "+bb.get")
        with self.server.client() as reader:
            reader("AUTH", "reader", "x")
            self.assertIsNone(reader("BB.GET", "k", "f"))
            for command in (("BB.PUT", "k", "f", "v"), ("BB.COMPACT", "k")):
                with self.assertRaisesRegex(Refused, "NOPERM"):
                    reader(*command)

    def test_notifications(self):
        self.redis("CONFIG", "SET", "notify-keyspace-events", "Kd")
        with self.server.client() as listener:
            listener("SUBSCRIBE", "__keyspace@0__:s")
            self.redis("BB.PUT", "s", "a", "1")
            self.redis("BB.DEL", "s", "a")
            self.assertEqual([listener.read()[2] for _ in range(2)], [b"bb.put", b"bb.del"])

    def test_directories_are_removed(self):
        root = self.path("bb")
        self.redis("BB.PUT", "s", "a", "1")
        self.redis("FLUSHALL", "ASYNC")
        end = time.monotonic() + 20
        while any(len(name) >= 32 for name in os.listdir(root)):
            self.assertLess(time.monotonic(), end)
            self.redis("PING")


class Dumps(ServerTest):
    def test_dump_and_restore(self):
        fill(self.redis, "s", 2000)
        dump = self.redis("DUMP", "s")
        self.assertEqual(self.redis("RESTORE", "t", 0, dump), "OK")
        self.assertEqual(scan_all(self.redis, "t"), scan_all(self.redis, "s"))
        self.assertEqual(self.redis("DUMP", "t"), dump)

    def test_damaged_payloads_are_refused(self):
        """RESTORE checks a CRC, so a damaged payload gets a new one."""
        fill(self.redis, "s", 20)
        data = body(self.redis("DUMP", "s"))
        refused = 0
        cases = [data[:at] + bytes([data[at] ^ 1 << (at % 8)]) + data[at + 1:] for at in range(10, len(data) - 2, 13)]
        cases += [data[:at] + data[-2:] for at in range(10, len(data) - 2, 29)]
        for case in cases:
            try:
                self.redis("RESTORE", "t", 0, sealed(case), "REPLACE")
            except Refused as refusal:
                self.assertIn("Bad data format", str(refusal))
                refused += 1
        self.assertGreater(refused, len(cases) * 9 // 10)
        self.assertEqual(self.redis("PING"), "PONG")


class Files(StoreFiles):
    """Servers that end and start again."""

    def test_rdb_at_the_end(self):
        redis = self.start(save="3600 1")
        fill(redis, "s", 3000)
        redis("BB.CREATE", "t", "TARGET", "0.001")
        before = scan_all(redis, "s", "LIMIT", 1000)
        self.end(redis)
        self.assertEqual(len(self.saved()), 2)
        redis = self.start(save="3600 1")
        self.assertEqual(scan_all(redis, "s", "LIMIT", 1000), before)
        self.assertTrue(self.is_adopted(redis, "s"))
        self.end(redis)
        shutil.rmtree(os.path.join(self.directory, "bb"))
        redis = self.start()
        self.assertEqual(scan_all(redis, "s", "LIMIT", 1000), before)
        self.end(redis)

    def test_rdb_of_a_child_is_not_changed_by_later_writes(self):
        redis = self.start()
        fill(redis, "s", 3000)
        before = scan_all(redis, "s", "LIMIT", 1000)
        redis("BGSAVE")
        redis("BB.DELRANGE", "s", "a", "field00001000")
        redis("BB.MPUT", "s", "new", "1", fields(2000)[-1], "changed")
        redis("BB.COMPACT", "s")
        self.wait_for_child(redis)
        self.assertIn(b"rdb_last_bgsave_status:ok", redis("INFO", "persistence"))
        self.assertEqual(len(self.saved()), 1)
        self.end(redis, kill=True)
        for _ in range(2):
            redis = self.start()
            self.assertEqual(scan_all(redis, "s", "LIMIT", 1000), before)
            self.assertTrue(self.is_adopted(redis, "s"))
            redis("BB.PUT", "s", "later", "not saved")
            self.end(redis, kill=True)
        shutil.rmtree(os.path.join(self.directory, "bb"))
        redis = self.start()
        self.assertEqual(scan_all(redis, "s", "LIMIT", 1000), before)
        self.end(redis)

    def test_aof(self):
        for preamble in ("yes", "no"):
            with self.subTest(preamble=preamble):
                options = {"appendonly": "yes", "aof_use_rdb_preamble": preamble, "appendfsync": "always"}
                redis = self.start(**options)
                redis("FLUSHALL")
                fill(redis, "s", 3000)
                redis("BGREWRITEAOF")
                redis("BB.DELRANGE", "s", "a", "field00001000")
                self.wait_for_child(redis)
                redis("BB.PUT", "s", "new", "1")
                before = scan_all(redis, "s", "LIMIT", 1000)
                self.end(redis, kill=True)
                redis = self.start(**options)
                self.assertEqual(scan_all(redis, "s", "LIMIT", 1000), before)
                self.end(redis)
                redis = self.start(**options)
                self.assertEqual(scan_all(redis, "s", "LIMIT", 1000), before)
                self.end(redis)

    def test_reload(self):
        redis = self.start(appendonly="yes")
        fill(redis, "s", 1000)
        digest = redis("DEBUG", "DIGEST")
        redis("DEBUG", "RELOAD")
        self.assertEqual(redis("DEBUG", "DIGEST"), digest)
        redis("BB.PUT", "s", "a", "1")
        digest = redis("DEBUG", "DIGEST")
        redis("DEBUG", "LOADAOF")
        self.assertEqual(redis("DEBUG", "DIGEST"), digest)
        self.assertEqual(redis("SAVE"), "OK")
        redis("BB.PUT", "s", "b", "1")
        self.end(redis)

    def test_the_end_does_not_wait_for_a_compaction(self):
        redis = self.start()
        fill(redis, "s", 3000)
        redis.send("BB.COMPACT", "s")
        with self.server.client() as other:
            other.send("BB.MGET", "s", *fields(3000))
            self.end(redis)

    def test_a_damaged_directory_is_not_used(self):
        redis = self.start(save="3600 1")
        fill(redis, "s", 1000)
        before = scan_all(redis, "s", "LIMIT", 1000)
        self.end(redis)
        saved = os.path.join(self.directory, "bb", self.saved()[0])
        os.remove(os.path.join(saved, "CURRENT"))
        redis = self.start(save="3600 1")
        self.assertIn("the store is built from the file", self.server.log())
        self.assertEqual(scan_all(redis, "s", "LIMIT", 1000), before)
        self.assertFalse(self.is_adopted(redis, "s"))
        self.end(redis)

    def test_verify_counts_the_damaged_files(self):
        """Regression: it reported the first damage without the extent."""
        redis = self.start()
        for field in "ab":
            redis("BB.PUT", "s", field, "1")
            redis("BB.FLUSH", "s")
        info = redis("BB.INFO", "s")
        place = info[info.index("directory") + 1]
        for name in os.listdir(place):
            if name.endswith(".bbt"):
                with open(os.path.join(place, name), "r+b") as file:
                    file.write(bytes(16))
        extent = r"^BBCORRUPT damaged files: 2 \(the store has 2 tables\), the first: .*bbt"
        with self.assertRaisesRegex(Refused, extent):
            redis("BB.VERIFY", "s")
        self.end(redis)

    def test_directories_of_earlier_saves_are_removed(self):
        redis = self.start()
        for i in range(3):
            redis("BB.PUT", "s", "a", i)
            redis("BB.PUT", "t", "a", 1)
            redis("BGSAVE")
            self.wait_for_child(redis)
        end = time.monotonic() + 20
        while len(self.saved()) > 2 and time.monotonic() < end:
            redis("PING")
        self.assertEqual(len(self.saved()), 2)
        redis("FLUSHALL")
        redis("BGSAVE")
        self.wait_for_child(redis)
        redis("BB.PUT", "s", "a", 1)
        self.end(redis)
        redis = self.start()
        redis("BB.PUT", "s", "a", 1)
        self.end(redis)

    def test_replicas(self):
        redis = self.start(port=7381, repl_diskless_sync_delay=0)
        fill(redis, "s", 3000)
        other = tempfile.mkdtemp(prefix="bb-redis.")
        self.addCleanup(shutil.rmtree, other)
        server = Server(other, port=7382).start()
        self.addCleanup(server.kill)
        with server.client() as replica:
            replica("BB.PUT", "old", "a", "1")
            replica("REPLICAOF", "127.0.0.1", 7381)
            redis("BB.DELRANGE", "s", "a", "field00001000")
            while b"master_link_status:up" not in replica("INFO", "replication"):
                redis("BB.PUT", "s", "b", "2")
            redis("BB.MPUT", "t", "a", "1", "b", "2")
            redis("BB.CREATE", "u", "TARGET", "0.1")
            self.assertEqual(redis("WAIT", 1, 10000), 1)
            for key in ("s", "t", "u"):
                self.assertEqual(scan_all(replica, key), scan_all(redis, key))
                self.assertEqual(replica("DEBUG", "DIGEST-VALUE", key), redis("DEBUG", "DIGEST-VALUE", key))
            self.assertEqual(replica("EXISTS", "old"), 0)
            with self.assertRaisesRegex(Refused, "READONLY"):
                replica("BB.PUT", "s", "a", "1")
            replica("REPLICAOF", "NO", "ONE")
            replica("BB.PUT", "s", "a", "1")
            redis("MIGRATE", "127.0.0.1", 7382, "t", 0, 10000, "COPY", "REPLACE")
            self.assertEqual(scan_all(replica, "t"), [(b"a", b"1"), (b"b", b"2")])
        self.assertEqual(server.stop(), 0)
        self.end(redis)

    def test_kills_during_saves(self):
        """Random writes with an AOF, saves and kills: each start has all acknowledged writes."""
        seed = int(os.environ.get("BB_TEST_SEED", "1"))
        print(f"seed {seed}  (BB_TEST_SEED={seed})")
        rng = random.Random(seed)
        options = {"appendonly": "yes", "appendfsync": "always"}
        model = {}
        for _ in range(3):
            redis = self.start(**options)
            self.assertEqual(dict(scan_all(redis, "s", "LIMIT", 1000)), model)
            for _ in range(rng.randrange(3, 6)):
                redis.pipeline([self.change(rng, model) for _ in range(rng.randrange(1, 60))])
                if rng.random() < 0.7:
                    redis.pipeline([(rng.choice(["BGSAVE", "BGREWRITEAOF", "PING"]),), ("BB.LEN", "s")])
            self.end(redis, kill=True)

    @staticmethod
    def change(rng, model):
        name = b"field%04d" % rng.randrange(3000)
        kind = rng.randrange(8)
        if kind == 0:
            end = b"field%04d" % rng.randrange(3000)
            for field in [field for field in model if name <= field < end]:
                del model[field]
            return "BB.DELRANGE", "s", name, end
        if kind == 1:
            model.pop(name, None)
            return "BB.DEL", "s", name
        model[name] = rng.randbytes(rng.randrange(2000))
        return "BB.PUT", "s", name, model[name]

    def test_two_servers_on_one_directory(self):
        redis = self.start()
        redis("BB.PUT", "s", "a", "1")
        other = tempfile.mkdtemp(prefix="bb-redis.")
        self.addCleanup(shutil.rmtree, other)
        server = Server(other, module_arguments=["DIR", self.directory]).start()
        self.addCleanup(server.kill)
        with server.client() as second:
            with self.assertRaisesRegex(Refused, "BBBUSY .*process"):
                second("BB.PUT", "s", "a", "1")
            self.assertEqual(second("EXISTS", "s"), 0)
        self.assertEqual(server.stop(), 0)
        self.end(redis)

    def test_a_directory_of_another_program(self):
        os.makedirs(os.path.join(self.directory, "bb"))
        with open(os.path.join(self.directory, "bb", "precious"), "w", encoding="utf-8") as file:
            file.write("x")
        redis = self.start()
        with self.assertRaisesRegex(Refused, "another program"):
            redis("BB.PUT", "s", "a", "1")
        self.assertEqual(redis("EXISTS", "s"), 0)
        self.end(redis)
        self.assertEqual(os.listdir(os.path.join(self.directory, "bb")), ["precious"])


if __name__ == "__main__":
    main()
