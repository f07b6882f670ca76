#!/usr/bin/env python3
"""Separate filters: built, probed, saved, loaded, extended, united and compared."""
import os
import unittest

import bloomblock
from bloomblock import Filter
from module_case import ModuleCase

MEMBERS = [b"member %d" % number for number in range(2000)]
STRANGERS = [b"stranger %d" % number for number in range(20000)]


class FilterTest(ModuleCase):

    def test_contains_its_keys_and_few_others(self):
        for kind in ("ribbon", "bloom", "blocked-bloom", "split-block", "partitioned", "counting", "scalable"):
            words = Filter.build(iter(MEMBERS), kind=kind, rate=0.01)
            self.assertTrue(all(key in words for key in MEMBERS), kind)
            self.assertTrue(all(words.contains_many(MEMBERS)), kind)
            found = sum(words.contains_many(STRANGERS))
            self.assertLess(found, 300, kind)
            self.assertEqual(found, sum(key in words for key in STRANGERS))
            self.assertEqual((words.info()["kind"], words.info()["key_count"]), (kind, 2000))

    def test_is_saved_and_loaded(self):
        words = Filter.build(MEMBERS, rate=0.001)
        words.save(self.path("words.bbf"))
        self.assertEqual(os.stat(self.path("words.bbf")).st_mode & 0o777, 0o600)
        self.assertEqual(os.listdir(self.folder), ["words.bbf"])
        loaded = Filter.load(self.path("words.bbf"))
        self.assertEqual(loaded.to_bytes(), words.to_bytes())
        self.assertEqual(Filter(words.to_bytes()).contains_many(STRANGERS), words.contains_many(STRANGERS))
        with self.assertRaises(bloomblock.NotFoundError):
            Filter.load(self.path("absent.bbf"))
        with self.assertRaisesRegex(bloomblock.CorruptError, "filter file"):
            Filter(words.to_bytes()[:-1])

    def test_takes_more_keys(self):
        words = Filter.build(MEMBERS[:1000], kind="bloom", rate=0.001, planned_keys=2000)
        self.assertGreater(words.insert(MEMBERS), 990)
        self.assertTrue(all(words.contains_many(MEMBERS)))
        with self.assertRaisesRegex(bloomblock.UnsupportedError, "as a whole"):
            Filter.build(MEMBERS).insert([b"x"])

    def test_a_plan_is_kept_for_the_first_keys(self):
        """Regression: a filter that was built of no keys "has no space", with its plan too."""
        secret = bloomblock.random_secret()
        for kind in ("bloom", "blocked-bloom", "split-block", "partitioned"):
            options = {"kind": kind, "rate": 0.001, "planned_keys": 2000, "secret": secret}
            words = Filter.build([], **options)
            self.assertEqual(words.insert([]), 0)
            words.save(self.path("words.bbf"))
            loaded = Filter.load(self.path("words.bbf"))
            for empty in (words, loaded):
                self.assertEqual(empty.insert(MEMBERS[:10]), 10, kind)
                empty.insert(MEMBERS[10:])
                self.assertTrue(all(empty.contains_many(MEMBERS)), kind)
            whole = Filter.build(MEMBERS, **options)
            self.assertEqual(words.info()["size_bytes"], whole.info()["size_bytes"])
            self.assertEqual(words.contains_many(STRANGERS), whole.contains_many(STRANGERS))
            self.assertEqual((Filter.build([], **options) | whole).to_bytes(), whole.to_bytes())
        with self.assertRaisesRegex(bloomblock.InvalidError, "no space"):
            Filter.build([], kind="bloom").insert(MEMBERS)

    def test_a_plan_for_no_keys_is_refused_in_its_words(self):
        with self.assertRaisesRegex(bloomblock.InvalidError, "^planned_keys: 0 is no plan"):
            Filter.build([], kind="bloom", planned_keys=0)

    def test_kinds_that_take_no_keys_later_name_those_that_do(self):
        """Regression: the messages named functions of C."""
        for kind in ("counting", "scalable", "ribbon", "none"):
            for keys in ([], MEMBERS):
                with self.assertRaisesRegex(bloomblock.UnsupportedError, "kinds bloom, .* and partitioned;"):
                    Filter.build(keys, kind=kind).insert([b"x"])

    def test_algebra_needs_one_secret(self):
        first = Filter.build(MEMBERS[:1500], kind="bloom", planned_keys=2000)
        second = Filter.build(MEMBERS[1000:], kind="bloom", planned_keys=2000, secret=first.secret)
        self.assertTrue(all((first | second).contains_many(MEMBERS)))
        both, error = first.compare(second)["both"]
        self.assertLess(abs(both - 500), 5 * error)
        count, error = first.union(second).estimate_keys()
        self.assertLess(abs(count - 2000), 5 * error)
        with self.assertRaisesRegex(bloomblock.InvalidError, "secret"):
            first.union(Filter.build(MEMBERS, kind="bloom"))
        with self.assertRaises(TypeError):
            first | MEMBERS  # pylint: disable=pointless-statement
        with self.assertRaises(bloomblock.InvalidError):
            Filter.build(MEMBERS, secret=b"short")

    def test_a_builder_builds_twice(self):
        builder = bloomblock.FilterBuilder(kind="bloom", rate=0.1)
        builder.add(b"a")
        builder.update([b"b"])
        first = builder.finish()
        builder.add(b"c")
        second = builder.finish()
        self.assertEqual((b"a" in first, b"b" in first, b"c" in second), (True, True, True))
        self.assertEqual((first.info()["key_count"], second.info()["key_count"]), (2, 1))
        with self.assertRaises(TypeError):
            builder.update(["text"])

    def test_a_plan_has_the_missing_number(self):
        plan = bloomblock.plan(keys=1000, rate=0.01)
        self.assertEqual(plan["size_bytes"], Filter.build(MEMBERS[:1000]).info()["size_bytes"])
        self.assertLess(bloomblock.plan(keys=1000, size_bytes=4000)["target_rate"], 0.01)
        with self.assertRaises(bloomblock.InvalidError):
            bloomblock.plan(keys=1000)
        with self.assertRaisesRegex(bloomblock.InvalidError, "ribbon"):
            bloomblock.plan(kind="sieve", keys=1, rate=0.1)


if __name__ == "__main__":
    unittest.main()
