"""filter add, union and plan: filters that grow, unions of filters, and planned sizes.

Method: a filter after add or union must be equal, bit for bit, to a filter of all keys built in one
go. Estimates must be within their standard errors. A built filter must match its plan.
"""
import math
import os
import stat
import subprocess

from filter_case import HEADER, FilterTest, lines_of
from tool import (ABSENT, BINARY, CORRUPT, FOUND, IO, OVERFULL, STEP, UNSUPPORTED, USAGE, main, run, test_random,
                  words)

KINDS = ["ribbon", "bloom", "blocked-bloom", "split-block", "partitioned"]
GROWING = ["bloom", "blocked-bloom", "split-block", "partitioned"]


class Add(FilterTest):
    def add(self, keys, code=FOUND):
        return self.expect(code, "filter", "add", self.filter, "--json", stdin=lines_of(keys)).json

    def test_added_keys_are_there_and_the_bits_are_those_of_one_go(self):
        for kind in GROWING:
            options = ["--kind", kind, "--keys", str(self.COUNT), "--force"]
            options += [] if kind == "split-block" else ["--secret-seed", "1"]
            self.create(*options)
            whole = self.content()
            self.create(*options, keys=self.keys[:1000])
            for start in range(1000, self.COUNT, 500):
                report = self.add(self.keys[start - 100:start + 500])
                self.assertEqual(report["keys_read"], 600)
                self.assertLessEqual(report["keys_new"], 500)
            self.assertEqual(self.maybe_count(self.keys), self.COUNT)
            grown = self.content()
            self.assertEqual(grown[HEADER + 40:-8], whole[HEADER + 40:-8])
            self.assertGreaterEqual(report["keys"], 0.98 * self.COUNT)
            self.assertEqual(stat.S_IMODE(os.stat(self.filter).st_mode), 0o600)

    def test_a_filter_of_no_keys_keeps_its_space(self):
        for kind in GROWING:
            self.assertEqual(self.create("--kind", kind, "--keys", str(self.COUNT), "--force", keys=[])["keys"], 0)
            self.assertEqual(self.maybe_count(self.keys), 0)
            self.assertEqual(self.add([])["keys"], 0)
            report = self.add(self.keys)
            self.assertEqual((report["keys"], report["overfull"]), (self.COUNT, False))
            self.assertEqual(self.maybe_count(self.keys), self.COUNT)

    def test_a_filter_of_no_keys_and_no_plan_is_made_for_what_comes(self):
        self.create("--kind", "bloom", keys=[])
        report = self.add(self.keys)
        self.assertEqual((report["keys"], report["planned_keys"]), (self.COUNT, self.COUNT))
        self.assertLess(report["predicted_rate"], 0.012)

    def test_more_keys_than_planned_are_taken_and_told(self):
        for kind in GROWING:
            self.create("--kind", kind, "--force")
            keys = lines_of(self.strangers[:4000])
            result = self.expect(OVERFULL, "filter", "add", self.filter, "--json", stdin=keys)
            self.assertIn("3,000 were planned", result.err)
            report = result.json
            self.assertTrue(report["overfull"])
            self.assertGreater(report["predicted_rate"], 0.05)
            self.assertEqual(self.maybe_count(self.keys + self.strangers[:4000]), self.COUNT + 4000)
            others = words(5000, "other")
            expected = report["predicted_rate"] * len(others)
            self.assertAlmostEqual(self.maybe_count(others), expected, delta=6 * expected ** 0.5 + 6)
            self.assertIn("OVERFULL", self.ok("filter", "info", self.filter).text)
        result = self.expect(OVERFULL, "filter", "create", self.filter, "--kind", "bloom", "--keys", "10", "--force",
                             stdin=lines_of(self.keys[:30]))
        self.assertIn("10 were planned", result.err)

    def test_a_few_more_keys_than_planned_are_within_chance(self):
        """The predicted rate decides, and not the number of keys."""
        self.create("--kind", "bloom", "--keys", "3000", "--rate", "0.02", "--secret-seed", "1", keys=[])
        report = self.add(range(1, 3091))
        self.assertGreater(report["keys"], report["planned_keys"])
        self.assertFalse(report["overfull"])
        report = self.ok("filter", "info", self.filter, "--json").json
        self.assertEqual(report["verdict"], "chance")
        self.assertGreater(report["predicted_rate"], report["target_rate"])

    def test_refusals_leave_the_file(self):
        self.create()
        before = self.content()
        self.assertIn("as a whole", self.expect(UNSUPPORTED, "filter", "add", self.filter, stdin="a\n").err)
        self.assertIn("as a whole", self.expect(UNSUPPORTED, "filter", "create", self.path("x"), "--keys", "5").err)
        self.create("--kind", "bloom", "--force")
        before = self.content()
        self.expect(IO, "filter", "add", self.filter, "/does/not/exist")
        self.expect(USAGE, "filter", "add", self.filter, "--hex", stdin="00\nx\n")
        self.assertEqual(self.content(), before)
        bad = bytearray(before)
        bad[-20] ^= 1
        self.assertIn("at offset", self.expect(CORRUPT, "filter", "add", self.spoil(bad), stdin="a\n").err)
        self.assertEqual(self.content(self.path("spoilt.bbf")), bad)
        self.expect(USAGE, "filter", "add", self.write("bare", before[HEADER:]), stdin="a\n")
        self.expect(IO, "filter", "add", "/does/not/exist", stdin="a\n")
        self.assertEqual(self.leftovers(), [])

    def test_two_at_a_time_exclude_each_other(self):
        self.create("--kind", "bloom")
        with subprocess.Popen([BINARY, "filter", "add", self.filter], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            # More than any pipe holds. After the last byte is written, the command has begun to
            # read, and it takes the lock before that.
            process.stdin.write(b"a\n" * (1 << 20))
            process.stdin.flush()
            self.assertIn("another command", self.expect(IO, "filter", "add", self.filter, stdin="b\n").err)
            self.assertEqual(self.maybe_count(self.keys), self.COUNT)
            process.communicate()
            self.assertIn(process.returncode, (FOUND, OVERFULL))
        self.ok("filter", "check", self.filter, "--key", "a")

    def test_keys_come_in_batches(self):
        """More keys than are inserted at a time."""
        count = 1100000
        keys = "".join(f"{i}\n" for i in range(count))
        self.ok("filter", "create", self.filter, "--kind", "blocked-bloom", "--keys", str(count), "--rate", "0.1",
                stdin=keys)
        document = self.ok("filter", "check", self.filter, "--count", "--json", stdin=keys).json
        self.assertEqual(document["absent"], 0)
        self.create("--kind", "blocked-bloom", "--force", keys=[])
        report = self.ok("filter", "add", self.filter, "--json", stdin=keys).json
        self.assertEqual((report["keys"], report["planned_keys"]), (count, count))
        self.assertLess(report["predicted_rate"], 0.0105)


class Scalable(FilterTest):
    """Filters for an unknown number of keys."""

    def test_it_grows_and_keeps_its_rate(self):
        self.create("--kind", "scalable", "--keys", "100", keys=[])
        for start in range(0, self.COUNT, 500):
            report = self.ok("filter", "add", self.filter, "--json", stdin=lines_of(self.keys[start:start + 500])).json
            self.assertEqual((report["planned_keys"], report["overfull"]), (0, False))
            self.assertLessEqual(report["predicted_rate"], 0.01)
        self.assertGreater(report["stages"], 3)
        self.assertEqual(self.maybe_count(self.keys), self.COUNT)
        self.assertIn("stages", self.ok("filter", "info", self.filter).text)
        expected = report["predicted_rate"] * len(self.strangers)
        self.assertAlmostEqual(self.maybe_count(self.strangers), expected, delta=6 * expected ** 0.5 + 6)

    def test_all_at_once_or_one_after_another(self):
        self.create("--kind", "scalable", "--secret-seed", "3", "--ratio", "0.8")
        whole = self.content()
        self.create("--kind", "scalable", "--secret-seed", "3", "--ratio", "0.8", "--force", keys=self.keys[:1100])
        self.ok("filter", "add", self.filter, stdin=lines_of(self.keys[1100:]))
        self.assertEqual(self.content(), whole)

    def test_options(self):
        for options in (["--kind", "scalable", "--ratio", "0.99"], ["--kind", "bloom", "--ratio", "0.5"],
                        ["--kind", "scalable", "--keys", "3"]):
            self.expect(USAGE, "filter", "create", self.filter, *options, stdin="a\n")


class Remove(FilterTest):
    def remove(self, keys, code=FOUND):
        return self.expect(code, "filter", "remove", self.filter, "--json", stdin=lines_of(keys)).json

    def test_removed_keys_are_gone_and_the_others_stay(self):
        self.create("--kind", "counting", "--keys", str(self.COUNT))
        before = self.content()
        report = self.remove(self.keys[:1000])
        self.assertEqual((report["keys"], report["keys_absent"]), (2000, 0))
        self.assertEqual(self.maybe_count(self.keys[1000:]), 2000)
        expected = report["predicted_rate"] * 1000
        self.assertAlmostEqual(self.maybe_count(self.keys[:1000]), expected, delta=6 * expected ** 0.5 + 6)
        self.ok("filter", "add", self.filter, stdin=lines_of(self.keys[:1000]))
        self.assertEqual(self.content()[HEADER:], before[HEADER:])

    def test_what_came_twice_goes_twice(self):
        for options in (["--keys", "10"], []):
            report = self.create("--kind", "counting", "--force", *options, keys=["a", "b", "a"])
            self.assertEqual(report["keys"], 3)
            self.assertEqual(self.remove(["a"])["keys"], 2)
            self.ok("filter", "check", self.filter, "--key", "a")
            self.remove(["a"])
            self.expect(ABSENT, "filter", "check", self.filter, "--key", "a")
            self.ok("filter", "check", self.filter, "--key", "b")

    def test_absent_keys_are_left_and_told(self):
        self.create("--kind", "counting", keys=["a"])
        report = self.remove(["b", "a", "a"], ABSENT)
        self.assertEqual((report["keys_read"], report["keys_absent"], report["keys"]), (3, 2, 0))
        self.assertEqual(self.ok("filter", "remove", self.filter, stdin="").lines[0], "0 keys read, 0 of them absent")

    def test_full_counters_never_deny(self):
        self.create("--kind", "counting", "--keys", "20", keys=["a"] * 20 + ["b"])
        document = self.ok("filter", "info", self.filter, "--json").json
        self.assertGreater(document["saturated_counters"], 0)
        self.assertIn("full", self.ok("filter", "info", self.filter).text)
        self.remove(["a"] * 19)
        self.ok("filter", "check", self.filter, "--key", "a")
        self.ok("filter", "check", self.filter, "--key", "b")

    def test_other_kinds_refuse(self):
        for kind in ("bloom", "ribbon"):
            self.create("--kind", kind, "--force")
            before = self.content()
            refusal = self.expect(UNSUPPORTED, "filter", "remove", self.filter, stdin="a\n").err
            self.assertIn(f"cannot be removed from a filter of kind {kind}; only kind counting", refusal)
            self.assertEqual(self.content(), before)


class Union(FilterTest):
    def setUp(self):
        super().setUp()
        self.other, self.out = self.path("other.bbf"), self.path("union.bbf")

    def make(self, kind, space=4000):
        """Filters of the keys 0 to 1999 and 1000 to 2999, to be united."""
        self.create("--kind", kind, "--keys", str(space), "--force", keys=self.keys[:2000])
        self.create("--like", self.filter, "--force", keys=self.keys[1000:], path=self.other)

    def assert_near(self, estimate, expected):
        self.assertAlmostEqual(estimate["value"], expected, delta=6 * estimate["standard_error"] + 2)

    def test_a_union_is_the_filter_of_all_keys(self):
        for kind in GROWING:
            self.make(kind)
            document = self.ok("filter", "union", self.out, self.filter, self.other, "--force", "--json").json
            self.assertEqual(self.maybe_count(self.keys, self.out), self.COUNT)
            self.create("--like", self.filter, "--force", path=self.path("whole"))
            whole, united = self.content(self.path("whole")), self.content(self.out)
            self.assertEqual(whole[HEADER + 40:-8], united[HEADER + 40:-8])
            self.assertEqual(stat.S_IMODE(os.stat(self.out).st_mode), 0o600)
            for part, expected in (("union", 3000), ("both", 1000), ("first_only", 1000), ("second_only", 1000)):
                self.assert_near(document[part], expected)
            for row in document["inputs"]:
                self.assert_near(row, 2000)
            self.assertEqual([row["file"] for row in document["inputs"]], [self.filter, self.other])
            self.assertAlmostEqual(document["jaccard"]["value"], 1 / 3, delta=0.1)

    def test_three_and_text(self):
        self.make("bloom")
        result = self.ok("filter", "union", self.out, self.filter, self.other, self.filter)
        self.assertRegex(result.lines[-1], r"union.bbf: bloom, [23],\d+ keys")
        self.assertEqual(self.maybe_count(self.keys, self.out), self.COUNT)
        text = self.ok("filter", "union", self.out, self.filter, self.other, "--force").text
        for expected in ("both (intersection)", "standard error", "all of them (union)"):
            self.assertIn(expected, text)

    def test_a_union_that_holds_more_than_planned(self):
        self.make("bloom", space=2000)
        result = self.expect(OVERFULL, "filter", "union", self.out, self.filter, self.other)
        self.assertIn("2,000 were planned", result.err)
        self.assertEqual(self.maybe_count(self.keys, self.out), self.COUNT)

    def test_a_union_with_itself_is_not_overfull(self):
        """The estimated count of its keys is above the plan for half of them."""
        for seed in range(12):
            keys = lines_of(range(10000 * seed, 10000 * seed + 5000))
            self.ok("filter", "create", self.filter, "--kind", "bloom", "--secret-seed", str(seed), "--force",
                    stdin=keys)
            self.ok("filter", "union", self.out, self.filter, self.filter, "--force")

    def test_a_larger_filter_is_folded_and_the_space_is_that_of_the_smaller(self):
        small, large = 8192 + 72, 16384 + 72
        for path, size, keys in ((self.other, large, self.keys[1000:]), (self.filter, small, self.keys[:2000])):
            report = self.create("--kind", "split-block", "--size", str(size), "--keys", str(size // 2), keys=keys,
                                 path=path)
            self.assertEqual(report["envelope_bytes"], size)
        for paths in ([self.filter, self.other], [self.other, self.filter]):
            report = self.ok("filter", "union", self.out, *paths, "--force", "--json").json
            self.assertEqual((report["envelope_bytes"], report["planned_keys"]), (small, small // 2))
            self.assertEqual(self.maybe_count(self.keys, self.out), self.COUNT)

    def test_what_does_not_go_together_is_refused_with_the_reason(self):
        self.make("bloom")
        cases = [(["--kind", "bloom", "--keys", "4000"], USAGE, "secret"),
                 (["--like", self.filter, "--kind", "blocked-bloom"], USAGE, "kind"),
                 (["--like", self.filter, "--keys", "4100"], USAGE, "multiple"),
                 (["--like", self.filter, "--rate", "0.2"], USAGE, "bits of one filter"),
                 (["--kind", "ribbon"], USAGE, "secret")]
        for options, code, reason in cases:
            self.create(*options, "--force", path=self.other)
            self.assertIn(reason, self.expect(code, "filter", "union", self.out, self.filter, self.other).err)
        self.create("--force", path=self.other)
        self.create("--like", self.other, "--force")
        self.assertIn("ribbon", self.expect(UNSUPPORTED, "filter", "union", self.out, self.filter, self.other).err)
        self.assertFalse(os.path.exists(self.out))

    def test_files_that_can_not_be_read_or_written(self):
        self.make("bloom")
        self.expect(IO, "filter", "union", self.out, self.filter, "/does/not/exist")
        self.expect(IO, "filter", "union", self.filter, self.filter, self.other)
        self.expect(CORRUPT, "filter", "union", self.out, self.filter, self.spoil(self.content()[:-1]))
        self.expect(USAGE, "filter", "union", self.out, self.filter, self.write("bare", self.content()[HEADER:]))


class Top(FilterTest):
    """Keys that come often among many that come once."""

    def stream(self):
        """Key i of the first 20 comes 400 - 10 i times, 2980 others once; in no order."""
        keys = [key for i, key in enumerate(self.keys[:20]) for _ in range(400 - 10 * i)] + self.keys[20:]
        test_random().shuffle(keys)
        return keys

    def top(self, keys, *options):
        return self.ok("filter", "top", *options, "--json", stdin=lines_of(keys)).json

    def test_counts_are_never_too_low_and_rarely_too_high(self):
        stream = self.stream()
        document = self.top(stream, "--error", "0.0005", "--error-probability", "1e-6")
        self.assertEqual((document["keys"], document["counted"]), (len(stream), len(stream)))
        self.assertEqual(document["error_bound"], int(0.0005 * len(stream)))
        self.assertEqual({row["key"] for row in document["top"]}, set(self.keys[:10]))
        for row in document["top"]:
            true = 400 - 10 * self.keys.index(row["key"])
            self.assertTrue(true <= row["count"] <= true + document["error_bound"], row)
        self.assertGreaterEqual(document["others_at_most"], 300)
        self.assertLess(document["others_at_most"], 320)

    def test_counts_at_the_defaults(self):
        stream = self.stream()
        document = self.top(stream)
        self.assertEqual(document["error_bound"], int(0.0001 * len(stream)))
        for row in document["top"]:
            true = 400 - 10 * self.keys.index(row["key"])
            self.assertTrue(true <= row["count"] <= true + 2, row)

    def test_absent_keys_alone(self):
        self.create("--rate", "1e-6", "--secret-seed", "1", keys=self.keys[:18])
        document = self.top(self.stream(), "--against", self.filter, "--count", "2", "--error", "0.0001")
        self.assertEqual([row["key"] for row in document["top"]], self.keys[18:20])
        self.assertEqual(document["counted"], document["keys"] - sum(400 - 10 * i for i in range(18)))

    def test_a_list_that_is_not_full_has_all_keys(self):
        document = self.top(["a", "b", "a"])
        self.assertEqual([(row["key"], row["count"]) for row in document["top"]], [("a", 2), ("b", 1)])
        self.assertNotIn("others_at_most", document)
        self.assertEqual(self.top([])["top"], [])

    def test_text_and_binary_keys(self):
        lines = self.ok("filter", "top", "--count", "1", "--null", stdin=b"a\nb\0c\0a\nb\0").lines
        self.assertEqual(lines[0], "2\ta\\nb")
        self.assertIn("3 keys came", lines[1])
        self.assertEqual(lines[2], "every other key came at most 2 times")
        self.assertEqual(self.ok("filter", "top", "--hex", stdin="0a\n").lines[0], "1\t0a")
        self.assertIn('"key_hex": "61"', self.ok("filter", "top", "--hex", "--json", stdin="61\n").text)

    def test_longer_lines_than_keys_can_be_are_left_out_and_counted(self):
        for limit, options, key in ((65536, [], b"k"), (131072, ["--hex"], b"0a"), (65536, ["--null"], b"k")):
            end = b"\0" if "--null" in options else b"\n"
            for extra in (0, 1, 2, 4096, 65535, 65536, 65537, 200000, 1000000)[::STEP]:
                long = key * ((limit + extra) // len(key))
                skipped = 2 * (len(long) > limit)
                for last in (long, long + end, key + end):
                    content = end.join([key, long, key, long, b"", key, b""]) + last
                    found = self.ok("filter", "top", *options, "--json", stdin=content).json
                    expected = skipped + (last != key + end and len(long) > limit)
                    self.assertEqual((found["skipped"], found["keys"]), (expected, 7 - expected), (options, extra))
                    self.assertEqual(max(row["count"] for row in found["top"]), 3 + (last == key + end))
        lines = self.ok("filter", "top", stdin=b"a\n" + b"b" * 65537).lines
        self.assertEqual(lines[-1], "skipped, because no key is longer than 65536 bytes: 1 line")
        self.assertNotIn("longer", self.ok("filter", "top", stdin=b"a\n" + b"b" * 65536).text)

    def test_options_and_inputs_are_checked(self):
        for options in (["--count", "0"], ["--count", "1025"], ["--error", "0.9"], ["--error-probability", "0.9"]):
            self.expect(USAGE, "filter", "top", *options, stdin="a\n")
        self.expect(IO, "filter", "top", "/does/not/exist")
        self.expect(IO, "filter", "top", "--against", "/does/not/exist", stdin="a\n")
        self.create()
        self.expect(CORRUPT, "filter", "top", "--against", self.write("x", self.content()[:-1]), stdin="a\n")
        self.expect(USAGE, "filter", "top", "--against", self.write("x", self.content()[HEADER:]), stdin="a\n")


class Plan(FilterTest):
    def plan(self, *options):
        return self.ok("filter", "plan", *options, "--json").json

    def test_what_is_planned_is_what_is_built(self):
        document = self.plan("--keys", str(self.COUNT), "--rate", "0.01")
        plans = {row["kind"]: row for row in document["plans"]}
        self.assertLessEqual(set(KINDS), set(plans))
        for kind in KINDS:
            report = self.create("--kind", kind, "--force")
            if kind == "ribbon":
                self.assertLessEqual(report["envelope_bytes"], plans[kind]["bytes"])
            else:
                self.assertEqual(report["envelope_bytes"], plans[kind]["bytes"])
            self.assertLessEqual(plans[kind]["predicted_rate"], 0.01)
            self.assertGreater(plans[kind]["bits_per_key"], document["limit"]["bits_per_key"])

    def test_a_plan_needs_two_numbers_above_0(self):
        for options in (["--keys", "0", "--rate", "0.1"], ["--rate", "0.1"]):
            self.assertIn("both above 0", self.expect(USAGE, "filter", "plan", *options).err)

    def test_each_two_of_the_three_numbers(self):
        limit = self.plan("--keys", "1000000", "--rate", "0.01")["limit"]
        self.assertAlmostEqual(limit["bits_per_key"], math.log2(100), delta=1e-9)
        self.assertAlmostEqual(limit["bytes"], 1e6 * math.log2(100) / 8, delta=1)
        document = self.plan("--keys", "1000000", "--size", "1M")
        for row in document["plans"]:
            self.assertLessEqual(row["bytes"], 1 << 20)
            self.assertGreaterEqual(row["target_rate"], document["limit"]["target_rate"])
        self.assertAlmostEqual(document["limit"]["target_rate"], 2 ** -(8.388608), delta=1e-6)
        document = self.plan("--rate", "0.01", "--size", "1M")
        for row in document["plans"]:
            self.assertLessEqual(row["bytes"], 1 << 20)
            self.assertLess(row["keys"], document["limit"]["keys"])

    def test_the_limit_of_more_memory_than_any_filter_takes(self):
        limit = self.plan("--rate", "0.5", "--size", str(2 ** 64 - 1))["limit"]  # was 0 keys
        self.assertEqual((limit["keys"], limit["bytes"]), (2 ** 32, 2 ** 29))
        limit = self.plan("--keys", "1", "--size", "1000")["limit"]  # was a rate of 0 for 0 bits per key
        self.assertEqual((limit["bits_per_key"], limit["bytes"]), (24, 3))

    def test_text_and_choice_of_kinds(self):
        lines = self.ok("filter", "plan", "--keys", "1000", "--rate", "0.01").lines
        self.assertTrue(lines[0].startswith("kind "), lines)
        for kind in [*KINDS, "limit"]:
            self.assertTrue(any(line.startswith(f"{kind} ") for line in lines), kind)
        self.assertEqual([row["kind"] for row in self.plan("--keys", "9", "--rate", "0.1", "--kind", "bloom")["plans"]],
                         ["bloom"])

    def test_the_table_of_clickhouse(self):
        plans = {row["kind"]: row for row in self.plan("--keys", "100000", "--rate", "0.23", "--policy",
                                                       "clickhouse")["plans"]}
        self.assertAlmostEqual(plans["clickhouse"]["bits_per_key"], 19, delta=0.1)
        self.assertLess(plans["bloom"]["bits_per_key"], 4)
        self.expect(USAGE, "filter", "plan", "--keys", "1", "--rate", "0.1", "--policy", "x")

    def test_questions_without_an_answer(self):
        for options in ([], ["--keys", "5"], ["--keys", "5", "--rate", "0.1", "--size", "5"],
                        ["--keys", "5", "--rate", "0.9"], ["--keys", "5000", "--size", "10"],
                        ["--rate", "0.1", "--size", "3"], ["--keys", "99999999999", "--rate", "0.1"],
                        ["--keys", "5000", "--size", "10", "--kind", "bloom"]):
            self.expect(USAGE, "filter", "plan", *options)


if __name__ == "__main__":
    main()
