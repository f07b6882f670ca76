"""Only a command that changes its key aborts WATCH, is in the AOF, and is an event."""
from server import ServerTest, main

KEY = "key"
TEXT = [("SET", KEY, "text")]
BLOOM = [("BF.RESERVE", KEY, 0.01, 10, "NONSCALING"), ("BF.ADD", KEY, "known")]
CUCKOO = [("CF.RESERVE", KEY, 100), ("CF.ADD", KEY, "known")]
SKETCH = [("CMS.INITBYDIM", KEY, 10, 2), ("CMS.INCRBY", KEY, "known", 1), ("CMS.INITBYDIM", "other", 10, 2)]
FULL = [("CMS.INITBYDIM", KEY, 1, 1), ("CMS.INCRBY", KEY, "a", (1 << 63) - 1)]
RIBBON = [("BB.FILTER.BUILD", KEY, 0.01, "known"), ("BB.FILTER.BUILD", "other", 0.01, "a"), ("SADD", "set", "a")]
STORE = [("BB.PUT", KEY, "known", "1")]

CHANGES = [
    ([], ("BF.RESERVE", KEY, 0.01, 10)), ([], ("BF.ADD", KEY, "new")), (BLOOM, ("BF.ADD", KEY, "new")),
    (BLOOM, ("BF.MADD", KEY, "known", "new")), (BLOOM, ("BF.INSERT", KEY, "ITEMS", "new")),
    ([], ("CF.RESERVE", KEY, 100)), ([], ("CF.ADD", KEY, "new")), (CUCKOO, ("CF.ADD", KEY, "known")),
    (CUCKOO, ("CF.ADDNX", KEY, "new")), (CUCKOO, ("CF.DEL", KEY, "known")),
    ([], ("CMS.INITBYDIM", KEY, 10, 2)), (SKETCH, ("CMS.INCRBY", KEY, "known", 0, "new", 1)),
    (SKETCH, ("CMS.MERGE", KEY, 1, "other")), (SKETCH, ("CMS.MERGE", KEY, 1, KEY, "WEIGHTS", 2)),
    (SKETCH, ("BB.CMS.LOAD", KEY, 5, 0, b"abcd")),
    ([], ("BB.FILTER.BUILD", KEY, 0.01, "a")), (RIBBON, ("BB.FILTER.BUILDFROM", KEY, 0.01, "set")),
    (RIBBON, ("BB.FILTER.UNION", KEY, 2, KEY, "other")),
    ([], ("BB.CREATE", KEY)), ([], ("BB.PUT", KEY, "new", "1")), (STORE, ("BB.PUT", KEY, "new", "1")),
    (STORE, ("BB.DEL", KEY, "known")), (STORE, ("BB.DELRANGE", KEY, "a", "z")),
]

NO_CHANGES = [
    *((TEXT, command) for command in (
        ("BF.ADD", KEY, "a"), ("BF.RESERVE", KEY, 0.01, 10), ("CF.ADD", KEY, "a"), ("CF.DEL", KEY, "a"),
        ("CMS.INITBYDIM", KEY, 10, 2), ("CMS.INCRBY", KEY, "a", 1), ("BB.FILTER.BUILD", KEY, 0.01, "a"),
        ("BF.LOADCHUNK", KEY, 1, "x"), ("BB.PUT", KEY, "a", "1"), ("BB.CREATE", KEY))),
    (BLOOM, ("BF.ADD", KEY, "known")), (BLOOM, ("BF.RESERVE", KEY, 0.01, 10)), (BLOOM, ("BF.LOADCHUNK", KEY, 2, "x")),
    ([], ("BF.INSERT", KEY, "NOCREATE", "ITEMS", "a")), ([], ("CF.DEL", KEY, "a")), ([], ("CMS.INCRBY", KEY, "a", 1)),
    (CUCKOO, ("CF.DEL", KEY, "absent")), (CUCKOO, ("CF.ADDNX", KEY, "known")),
    (SKETCH, ("CMS.INITBYDIM", KEY, 10, 2)), (SKETCH, ("CMS.INCRBY", KEY, "new", 0)),
    (SKETCH, ("CMS.INCRBY", KEY, "new", -1)), (SKETCH, ("CMS.MERGE", KEY, 1, KEY)),
    (SKETCH, ("CMS.MERGE", KEY, 2, KEY, "other")), (SKETCH, ("CMS.MERGE", KEY, 1, KEY, "WEIGHTS", -1)),
    (SKETCH, ("CMS.QUERY", KEY, "known")), (FULL, ("CMS.INCRBY", KEY, "a", 1)),
    (RIBBON, ("BB.FILTER.UNION", KEY, 2, KEY, "absent")), (RIBBON, ("BB.FILTER.LOAD", KEY, "x")),
    (STORE, ("BB.CREATE", KEY)), (STORE, ("BB.GET", KEY, "known")), ([], ("BB.DEL", KEY, "a")),
]


class Changes(ServerTest):
    OPTIONS = {"appendonly": "yes", "appendfsync": "no", "notify-keyspace-events": "Kd"}

    def traces(self, before, command):
        """Whether the command aborts WATCH, is in the AOF, and is an event."""
        self.setUp()
        for each in before:
            self.redis(*each)
        with self.server.client() as watching, self.server.client() as listening:
            listening("SUBSCRIBE", f"__keyspace@0__:{KEY}")
            watching("WATCH", KEY)
            size = self.aof_size()
            self.redis.pipeline([command])
            is_written = self.aof_size() > size
            watching.pipeline([("MULTI",), ("PING",)])
            is_aborted = watching("EXEC") is None
            self.redis("PUBLISH", f"__keyspace@0__:{KEY}", "end")
            return is_aborted, is_written, listening.read()[2] != b"end"

    def aof_size(self):
        info = self.redis("INFO", "persistence").decode()
        return int(info.split("aof_current_size:")[1].split()[0])

    def test_changes_leave_all_traces(self):
        for before, command in CHANGES:
            self.assertEqual(self.traces(before, command), (True, True, True), command)

    def test_commands_that_fail_or_change_nothing_leave_none(self):
        """They aborted WATCH, and CMS.INCRBY of 0 was replicated."""
        for before, command in NO_CHANGES:
            self.assertEqual(self.traces(before, command), (False, False, False), (command, before))

    def test_store_that_is_created_in_a_transaction_is_a_change(self):
        with self.server.client() as watching:
            watching("WATCH", KEY)
            self.redis.pipeline([("MULTI",), ("BB.PUT", KEY, "a", "1"), ("EXEC",)])
            watching.pipeline([("MULTI",), ("PING",)])
            self.assertIsNone(watching("EXEC"))

    def test_cached_key_is_invalidated_by_a_change_only(self):
        for before, exists, unchanging, changing in (
                (BLOOM, "BF.EXISTS", ("BF.ADD", KEY, "known"), ("BF.ADD", KEY, "new")),
                (STORE, "BB.EXISTS", ("BB.CREATE", KEY), ("BB.PUT", KEY, "new", "1"))):
            self.setUp()
            self.redis.pipeline(before)
            with self.server.client(resp=3) as caching:
                caching("CLIENT", "TRACKING", "ON")
                caching(exists, KEY, "known")
                self.redis.pipeline([unchanging])
                self.assertEqual(caching("PING"), "PONG")
                self.redis.pipeline([changing])
                self.assertEqual(caching.read()[0], b"invalidate")


if __name__ == "__main__":
    main()
