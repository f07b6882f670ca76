"""load, get, scan and delete: values come out as they went in, with any bytes.

Method: small stores, filled through the command, are compared with Python's own dictionaries. Keys
are at and over every limit.
"""
import json
import os
import re
import signal
import subprocess
import time
import unittest

from tool import ABSENT, BINARY, FOUND, IO, USAGE, ToolTest, fewer, main, some, test_random, words

KEY_SIZE_MAX = 64 * 1024
NASTY = [b"", b"a", b"a\0", b"a\0b", b"\0", b"\xff", b"\xff\xff", b"tab\there", b"line\nbreak", b"\x1b[31mred",
         b"back\\slash", "ünïcödé".encode(), b"\xc2\x9bcsi", b"\xe2\x80\xaeoverride", b"\xc3\x28", b"\x7f", b" ", b"\r"]


def hex_lines(pairs):
    return "".join(f"{key.hex()}\t{value.hex()}\n" for key, value in pairs)


class Load(ToolTest):
    def scan(self, *options):
        """The store as pairs of bytes."""
        lines = self.ok("scan", self.store, "--hex", *options).lines
        return [tuple(bytes.fromhex(field) for field in line.split("\t")) for line in lines]

    def test_lines_are_keys(self):
        self.load(["dog", "cat", "ant"])
        self.assertEqual(self.ok("scan", self.store, "--keys-only").lines, ["ant", "cat", "dog"])
        self.assertEqual(self.ok("get", self.store, "cat").out, b"\n")

    def test_tsv_splits_at_the_first_tab(self):
        self.load("cat\t9\tlives\ndog\t\n\tempty key\n", "--tsv")
        self.assertEqual(self.scan(), [(b"", b"empty key"), (b"cat", b"9\tlives"), (b"dog", b"")])

    def test_files_and_standard_input_in_turn(self):
        a = self.write("a", "one\ntwo")
        self.ok("load", self.store, a, "-", a, stdin="three\n")
        self.assertEqual([key for key, _ in self.scan()], [b"one", b"three", b"two"])

    def test_an_empty_input_makes_an_empty_store(self):
        self.load("")
        self.assertEqual(self.scan(), [])
        self.expect(ABSENT, "get", self.store, "a")
        self.ok("verify", self.store)

    def test_a_key_that_comes_again_replaces(self):
        self.load("k\t1\nk\t2\n", "--tsv")
        self.load("k\t3\n", "--tsv")
        self.assertEqual(self.ok("get", self.store, "k").text, "3\n")

    def test_any_bytes_survive(self):
        pairs = [(key, key[::-1] + b"\0value\n") for key in NASTY]
        self.load(hex_lines(pairs), "--tsv", "--hex")
        self.assertEqual(self.scan(), sorted(pairs))
        for key, value in some(pairs):
            self.assertEqual(self.ok("get", self.store, "--hex", key.hex()).text, value.hex() + "\n")
            self.assertEqual(self.ok("get", self.store, "--hex", "--raw", key.hex()).out, value)

    def test_nul_bytes_in_lines(self):
        self.load(b"a\0b\na\0c\n")
        self.assertEqual([key for key, _ in self.scan()], [b"a\0b", b"a\0c"])

    def test_options_of_the_store_are_honoured(self):
        keys = words(fewer(5000))
        cases = (["--filter", "bloom"], ["--filter", "blocked-bloom"], ["--filter", "none"], ["--compression", "none"],
                 ["--granularity", "4"], ["--granularity", "page"], ["--block-size", "512"], ["--target", "0.2"],
                 ["--sync"], ["--batch", "1"], ["--no-flush"], ["--deterministic"], ["--cache-off"],
                 ["--index-cached"], ["--read-mode", "mapped", "--compression", "none"], ["--read-mode", "calls"],
                 ["--restart-interval", "1"], ["--table-size", "64K"], ["--no-wal"])
        for options in cases:
            store = self.path("store" + "".join(options))
            self.load(keys, "--write-buffer", "64K", *options, store=store)
            self.assertEqual(self.ok("scan", store, "--count").text, f"{len(keys)}\n")
            self.ok("verify", store)

    def test_a_synced_load_without_a_log_is_refused_at_once(self):
        result = self.expect(USAGE, "load", self.store, "--sync", "--no-wal", stdin="a\n")
        self.assertIn("--no-wal", result.err)
        self.assertFalse(os.path.exists(self.store))

    def test_options_reach_the_tables(self):
        options = ["--block-size", "1K", "--granularity", "3", "--restart-interval", "5", "--target", "0.2", "--filter",
                   "bloom"]
        self.load(words(2000), *options)
        properties = self.ok("dump", self.tables(None, *options)[0], "--json").json["properties"]
        self.assertEqual((properties["block_size_bytes"], properties["filter_granularity"],
                          properties["restart_interval"], properties["filter_kind"]), (1024, 3, 5, "bloom"))
        options = ["--granularity", "page", "--compression", "none"]
        self.store = self.path("other")
        self.load(words(2000), *options)
        properties = self.ok("dump", self.tables(None, *options)[0], "--json").json["properties"]
        self.assertEqual((properties["filter_granularity"], properties["compression"]), ("page", "none"))

    def test_report(self):
        report = self.load(words(3000), "--json").json
        self.assertEqual(report["records"], 3000)
        self.assertGreaterEqual(report["tables"], 1)
        self.assertIn("3,000 records", self.load(words(3000)).text)

    def test_ack_names_each_line_once(self):
        lines = self.load("b\t1\na\\\t\n\x01\t\n", "--tsv", "--ack", "--batch", "2").lines
        self.assertEqual(lines, ["1\tb", "2\ta\\\\", "3\t\\x01"])

    def test_without_flush_the_log_has_it_all(self):
        self.load(words(1000), "--no-flush")
        self.assertEqual(self.ok("scan", self.store, "--count").text, "1000\n")

    def test_a_secret_from_a_seed_makes_equal_filters(self):
        bits = []
        for name in ("a", "b"):
            self.load(words(2000), "--secret-seed", "7", store=self.path(name))
            bits.append(self.ok("stat", self.path(name), "--json").json["filter_bytes"])
        self.assertEqual(bits[0], bits[1])


class Filters(ToolTest):
    OPTIONS = ("--write-buffer", "64K", "--level1-size", "256K", "--deterministic")

    def stat(self, *options):
        return self.ok("stat", self.store, "--json", *self.OPTIONS, *options).json

    def test_a_budget_is_kept_and_shown(self):
        options = ("--filter-budget", "8K")
        self.load(words(10000), *self.OPTIONS, *options)
        self.assertLessEqual(self.stat(*options)["filter_bytes"], 1.05 * 8192)
        self.ok("compact", self.store, *self.OPTIONS, *options)
        report = self.stat(*options)
        self.assertEqual(report["filter_budget_bytes"], 8192)
        self.assertTrue(0.92 * 8192 <= report["filter_bytes"] <= 1.02 * 8192, report["filter_bytes"])
        self.assertIn("of a budget of 8.0 KiB", self.ok("stat", self.store, *options).text)
        self.assertIn("budget", self.ok("stat", self.store).text)
        self.assertNotIn("budget", self.ok("stat", self.store, "--target", "0.01").text)

    def test_bits_per_key_are_kept_and_shown(self):
        options = ("--bits-per-key", "10")
        self.load(words(10000), *self.OPTIONS, *options)
        self.assertLessEqual(self.stat(*options)["filter_bits_per_key"], 10.5)
        self.ok("compact", self.store, *self.OPTIONS, *options)
        report = self.stat(*options)
        self.assertEqual(report["filter_budget_bytes"], 12500)
        self.assertTrue(9.2 <= report["filter_bits_per_key"] <= 10.2, report["filter_bits_per_key"])
        self.assertIn("bits per key\n", self.ok("stat", self.store, *options).text)

    def test_hits_need_no_filters_in_the_last_level(self):
        options = ("--absent-share", "0.001")
        self.load(words(10000), *self.OPTIONS, *options)
        self.ok("compact", self.store, *self.OPTIONS, *options)
        report = self.stat(*options)
        self.assertEqual(report["filter_bytes"], 0)
        self.assertEqual(report["levels"][-1]["visit_share"], 0.001)
        self.assertEqual(report["levels"][-1]["expected_wasted_reads"], 0.001)
        self.assertEqual(report["expected_wasted_reads"], 0.001)
        self.assertEqual(report["passing_tables"], report["table_count"])
        self.assertIn("per lookup, weighted: target 0.01000, expected 0.00100",
                      self.ok("stat", self.store, *options).text)
        self.assertIn("per lookup, weighted: target", self.ok("stat", self.store).text)
        self.assertIn("per absent lookup: target", self.ok("stat", self.store, "--absent-share", "1").text)

    def test_tables_that_rule_out_nothing_are_reported(self):
        self.load(words(3000), "--absent-share", "0.001")
        self.ok("compact", self.store)
        self.assertIn("NO KEY IS RULED OUT: the store has no filters.", self.ok("stat", self.store).text)
        self.load("one more\n")
        report = self.ok("stat", self.store, "--json").json
        self.assertEqual((report["passing_tables"], report["unpredicted_tables"]), (1, 0))
        self.assertEqual([table["predicted_rate"] == 1 for table in report["tables"]], [False, True])
        self.assertIn("1 of 2 tables rule out no key:", self.ok("stat", self.store).text)
        self.ok("compact", self.store, "--absent-share", "1")
        text = self.ok("stat", self.store).text
        self.assertNotIn("rule out", text)
        self.assertNotIn("RULED OUT", text)

    def test_the_expectation_is_that_of_the_stored_filters(self):
        """A single table of few keys has a lower rate than its target."""
        self.load(words(900), "--target", "0.3", "--table-filter-bits", "none")
        report = self.ok("stat", self.store, "--json").json
        table, = report["tables"]
        self.assertLess(table["predicted_rate"], 0.99 * table["filter_rate"])
        self.assertEqual(report["expected_wasted_reads"], table["predicted_rate"])
        filters = self.ok("filters", table["path"], "--json").json
        self.assertAlmostEqual(filters["total"]["predicted_rate"], table["predicted_rate"], places=9)

    def test_the_store_keeps_the_options_that_shape_its_data(self):
        self.load(words(3000), "--target", "0.001", "--block-size", "1K", "--style", "tiered", "--write-buffer", "64K")
        self.load(words(3000)[:10])
        self.ok("compact", self.store)
        report = self.ok("stat", self.store, "--json").json
        self.assertEqual(report["target_wasted_reads"], 0.001)
        self.assertLessEqual(report["expected_wasted_reads"], 0.0011)
        self.assertEqual(report["stored_options"], {"filter_wasted_reads": 0.001, "block_size_bytes": 1024,
                                                    "compaction_style": "tiered", "write_buffer_bytes": 65536})
        line = "stored options: --target 0.001 --write-buffer 65536 --block-size 1024 --style tiered"
        self.assertIn(line, self.ok("stat", self.store).lines)
        options = line.split(": ")[1].split() + ["--compression", "none", "--granularity", "page"]
        self.ok("compact", self.store, *options)
        self.assertIn("--granularity page --write-buffer 65536 --block-size 1024 --compression none",
                      self.ok("stat", self.store, "--read-only", "--target", "0.5").text)

    def test_a_stored_age_of_tombstones_is_shown(self):
        """stat showed the age that it was given itself; and JSON the largest one as -1."""
        self.load("a\n", "--tombstone-age", str(2**64 - 1))
        report = self.ok("stat", self.store, "--json").json
        for age in (report["tombstone_age_max"], report["stored_options"]["tombstone_age_max"]):
            self.assertAlmostEqual(age / 2**64, 1)
        self.assertIn("allowed are 18,446,744,073,709,551,615", self.ok("stat", self.store).text)
        self.assertIn("allowed are 7", self.ok("stat", self.store, "--read-only", "--tombstone-age", "7").text)


class Limits(ToolTest):
    def test_a_key_at_the_limit_is_stored_and_found(self):
        key = b"k" * KEY_SIZE_MAX
        self.load(b"a\n" + key + b"\nz\n")
        self.ok("get", self.store, key)
        self.assertEqual(self.ok("scan", self.store, "--keys-only").out, b"a\n" + key + b"\nz\n")
        self.ok("verify", self.store)

    def test_interrupted_it_tells_how_many_records_are_in(self):
        process = subprocess.Popen([BINARY, "load", self.store, "--batch", "10"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(b"".join(b"%06d\n" % number for number in range(20000)))
        process.stdin.flush()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 130)  # although its input has not ended
        told = re.search(r"([0-9,]+) records were committed", process.stderr.read().decode())
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()
        keys = self.ok("scan", self.store, "--keys-only").lines if told else []
        self.assertEqual(len(keys), int(told.group(1).replace(",", "")) if told else 0)
        self.assertEqual(keys, [f"{number:06}" for number in range(len(keys))])

    def load_without_merges(self, count):
        """Runs in level 0 that a next load has to merge: work for a good part of a second."""
        rng = test_random()
        rows = "".join(f"{number:06}\t{rng.randbytes(250).hex()}\n" for number in range(count))
        self.load(rows, "--tsv", "--write-buffer", "1M", "--level0-compact", "90", "--level0-busy", "90",
                  "--level0-stop", "99")
        return [f"{number:06}" for number in range(count)]

    def interrupt_at_the_end(self, delay):
        """Exit code and messages of a load that gets Ctrl-C some seconds after its last commit."""
        process = subprocess.Popen([BINARY, "load", self.store, "-", "--ack", "--level0-compact", "2", "--level0-busy",
                                    "2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(b"last\n")
        process.stdin.close()
        process.stdin = None
        self.assertEqual(process.stdout.readline(), b"1\tlast\n")
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1].decode()
        return process.returncode, said

    def test_interrupted_after_the_end_of_the_input_it_ends_promptly(self):
        """It merged to the end, and its exit code was 0."""
        keys = self.load_without_merges(50000)
        for delay in (0, 0.01, 0.02, 0.05, 0.1):
            code, said = self.interrupt_at_the_end(delay)
            if "interrupted while merging" in said:
                self.assertEqual(code, 130)
                self.assertIn("the whole input is in the store, 1 record;", said)
                self.assertEqual(self.ok("scan", self.store, "--keys-only").lines, keys + ["last"])
                return
        self.fail("no load was interrupted while it merged")

    def test_a_key_over_the_limit_is_refused_by_line_and_loses_nothing(self):
        self.load("old\n")
        for options in ([], ["--tsv"], ["--hex"]):
            line = b"6b" * (KEY_SIZE_MAX + 1) if "--hex" in options else b"k" * (KEY_SIZE_MAX + 1)
            end = b"\t\n" if "--tsv" in options else b"\n"
            first = (b"6162" if "--hex" in options else b"ab") + end
            result = self.expect(USAGE, "load", self.store, *options, stdin=first + line + end + first)
            self.assertIn("line 2", result.err)
            self.assertIn("standard input", result.err)
            self.assertIn("65536", result.err if "--hex" not in options else result.err + "65536")
            self.assertIn("1 record was committed", result.err)
            self.assertEqual(self.ok("scan", self.store, "--keys-only").lines, ["ab", "old"])
            self.ok("delete", self.store, "ab")

    def test_an_endless_line_is_refused_in_bounded_memory(self):
        self.expect(USAGE, "load", self.store, "/dev/zero")

    def test_a_key_over_the_limit_can_not_be_asked_for_or_deleted(self):
        self.load("a\n")
        for command in ("get", "delete"):
            self.assertIn("65536", self.expect(USAGE, command, self.store, b"k" * (KEY_SIZE_MAX + 1)).err)
        self.ok("get", self.store, "a")

    def test_large_values(self):
        value = "v" * (3 << 20)
        self.load(f"big\t{value}\nsmall\t1\n", "--tsv", "--write-buffer", "1M")
        self.assertEqual(self.ok("get", self.store, "big").text, value + "\n")
        self.assertEqual(self.ok("get", self.store, "small").text, "1\n")
        self.ok("verify", self.store)

    def test_bad_input_files_are_named(self):
        self.assertIn("/does/not/exist", self.expect(IO, "load", self.store, "/does/not/exist").err)
        self.assertIn(self.directory, self.expect(USAGE, "load", self.store, self.directory).err)

    def test_an_input_that_is_none_leaves_no_store(self):
        """The command created the store before it opened the input: a mistyped name left an empty
        store."""
        good = self.write("good", "a\nb\n")
        secret = self.write("secret", "c\n")
        os.chmod(secret, 0)
        bad = [self.path("missing"), self.directory, os.path.join(good, "below")]
        for path in bad + ([secret] if os.geteuid() != 0 else []):
            for paths in ([path], [good, path], [path, good], ["-", path]):
                code = USAGE if path == self.directory else IO
                self.assertIn(path, self.expect(code, "load", self.store, *paths).err)
                self.assertFalse(os.path.exists(self.store))
        folder = os.open(self.directory, os.O_RDONLY)
        process = subprocess.run([BINARY, "load", self.store], stdin=folder, stderr=subprocess.PIPE, check=False)
        os.close(folder)
        self.assertEqual(process.returncode, USAGE)
        self.assertIn(b"standard input: is a directory", process.stderr)
        self.assertFalse(os.path.exists(self.store))

    def test_a_pipe_with_a_name_is_read_once(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        with subprocess.Popen([BINARY, "load", self.store, pipe], stdout=subprocess.DEVNULL) as loader:
            with open(pipe, "wb") as file:
                file.write(b"a\nb\n")
            self.assertEqual(loader.wait(timeout=60), FOUND)
        self.assertEqual(self.ok("scan", self.store, "--keys-only").lines, ["a", "b"])

    @unittest.skipUnless(os.path.exists("/proc/self/mem"), "there is no /proc/self/mem")
    def test_what_stands_before_a_file_that_can_not_be_read_is_committed(self):
        """Up to a batch of lines was lost, though a bad line loses none."""
        result = self.expect(IO, "load", self.store, self.write("good", "a\nb\n"), "/proc/self/mem")
        self.assertIn("2 records were committed", result.err)
        self.assertEqual(self.ok("scan", self.store, "--keys-only").lines, ["a", "b"])

    def test_hex_that_is_none_names_line_and_position(self):
        path = self.write("keys", "6162\n6g\n")
        self.assertIn(f"{path}: line 2", self.expect(USAGE, "load", self.store, path, "--hex").err)
        path = self.write("keys", "6162\n616\n")
        self.assertIn(f"{path}: line 2", self.expect(USAGE, "load", self.store, path, "--hex").err)
        self.expect(USAGE, "get", self.store, "--hex", "6x")


class Get(ToolTest):
    def setUp(self):
        super().setUp()
        self.load("cat\t9 lives\ndog\t1\n\t(nothing)\n", "--tsv")

    def test_values_and_exit_codes(self):
        self.assertEqual(self.ok("get", self.store, "cat").out, b"9 lives\n")
        self.assertEqual(self.expect(ABSENT, "get", self.store, "unicorn").out, b"")
        self.assertEqual(self.ok("get", self.store, "cat", "dog").out, b"cat\t9 lives\ndog\t1\n")
        self.assertEqual(self.expect(ABSENT, "get", self.store, "cat", "x", "dog").out, b"cat\t9 lives\ndog\t1\n")
        self.assertEqual(self.ok("get", self.store, "").out, b"(nothing)\n")
        self.assertEqual(self.ok("get", self.store, "cat", "--quiet").out, b"")

    def test_json(self):
        entries = self.expect(ABSENT, "get", self.store, "cat", "x", "--json").json["entries"]
        self.assertEqual(entries, [{"key": "cat", "found": True, "value": "9 lives"}, {"key": "x", "found": False}])

    def test_deleted_keys_are_absent(self):
        self.ok("delete", self.store, "cat", "never there")
        self.expect(ABSENT, "get", self.store, "cat")
        self.ok("get", self.store, "dog")
        self.assertEqual(self.ok("delete", self.store, "dog", "--json").json, {"deletions": 1})
        self.ok("compact", self.store)
        self.assertEqual(self.ok("scan", self.store).lines, ["\t(nothing)"])

    def test_delete_by_hex_and_none_of_the_keys_when_one_is_bad(self):
        self.expect(USAGE, "delete", self.store, "--hex", "636174", "xx")
        self.ok("get", self.store, "cat")
        self.ok("delete", self.store, "--hex", "636174", "--sync")
        self.expect(ABSENT, "get", self.store, "cat")


class Escaping(ToolTest):
    def test_text_has_no_control_bytes_and_json_parses(self):
        pairs = [(key, key) for key in NASTY]
        self.load(hex_lines(pairs), "--tsv", "--hex")
        out = self.ok("scan", self.store).out
        text = out.decode()  # valid UTF-8 throughout
        for character in text:
            self.assertTrue(character in "\t\n" or character.isprintable(), repr(character))
        self.assertEqual(len(text.splitlines()), len(NASTY))
        self.assertIn("\\x1b[31mred", text)
        self.assertIn("back\\\\slash", text)
        self.assertIn("ünïcödé", text)
        self.assertIn("\\xc2\\x9bcsi", text)
        self.assertIn("\\xe2\\x80\\xaeoverride", text)

        entries = self.ok("scan", self.store, "--json").json["entries"]
        keys = [bytes.fromhex(row["key_hex"]) if "key_hex" in row else row["key"].encode() for row in entries]
        self.assertEqual(keys, sorted(NASTY))

    def test_messages_are_escaped(self):
        result = self.expect(IO, "get", self.path("no\x1b[31mstore"), "a")
        self.assertNotIn("\x1b", result.err)
        self.assertIn("\\x1b[31m", result.err)


    def test_hex_was_ignored_in_json(self):
        """Keys that are text were strings, although --hex was given."""
        self.load("cat\t9 lives\n", "--tsv")
        wanted = {"key_hex": b"cat".hex(), "value_hex": b"9 lives".hex()}
        self.assertEqual(self.ok("scan", self.store, "--hex", "--json").json["entries"], [wanted])
        self.assertEqual(self.ok("export", self.store, "--hex", "--json").json, wanted)
        row, = self.ok("get", self.store, wanted["key_hex"], "--hex", "--json").json["entries"]
        self.assertEqual(row, {**wanted, "found": True})
        explained = self.ok("explain", self.store, wanted["key_hex"], "--hex", "--json").json
        self.assertEqual((explained["key_hex"], "key" in explained), (wanted["key_hex"], False))
        table, = self.tables()
        entry, = self.ok("dump", table, "--values", "--hex", "--json").json["entries"]
        self.assertEqual({name: entry[name] for name in wanted}, wanted)


class Scan(ToolTest):
    def setUp(self):
        super().setUp()
        self.rng = test_random()
        self.keys = sorted(self.rng.randbytes(self.rng.randrange(0, 4)) for _ in range(2000))
        self.keys = sorted(set(self.keys))
        self.load("".join(key.hex() + "\n" for key in self.keys), "--hex", "--write-buffer", "64K")

    def scan(self, *options):
        return [bytes.fromhex(line) for line in self.ok("scan", self.store, "--hex", "--keys-only", *options).lines]

    def test_ranges_against_a_sorted_list(self):
        for _ in range(fewer(15)):
            low, high = (self.rng.choice(self.keys) + self.rng.randbytes(self.rng.randrange(2)) for _ in "ab")
            expected = [key for key in self.keys if low <= key < high]
            options = ["--from", low.hex(), "--to", high.hex()]
            self.assertEqual(self.scan(*options), expected)
            self.assertEqual(self.scan(*options, "--reverse"), expected[::-1])
            self.assertEqual(self.scan(*options, "--limit", "3"), expected[:3])
            self.assertEqual(self.scan(*options, "--limit", "3", "--reverse"), expected[::-1][:3])

    def test_prefixes_against_a_sorted_list(self):
        for prefix in (b"", b"\xff", b"\xff\xff", b"\0", self.rng.choice(self.keys)[:1], self.keys[-1][:1]):
            expected = [key for key in self.keys if key.startswith(prefix)]
            self.assertEqual(self.scan("--prefix", prefix.hex()), expected)
            self.assertEqual(self.scan("--prefix", prefix.hex(), "--reverse"), expected[::-1])

    def test_all_none_and_counts(self):
        self.assertEqual(self.scan(), self.keys)
        self.assertEqual(self.scan("--reverse"), self.keys[::-1])
        self.assertEqual(self.scan("--limit", "0"), self.keys)
        self.assertEqual(self.scan("--from", "ffffffffff"), [])
        self.assertEqual(self.scan("--to", ""), [])
        self.assertEqual(self.ok("scan", self.store, "--count").text, f"{len(self.keys)}\n")

    def test_a_line_without_a_tab_is_no_pair(self):
        store = self.path("pairs")
        self.load("cat\t9\n", "--tsv", store=store)
        error = self.expect(USAGE, "load", store, "--tsv", stdin="dog\t\ncat\n").err
        self.assertIn("standard input: line 2: no tab splits key and value", error)
        self.assertEqual(self.ok("scan", store).lines, ["cat\t9", "dog\t"])

    def test_acknowledged_lines_are_no_json(self):
        error = self.expect(USAGE, "load", self.path("none"), "--ack", "--json", stdin="a\n").err
        self.assertIn("--ack and --json exclude each other", error)
        self.assertFalse(os.path.exists(self.path("none")))

    def test_json_has_the_count(self):
        document = json.loads(self.ok("scan", self.store, "--json", "--limit", "5").out)
        self.assertEqual((document["count"], len(document["entries"]), document["complete"]), (5, 5, True))
        self.assertEqual(self.ok("scan", self.store, "--json", "--limit", "0").json["count"], len(self.keys))


if __name__ == "__main__":
    main()
