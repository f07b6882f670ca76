"""dump, filters and verify of one table file, good, damaged, foreign and newer.

Method: a table of a small store is damaged byte by byte and by truncation. Every command must give
the exit code and a message with file and offset, and dump must still show every undamaged block.
"""
import ctypes
import os
import shutil
import struct

from tool import CORRUPT, FOUND, IO, UNSUPPORTED, USAGE, ToolTest, fewer, main, run, some, test_random, words

FOOTER_SIZE = 64
STORED_FOOTER = 6
MASK = (1 << 64) - 1


def mix(x):
    for _ in range(2):
        x ^= x >> 32
        x = x * 0xD6E8FEB86659FD93 & MASK
    return x ^ x >> 32


def checksum(table_id, kind, offset, data):
    """As in docs/format.md; XXH3 comes from the library that the command itself uses."""
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH3_64bits.restype = ctypes.c_uint64
    library.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    low, high = struct.unpack("<QQ", table_id)
    place = mix(low ^ mix(high ^ mix(kind << 56 | offset)))
    return mix(place ^ library.XXH3_64bits(bytes(data), len(data)))


class TableTest(ToolTest):
    COUNT = 6000

    def make(self, *options, count=None):
        """A table file outside of any store."""
        store = self.path("source")
        keys = words(count or self.COUNT)
        self.load([f"{key}\tvalue of {key}" for key in keys], "--tsv", *options, store=store)
        self.ok("compact", store, *options)
        tables = self.tables(store, *options)
        self.assertEqual(len(tables), 1)
        path = self.path("table.bbt")
        shutil.copy(tables[0], path)
        shutil.rmtree(store)
        self.keys = sorted(keys)
        return path

    def spoil(self, path, content):
        spoilt = self.path("spoilt.bbt")
        with open(spoilt, "wb") as file:
            file.write(content)
        return spoilt

    def content(self, path):
        with open(path, "rb") as file:
            return file.read()


class Dump(TableTest):
    def test_parts_of_the_file_add_up(self):
        path = self.make()
        document = self.ok("dump", path, "--json", "--blocks", "--entries", "--limit", "0").json
        properties = document["properties"]
        self.assertEqual(document["file_bytes"], os.path.getsize(path))
        sections = sum(section["bytes"] for section in document["sections"])
        self.assertEqual(properties["data_size"] + properties["index_size"] + sections
                         + document["footer"]["directory_bytes"] + FOOTER_SIZE, document["file_bytes"])
        self.assertEqual(sum(page["bytes"] for page in document["pages"]), properties["index_size"])
        self.assertEqual(sum(block["bytes"] for block in document["blocks"]), properties["data_size"])
        self.assertEqual(len(document["blocks"]), properties["block_count"])
        self.assertEqual(sum(block["entries"] for block in document["blocks"]), self.COUNT)
        self.assertEqual([entry["key"] for entry in document["entries"]], self.keys)
        self.assertTrue(document["complete"])

    def test_the_secret_is_not_shown(self):
        path = self.make()
        text = self.ok("dump", path, "--blocks", "--values", "--limit", "0").text
        document = self.ok("dump", path, "--json").text
        self.assertIn("not shown", text)
        self.assertNotIn("hash_secret", document)
        self.assertLess(len(self.ok("dump", path).text), 8000)

    def test_entries_and_values_on_request_and_escaped(self):
        store = self.path("source")
        self.load("1b5b\t00ff\n61\t62\n", "--tsv", "--hex", store=store)
        self.ok("delete", store, "a")
        self.load("z\n", store=store)
        for path in self.tables(store):
            text = self.ok("dump", path, "--values").text
            self.assertTrue(all(character in "\t\n" or character.isprintable() for character in text), text)
        self.ok("compact", store)
        path, = self.tables(store)
        self.assertIn("\t\\x1b[\t", self.ok("dump", path, "--entries").text)
        self.assertNotIn("\\x00", self.ok("dump", path, "--entries").text)
        self.assertIn("\\x00\\xff", self.ok("dump", path, "--values").text)
        self.assertIn("\t1b5b\t", self.ok("dump", path, "--values", "--hex").text)
        entries = self.ok("dump", path, "--values", "--json").json["entries"]
        self.assertEqual(entries[0]["value_hex"], "00ff")

    def test_limits(self):
        path = self.make()
        document = self.ok("dump", path, "--json", "--blocks", "--entries", "--limit", "3").json
        self.assertEqual([len(document[part]) for part in ("blocks", "entries")], [3, 3])
        result = self.ok("dump", path, "--values", "--limit", "0", "--max-output", "5000")
        self.assertEqual(len(result.out), 5000)
        self.assertIn("cut", result.err)
        self.expect(USAGE, "dump", path, "--json", "--max-output", "5K")

    def test_every_undamaged_block_is_shown(self):
        path = self.make()
        good = self.content(path)
        document = self.ok("dump", path, "--json", "--blocks", "--entries", "--limit", "0").json
        rng = test_random()
        for block in rng.sample(document["blocks"], fewer(6)):
            bad = bytearray(good)
            bad[block["offset"] + rng.randrange(block["bytes"])] ^= 1 << rng.randrange(8)
            spoilt = self.spoil(path, bad)
            result = self.expect(CORRUPT, "dump", spoilt, "--json", "--blocks", "--entries", "--limit", "0")
            self.assertIn(f"{spoilt}: at offset", result.err)
            shown = result.json
            self.assertFalse(shown["complete"])
            self.assertEqual(len(shown["damage"]), 1)
            self.assertEqual([row["block"] for row in shown["blocks"]],
                             [row["block"] for row in document["blocks"] if row["block"] != block["block"]])
            expected = [entry for entry in document["entries"] if entry["block"] != block["block"]]
            self.assertEqual(shown["entries"], expected)
            lost = [entry["key"] for entry in document["entries"] if entry["block"] == block["block"]]
            first, end = shown["damage"][0].split('"')[-4::2]
            self.assertTrue(first <= lost[0] and lost[-1] <= end, shown["damage"])

    def test_a_damaged_index_page_costs_its_blocks_alone(self):
        path = self.make("--block-size", "512")
        document = self.ok("dump", path, "--json", "--entries", "--limit", "0").json
        pages = document["pages"]
        self.assertGreater(len(pages), 2)
        page = pages[1]
        bad = bytearray(self.content(path))
        bad[page["offset"] + 30] ^= 4
        spoilt = self.spoil(path, bad)
        shown = self.expect(CORRUPT, "dump", spoilt, "--json", "--entries", "--limit", "0").json
        blocks = range(page["first_block"], page["first_block"] + page["blocks"])
        self.assertEqual(shown["entries"], [entry for entry in document["entries"] if entry["block"] not in blocks])
        self.assertIn("damaged:", self.expect(CORRUPT, "dump", spoilt).text)

    def test_damaged_filters_cost_no_entry(self):
        path = self.make()
        document = self.ok("dump", path, "--json", "--entries", "--limit", "0").json
        page = document["pages"][0]
        bad = bytearray(self.content(path))
        bad[page["offset"] + page["bytes"] - 20] ^= 4
        spoilt = self.spoil(path, bad)
        shown = self.expect(CORRUPT, "dump", spoilt, "--json", "--entries", "--limit", "0").json
        self.assertEqual(shown["entries"], document["entries"])
        self.assertEqual(shown["pages"][0]["filters"], "damaged")
        self.assertEqual(len(shown["damage"]), 1)


class Filters(TableTest):
    def test_rows_and_total(self):
        path = self.make("--target", "0.02")
        absent = self.write("absent", "".join(f"{key[:-1]}~\n" for key in self.keys) + self.keys[5] + "\n~~\n")
        document = self.ok("filters", path, "--absent", absent, "--limit", "0", "--json").json
        rows, total = document["filters"], document["total"]
        dump = self.ok("dump", path, "--json").json
        self.assertEqual(len(rows), dump["properties"]["block_count"])
        self.assertEqual(sum(row["keys"] for row in rows), self.COUNT)
        blocks = document.get("blocks", total)
        self.assertEqual(sum(row["keys"] for row in rows), total["keys"])
        for field in ("bits", "probed", "passed"):
            self.assertEqual(sum(row[field] for row in rows), blocks[field])
        self.assertEqual(total["stored_bytes"],
                         dump["properties"]["filter_size"] + dump["properties"]["table_filter_size"])
        self.assertAlmostEqual(total["predicted_rate"], total["target_rate"], delta=0.1 * total["target_rate"])
        rate = total["predicted_rate"]
        self.assertAlmostEqual(total["passed"], rate * total["probed"], delta=6 * (rate * total["probed"]) ** 0.5)
        self.assertEqual(sum(total[field] for field in ("probed", "out_of_bounds", "in_table", "unread")),
                         total["lookups"])
        self.assertEqual(total["lookups"], self.COUNT + 2)
        self.assertGreaterEqual(total["in_table"], 1)
        self.assertGreaterEqual(total["out_of_bounds"], 1)

    def test_other_kinds_and_granularities(self):
        for options in (["--filter", "bloom"], ["--filter", "blocked-bloom"], ["--granularity", "5"],
                        ["--granularity", "page"], ["--filter", "none"]):
            path = self.make(*options)
            absent = self.write("absent", "".join(f"{key[:-1]}~\n" for key in self.keys))
            document = self.ok("filters", path, "--absent", absent, "--limit", "0", "--json").json
            total = document["total"]
            self.assertEqual(sum(row["keys"] for row in document["filters"]), self.COUNT)
            self.assertEqual(sum(row["blocks"] for row in document["filters"] if row["shard"] == 0),
                             self.ok("dump", path, "--json").json["properties"]["block_count"])
            rate = total["predicted_rate"]
            self.assertAlmostEqual(total["passed"], rate * total["probed"],
                                   delta=6 * (rate * total["probed"]) ** 0.5 + 1)
            self.assertEqual(rate == 1, "none" in options)

    def test_no_member_is_ever_denied(self):
        """measure excludes members because the table holds them, never because of a filter."""
        path = self.make()
        present = self.write("present", "".join(f"{key}\n" for key in self.keys))
        total = self.ok("filters", path, "--absent", present, "--json").json["total"]
        self.assertEqual((total["probed"], total["in_table"]), (0, self.COUNT))

    def test_text_and_limit(self):
        path = self.make()
        lines = self.ok("filters", path, "--limit", "4").lines
        self.assertRegex(lines[0], r"^block +shard +keys +bits +bits/key")
        self.assertEqual(len([line for line in lines if line.startswith("total")]), 1, lines)
        self.assertIn("target 0.01000", "\n".join(lines))

    def test_damaged_filters_are_shown_as_such(self):
        path = self.make()
        page = self.ok("dump", path, "--json").json["pages"][0]
        bad = bytearray(self.content(path))
        bad[page["offset"] + page["bytes"] - 20] ^= 4
        spoilt = self.spoil(path, bad)
        absent = self.write("absent", "".join(f"{key[:-1]}~\n" for key in self.keys))
        result = self.expect(CORRUPT, "filters", spoilt, "--absent", absent, "--limit", "0", "--json")
        self.assertIn("1 part of the table cannot be read", result.err)
        rows = [row for row in result.json["filters"] if row["page"] == 0]
        self.assertTrue(rows)
        for row in rows:
            self.assertEqual((row["layout"], row["probed"]), ("damaged", row["passed"]))

    def test_bad_arguments(self):
        path = self.make(count=100)
        self.assertIn("/does/not/exist", self.expect(IO, "filters", path, "--absent", "/does/not/exist").err)
        self.assertIn("line 1", self.expect(USAGE, "filters", path, "--hex", "--absent", self.write("x", "xyz\n")).err)


class TableFilter(TableTest):
    def section(self, path):
        sections = self.ok("dump", path, "--json").json["sections"]
        return next(section for section in sections if section["name"] == "table filter")

    def test_dump_describes_it(self):
        path = self.make("--table-filter-bits", "4")
        document = self.ok("dump", path, "--json").json
        properties, table_filter = document["properties"], document["table_filter"]
        self.assertEqual((table_filter["keys"], table_filter["parts"], table_filter["damaged"]), (self.COUNT, 1, False))
        self.assertGreaterEqual(table_filter["chunks"], 1)
        self.assertEqual(properties["table_filter_size"], self.section(path)["bytes"])
        self.assertAlmostEqual(table_filter["bits_per_key"], 8 * properties["table_filter_size"] / self.COUNT)
        self.assertEqual(table_filter["target_rate"], properties["table_filter_rate"])
        self.assertLessEqual(table_filter["predicted_rate"], table_filter["target_rate"])
        self.assertRegex(self.ok("dump", path).text, r"\ntable filter\n +keys +%d in 1 part," % self.COUNT)
        self.assertFalse(self.section(path)["incompatible"])

    def test_filters_show_both_stages_and_their_product(self):
        for bits in ("4", "all"):
            path = self.make("--table-filter-bits", bits)
            absent = self.write("absent", "".join(f"{key[:-1]}~\n" for key in self.keys))
            document = self.ok("filters", path, "--absent", absent, "--json", "--limit", "0").json
            blocks, table_filter, total = document["blocks"], document["table_filter"], document["total"]
            self.assertAlmostEqual(blocks["target_rate"] * table_filter["target_rate"], total["target_rate"])
            self.assertAlmostEqual(blocks["predicted_rate"] * table_filter["predicted_rate"], total["predicted_rate"])
            self.assertEqual(blocks["stored_bytes"] + table_filter["stored_bytes"], total["stored_bytes"])
            self.assertEqual(blocks["probed"], table_filter["probed"])
            self.assertLessEqual(total["passed"], min(blocks["passed"], table_filter["passed"]))
            for stage in (blocks, table_filter, total):
                expected = stage["predicted_rate"] * stage["probed"]
                self.assertAlmostEqual(stage["passed"], expected, delta=6 * expected ** 0.5 + 1)
            self.assertEqual(blocks["predicted_rate"] == 1, bits == "all")
            text = self.ok("filters", path, "--limit", "1").text
            self.assertRegex(text, r"\nblocks .*\ntable filter .*\ntotal ")
            self.assertIn("of these the table filter, of target", text)

    def test_none(self):
        path = self.make("--table-filter-bits", "none")
        self.assertNotIn("table_filter", self.ok("dump", path, "--json").json)
        self.assertNotIn("table_filter", self.ok("filters", path, "--json").json)
        self.assertEqual(self.ok("verify", path, "--json").json["table_filter_chunks"], 0)

    def test_damage_costs_no_entry(self):
        path = self.make()
        place = self.section(path)
        whole = self.ok("dump", path, "--json", "--entries", "--limit", "0").json
        report = self.ok("verify", path, "--json").json
        self.assertEqual(report["table_filter_chunks"], report["table_filter_chunks_compared"])
        for offset in (place["offset"] + 20, place["offset"] + place["bytes"] - 5):  # in a chunk, in the list
            bad = bytearray(self.content(path))
            bad[offset] ^= 4
            spoilt = self.spoil(path, bad)
            shown = self.expect(CORRUPT, "dump", spoilt, "--json", "--entries", "--limit", "0").json
            self.assertEqual(shown["entries"], whole["entries"])
            self.assertEqual(len(shown["damage"]), 1)
            self.assertIn("no key is lost", shown["damage"][0])
            total = self.expect(CORRUPT, "filters", spoilt, "--json").json["total"]
            self.assertGreater(total["predicted_rate"], total["target_rate"])
            self.expect(CORRUPT, "verify", spoilt)


class Verify(TableTest):
    def test_a_directory_is_listed_table_by_table(self):
        store = self.path("listed")
        self.ok("load", store, "--tsv", stdin="".join(f"key{i:06}\tvalue\n" for i in range(3000)))
        tables = self.ok("stat", store, "--json").json["tables"]
        for command in ("filters", "dump"):
            self.assertEqual(self.ok(command, store, "--json").json["tables"], tables)
            self.assertEqual([line.split()[0] for line in self.ok(command, store).lines[1:]],
                             [table["path"] for table in tables])
            self.assertIn("not a store", self.expect(IO, command, self.directory).err)

    def test_a_good_table(self):
        path = self.make()
        report = self.ok("verify", path, "--json").json
        self.assertEqual((report["kind"], report["sound"], report["keys"]), ("table", True, self.COUNT))
        self.assertEqual(report["bytes"], os.path.getsize(path))
        self.assertEqual(report["filters_compared"], report["filters"])
        self.assertIn("sound", self.ok("verify", path).text)

    def test_a_store(self):
        self.load(words(100))
        report = self.ok("verify", self.store, "--json").json
        self.assertEqual((report["kind"], report["sound"], report["entries"]), ("store", True, 100))


class Hostile(TableTest):
    """The same for dump, filters and verify."""

    COMMANDS = [["verify"], ["dump", "--blocks", "--values", "--limit", "0"], ["filters", "--limit", "0"]]

    def expect_all(self, code, path, *needles):
        for command in some(self.COMMANDS):
            result = self.expect(code, command[0], path, *command[1:])
            for needle in needles:
                self.assertIn(needle, result.err)
            self.assertEqual(run(command[0], path, "--json", *command[1:]).code, code)

    def test_not_there_or_no_regular_file(self):
        self.expect_all(IO, "/does/not/exist", "/does/not/exist")
        fifo = self.path("fifo")
        os.mkfifo(fifo)
        for command in self.COMMANDS:
            self.assertIn(run(command[0], fifo, *command[1:]).code, (USAGE, IO))
        for command in self.COMMANDS[1:]:
            self.assertIn(run(command[0], self.directory, *command[1:]).code, (USAGE, IO))

    def test_empty_short_and_foreign_files(self):
        for content in (b"", b"x", b"x" * 63, b"x" * 64, b"\0" * 4096, os.urandom(5000), b"SQLite format 3\0" * 500):
            path = self.write("foreign", content)
            self.expect_all(CORRUPT, path, path, "offset")

    def test_truncated_at_every_kind_of_place(self):
        good = self.content(self.make(count=1500))
        for size in (1, 63, 64, 65, 1000, len(good) // 2, len(good) - FOOTER_SIZE, len(good) - 8, len(good) - 1):
            path = self.spoil(None, good[:size])
            self.expect_all(CORRUPT, path, path, "offset")
        path = self.spoil(None, good + b"\0")
        self.expect_all(CORRUPT, path, path, "offset")

    def test_flipped_bits_are_found_by_verify_wherever_they_are(self):
        good = self.content(self.make(count=400))
        rng = test_random()
        for position in rng.sample(range(len(good)), fewer(60)):
            bad = bytearray(good)
            bad[position] ^= 1 << rng.randrange(8)
            path = self.spoil(None, bad)
            result = run("verify", path)
            # A bit of the footer's version is a newer version only under a good checksum.
            self.assertEqual(result.code, CORRUPT, (position, result.err))
            self.assertRegex(result.err, r"spoilt.bbt: at offset \d+")
            for command in some(self.COMMANDS[1:]):
                self.assertIn(run(command[0], path, *command[1:]).code, (FOUND, CORRUPT), (position, command))

    def test_blocks_of_another_table_are_not_accepted(self):
        one, two = self.make(count=400), self.path("two.bbt")
        os.rename(one, two)
        one = self.make(count=400)
        mixed = bytearray(self.content(one))
        size = self.ok("dump", two, "--blocks", "--json").json["blocks"][0]["bytes"]
        mixed[:size] = self.content(two)[:size]
        self.assertNotEqual(mixed, self.content(one))
        self.expect_all(CORRUPT, self.spoil(None, mixed), "offset 0")

    def test_a_newer_version_is_unsupported_and_named(self):
        content = bytearray(self.content(self.make(count=100)))
        footer = len(content) - FOOTER_SIZE
        table_id = bytes(content[footer:footer + 16])
        stored, = struct.unpack_from("<Q", content, footer + 48)
        try:
            self.assertEqual(checksum(table_id, STORED_FOOTER, footer, content[footer:footer + 48]), stored)
        except OSError:
            self.skipTest("libxxhash.so.0 can not be loaded: the footer's checksum can not be made")
        struct.pack_into("<I", content, footer + 28, 77)
        struct.pack_into("<Q", content, footer + 48,
                         checksum(table_id, STORED_FOOTER, footer, content[footer:footer + 48]))
        path = self.spoil(None, content)
        self.expect_all(UNSUPPORTED, path, path, "77")


if __name__ == "__main__":
    main()
