"""CMS.*: arguments, replies and errors as clients of RedisBloom expect them, and the counts."""
import random

from filter_case import FilterCase, TypeTests
from resp import Refused
from server import main


class Sketch(FilterCase, TypeTests):
    TYPE = "bb-sketch"

    def create(self, key):
        self.redis("CMS.INITBYDIM", key, 200, 5)
        for item in range(300):
            self.redis("CMS.INCRBY", key, item, item)

    def state(self, key):
        return self.redis("CMS.INFO", key), self.redis("CMS.QUERY", key, *range(400))

    @staticmethod
    def commands_of(key):
        return [("CMS.INCRBY", key, "a", 1), ("CMS.QUERY", key, "a"), ("CMS.MERGE", key, 1, key), ("CMS.INFO", key),
                ("BB.CMS.LOAD", key, 1, 0, "abcd")]


class DifferenceOfZeros(Sketch):
    """A rewritten AOF lost the total of such a sketch, and the digest differed."""

    def create(self, key):
        for name, times in ((key, 2), ("once", 1)):
            self.redis("CMS.INITBYDIM", name, 50, 2)
            for _ in range(times):
                self.redis("CMS.INCRBY", name, "x", (1 << 32) - 1)
        self.redis("CMS.MERGE", key, 2, key, "once", "WEIGHTS", 1, -1)

    def test_total_is_not_zero(self):
        self.create("d")
        self.assertEqual(self.state("d"), (["width", 50, "depth", 2, "count", (1 << 32) - 1], [0] * 400))


class Commands(FilterCase):
    TOO_MANY = "CMS: width * depth must be at most 134217728"

    def test_dimensions(self):
        self.assertEqual(self.redis("CMS.INITBYDIM", "c", 20, 5), "OK")
        self.assertEqual(self.redis("CMS.INCRBY", "c", "a", 5), [5])
        self.assertEqual(self.redis("CMS.INFO", "c"), ["width", 20, "depth", 5, "count", 5])
        self.redis("CMS.INITBYPROB", "p", 0.001, 0.01)
        self.assertEqual(self.redis("CMS.INFO", "p"), ["width", 2000, "depth", 7, "count", 0])
        self.assertEqual(self.resp3("CMS.INFO", "p"), {"width": 2000, "depth": 7, "count": 0})
        self.assertEqual(self.refused("CMS.INITBYDIM", "c", 20, 5), "CMS: key already exists")

    def test_mistakes_of_dimensions(self):
        for arguments, error in (
                ((0.1, 1), "CMS: invalid width"), ((10, "x"), "CMS: invalid depth"), ((0, 1), "CMS: invalid width"),
                ((1, 0), "CMS: invalid depth"), ((8589934592, 8589934592), "CMS: invalid init arguments"),
                ((1 << 62, 3), "CMS: invalid init arguments"), ((1 << 31, 1), self.TOO_MANY),
                ((1 << 27, 2), self.TOO_MANY), ((1, (1 << 27) + 1), self.TOO_MANY)):
            self.assertEqual(self.refused("CMS.INITBYDIM", "c", *arguments), error)
        for arguments, error in (
                ((1000, 0.1), "CMS: invalid overestimation value"), ((0, 0.1), "CMS: invalid overestimation value"),
                ((0.1, 10), "CMS: invalid prob value"), ((0.1, "x"), "CMS: invalid prob value"),
                ((0.1, 0), "CMS: invalid prob value"), ((1e-19, 0.9), "CMS: invalid init arguments")):
            self.assertEqual(self.refused("CMS.INITBYPROB", "c", *arguments), error)

    def test_increments_and_queries(self):
        self.redis("CMS.INITBYDIM", "c", 1000, 5)
        self.assertEqual(self.redis("CMS.INCRBY", "c", "bar", 5, "baz", 42), [5, 42])
        self.assertEqual(self.redis("CMS.QUERY", "c", "foo", "bar", "baz"), [0, 5, 42])
        self.assertEqual(self.refused("CMS.INCRBY", "absent", "a", 1), "CMS: key does not exist")
        self.assertEqual(self.refused("CMS.INCRBY", "c", "a", "x"), "CMS: Cannot parse number")
        self.assertEqual(self.refused("CMS.INCRBY", "c", "bar", 1, "a", -1), "CMS: Number cannot be negative")
        self.assertIn("wrong number of arguments", self.refused("CMS.INCRBY", "c", "bar", 5, "baz"))
        self.assertEqual(self.redis("CMS.QUERY", "c", "bar"), [5])

    def test_overflow(self):
        large = (1 << 31) - 1
        self.redis("CMS.INITBYDIM", "c", 1000, 2)
        self.assertEqual(self.redis("CMS.INCRBY", "c", "a", large), [large])
        self.assertEqual(self.redis("CMS.INCRBY", "c", "a", large, "b", 1), [2 * large, 1])
        self.assertEqual(self.redis("CMS.INCRBY", "c", "a", large, "b", 1), [Refused("CMS: INCRBY overflow"), 2])
        self.assertEqual(self.redis("CMS.QUERY", "c", "a"), [(1 << 32) - 1])
        self.redis("CMS.INITBYDIM", "d", 1000, 2)
        self.assertEqual(self.refused("CMS.MERGE", "d", 1, "c", "WEIGHTS", 2), "CMS: MERGE overflow")
        self.assertEqual(self.redis("CMS.QUERY", "d", "a"), [0])

    def test_total_stays_at_the_largest_number(self):
        """It became negative."""
        large = (1 << 63) - 1
        self.redis("CMS.INITBYDIM", "c", 1, 1)
        for _ in range(3):
            self.redis("CMS.INCRBY", "c", "a", large)
            self.assertEqual(self.redis("CMS.INFO", "c")[-1], large)
        self.redis("CMS.INITBYDIM", "other", 1, 1)
        self.redis("BB.CMS.LOAD", "other", -1, 0, "")
        self.assertEqual(self.redis("CMS.INFO", "other")[-1], large)
        self.redis("BB.CMS.LOAD", "other", large, 0, bytes(4))
        self.assertEqual(self.refused("CMS.MERGE", "c", 2, "other", "other"), "CMS: MERGE overflow")
        self.assertEqual(self.redis("CMS.MERGE", "c", 2, "other", "other", "WEIGHTS", 2, -1), "OK")
        self.assertEqual(self.redis("CMS.INFO", "c")[-1], large)

    def test_merge(self):
        for name in "abc":
            self.redis("CMS.INITBYDIM", name, 1000, 5)
        self.redis("CMS.INITBYDIM", "other", 1000, 4)
        self.redis("CMS.INCRBY", "a", "x", 21, "y", 1)
        self.redis("CMS.INCRBY", "b", "x", 21)
        self.assertEqual(self.redis("CMS.MERGE", "c", 2, "a", "b"), "OK")
        self.assertEqual(self.redis("CMS.QUERY", "c", "x", "y"), [42, 1])
        self.redis("CMS.MERGE", "c", 2, "a", "b", "WEIGHTS", 3, -1)
        self.assertEqual(self.redis("CMS.QUERY", "c", "x", "y"), [42, 3])
        self.assertEqual(self.redis("CMS.INFO", "c")[-1], 45)
        self.redis("CMS.MERGE", "c", 2, "c", "a", "weights", 1, 2)
        self.assertEqual(self.redis("CMS.QUERY", "c", "x", "y"), [84, 5])
        for arguments, error in (
                (("x", "a"), "CMS: invalid numkeys"), ((0, "a"), "CMS: Number of keys must be positive"),
                ((-1, "a"), "CMS: Number of keys must be positive"), ((2, "a"), "CMS: wrong number of keys"),
                ((3, "a", "b", "WEIGHTS", 1), "CMS: wrong number of keys"),
                ((1, "a", "b", 1), "CMS: wrong number of keys/weights"),
                ((1, "a", "WEIGHTS", "x"), "CMS: invalid weight value"),
                ((1, "absent"), "CMS: key does not exist"), ((1, "other"), "CMS: width/depth is not equal"),
                ((1, "b", "WEIGHTS", -1), "CMS: MERGE overflow")):
            self.assertEqual(self.refused("CMS.MERGE", "c", *arguments), error, arguments)
        self.assertEqual(self.redis("CMS.QUERY", "c", "x", "y"), [84, 5])

    def test_keys_of_merge(self):
        self.assertEqual(self.redis("COMMAND", "GETKEYS", "CMS.MERGE", "d", 2, "a", "b", "WEIGHTS", 1, 2),
                         [b"d", b"a", b"b"])

    def test_counts_are_never_too_low(self):
        rng = random.Random(3)
        self.redis("CMS.INITBYPROB", "c", 0.01, 0.01)
        counts = {}
        for _ in range(100):
            pairs = []
            for _ in range(50):
                item, count = int(rng.expovariate(0.01)), rng.randrange(10)
                counts[item] = counts.get(item, 0) + count
                pairs += [item, count]
            self.redis("CMS.INCRBY", "c", *pairs)
        replies = self.redis("CMS.QUERY", "c", *counts)
        self.assertTrue(all(reply >= count for reply, count in zip(replies, counts.values())))
        limit = 0.01 * sum(counts.values())
        too_high = sum(reply - count > limit for reply, count in zip(replies, counts.values()))
        self.assertLessEqual(too_high, 0.01 * len(counts))


if __name__ == "__main__":
    main()
