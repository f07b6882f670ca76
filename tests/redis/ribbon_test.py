"""BB.FILTER.*: immutable filters, filters of other keys, unions, and descriptions with rates."""
from filter_case import FilterCase, TypeTests
from server import main


class Ribbon(FilterCase, TypeTests):
    TYPE = "bb-ribbon"

    def create(self, key):
        self.redis("BB.FILTER.BUILD", "first", 0.01, *range(200))
        self.redis("BB.FILTER.BUILD", "second", 0.01, *range(200, 300))
        self.redis("BB.FILTER.UNION", key, 2, "first", "second")

    def state(self, key):
        return self.redis("BB.FILTER.INFO", key), self.redis("BB.FILTER.MEXISTS", key, *range(1000))

    @staticmethod
    def commands_of(key):
        return [("BB.FILTER.BUILD", key, 0.01, "a"), ("BB.FILTER.EXISTS", key, "a"), ("BB.FILTER.MEXISTS", key, "a"),
                ("BB.FILTER.INFO", key), ("BB.FILTER.UNION", "x", 1, key), ("BB.FILTER.BUILDFROM", "x", 0.01, key),
                ("BB.FILTER.LOAD", key, "a")]


class Commands(FilterCase):
    def passed(self, key, *items):
        return sum(self.redis("BB.FILTER.MEXISTS", key, *items))

    def test_build(self):
        self.assertEqual(self.redis("BB.FILTER.BUILD", "f", 0.001, *range(5000), *range(100)), 5000)
        self.assertEqual(self.passed("f", *range(5000)), 5000)
        self.assertLess(self.passed("f", *range(10000, 30000)), 45)
        info = self.resp3("BB.FILTER.INFO", "f")
        self.assertEqual((info["Kind"], info["Number of items"], info["Number of filters"]), ("ribbon", 5000, 1))
        self.assertLessEqual(info["Predicted rate"], 0.001)
        self.assertAlmostEqual(info["Target rate"], 0.001)
        self.assertIs(self.resp3("BB.FILTER.EXISTS", "f", 1), True)
        self.assertEqual(self.redis("BB.FILTER.EXISTS", "absent", 1), 0)
        self.assertEqual(self.refused("BB.FILTER.INFO", "absent"), "ERR not found")

    def test_size(self):
        self.redis("BB.FILTER.BUILD", "f", 0.01, *range(30000))
        self.assertLess(float(self.redis("BB.FILTER.INFO", "f")[9]), 9.6 * 0.85)
        plan = self.resp3("BB.FILTER.PLAN", "ribbon", 30000, 0.01)
        self.assertLess(plan["Bits per item"], 6.9)

    def test_build_from_keys_of_redis(self):
        members = [f"member-{i}" for i in range(3000)]
        self.redis("SADD", "set", *members)
        self.redis("SADD", "small", *range(10))
        self.redis("SADD", "numbers", *range(100))
        self.redis("ZADD", "sorted", *[word for member in members for word in (1, member)])
        self.redis("HSET", "hash", *[word for member in members for word in (member, "value")])
        for source in ("set", "sorted", "hash"):
            self.assertEqual(self.redis("BB.FILTER.BUILDFROM", "f", 0.001, source), 3000)
            self.assertEqual(self.passed("f", *members), 3000)
            self.assertLess(self.passed("f", *range(10000)), 30)
        self.redis("BB.FILTER.BUILD", "same", 0.001, *members)
        first, second = self.redis("DEBUG", "DIGEST-VALUE", "f", "same")
        self.assertEqual(first, second)
        self.assertEqual(self.redis("BB.FILTER.BUILDFROM", "f", 0.001, "small"), 10)
        self.assertEqual(self.redis("BB.FILTER.BUILDFROM", "f", 0.001, "numbers"), 100)
        self.redis("RPUSH", "list", "a")
        self.assertIn("WRONGTYPE", self.refused("BB.FILTER.BUILDFROM", "f", 0.001, "list"))
        self.assertEqual(self.refused("BB.FILTER.BUILDFROM", "f", 0.001, "absent"), "ERR not found")

    def test_union_of_ribbons(self):
        self.redis("BB.FILTER.BUILD", "a", 0.01, *range(1000))
        self.redis("BB.FILTER.BUILD", "b", 0.02, *range(500, 1500))
        self.assertEqual(self.redis("BB.FILTER.UNION", "a", 2, "a", "b"), "OK")
        self.assertEqual(self.passed("a", *range(1500)), 1500)
        info = self.resp3("BB.FILTER.INFO", "a")
        self.assertEqual(info["Number of filters"], 2)
        self.assertAlmostEqual(info["Target rate"], 1 - 0.99 * 0.98)
        self.assertLess(self.passed("a", *range(10000, 20000)), 10000 * info["Target rate"] * 1.3)
        for _ in range(5):
            self.redis("BB.FILTER.UNION", "a", 2, "a", "a")
        self.assertIn("more than 64", self.refused("BB.FILTER.UNION", "a", 2, "a", "a"))

    def test_union_of_bloom_filters(self):
        for key, items in (("a", range(1000)), ("b", range(500, 2500))):
            self.redis("BF.RESERVE", key, 0.01, 300)
            self.redis("BF.MADD", key, *items)
        self.redis("BB.FILTER.UNION", "u", 2, "a", "b")
        self.assertEqual(sum(self.redis("BF.MEXISTS", "u", *range(2500))), 2500)
        self.assertEqual(self.redis("BF.ADD", "u", "new"), 1)
        self.redis("BF.RESERVE", "c", 0.01, 400)
        self.redis("BB.FILTER.BUILD", "r", 0.01, 1)
        self.redis("CF.ADD", "cf", 1)
        self.assertIn("cannot be united", self.refused("BB.FILTER.UNION", "u", 2, "a", "c"))
        self.assertIn("one type", self.refused("BB.FILTER.UNION", "u", 2, "a", "r"))
        self.assertIn("one type", self.refused("BB.FILTER.UNION", "u", 2, "r", "a"))
        self.assertIn("BF or BB.FILTER", self.refused("BB.FILTER.UNION", "u", 1, "cf"))
        self.assertIn("WRONGTYPE", self.refused("BB.FILTER.UNION", "r", 1, "a"))
        self.assertIn("not the number", self.refused("BB.FILTER.UNION", "u", 3, "a", "b"))
        self.assertEqual(self.refused("BB.FILTER.UNION", "u", 2, "a", "absent"), "ERR not found")

    def test_filters_of_other_types(self):
        self.redis("BF.ADD", "b", "x")
        self.redis("CF.ADD", "c", "x")
        for key, target in (("b", 0.01), ("c", 4 / 255)):
            self.assertEqual(self.redis("BB.FILTER.MEXISTS", key, "x", "y"), [1, 0])
            info = self.resp3("BB.FILTER.INFO", key)
            self.assertEqual((info["Kind"], info["Number of items"]), ("fingerprints", 1))
            self.assertAlmostEqual(info["Target rate"], target)
            self.assertLess(info["Predicted rate"], target)

    def test_mistakes(self):
        self.assertEqual(self.refused("BB.FILTER.BUILD", "f", "x", "a"), "ERR bad error rate")
        self.assertEqual(self.refused("BB.FILTER.BUILD", "f", 0, "a"), "ERR bad error rate")
        self.assertIn("ERR", self.refused("BB.FILTER.BUILD", "f", 0.9, "a"))
        self.assertIn("ERR", self.refused("BB.FILTER.LOAD", "f", "nonsense"))
        self.assertEqual(self.redis("EXISTS", "f"), 0)

    def test_keys_of_commands(self):
        self.assertEqual(self.redis("COMMAND", "GETKEYS", "BB.FILTER.BUILDFROM", "f", 0.1, "set"), [b"f", b"set"])
        self.assertEqual(self.redis("COMMAND", "GETKEYS", "BB.FILTER.UNION", "f", 2, "a", "b"), [b"f", b"a", b"b"])
        self.assertEqual(self.redis("COMMAND", "GETKEYS", "BB.FILTER.BUILD", "f", 0.1, "set"), [b"f"])


if __name__ == "__main__":
    main()
