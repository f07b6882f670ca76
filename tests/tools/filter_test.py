"""filter create, check and info: filters in files, good, damaged, foreign and newer.

Method: filters of known keys are probed for members (no member may ever be denied) and for
non-members (about the predicted number pass). Files are damaged byte by byte and by truncation.
Places that cannot be written are tried.
"""
import os
import re
import resource
import signal
import stat
import struct
import subprocess
import sys
import unittest

from filter_case import HEADER, FilterTest, lines_of
from tool import (ABSENT, BINARY, CORRUPT, FOUND, IO, OVERFULL, SOURCE, UNSUPPORTED, USAGE, fewer, main, run,
                  some, strace_works, test_random, traceable)

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "tests", "golden"))
sys.path.insert(0, os.path.join(SOURCE, "tests", "redis"))
import xxh3  # noqa: E402
from partition import xxh64  # noqa: E402

KINDS = ["ribbon", "bloom", "blocked-bloom", "split-block", "partitioned"]


class Create(FilterTest):
    def test_members_are_never_denied_and_strangers_pass_as_predicted(self):
        for kind in KINDS:
            for rate in ("0.1", "0.01"):
                report = self.create("--kind", kind, "--rate", rate, "--force")
                self.assertEqual((report["kind"], report["keys"]), (kind, self.COUNT))
                self.assertEqual(report["target_rate"], float(rate))
                self.assertLess(report["predicted_rate"], 1.2 * float(rate))
                self.assertEqual(self.maybe_count(self.keys), self.COUNT)
                expected = report["predicted_rate"] * len(self.strangers)
                self.assertAlmostEqual(self.maybe_count(self.strangers), expected, delta=6 * expected ** 0.5 + 6)

    def test_a_filter_that_cannot_keep_its_target_is_reported(self):
        result = self.expect(OVERFULL, "filter", "create", self.filter, "--kind", "none", "--rate", "0.01",
                             stdin=lines_of(self.keys))
        self.assertIn("the rate of the filter is 1.00000, the rate that was given is 0.01000: kind none passes "
                      "every key; choose another --kind", result.err)
        self.create("--kind", "none", "--force")
        # Parquet's hash has no secret. These keys fall into one block of 19, and fill it.
        names = [f"chosen {number}" for number in range(8000)]
        chosen = [name for name in names if xxh64(name.encode()) >> 32 < 2**32 // 20][:300]
        result = self.expect(OVERFULL, "filter", "create", self.filter, "--kind", "split-block", "--rate", "0.001",
                             "--force", "--json", stdin=lines_of(chosen))
        self.assertGreater(result.json["predicted_rate"], 0.04)
        self.assertFalse(result.json["overfull"])
        self.assertRegex(result.err, r"the rate of the filter is 0.05\d+, its target is 0.00100: its keys set "
                                     r"more bits than random keys do; create it with --kind ribbon")
        self.assertEqual(self.ok("filter", "info", self.filter, "--json").json["verdict"], "above")
        self.create("--kind", "ribbon", "--rate", "0.001", "--force", keys=chosen)

    def test_a_check_takes_several_keys(self):
        self.create()
        known, strange = self.keys[0], next(key for key in self.strangers if self.maybe_count([key]) == 0)
        check = ("filter", "check", self.filter, "--key")
        result = self.expect(ABSENT, *check, strange, "--key", known)
        self.assertEqual(result.text, f"absent\t{strange}\nmaybe\t{known}\n")
        self.assertEqual(self.ok(*check, known, "--key", self.keys[1], "--json").json["maybe"], 2)

    def test_filters_of_few_keys_keep_their_target_or_are_within_chance(self):
        for kind in KINDS + ["counting", "scalable"]:
            for count in (1, 2, 3, 10, 40, 150):
                rate = ("0.3", "0.01", "1e-5")[count % 3]
                self.create("--kind", kind, "--rate", rate, "--force", keys=self.keys[:count])

    def test_files_and_standard_input_give_the_same_filter(self):
        half = self.COUNT // 2
        one, two = self.write("one", lines_of(self.keys[:half])), self.write("two", lines_of(self.keys[half:]))
        variants = [([one, two], b""), ([two, one], b""), ([], lines_of(self.keys)), ([one, "-"], self.content(two)),
                    ([one, two, one], b"")]
        contents = []
        for paths, stdin in variants:
            self.ok("filter", "create", self.filter, *paths, "--secret-seed", "7", "--force", stdin=stdin)
            contents.append(self.content())
        self.assertEqual(len(set(contents)), 1)

    def test_secrets_are_random_unless_asked_for(self):
        self.create()
        one = self.content()
        self.create("--force")
        self.assertNotEqual(one[24:216], self.content()[24:216])
        self.create("--force", "--like", self.write("one.bbf", one))
        self.assertEqual(one, self.content())

    def test_like_takes_kind_rate_and_salt_and_options_come_first(self):
        self.create("--kind", "bloom", "--rate", "0.05")
        other = self.path("other.bbf")
        report = self.create("--like", self.filter, path=other, keys=["a"])
        self.assertEqual((report["kind"], report["target_rate"]), ("bloom", 0.05))
        self.assertEqual(self.content(other)[24:216], self.content()[24:216])
        report = self.create("--like", self.filter, "--kind", "ribbon", "--rate", "0.1", "--force", path=other)
        self.assertEqual((report["kind"], report["target_rate"]), ("ribbon", 0.1))
        self.expect(USAGE, "filter", "create", self.path("x"), "--like", self.filter, "--secret-seed", "1")

    def test_memory_instead_of_a_rate(self):
        for kind in KINDS:
            for options in ([], ["--keys", str(self.COUNT)]):
                report = self.create("--kind", kind, "--size", "4K", "--force", *options, keys=self.keys + self.keys)
                self.assertLessEqual(report["envelope_bytes"], 4096)
                self.assertGreater(report["envelope_bytes"], 3900)
                self.assertLess(report["predicted_rate"], 0.02)
                self.assertFalse(report["overfull"])
                self.assertEqual(self.maybe_count(self.keys), self.COUNT)
        self.create("--size", "4K", "--force", keys=[])
        self.assertIn("--size", self.expect(USAGE, "filter", "create", self.path("x"), "--size", "30", stdin="a\n").err)
        self.expect(USAGE, "filter", "create", self.path("x"), "--size", "1K", "--rate", "0.1", stdin="a\n")

    def test_slack_is_space_for_ribbons_alone(self):
        tight = self.create("--secret-seed", "1")
        slack = self.create("--secret-seed", "1", "--slack", "0.1", "--force")
        self.assertGreater(slack["envelope_bytes"], tight["envelope_bytes"])
        self.assertEqual(self.maybe_count(self.keys), self.COUNT)
        self.expect(USAGE, "filter", "create", self.filter, "--slack", "0.9", "--force", stdin="a\n")
        self.expect(USAGE, "filter", "create", self.filter, "--slack", "0.1", "--kind", "bloom", "--force", stdin="a\n")

    def test_no_keys_and_the_empty_key(self):
        self.assertEqual(self.create(keys=[])["keys"], 0)
        self.assertEqual(self.maybe_count(["", "a"]), 0)
        self.assertEqual(self.create("--force", keys=[""])["keys"], 1)
        self.expect(FOUND, "filter", "check", self.filter, "--key", "")

    def test_binary_keys(self):
        keys = [b"\0", b"\0\0", b"a\nb", b"", b"\xff\xfe", b"tab\tkey", b"back\\slash"]
        path = self.write("keys", b"".join(key + b"\0" for key in keys if b"\0" not in key))
        self.ok("filter", "create", self.filter, path, "--null")
        self.assertEqual(run("filter", "check", self.filter, path, "--null", "--count", "--json").json["absent"], 0)
        listed = self.ok("filter", "check", self.filter, path, "--null", "--maybe", "--raw").out
        self.assertEqual(listed, self.content(path))
        path = self.write("keys", "".join(key.hex() + "\n" for key in keys))
        self.ok("filter", "create", self.filter, path, "--hex", "--force")
        self.assertEqual(self.ok("filter", "check", self.filter, path, "--hex", "--maybe").out, self.content(path))
        self.ok("filter", "check", self.filter, "--hex", "--key", "0000")
        answer, = self.ok("filter", "check", self.filter, "--hex", "--key", "0000", "--json").json["answers"]
        self.assertEqual(answer, {"key_hex": "0000", "answer": "maybe"})
        path = self.write("keys", b"a\0b\nc\n")
        self.assertEqual(self.create("--force", keys=["c", "a\0b"])["keys"], 2)
        self.ok("filter", "check", self.filter, path)

    def test_the_file_is_private_and_whole(self):
        old = os.umask(0)
        try:
            self.create()
        finally:
            os.umask(old)
        self.assertEqual(stat.S_IMODE(os.stat(self.filter).st_mode), 0o600)
        self.assertEqual(self.leftovers(), [])

    def test_nothing_is_overwritten_unless_forced(self):
        self.create()
        before = self.content()
        self.assertIn("--force", self.expect(IO, "filter", "create", self.filter, stdin="a\n").err)
        self.assertEqual(self.content(), before)
        self.create("--force", keys=["a"])
        self.assertNotEqual(self.content(), before)

    def test_a_file_that_appears_meanwhile_is_not_overwritten(self):
        with subprocess.Popen([BINARY, "filter", "create", self.filter], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdin.write(b"a\n" * 100000)  # more than a pipe holds: it reads, after the first look at the name
            process.stdin.flush()
            self.write("keys.bbf", b"precious")
            _, complaint = process.communicate()
            self.assertEqual(process.returncode, IO)
            self.assertIn(b"exists", complaint)
        self.assertEqual(self.content(), b"precious")
        self.assertEqual(self.leftovers(), [])

    def test_a_failure_leaves_the_old_file(self):
        self.create()
        before = self.content()
        self.expect(IO, "filter", "create", self.filter, "/does/not/exist", "--force")
        self.expect(USAGE, "filter", "create", self.filter, "--force", "--hex", stdin="xyz\n")
        self.expect(USAGE, "filter", "create", self.filter, "--force", stdin="k" * 70000)
        self.expect(USAGE, "filter", "create", self.filter, "--force", "--rate", "0.9")
        self.assertEqual(self.content(), before)
        self.assertEqual(self.leftovers(), [])

    def test_links_are_followed(self):
        self.create()
        link = self.path("link")
        os.symlink(self.filter, link)
        self.expect(IO, "filter", "create", link, stdin="a\n")
        self.create("--force", keys=["a"], path=link)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(self.ok("filter", "info", self.filter, "--json").json["keys"], 1)
        self.ok("filter", "check", link, "--key", "a")

    def test_a_link_to_a_missing_file_is_not_replaced(self):
        link = self.path("link")
        os.symlink(self.path("missing"), link)
        for options in ([], ["--force"]):
            self.assertIn("link", self.expect(USAGE, "filter", "create", link, *options, stdin="a\n").err)
        self.assertTrue(os.path.islink(link))
        self.assertEqual(self.leftovers(), [])

    def test_places_that_can_not_be_written(self):
        self.expect(IO, "filter", "create", "/does/not/exist/x", stdin="a\n")
        self.expect(IO, "filter", "create", "/proc/x", stdin="a\n")
        self.expect(USAGE, "filter", "create", self.directory, "--force", stdin="a\n")
        self.expect(USAGE, "filter", "create", "/dev/null", "--force", stdin="a\n")
        self.expect(USAGE, "filter", "create", self.path("x") + "/", stdin="a\n")
        self.expect(USAGE, "filter", "create", "", stdin="a\n")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_an_unwritable_directory(self):
        os.mkdir(self.path("closed"), 0o500)
        self.assertIn("closed", self.expect(IO, "filter", "create", self.path("closed/x"), stdin="a\n").err)

    def test_a_full_disk_leaves_the_old_file(self):
        self.create()
        before = self.content()

        def forbid_large_files():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        result = self.expect(IO, "filter", "create", self.filter, "--force", stdin=lines_of(self.keys),
                             preexec_fn=forbid_large_files)
        self.assertIn("too large", result.err)
        self.assertEqual(self.content(), before)
        self.assertEqual(self.leftovers(), [])

    @unittest.skipUnless(strace_works(), "strace is not available here: the order of syncs was not looked at")
    def test_the_file_is_synced_before_it_has_its_name_and_the_name_after(self):
        self.create("--kind", "bloom")
        trace = self.path("trace")
        subprocess.run(["strace", "-f", "-y", "-e", "trace=fsync,fdatasync,rename,renameat,renameat2", "-o", trace,
                        BINARY, "filter", "add", self.filter], input=b"a\n", env=traceable(), stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, check=False, timeout=300)
        calls = re.findall(r"(sync|rename)[a-z0-9]*\((.*)\) += 0", self.content(trace).decode())
        self.assertEqual([name for name, _ in calls], ["sync", "rename", "sync"])
        self.assertRegex(calls[0][1], r"keys\.bbf\.[0-9a-f]{16}\.tmp")
        self.assertIn(f"<{os.path.realpath(self.directory)}>", calls[2][1])

    def test_options_are_checked(self):
        for case in (["--rate", "0"], ["--rate", "0.6"], ["--rate", "1e-9"], ["--kind", "sieve"], ["--kind"],
                     ["--secret-seed", "x"]):
            self.expect(USAGE, "filter", "create", self.filter, *case, stdin="a\n")
        self.assertFalse(os.path.exists(self.filter))

    def test_text_report(self):
        result = self.ok("filter", "create", self.filter, "--secret-seed", "1", stdin=lines_of(self.keys))
        self.assertRegex(result.text, r"keys.bbf: ribbon, 3,000 keys, [0-9.]+ KiB, [67]\.\d\d bits per key; "
                                      r"predicted rate 0\.0\d+, target 0\.01000\n$")


class Check(FilterTest):
    def setUp(self):
        super().setUp()
        self.create()
        self.absent = run("filter", "check", self.filter, "--absent", stdin=lines_of(self.strangers[:300])).lines[:100]

    def test_one_key_and_many_have_the_same_answer(self):
        asked = self.strangers[:fewer(40)]
        answers = [run("filter", "check", self.filter, "--key", key, "--quiet").code for key in asked]
        self.assertEqual(answers, [ABSENT if key in self.absent else FOUND for key in asked])

    def test_answers_and_exit_codes(self):
        result = self.ok("filter", "check", self.filter, "--key", self.keys[0])
        self.assertEqual(result.text, f"maybe\t{self.keys[0]}\n")
        result = self.expect(ABSENT, "filter", "check", self.filter, "--key", self.absent[0])
        self.assertEqual(result.text, f"absent\t{self.absent[0]}\n")
        self.assertEqual(self.ok("filter", "check", self.filter, "--key", self.keys[0], "--quiet").out, b"")
        self.ok("filter", "check", self.filter, stdin=lines_of(self.keys))
        self.ok("filter", "check", self.filter, stdin="")

    def test_lists(self):
        mixed = [key for pair in zip(self.keys, self.absent) for key in pair]
        stdin = lines_of(mixed)
        lines = self.expect(ABSENT, "filter", "check", self.filter, stdin=stdin).lines
        self.assertEqual(lines, [f"{'absent' if i % 2 else 'maybe'}\t{key}" for i, key in enumerate(mixed)])
        for option, listed in (("--absent", mixed[1::2]), ("--maybe", mixed[::2])):
            self.assertEqual(self.expect(ABSENT, "filter", "check", self.filter, option, stdin=stdin).lines, listed)
        text = self.expect(ABSENT, "filter", "check", self.filter, "--count", stdin=stdin).text
        self.assertEqual(text, "200 keys: 100 maybe (50 %), 100 absent\n")

    def test_json(self):
        document = self.expect(ABSENT, "filter", "check", self.filter, "--json",
                               stdin=lines_of([self.keys[0], self.absent[0]])).json
        self.assertEqual(document, {"answers": [{"key": self.keys[0], "answer": "maybe"},
                                                {"key": self.absent[0], "answer": "absent"}],
                                    "keys": 2, "maybe": 1, "absent": 1, "sound": True, "complete": True})
        self.assertEqual(self.ok("filter", "check", self.filter, "--json", stdin="").json["answers"], [])
        self.assertNotIn("answers", self.ok("filter", "check", self.filter, "--json", "--count", stdin="").json)

    def test_keys_are_escaped_unless_raw(self):
        keys = b"\x1b[31m\nback\\slash\n"
        lines = run("filter", "check", self.filter, stdin=keys).lines
        self.assertEqual([line.split("\t")[1] for line in lines], ["\\x1b[31m", "back\\\\slash"])
        raw = [run("filter", "check", self.filter, which, "--raw", stdin=keys).out for which in ("--absent", "--maybe")]
        self.assertEqual(sorted(b"".join(raw).splitlines()), sorted(keys.splitlines()))

    def test_a_reader_that_leaves_ends_the_command(self):
        with subprocess.Popen([BINARY, "filter", "check", self.filter, "/dev/zero", "--null"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            process.stdout.readline()
            process.stdout.close()
            self.assertIn(process.wait(timeout=60), (FOUND, ABSENT))
            self.assertEqual(process.stderr.read(), b"")

    def test_options_that_exclude_each_other(self):
        for options in (["--absent", "--maybe"], ["--raw", "--json"], ["--key", "a", self.write("x", "")]):
            self.expect(USAGE, "filter", "check", self.filter, *options)

    def test_inputs_that_can_not_be_read(self):
        self.assertIn("/does/not/exist", self.expect(IO, "filter", "check", "/does/not/exist", stdin="a\n").err)
        self.assertIn("/does/not/exist", self.expect(IO, "filter", "check", self.filter, "/does/not/exist").err)
        self.assertIn("line 2", self.expect(USAGE, "filter", "check", self.filter, "--hex", stdin="00\nx\n").err)
        document = self.expect(IO, "filter", "check", self.filter, "/does/not/exist", "--json").json
        self.assertFalse(document["complete"])

    def test_a_bare_envelope_can_not_be_asked(self):
        path = self.write("bare", self.content()[HEADER:])
        self.assertIn("secret", self.expect(USAGE, "filter", "check", path, "--key", "a").err)
        self.assertIn("secret", self.expect(USAGE, "filter", "create", self.path("x"), "--like", path).err)


class Info(FilterTest):
    def test_fields(self):
        for kind in KINDS:
            created = self.create("--kind", kind, "--force")
            document = self.ok("filter", "info", self.filter, "--json").json
            self.assertEqual({name: document[name] for name in created}, created)
            self.assertEqual((document["sound"], document["bare_envelope"]), (True, False))
            self.assertEqual(document["file_bytes"], os.path.getsize(self.filter))
            self.assertEqual(document["envelope_bytes"] + HEADER, document["file_bytes"])
            self.assertAlmostEqual(document["bits_per_key"], document["envelope_bytes"] * 8 / self.COUNT, delta=1e-6)
            self.assertLess(document["limit_bits_per_key"], document["bits_per_key"])
            planned = self.ok("filter", "plan", "--kind", kind, "--keys", "3000", "--rate", "0.01", "--json").json
            self.assertEqual(document["parameters"], planned["plans"][0]["parameters"])
            self.assertEqual(document["verdict"], "within" if document["predicted_rate"] <= 0.01 else "chance")
            self.assertTrue(document["within_target"])
            text = self.ok("filter", "info", self.filter).text
            for expected in (kind, "3,000", "0.01000", "sound", "the target", "parameters"):
                self.assertIn(expected, text)

    def test_sound_filters_are_not_called_above_the_target(self):
        """About half of the filters predict more than the target, none of them by much."""
        for kind in some(("bloom", "blocked-bloom", "split-block", "partitioned", "counting")):
            above = 0
            for seed in range(8 if kind != "split-block" else 1):
                options = ["--secret-seed", str(seed)] if kind != "split-block" else []
                self.create("--kind", kind, "--force", *options, keys=self.keys[:500])
                document = self.ok("filter", "info", self.filter, "--json").json
                above += document["predicted_rate"] > document["target_rate"]
                self.assertEqual(document["verdict"], "chance" if document["predicted_rate"] > 0.01 else "within")
                if seed < 3:
                    text = self.ok("filter", "info", self.filter).text
                    self.assertEqual(": within chance of the target\n" in text,
                                     document["verdict"] == "chance")
            if kind in ("bloom", "partitioned", "counting"):
                self.assertGreater(above, 0)

    def test_filters_that_hold_too_much_are_above_the_target(self):
        for kind in ("bloom", "blocked-bloom", "split-block", "partitioned", "counting"):
            self.create("--kind", kind, "--force", "--keys", "1000", keys=[])
            self.expect(OVERFULL, "filter", "add", self.filter, stdin=lines_of(self.keys[:1300]))
            for path in (self.filter, self.write("bare", self.content()[HEADER:])):  # which knows no plan
                document = self.ok("filter", "info", path, "--json").json
                self.assertEqual((document["verdict"], document["within_target"]), ("above", False), kind)
                self.assertIn(": above the target\n", self.ok("filter", "info", path).text)

    def test_the_secret_is_not_shown(self):
        self.create()
        secret = self.content()[24:216].hex()
        for options in ([], ["--json"]):
            self.assertNotIn(secret[:16], self.ok("filter", "info", self.filter, *options).text)

    def test_a_bare_envelope(self):
        self.create()
        path = self.write("bare", self.content()[HEADER:])
        document = self.ok("filter", "info", path, "--json").json
        self.assertEqual((document["bare_envelope"], document["keys"], document["hash"]), (True, self.COUNT, "unknown"))
        bad = bytearray(self.content(path))
        bad[len(bad) // 2] ^= 1
        self.assertRegex(self.expect(CORRUPT, "filter", "info", self.spoil(bad)).err, r"at offset \d+")


class Hostile(FilterTest):
    COUNT = 200

    def setUp(self):
        super().setUp()
        self.create()
        self.good = self.content()

    def expect_damaged(self, code, path, *needles):
        """info names the damage, check passes every key, create --like refuses."""
        result = self.expect(code, "filter", "info", path, "--json")
        self.assertFalse(result.json["sound"])
        for needle in (path, *needles):
            self.assertIn(needle, result.err)
            self.assertIn(needle, result.json["message"])
        result = self.expect(code, "filter", "check", path, stdin="a\nb\n")
        self.assertEqual(result.lines, ["maybe\ta", "maybe\tb"])
        self.assertIn("rules nothing out", result.err)
        self.expect(code, "filter", "create", self.path("other"), "--like", path)

    def test_truncated(self):
        for size in (0, 1, 7, 8, 255, 256, 300, 327, 328, len(self.good) - 1):
            self.expect_damaged(CORRUPT, self.spoil(self.good[:size]), "at offset")
        self.expect_damaged(CORRUPT, self.spoil(self.good + b"\0"), "at offset 16")

    def test_a_file_that_became_longer_than_memory_is_not_read(self):
        """The header disproves the size of a sparse file of a terabyte."""
        for content in (self.good, self.good[HEADER:]):
            path = self.spoil(content)
            os.truncate(path, 1 << 40)
            self.expect_damaged(CORRUPT, path, "at offset 16")

    def test_flipped_bits(self):
        rng = test_random()
        for position in [*rng.sample(range(len(self.good)), fewer(25)), 0, 12, 14, 16, 24, 215, 216, 224, 248, HEADER]:
            bad = bytearray(self.good)
            bad[position] ^= 1 << rng.randrange(8)
            if position in range(8, 12) or position in range(HEADER + 8, HEADER + 12):
                self.expect_damaged(UNSUPPORTED, self.spoil(bad), "version")
            else:
                self.expect_damaged(CORRUPT, self.spoil(bad), "at offset")

    def test_foreign_files(self):
        for content in (b"x", b"x" * 5000, b"\0" * 5000, os.urandom(5000), b"SQLite format 3\0" * 500):
            self.expect_damaged(CORRUPT, self.spoil(content), "at offset 0")
        self.load(["a"])
        self.expect_damaged(CORRUPT, self.tables()[0], "at offset 0")

    def test_a_newer_version_and_an_unknown_hash_are_unsupported(self):
        for offset, width, value in ((8, "<I", 1), (12, "<H", 99)):
            bad = bytearray(self.good)
            struct.pack_into(width, bad, offset, value)
            struct.pack_into("<Q", bad, 248, xxh3.xxh3_64(bytes(bad[:248])))
            self.expect_damaged(UNSUPPORTED, self.spoil(bad), str(value))

    def test_the_header_of_another_filter(self):
        self.create("--force", keys=self.strangers[:self.COUNT])
        other = self.content()
        self.expect_damaged(CORRUPT, self.spoil(other[:HEADER] + self.good[HEADER:]), "at offset")

    def test_a_directory_had_one_code_as_filter_and_another_as_keys(self):
        for arguments in (["create", self.path("new.bbf"), self.directory], ["check", self.filter, self.directory],
                          ["top", self.directory], ["info", self.directory], ["add", self.directory]):
            self.assertIn("directory" if arguments[0] != "add" else "not a regular file",
                          self.expect(USAGE, "filter", *arguments).err)
        self.assertFalse(os.path.exists(self.path("new.bbf")))

    def test_no_regular_files(self):
        os.mkfifo(self.path("fifo"))
        for path in (self.path("fifo"), self.directory, "/dev/null"):
            self.assertIn(run("filter", "info", path).code, (USAGE, IO))
            self.assertIn(run("filter", "check", path, "--key", "a").code, (USAGE, IO))


NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?(?:e[+-]\d+)?")


class Documentation(FilterTest):
    """The examples of docs/tools.md print the output shown there; figures may differ by a tenth."""

    def assert_alike(self, shown, found):
        self.assertEqual(NUMBER.sub("#", shown), NUMBER.sub("#", found))
        for one, other in zip(NUMBER.findall(shown), NUMBER.findall(found)):
            one, other = (float(number.replace(",", "")) for number in (one, other))
            self.assertAlmostEqual(one, other, delta=0.1 * one, msg=f"{shown}\n{found}")

    def test_examples(self):
        with open(os.path.join(SOURCE, "docs", "tools.md"), encoding="utf-8") as file:
            blocks = re.findall(r"```console\n(.*?)```", file.read(), re.DOTALL)
        self.assertTrue(blocks)
        os.mkdir(self.path("bin"))
        os.symlink(BINARY, self.path("bin/bloomblock"))
        environment = dict(os.environ, PATH=self.path("bin") + ":" + os.environ["PATH"])
        for block in blocks:
            for example in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
                command, _, shown = example.partition("\n")
                process = subprocess.run(["bash", "-c", command], cwd=self.directory, env=environment, timeout=60,
                                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
                self.assert_alike(shown, process.stdout.decode())


if __name__ == "__main__":
    main()
