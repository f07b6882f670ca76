"""`bloomblock repair`: it keeps readable data, destroys no data, leaves a sound store unchanged.

Method: stores are damaged as disks and people damage them, with the operating system's own links,
folders and pipes.
"""
import glob
import os
import shutil

from tool import CORRUPT, FOUND, IO, RECOVERED, USAGE, ToolTest, main, run, words

COUNT = 2000


def files(store):
    found = {}
    for name in os.listdir(store):
        path = os.path.join(store, name)
        if name != "LOCK" and os.path.isfile(path):
            with open(path, "rb") as file:
                found[name] = file.read()
    return found


def spoil(path, offset, size=1):
    with open(path, "r+b") as file:
        file.seek(offset, os.SEEK_END if offset < 0 else os.SEEK_SET)
        old = file.read(size)
        file.seek(-len(old), os.SEEK_CUR)
        file.write(bytes(byte ^ 0x5A for byte in old))


class Repair(ToolTest):
    def setUp(self):
        super().setUp()
        self.load(words(COUNT), "--write-buffer", "64K")
        self.ok("compact", self.store, "--write-buffer", "64M")  # into one table
        self.before = files(self.store)

    def find(self, pattern):
        return next(path for path in sorted(glob.glob(os.path.join(self.store, pattern)))
                    if os.path.isfile(path) and not path.endswith(".lost"))

    def table(self):
        return self.find("*.bbt")

    def manifest(self):
        return self.find("MANIFEST-*")

    def count(self):
        return len(self.ok("scan", self.store).lines)

    def repair(self, *options, loses=False):
        code = RECOVERED if loses else FOUND
        report = self.expect(code, "repair", self.store, "--json", *options).json
        self.assertEqual(report["data_lost"], loses)
        self.assertTrue(set(self.before.values()) <= set(files(self.store).values()))
        return report

    def assert_all_there(self):
        self.ok("verify", self.store)
        self.assertEqual(self.count(), COUNT)
        self.assertTrue(self.ok("repair", self.store, "--json").json["whole"])

    def test_a_sound_store_is_left_alone(self):
        self.assertIn("Nothing was changed", self.ok("repair", self.store).text)
        for options in ([], ["--dry-run"]):
            report = self.repair(*options)
            self.assertTrue(report["whole"] and report["has_manifest"] and report["manifest_is_current"])
            self.assertEqual((report["entries_kept"], report["tables_kept"]), (COUNT, 1))
            self.assertNotIn("last_sequence", report)
        self.assertEqual(files(self.store), self.before)

    def test_a_dry_run_changes_nothing(self):
        os.remove(os.path.join(self.store, "CURRENT"))
        del self.before["CURRENT"]
        self.assertIn("dry run", self.ok("repair", self.store, "--dry-run").text)
        self.assertTrue(self.repair("--dry-run")["dry_run"])
        self.assertEqual(files(self.store), self.before)

    def test_current_in_every_state(self):
        current = os.path.join(self.store, "CURRENT")
        states = [
            lambda: None,
            lambda: os.mkdir(current),
            lambda: os.symlink("nowhere", current),
            lambda: os.symlink("LOCK", current),
            lambda: os.mkfifo(current),
            lambda: self.write(current, "MANIFEST-999999\n"),
            lambda: self.write(current, ""),
        ]
        for number, make in enumerate(states):
            with self.subTest(number):
                os.remove(current)
                make()
                self.before = files(self.store)
                report = self.repair()
                self.assertFalse(report["whole"])
                self.assertTrue(report["has_manifest"])
                self.assertFalse(report["deletions_may_return"])
                self.assert_all_there()

    def test_without_a_manifest(self):
        for make in (lambda path: None, os.mkdir, lambda path: os.symlink("nowhere", path), os.mkfifo):
            manifest = self.manifest()
            os.remove(manifest)
            make(manifest)
            self.before = files(self.store)
            report = self.repair()
            self.assertFalse(report["has_manifest"])
            self.assertTrue(report["deletions_may_return"])
            self.assert_all_there()

    def test_a_table_without_its_footer(self):
        os.truncate(self.table(), os.path.getsize(self.table()) - 40)
        self.before = files(self.store)
        report = self.repair()
        self.assertEqual(report["tables_salvaged"], 1)
        self.assertEqual(report["entries_lost"], 0)
        self.assertFalse(report["deletions_may_return"])
        self.assert_all_there()

    def test_a_damaged_block_is_told_with_its_keys(self):
        spoil(self.table(), 50)
        self.before = files(self.store)
        foreseen = self.expect(RECOVERED, "repair", self.store, "--dry-run")
        self.assertIn("a repair would lose data", foreseen.err)
        report = self.repair(loses=True)
        self.assertEqual(report["blocks_lost"], 1)
        self.assertTrue(0 < report["entries_lost"] < COUNT)
        self.assertTrue(report["deletions_may_return"])
        self.assertTrue(any("its beginning and" in finding for finding in report["findings"]))
        self.ok("verify", self.store)
        self.assertEqual(self.count(), COUNT - report["entries_lost"])

    def test_a_dump_of_a_table_without_its_footer(self):
        table = self.table()
        whole = self.ok("dump", table, "--values", "--limit", "0", "--json").json["entries"]
        os.truncate(table, os.path.getsize(table) - 40)
        found = self.expect(CORRUPT, "dump", table, "--values", "--blocks", "--limit", "0", "--json").json
        self.assertTrue(found["salvaged"])
        self.assertEqual(len(found["blocks"]), found["block_count"])
        for entry in whole:
            del entry["block"]
        self.assertEqual(found["entries"], whole)
        text = self.expect(CORRUPT, "dump", table, "--entries")
        self.assertTrue(text.text.startswith("SALVAGED"))
        self.assertIn("not a bloomblock table", text.err)
        os.truncate(table, 10)
        self.assertEqual(self.expect(CORRUPT, "dump", table, "--json").out, b"")
        self.assertEqual(self.expect(CORRUPT, "dump", table, "--entries").out, b"")

    def delete_range(self):
        """Makes a newest table that holds only the range."""
        self.ok("delete", self.store, "--from", "word-0", "--to", "word-1")
        self.ok("checkpoint", self.store, self.store + ".flushed")
        self.store += ".flushed"
        return max(glob.glob(os.path.join(self.store, "*.bbt")))

    def test_steps_that_read_the_same_damage_report_it_once(self):
        spoil(self.table(), 20)
        self.before = files(self.store)
        lines = self.expect(RECOVERED, "repair", self.store, "--dry-run").lines
        self.assertEqual(sum("has checksum" in line for line in lines), 1, lines)
        findings = self.repair(loses=True)["findings"]
        self.assertEqual(len(findings), len(set(findings)), findings)

    def test_deleted_ranges_without_a_footer(self):
        table = self.delete_range()
        count = self.count()
        whole = self.ok("dump", table, "--entries", "--json").json["range_tombstones"]
        self.assertEqual([(row["low"], row["high"]) for row in whole], [("word-0", "word-1")])
        self.assertIn("range tombstones: low", self.ok("dump", table, "--entries").text)
        os.truncate(table, os.path.getsize(table) - 40)
        found = self.expect(CORRUPT, "dump", table, "--entries", "--json").json
        self.assertEqual((found["range_tombstones_are"], found["range_tombstones"]), ("found", whole))
        self.assertIn("range tombstones: 1", self.expect(CORRUPT, "dump", table).text)
        self.before = files(self.store)
        report = self.repair()
        self.assertEqual((report["tables_salvaged"], report["tables_ranges_lost"]), (1, 0))
        self.assertEqual(self.count(), count)

    def test_deleted_ranges_that_are_lost_are_told(self):
        table = self.delete_range()
        self.assertLess(self.count(), COUNT)
        os.truncate(table, os.path.getsize(table) - 80)
        foreseen = self.expect(RECOVERED, "repair", self.store, "--dry-run")
        self.assertIn("ranges         of 1 tables", foreseen.text)
        self.before = files(self.store)
        report = self.repair(loses=True)
        self.assertEqual((report["tables_lost"], report["tables_ranges_lost"]), (1, 1))
        self.assertTrue(report["deletions_may_return"])
        self.assertTrue(any("between word-0 and word-1 may return" in finding for finding in report["findings"]))
        self.assertEqual(self.count(), COUNT)

    def test_a_missing_table(self):
        for make in (lambda path: None, os.mkdir, lambda path: os.symlink("nowhere", path), os.mkfifo):
            table = self.table()
            os.remove(table)
            make(table)
            self.before = files(self.store)
            report = self.repair(loses=True)
            self.assertEqual(report["tables_lost"], 1)
            self.assertTrue(report["deletions_may_return"])
            self.ok("verify", self.store)
            self.assertEqual(self.count(), 0)
            self.load(words(COUNT), "--write-buffer", "64K")
            self.ok("compact", self.store, "--write-buffer", "64M")

    def test_tables_that_nobody_names(self):
        shutil.copy(self.table(), os.path.join(self.store, "900000.bbt"))
        os.remove(os.path.join(self.store, "CURRENT"))
        self.before = files(self.store)
        report = self.repair()
        self.assertEqual(report["tables_unnamed"], 1)
        self.assertIn("900000.bbt.lost", os.listdir(self.store))
        self.assert_all_there()
        os.rename(os.path.join(self.store, "900000.bbt.lost"), os.path.join(self.store, "900000.bbt"))
        self.before = files(self.store)
        report = self.repair("--unnamed-tables")
        self.assertTrue(any("a copy of another" in finding for finding in report["findings"]))
        self.assert_all_there()

    def test_a_table_of_another_store(self):
        mine = self.store
        self.store = os.path.join(self.directory, "other")
        self.load(words(50))
        self.ok("compact", self.store)
        other = self.table()
        self.store = mine
        shutil.copy(other, self.table())
        report = self.expect(RECOVERED, "repair", self.store, "--json").json
        self.assertEqual(report["tables_lost"], 1)
        self.assertEqual(self.count(), 0)

    def damaged_log(self):
        """A closed store with a damaged record in the middle of its log; returns its batches."""
        shutil.rmtree(self.store)
        self.load(words(10), "--batch", "1", "--no-flush", "--sync")
        spoil(self.find("*.wal"), 48 + 11 + 8 + 5 * 60)
        return shutil.copytree(self.store, self.store + ".copy")

    def test_recovery_modes(self):
        copy = self.damaged_log()
        for mode in ("synced", "strict"):
            self.assertEqual(run("verify", self.store, "--recovery", mode).code, CORRUPT)
            refused = run("stat", self.store, "--recovery", mode)
            self.assertEqual(refused.code, CORRUPT)
            self.assertIn(".wal: at offset", refused.err)
        for mode in ("point-in-time", "salvage"):
            shutil.rmtree(self.store)
            shutil.copytree(copy, self.store)
            before = files(self.store)
            foreseen = run("verify", self.store, "--json", "--recovery", mode)
            self.assertEqual(foreseen.code, RECOVERED)
            self.assertIn("--recovery " + mode, run("verify", self.store, "--recovery", mode).text)
            self.assertEqual(files(self.store), before)
            opened = run("stat", self.store, "--json", "--recovery", mode)
            self.assertEqual(opened.code, RECOVERED)
            found = opened.json["recovery"]
            same = ("damaged", "repaired", "dropped_bytes", "dropped_logs", "deletions_may_return")
            for name in same if mode == "salvage" else found:
                self.assertEqual(foreseen.json["recovery"][name], found[name], name)
            self.assertTrue(found["damaged"] and found["dropped_bytes"] > 0 and found["files_set_aside"] > 0)
            self.assertEqual(found["repaired"], mode == "salvage")
            self.assertIn("of tables and logs are lost" if mode == "salvage" else "had been synced", opened.err)
            self.assertNotIn("was not synced", opened.err)
            self.assertFalse(foreseen.json["sound"])
            self.assertEqual(run("stat", self.store).code, FOUND)
            self.assertEqual(self.count() == 9, mode == "salvage")
        self.assertEqual(run("stat", self.store, "--recovery", "lenient").code, USAGE)
        self.assertEqual(run("verify", self.store, "--recovery", "lenient").code, USAGE)
        whole = run("verify", self.store, "--recovery", "strict")
        self.assertEqual(whole.code, FOUND)
        self.assertIn("drop nothing", whole.text)

    def test_salvage_foresees_the_repair_of_a_window_without_its_log(self):
        """Regression: verify foresaw no repair, because read-only openings ignore such a window."""
        with open(os.path.join(self.store, "000099.window"), "wb"):
            pass
        self.assertEqual(run("verify", self.store).code, CORRUPT)
        foreseen = run("verify", self.store, "--json", "--recovery", "salvage")
        self.assertEqual(foreseen.code, RECOVERED)
        opened = run("stat", self.store, "--json", "--recovery", "salvage")
        self.assertEqual(opened.code, RECOVERED)
        for name in ("damaged", "repaired", "dropped_bytes", "dropped_logs", "deletions_may_return"):
            self.assertEqual(foreseen.json["recovery"][name], opened.json["recovery"][name], name)
        self.assertEqual(opened.json["recovery"]["dropped_logs"], 1)
        self.assertEqual(run("verify", self.store).code, FOUND)

    def test_salvage_does_not_foresee_a_repair_that_no_opening_makes(self):
        """An opening reads no blocks, so it does not notice a damaged block."""
        spoil(self.table(), 1000)
        self.assertEqual(run("verify", self.store, "--recovery", "salvage").code, CORRUPT)
        self.assertEqual(run("stat", self.store, "--recovery", "salvage").code, FOUND)

    def test_a_link_in_the_place_of_a_log_is_set_aside(self):
        """The repair left it there, and then no opening accepted the store."""
        shutil.rmtree(self.store)
        self.load(words(10), "--no-flush")
        log = self.find("*.wal")
        link = os.path.join(self.store, "%06d.wal" % (int(os.path.basename(log).split(".")[0]) + 1))
        os.symlink("/dev/null", link)
        self.assertEqual(run("stat", self.store).code, USAGE)
        self.expect(FOUND, "repair", self.store, "--dry-run")
        self.assertTrue(os.path.islink(link))
        self.assertGreater(self.expect(FOUND, "repair", self.store, "--json").json["files_set_aside"], 0)
        self.assertTrue(os.path.islink(link + ".lost"))
        self.assertEqual(self.count(), 10)

    def test_a_batch_that_is_lost_is_told(self):
        self.damaged_log()
        self.before = files(self.store)
        report = self.repair(loses=True)
        self.assertGreater(report["log_bytes_lost"], 0)
        self.assertEqual(self.count(), 9)

    def test_a_log_that_ends_in_zeros_is_reported(self):
        shutil.rmtree(self.store)
        self.load(words(10), "--batch", "1", "--no-flush", "--sync")
        with open(self.find("*.wal"), "ab") as file:
            file.write(bytes(100))
        foreseen = self.ok("verify", self.store, "--json", "--recovery", "synced").json["recovery"]
        self.assertEqual((foreseen["zeroed_logs"], foreseen["dropped_bytes"]), (1, 0))
        text = self.ok("verify", self.store, "--recovery", "synced").text
        self.assertIn("1 log ends in zeros", text)
        self.assertNotIn("drop nothing", text)
        self.assertNotIn("no synced data", text)
        copy = shutil.copytree(self.store, self.store + ".copy")
        self.assertEqual(run("stat", self.store, "--json").json["recovery"], foreseen)
        text = run("stat", copy).text
        self.assertIn("opening: 10 batches of 1 log; dropped", text)
        self.assertIn("1 log ends in zeros", text)
        self.assertEqual(self.count(), 10)

    def test_what_is_no_store(self):
        self.expect(IO, "repair", os.path.join(self.directory, "none"))
        path = self.write("file", "hello\n")
        self.expect(USAGE, "repair", path)
        empty = os.path.join(self.directory, "empty")
        os.mkdir(empty)
        self.expect(IO, "repair", empty)
        self.assertEqual(os.listdir(empty), [])
        for name in ("CURRENT", "MANIFEST-000001", "000003.log", "000005.ldb"):
            with open(os.path.join(empty, name), "w", encoding="ascii") as file:
                file.write("MANIFEST-000001\n")
        before = files(empty)
        self.expect(CORRUPT, "repair", empty)
        self.assertEqual(files(empty), before)


class Running(ToolTest):
    def test_verify_names_each_damaged_table_of_an_open_store(self):
        for first in (0, 1000):
            self.load(words(first + 1000)[first:])
        tables = sorted(glob.glob(os.path.join(self.store, "*.bbt")))
        self.assertGreater(len(tables), 1)
        sound = self.ok("verify", self.store, "--running", "--rate", "100M", "--json").json
        self.assertEqual((sound["tables"], sound["damaged"], sound["complete"]), (len(tables), 0, True))
        self.assertEqual((sound["manifests"], sound["logs"]), (1, len(glob.glob(os.path.join(self.store, "*.wal")))))
        for table in tables[:2]:
            spoil(table, 200)
        result = run("verify", self.store, "--running")
        self.assertEqual(result.code, CORRUPT)
        for table in tables[:2]:
            self.assertIn(os.path.basename(table) + ": at offset", result.err)
        self.assertIn("1 manifest and 1 log", result.text)
        self.assertIn("2 damaged", result.text)

    def test_what_excludes_each_other(self):
        self.load(words(10))
        self.expect(USAGE, "verify", self.store, "--running", "--recovery", "strict")
        self.expect(USAGE, "verify", glob.glob(os.path.join(self.store, "*.bbt"))[0], "--running")


if __name__ == "__main__":
    main()
