"""CF.*: arguments, replies and errors as clients of RedisBloom expect them, and the filter."""
from filter_case import FilterCase, TypeTests
from server import main


class Cuckoo(FilterCase, TypeTests):
    TYPE = "bb-cuckoo"

    def create(self, key):
        self.redis("CF.RESERVE", key, 64, "BUCKETSIZE", 4, "EXPANSION", 2, "MAXITERATIONS", 500)
        self.redis("CF.INSERT", key, "ITEMS", *range(300), *range(50))
        for item in range(200, 220):
            self.redis("CF.DEL", key, item)

    def state(self, key):
        return self.redis("CF.INFO", key)[2:], [self.redis("CF.COUNT", key, item) for item in range(350)]

    @staticmethod
    def commands_of(key):
        return [("CF.RESERVE", key, 100), ("CF.ADD", key, "a"), ("CF.ADDNX", key, "a"), ("CF.EXISTS", key, "a"),
                ("CF.MEXISTS", key, "a"), ("CF.INSERT", key, "ITEMS", "a"), ("CF.INSERTNX", key, "ITEMS", "a"),
                ("CF.DEL", key, "a"), ("CF.COUNT", key, "a"), ("CF.INFO", key), ("CF.SCANDUMP", key, 0),
                ("CF.LOADCHUNK", key, 1, "x")]


class Commands(FilterCase):
    def test_add_count_and_delete(self):
        self.assertEqual(self.redis("CF.ADD", "c", "k1"), 1)
        self.assertEqual(self.redis("CF.ADDNX", "c", "k1"), 0)
        self.assertEqual(self.redis("CF.COUNT", "c", "k1"), 1)
        self.assertEqual(self.redis("CF.ADD", "c", "k1"), 1)
        self.assertEqual(self.redis("CF.COUNT", "c", "k1"), 2)
        self.assertEqual([self.redis("CF.DEL", "c", "k1") for _ in range(3)], [1, 1, 0])
        self.assertEqual(self.redis("CF.EXISTS", "c", "k1"), 0)
        self.assertEqual(self.refused("CF.DEL", "absent", "k1"), "Not found")
        self.assertEqual(self.redis("CF.COUNT", "absent", "k1"), 0)
        self.assertEqual(self.redis("CF.EXISTS", "absent", "k1"), 0)
        self.assertEqual(self.redis("CF.MEXISTS", "absent", "k1", "k2"), [0, 0])

    def test_insert(self):
        self.assertEqual(self.refused("CF.INSERT", "c", "NOCREATE", "ITEMS", "a"), "ERR not found")
        self.assertEqual(self.redis("CF.INSERT", "c", "CAPACITY", 10000, "ITEMS", "a", "a"), [1, 1])
        self.assertEqual(self.redis("CF.INSERTNX", "c", "NOCREATE", "items", "a", "b"), [0, 1])
        info = self.redis("CF.INFO", "c")
        self.assertEqual(info[info.index("Number of buckets") + 1], 8192)
        arity = "ERR wrong number of arguments for 'CF.INSERT' command"
        for arguments, error in (
                (("NOCREATE", "CAPACITY"), arity), (("NOCREATE", "CAPACITY", "str"), "Bad capacity"),
                (("CAPACITY", "str", "ITEMS", "a"), "Bad capacity"), (("NOCREATE", "ITEMS"), arity),
                (("CAPACITY", 3, "ITEMS", "a"), "Capacity must be in the range [cf-bucket-size * 2, 1073741824]"),
                (("DONTEXIST", "ITEMS", "a"), "Unknown argument received")):
            self.assertEqual(self.refused("CF.INSERT", "c", *arguments), error, arguments)

    def test_reserve(self):
        self.assertEqual(self.redis("CF.RESERVE", "c", 1000), "OK")
        self.assertEqual(self.refused("CF.RESERVE", "c", 1000), "ERR item exists")
        info = self.redis("CF.INFO", "c")
        self.assertEqual(info[:1] + info[2:], ["Size", "Number of buckets", 512, "Number of filters", 1,
                                               "Number of items inserted", 0, "Number of items deleted", 0,
                                               "Bucket size", 2, "Expansion rate", 1, "Max iterations", 20])
        capacity = "Capacity must be in the range [2 * BUCKETSIZE, 1073741824]"
        for arguments, error in (
                (("x",), "Bad capacity"), ((3,), capacity), ((1 << 31,), capacity),
                ((10, "BUCKETSIZE", 6), capacity),
                ((10, "BUCKETSIZE"), "Couldn't parse BUCKETSIZE"),
                ((10, "BUCKETSIZE", 0), "BUCKETSIZE: value must be in the range [1, 255]"),
                ((10, "MAXITERATIONS", "x"), "Couldn't parse MAXITERATIONS"),
                ((10, "MAXITERATIONS", 0), "MAXITERATIONS: value must be in the range [1, 65535]"),
                ((10, "EXPANSION", "x"), "Couldn't parse EXPANSION"),
                ((10, "EXPANSION", -1), "EXPANSION: value must be in the range [0, 32768]"),
                ((10, "NONSENSE", 1), "ERR syntax error")):
            self.assertEqual(self.refused("CF.RESERVE", "x", *arguments), error, arguments)
        self.redis("CF.RESERVE", "large", 67108864, "BUCKETSIZE", 255, "MAXITERATIONS", 65535, "EXPANSION", 32768)

    def test_full(self):
        self.redis("CF.RESERVE", "c", 4, "EXPANSION", 0)
        self.assertEqual([self.redis("CF.ADD", "c", i) for i in range(4)], [1] * 4)
        self.assertEqual(self.redis("CF.INSERT", "c", "ITEMS", 5, 6), [-1, -1])
        self.assertEqual(self.redis("CF.INSERTNX", "c", "ITEMS", 0, 6), [0, -1])
        self.assertEqual(self.resp3("CF.INSERT", "c", "ITEMS", 5), [False])
        self.assertEqual(self.refused("CF.ADD", "c", 7), "Filter is full")
        self.assertEqual(self.redis("CF.DEL", "c", 2), 1)
        self.assertEqual(self.redis("CF.ADD", "c", 7), 1)

    def test_limit_of_expansions(self):
        self.redis("CF.RESERVE", "c", 4)
        for i in range(4 * 32):
            self.assertEqual(self.redis("CF.ADD", "c", i), 1)
        self.assertEqual(self.refused("CF.ADD", "c", "more"), "Maximum expansions reached")

    def test_one_item_many_times(self):
        self.redis("CF.RESERVE", "c", 64, "EXPANSION", 2)
        for _ in range(10):
            self.redis("CF.INSERT", "c", "ITEMS", *["a"] * 1000)
        self.assertEqual(self.redis("CF.COUNT", "c", "a"), 10000)

    def test_rate(self):
        for size in (1, 2, 4):
            self.redis("CF.RESERVE", f"c{size}", 1000, "BUCKETSIZE", size)
            self.redis("CF.INSERT", f"c{size}", "ITEMS", *range(5000))
            self.assertEqual(self.redis("CF.MEXISTS", f"c{size}", *range(5000)), [1] * 5000)
            passed = sum(self.redis("CF.MEXISTS", f"c{size}", *range(10000, 30000)))
            self.assertLess(passed / 20000, 2 * size / 255)

    def test_resp3(self):
        self.resp3("CF.RESERVE", "a", 9, "EXPANSION", 0)
        self.assertIs(self.resp3("CF.ADD", "a", 3), True)
        self.assertIs(self.resp3("CF.ADD", "a", 4), True)
        self.assertIs(self.resp3("CF.ADDNX", "a", 4), False)
        self.assertIs(self.resp3("CF.ADDNX", "a", 9), True)
        self.assertEqual(self.resp3("CF.INSERT", "a", "ITEMS", 4, 5), [True, True])
        inserted = self.resp3("CF.INSERTNX", "a", "ITEMS", 4, 6)
        self.assertEqual((inserted, type(inserted[0])), ([0, 1], int))
        self.assertIs(self.resp3("CF.DEL", "a", 3), True)
        self.assertIs(self.resp3("CF.DEL", "a", 3), False)
        self.assertEqual(self.resp3("CF.MEXISTS", "a", 4, 3), [True, False])
        self.assertEqual(self.resp3("CF.COUNT", "a", 4), 2)
        self.assertEqual({**self.resp3("CF.INFO", "a"), "Size": 64}, {
            "Size": 64, "Number of buckets": 4, "Number of filters": 1, "Number of items inserted": 5,
            "Number of items deleted": 1, "Bucket size": 2, "Expansion rate": 0, "Max iterations": 20})

    def test_copy_in_pieces(self):
        self.redis("CF.RESERVE", "c", 50000)
        self.assertEqual(self.redis("CF.SCANDUMP", "c", 0), [0, None])
        self.redis("CF.INSERT", "c", "ITEMS", *range(20000))
        iterator = 0
        while True:
            iterator, piece = self.redis("CF.SCANDUMP", "c", iterator)
            if iterator == 0:
                self.assertIsNone(piece)
                break
            self.assertEqual(self.redis("CF.LOADCHUNK", "copy", iterator, piece), "OK")
        first, second = self.redis("DEBUG", "DIGEST-VALUE", "c", "copy")
        self.assertEqual(first, second)
        self.assertEqual(self.refused("CF.LOADCHUNK", "new", 1, b"nonsense"), "Invalid header")
        self.assertEqual(self.refused("CF.LOADCHUNK", "copy", 2, b"nonsense"), "Couldn't load chunk!")
        self.assertEqual(self.refused("CF.LOADCHUNK", "copy", "x", b""), "Invalid position")
        self.assertEqual(self.refused("CF.SCANDUMP", "copy", "x"), "Invalid position")
        self.assertEqual(self.refused("CF.SCANDUMP", "absent", 0), "ERR not found")


if __name__ == "__main__":
    main()
