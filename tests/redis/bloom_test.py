"""BF.*: arguments, replies and errors as clients of RedisBloom expect them, and the filter itself.

The cases follow the documentation of RedisBloom's commands; docs/redis.md lists the differences."""
from filter_case import FilterCase, TypeTests
from resp import Refused
from server import main


class Bloom(FilterCase, TypeTests):
    TYPE = "bb-bloom1"

    def create(self, key):
        self.redis("BF.RESERVE", key, 0.01, 50, "EXPANSION", 2)
        self.redis("BF.MADD", key, *range(300))

    def state(self, key):
        return self.redis("BF.INFO", key)[4:], self.redis("BF.MEXISTS", key, *range(1000))

    @staticmethod
    def commands_of(key):
        return [("BF.RESERVE", key, 0.1, 10), ("BF.ADD", key, "a"), ("BF.MADD", key, "a"), ("BF.EXISTS", key, "a"),
                ("BF.MEXISTS", key, "a"), ("BF.INSERT", key, "ITEMS", "a"), ("BF.CARD", key), ("BF.INFO", key),
                ("BF.SCANDUMP", key, 0), ("BF.LOADCHUNK", key, 1, "x")]


class Commands(FilterCase):
    def test_reserve(self):
        self.assertEqual(self.redis("BF.RESERVE", "b", 0.001, 100), "OK")
        self.assertEqual(self.refused("BF.RESERVE", "b", 0.001, 100), "ERR item exists")
        info = self.redis("BF.INFO", "b")
        self.assertEqual(info[0::2], ["Capacity", "Size", "Number of filters", "Number of items inserted",
                                      "Expansion rate"])
        self.assertEqual([info[1], *info[5::2]], [100, 1, 0, 2])

    def test_mistakes_of_reserve(self):
        for arguments, error in (
                (("x", 100), "ERR bad error rate"),
                ((0, 100), "ERR error rate must be in the range (0.000000, 1.000000)"),
                ((1, 100), "ERR error rate must be in the range (0.000000, 1.000000)"),
                ((7.7, 100), "ERR error rate must be in the range (0.000000, 1.000000)"),
                ((0.01, "x"), "ERR bad capacity"),
                ((0.01, 0), "ERR capacity must be in the range [1, 1073741824]"),
                ((0.01, 1 << 31), "ERR capacity must be in the range [1, 1073741824]"),
                ((0.01, 1 << 64), "ERR bad capacity"),
                ((0.01, 100, "EXPANSION"), "ERR no expansion"),
                ((0.01, 100, "EXPANSION", "x"), "ERR bad expansion"),
                ((0.01, 100, "EXPANSION", -1), "ERR expansion must be in the range [0, 32768]"),
                ((0.01, 100, "EXPANSION", 32769), "ERR expansion must be in the range [0, 32768]"),
                ((0.01, 100, "NONSCALING", "EXPANSION", 2), "Nonscaling filters cannot expand"),
                ((0.01, 100, "NONSENSE"), "ERR syntax error"),
                ((1e-300, 100), "ERR error rate is too low for this capacity")):
            self.assertEqual(self.refused("BF.RESERVE", "b", *arguments), error)
        self.assertEqual(self.redis("EXISTS", "b"), 0)

    def test_add_and_exists(self):
        self.assertEqual(self.redis("BF.ADD", "b", "foo"), 1)
        self.assertEqual(self.redis("BF.ADD", "b", "foo"), 0)
        self.assertEqual(self.redis("BF.MADD", "b", "foo", "bar", "bar"), [0, 1, 0])
        self.assertEqual(self.redis("BF.EXISTS", "b", "foo"), 1)
        self.assertEqual(self.redis("BF.EXISTS", "b", "nonexist"), 0)
        self.assertEqual(self.redis("BF.MEXISTS", "b", "nonexist", "bar"), [0, 1])
        self.assertEqual(self.redis("BF.EXISTS", "absent", "foo"), 0)
        self.assertEqual(self.redis("BF.MEXISTS", "absent", "foo", "bar"), [0, 0])
        self.assertEqual(self.redis("BF.CARD", "b"), 2)
        self.assertEqual(self.redis("BF.CARD", "absent"), 0)
        self.assertEqual(self.redis("BF.INFO", "b", "CAPACITY"), [100])

    def test_items_are_any_bytes(self):
        for item in (b"", b"\0", b"\xff" * 1000, b"a\r\nb"):
            self.assertEqual(self.redis("BF.ADD", "b", item), 1)
            self.assertEqual(self.redis("BF.EXISTS", "b", item), 1)

    def test_resp3(self):
        self.assertIs(self.resp3("BF.ADD", "b", "a"), True)
        self.assertIs(self.resp3("BF.EXISTS", "b", "a"), True)
        self.assertEqual(self.resp3("BF.MADD", "b", "a", "b"), [False, True])
        self.assertEqual(self.resp3("BF.INSERT", "b", "ITEMS", "a", "c"), [False, True])
        self.assertEqual(self.resp3("BF.MEXISTS", "b", "x", "b"), [False, True])
        self.assertEqual(self.resp3("BF.CARD", "b"), 3)
        info = self.resp3("BF.INFO", "b")
        self.assertEqual({**info, "Size": 0}, {"Capacity": 100, "Size": 0, "Number of filters": 1,
                                               "Number of items inserted": 3, "Expansion rate": 2})
        self.assertEqual(self.resp3("BF.INFO", "b", "ITEMS"), {"Number of items inserted": 3})

    def test_info_of_one_field(self):
        self.redis("BF.RESERVE", "b", 0.001, 100)
        for field, value in (("capacity", [100]), ("FILTERS", [1]), ("items", [0]), ("Expansion", [2])):
            self.assertEqual(self.redis("BF.INFO", "b", field), value)
        self.assertEqual(self.refused("BF.INFO", "b", "wrong_value"), "Invalid information value")
        self.assertIn("wrong number of arguments", self.refused("BF.INFO", "b", "capacity", "size"))
        self.assertEqual(self.refused("BF.INFO", "absent"), "ERR not found")

    def test_insert(self):
        self.assertEqual(self.refused("BF.INSERT", "b", "NOCREATE", "ITEMS", "a"), "ERR not found")
        self.assertEqual(self.redis("BF.INSERT", "b", "ERROR", 0.001, "CAPACITY", 50000, "EXPANSION", 4,
                                    "ITEMS", "a", "b"), [1, 1])
        self.assertEqual(self.redis("BF.INFO", "b", "CAPACITY"), [50000])
        self.assertEqual(self.redis("BF.INFO", "b", "EXPANSION"), [4])
        self.assertEqual(self.redis("BF.INSERT", "b", "NOCREATE", "items", "a", "c"), [0, 1])
        arity = "ERR wrong number of arguments for 'BF.INSERT' command"
        for arguments, error in (
                (("CAPACITY", 10, "DONTEXIST", "ITEMS", "a"), "Unknown argument received"),
                (("ERROR", "big", "ITEMS", "a"), "Bad error rate"),
                (("CAPACITY", 0.3, "ITEMS", "a"), "Bad capacity"),
                (("EXPANSION", -1, "ITEMS", "a"), "Bad expansion"),
                (("NOCREATE", "ITEMS"), arity), (("NOCREATE", "CAPACITY"), arity), (("ERROR", ), arity),
                (("NOCREATE", "NONSCALING"), arity)):
            self.assertEqual(self.refused("BF.INSERT", "x", *arguments), error, arguments)

    def test_growth(self):
        for expansion, tables in ((1, 25), (2, 5), (4, 4)):
            key = f"b{expansion}"
            self.redis("BF.RESERVE", key, 0.01, 4, "EXPANSION", expansion)
            self.redis("BF.MADD", key, *range(100))
            self.assertEqual(self.redis("BF.MEXISTS", key, *range(100)), [1] * 100)
            self.assertAlmostEqual(self.redis("BF.INFO", key, "FILTERS")[0], tables, delta=2)

    def test_nonscaling(self):
        self.assertEqual(self.redis("BF.INSERT", "b", "CAPACITY", 3, "NONSCALING", "ITEMS", "a", "b", "c"),
                         [1, 1, 1])
        full = Refused("ERR non scaling filter is full")
        self.assertEqual(self.redis("BF.INSERT", "b", "ITEMS", "a", "b", "c", "d", "d"), [0, 0, 0, full])
        self.assertEqual(self.refused("BF.ADD", "b", "e"), str(full))
        self.assertEqual(self.redis("BF.INFO", "b", "EXPANSION"), [None])
        self.redis("BF.RESERVE", "zero", 0.01, 3, "EXPANSION", 0)
        self.assertEqual(self.redis("BF.INFO", "zero", "EXPANSION"), [None])

    def test_very_high_rates_are_capped(self):
        self.redis("BF.RESERVE", "b", 0.9999999999999999, 1000, "NONSCALING")
        self.redis("BF.MADD", "b", *range(1000))
        passed = sum(self.redis("BF.MEXISTS", "b", *range(10000, 20000)))
        self.assertLess(passed, 2800)

    def test_rate(self):
        for rate in (0.1, 0.01, 0.001):
            key = f"b{rate}"
            self.redis("BF.RESERVE", key, rate, 1000)
            self.redis("BF.MADD", key, *range(4000))
            passed = sum(self.redis("BF.MEXISTS", key, *range(10000, 30000)))
            self.assertLess(passed / 20000, rate * 1.2)

    def test_a_large_reserve_takes_little_memory(self):
        self.redis("BF.RESERVE", "b", 0.000001, 300_000_000)
        self.assertEqual(self.redis("BF.INFO", "b", "CAPACITY"), [300_000_000])
        self.assertLess(self.redis("BF.INFO", "b", "SIZE")[0], 100_000)

    def copy_in_pieces(self, source, target):
        iterator, pieces = 0, 0
        while True:
            iterator, piece = self.redis("BF.SCANDUMP", source, iterator)
            if iterator == 0:
                self.assertEqual(piece, b"")
                return pieces
            self.assertEqual(self.redis("BF.LOADCHUNK", target, iterator, piece), "OK")
            pieces += 1

    def test_copy_in_pieces(self):
        self.redis("BF.RESERVE", "b", 0.0001, 5000)
        for start in range(0, 200000, 10000):
            self.redis("BF.MADD", "b", *range(start, start + 10000))
        self.assertGreater(self.copy_in_pieces("b", "copy"), 2)
        first, second = self.redis("DEBUG", "DIGEST-VALUE", "b", "copy")
        self.assertEqual(first, second)
        self.assertEqual(self.redis("BF.CARD", "b"), self.redis("BF.CARD", "copy"))

    def test_mistakes_of_pieces(self):
        self.redis("BF.ADD", "b", "a")
        header = self.redis("BF.SCANDUMP", "b", 0)[1]
        chunk = self.redis("BF.SCANDUMP", "b", 1)[1]
        self.assertEqual(self.redis("BF.SCANDUMP", "b", 1000), [0, b""])
        self.assertEqual(self.refused("BF.SCANDUMP", "b", "x"), "Second argument must be numeric")
        self.assertEqual(self.refused("BF.SCANDUMP", "absent", 0), "ERR not found")
        self.assertEqual(self.refused("BF.LOADCHUNK", "c", "x", header), "ERR Second argument must be numeric")
        self.assertEqual(self.refused("BF.LOADCHUNK", "c", 2, chunk), "ERR not found")
        for bad in (b"", header[:-1], header + b"x", chunk):
            self.assertEqual(self.refused("BF.LOADCHUNK", "c", 1, bad), "ERR received bad data")
        self.redis("BF.LOADCHUNK", "c", 1, header)
        for bad in (b"", chunk[:-1], chunk + b"x", header):
            self.assertEqual(self.refused("BF.LOADCHUNK", "c", 2, bad), "ERR received bad data")
        self.assertEqual(self.redis("BF.EXISTS", "c", "a"), 0)
        self.redis("BF.LOADCHUNK", "c", 2, chunk)
        self.assertEqual(self.redis("BF.EXISTS", "c", "a"), 1)

    def test_replication_is_of_changes_only(self):
        def changes():
            line, = [line for line in self.redis("INFO", "persistence").decode().splitlines()
                     if line.startswith("rdb_changes")]
            return int(line.split(":")[1])
        self.redis("BF.ADD", "b", "a")
        start = changes()
        self.redis("BF.ADD", "b", "a")
        self.redis("BF.EXISTS", "b", "a")
        self.assertEqual(changes(), start)
        self.redis("BF.ADD", "b", "b")
        self.assertEqual(changes(), start + 1)

    def test_keyspace_events(self):
        self.redis("CONFIG", "SET", "notify-keyspace-events", "Ed")
        with self.server.client() as listener:
            listener("SUBSCRIBE", "__keyevent@0__:bf.add", "__keyevent@0__:bf.reserve")
            listener.read()
            self.redis("BF.RESERVE", "b", 0.01, 10)
            self.redis("BF.ADD", "b", "a")
            self.redis("BF.ADD", "b", "a")
            self.redis("BF.MADD", "b", "c", "d")
            events = [listener.read()[1:] for _ in range(3)]
        self.assertEqual(events, [[b"__keyevent@0__:bf.reserve", b"b"]] + 2 * [[b"__keyevent@0__:bf.add", b"b"]])

    def test_maxmemory(self):
        self.redis("BF.RESERVE", "b", 0.01, 100)
        self.redis("CONFIG", "SET", "maxmemory", 1)
        try:
            self.assertIn("OOM", self.refused("BF.ADD", "b", "a"))
            self.assertIn("OOM", self.refused("BF.RESERVE", "c", 0.1, 10))
            self.assertEqual(self.redis("BF.EXISTS", "b", "a"), 0)
        finally:
            self.redis("CONFIG", "SET", "maxmemory", 0)

    def test_transactions_and_scripts(self):
        commands = [("MULTI",), ("BF.ADD", "b", "a"), ("BF.MEXISTS", "b", "a", "b"), ("EXEC",)]
        self.assertEqual(self.redis.pipeline(commands)[-1], [1, [1, 0]])
        self.assertEqual(self.redis("EVAL", "return redis.call('BF.EXISTS', KEYS[1], ARGV[1])", 1, "b", "a"), 1)

    def test_used_memory_counts_filters(self):
        def used():
            line, = [line for line in self.redis("INFO", "memory").decode().splitlines()
                     if line.startswith("used_memory:")]
            return int(line.split(":")[1])
        self.redis("BF.RESERVE", "b", 0.001, 100000)
        for start in range(0, 100000, 10000):
            self.redis("BF.MADD", "b", *range(start, start + 10000))
        size = self.redis("BF.INFO", "b", "SIZE")[0]
        self.assertGreater(size, 140000)
        before = used()
        self.redis("DEL", "b")
        self.assertGreater(before - used(), size * 2 // 3)


if __name__ == "__main__":
    main()
