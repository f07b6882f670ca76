"""Directories that are no store, or damaged, locked, read-only or full.

Each gives a clear error and the right exit code, and no data is lost. Method: a small store is
damaged in one way, and every command is tried. Afterwards no file may have changed, and after the
repair of the cause the store is whole again.
"""
import os
import random
import resource
import shutil
import signal
import subprocess

from tool import ABSENT, BINARY, CORRUPT, FOUND, IO, USAGE, ToolTest, fewer, main, run, some, words

OPENERS = [["get", "a"], ["scan"], ["delete", "a"], ["compact"], ["stat"], ["load"]]


def command_on(opener, store):
    return [opener[0], store, *opener[1:]]


class NotAStore(ToolTest):
    def test_a_missing_directory_is_an_error_and_is_not_made(self):
        for opener in OPENERS[:-1]:
            result = self.expect(IO, *command_on(opener, self.store))
            self.assertIn(self.store, result.err)
            self.assertIn("bloomblock load", result.err)
            self.assertFalse(os.path.exists(self.store))
        self.expect(IO, "verify", self.store)
        self.expect(IO, "measure", self.store, "--keys", self.write("keys", "a\n"))

    def test_an_empty_directory_is_no_store_but_can_become_one(self):
        os.mkdir(self.store)
        for opener in OPENERS[:-1]:
            self.expect(IO, *command_on(opener, self.store))
            self.assertLessEqual(set(os.listdir(self.store)), {"LOCK"})
        self.load("a\n")
        self.ok("get", self.store, "a")

    def test_a_directory_of_other_files_is_told_how_a_store_is_made(self):
        folder = self.path("etc")
        os.mkdir(folder)
        self.write("etc/passwd", "root\n")
        for opener in OPENERS[:-1]:
            refusal = self.expect(IO, *command_on(opener, folder)).err
            self.assertIn(f"{folder}: not a store", refusal)
            self.assertIn("bloomblock load", refusal)
        self.assertEqual(os.listdir(folder), ["passwd"])

    def test_a_file_is_no_store(self):
        path = self.write("file", "hello\n")
        for opener in OPENERS:
            self.assertIn(path, self.expect(USAGE, *command_on(opener, path)).err)
        with open(path, "rb") as file:
            self.assertEqual(file.read(), b"hello\n")

    def test_foreign_files_are_left_alone(self):
        os.mkdir(self.store)
        for name in ("notes.txt", "000001.bbt.bak", "CURRENT~", "1.wal"):
            with open(os.path.join(self.store, name), "w", encoding="ascii") as file:
                file.write("mine")
        refusal = self.expect(IO, "load", self.store, stdin="a\n").err
        self.assertIn("--force", refusal)
        self.assertNotIn("CURRENT", os.listdir(self.store))
        self.load(words(500), "--write-buffer", "64K", "--force")
        self.ok("compact", self.store)
        for name in ("notes.txt", "000001.bbt.bak", "CURRENT~", "1.wal"):
            with open(os.path.join(self.store, name), encoding="ascii") as file:
                self.assertEqual(file.read(), "mine")
        self.assertEqual(self.ok("verify", self.store, "--json").json["foreign"], 4)


class Destroy(ToolTest):
    def test_only_when_it_is_meant(self):
        self.load("a\nb\n")
        self.assertIn("--yes", self.expect(USAGE, "destroy", self.store).err)
        self.ok("get", self.store, "a")
        self.ok("destroy", self.store, "--yes")
        self.assertFalse(os.path.exists(self.store))
        self.assertIn(f"{self.store}: no such directory, so no file was removed",
                      self.expect(IO, "destroy", self.store, "--yes").err)

    def test_foreign_files_stay(self):
        self.load("a\n")
        with open(os.path.join(self.store, "letter"), "w", encoding="utf-8") as file:
            file.write("dear")
        report = self.ok("destroy", self.store, "--yes", "--json").json
        self.assertEqual((report["foreign"], report["directory_removed"]), (1, False))
        self.assertEqual(os.listdir(self.store), ["letter"])
        self.expect(USAGE, "destroy", self.store, "--yes")
        self.assertEqual(os.listdir(self.store), ["letter"])


class CompactRange(ToolTest):
    def test_what_was_deleted_in_the_range_goes(self):
        self.load(words(500))
        self.ok("compact", self.store)
        names = self.ok("scan", self.store, "--keys-only").lines
        self.ok("delete", self.store, names[10], names[400])
        before = self.ok("stat", self.store, "--json").json
        self.ok("compact", self.store, "--from", names[5], "--to", names[20])
        self.ok("compact", self.store, "--from", names[390].encode().hex(), "--hex", "--json")
        after = self.ok("stat", self.store, "--json").json
        self.assertNotEqual(before, after)
        entries = sum(level["entries"] for level in after["levels"])
        self.assertEqual(entries, len(names) - 2)
        self.expect(USAGE, "compact", self.store, "--from", "xyz", "--hex")
        self.ok("verify", self.store)


class Explain(ToolTest):
    def test_steps_and_reads(self):
        self.load(words(2000))
        self.ok("compact", self.store)
        self.load(["zzz"])
        present = self.ok("explain", self.store, words(2000)[77], "--json").json
        self.assertTrue(present["found"])
        self.assertEqual([step["kind"] for step in present["steps"]], ["memtable", "table", "table"])
        self.assertEqual(present["steps"][1]["visit"], "out of bounds")
        last = present["steps"][2]
        self.assertEqual((last["found"], last["block"]["source"]), ("value", "file"))
        self.assertEqual(present["block_reads"], 1)
        absent = self.expect(ABSENT, "explain", self.store, words(2000)[77] + "x", "--json").json
        self.assertFalse(absent["found"])
        self.assertEqual(absent["block_requests"] + absent["avoided_requests"], 1)
        self.assertRegex(self.expect(ABSENT, "explain", self.store, words(2000)[77] + "x").text,
                         "avoided: 1 block request, of which 1 would have been a read\n|avoided: 0 block requests, ")
        text = self.ok("explain", self.store, words(2000)[77]).text
        self.assertIn("value, sequence", text)
        self.assertIn("reads: 1 of blocks", text)
        self.expect(USAGE, "explain", self.store)
        self.expect(USAGE, "explain", self.store, "xyz", "--hex")


class DeleteRange(ToolTest):
    def test_a_range_goes_and_what_comes_later_stays(self):
        self.load("a\nb\nc\nd\ne\n")
        self.assertEqual(self.ok("delete", self.store, "e", "--from", "b", "--to", "d", "--json").json["deletions"], 2)
        self.assertEqual(self.ok("scan", self.store, "--keys-only").lines, ["a", "d"])
        self.load("c\n")
        self.assertEqual(self.ok("scan", self.store, "--keys-only").lines, ["a", "c", "d"])
        self.ok("verify", self.store)
        self.ok("compact", self.store)
        self.assertEqual(self.ok("scan", self.store, "--keys-only").lines, ["a", "c", "d"])
        self.ok("delete", self.store, "--from", "61", "--to", "ff", "--hex")
        self.ok("compact", self.store)
        self.assertEqual(self.ok("scan", self.store, "--keys-only").lines, [])

    def test_half_a_range_is_none(self):
        self.load("a\n")
        for arguments in (["--from", "a"], ["--to", "z"], []):
            self.expect(USAGE, "delete", self.store, *arguments)
        self.ok("delete", self.store, "--from", "z", "--to", "a")
        self.assertEqual(self.ok("scan", self.store, "--keys-only").lines, ["a"])


class TombstoneAge(ToolTest):
    def test_a_deletion_stays_no_longer(self):
        options = ["--write-buffer", "64K", "--level1-size", "64K"]
        self.load([f"{i:06d}" for i in range(5000)], *options)
        self.ok("compact", self.store, *options)
        self.ok("delete", self.store, "000017", "--from", "001000", "--to", "002000", *options)
        self.load(["zz1"], *options)
        before = self.ok("stat", self.store, "--json").json
        self.assertEqual((before["tombstones"], before["tombstone_age_max"]), (2, 0))
        self.assertNotIn("allowed", self.ok("stat", self.store).text)
        self.load(["zz2", "zz3", "zz4"], "--tombstone-age", "2", *options)
        after = self.ok("stat", self.store, "--json", "--tombstone-age", "2").json
        self.assertEqual((after["tombstones"], after["tombstone_age_max"]), (0, 2))
        self.assertIn("allowed are 2\n", self.ok("stat", self.store, "--tombstone-age", "2").text)
        self.assertEqual(after["entries"], 5000 - 1001 + 4)
        self.ok("verify", self.store)


class Words(ToolTest):
    """A user knows the options of the command, not the options of the library."""

    def test_options_are_called_as_they_were_typed(self):
        self.load("a\n")
        for option, value in (("write-buffer", "1"), ("cache", "1"), ("open-tables", "1"), ("target", "7"),
                              ("absent-share", "3"), ("filter-budget", "2000000G"), ("bits-per-key", "101"),
                              ("table-filter-bits", "99"),
                              ("filter", "counting"),
                              ("block-size", "1"), ("restart-interval", "5000"), ("table-size", "1"),
                              ("level0-compact", "100000"), ("level0-stop", "1"), ("level1-size", "1"),
                              ("level-ratio", "1")):
            err = self.expect(USAGE, "stat", self.store, f"--{option}", value).err
            self.assertRegex(err, rf"^bloomblock stat: options? --{option}\b")
            self.assertNotRegex(err, r"\w_\w", err)
        err = self.expect(USAGE, "stat", self.store, "--target", "0.1", "--filter-budget", "1M").err
        self.assertIn("options --target and --filter-budget are both given", err)
        err = self.expect(USAGE, "stat", self.store, "--filter", "none", "--bits-per-key", "10").err
        self.assertIn("options --filter none and --bits-per-key are both given", err)

    def test_a_file_named_like_an_option_keeps_its_name(self):
        store = self.path("cache_bytes")
        self.assertIn("/cache_bytes:", self.expect(IO, "stat", store).err)

    def test_what_is_missing_or_there_is_said_and_no_option_that_there_is_not(self):
        missing = self.expect(IO, "get", self.store, "a").err
        advice = "; `bloomblock load` creates a store\n"
        self.assertEqual(missing, f"bloomblock get: {self.store}: no such directory{advice}")
        os.mkdir(self.store)
        self.assertTrue(self.expect(IO, "get", self.store, "a").err.endswith(f"there is no CURRENT{advice}"))
        self.load("a\n")
        there = self.expect(IO, "import", "json", "-", self.store).err
        self.assertTrue(there.endswith("exists already; an import makes a new store\n"), there)

    def test_damage_names_the_command_that_repairs_it(self):
        self.load(words(3000), "--write-buffer", "64K")
        keys = self.write("keys", "a\n")
        os.remove(os.path.join(self.store, "CURRENT"))
        hint = f"Try: bloomblock repair {self.store} --dry-run\n"
        for command, *options in (["get", "a"], ["scan"], ["verify"], ["compact"], ["stat"],
                                  ["measure", "--keys", keys], ["measure", "--where", keys]):
            result = run(command, self.store, *options)
            self.assertEqual(result.code, CORRUPT, result.err)
            self.assertTrue(result.err.endswith(hint), result.err)
            self.assertEqual(result.out, b"")
        self.ok("repair", self.store)
        self.assertNotIn("Try:", self.ok("scan", self.store).err)

    def test_foreign_files_are_counted_and_nothing_else(self):
        self.load("a\n")
        with open(os.path.join(self.store, "notes.txt"), "w", encoding="ascii") as file:
            file.write("mine")
        self.assertEqual(self.ok("get", self.store, "a").err,
                         f"bloomblock get: note: {self.store}: 1 file not of the store\n")


class Checkpoint(ToolTest):
    def test_a_second_store_of_its_own(self):
        self.load("a\nb\n")
        copy = self.path("copy")
        self.assertGreater(self.ok("checkpoint", self.store, copy, "--json").json["tables"], 0)
        refusal = self.expect(IO, "checkpoint", self.store, copy).err
        self.assertIn(f"{copy}: mkdir: File exists", refusal)
        self.assertIn("another path", refusal)
        self.ok("delete", self.store, "a")
        self.ok("get", copy, "a")
        self.ok("destroy", self.store, "--yes")
        self.ok("verify", copy)
        self.assertEqual(self.ok("scan", copy, "--keys-only").lines, ["a", "b"])


class Ingest(ToolTest):
    def test_tables_of_another_store(self):
        self.load("a\tother\nb\tother\n", "--tsv")
        tables = [row["path"] for row in self.ok("stat", self.store, "--json").json["tables"]]
        other = self.path("other")
        self.ok("load", other, "--tsv", stdin="b\told\nc\told\n")
        self.assertEqual(self.ok("ingest", other, *tables, "--verify", "--json").json["tables"], len(tables))
        self.assertEqual(self.ok("scan", other).lines, ["a\tother", "b\tother", "c\told"])
        self.ok("verify", other)
        self.ok("verify", self.store)
        brought = self.ok("ingest", self.path("new"), *tables).text
        self.assertEqual(brought, "brought in 1 table\n")
        self.assertEqual(self.ok("scan", self.path("new"), "--keys-only").lines, ["a", "b"])
        self.expect(CORRUPT, "ingest", other, self.write("text", "hello"))
        for code, table in ((IO, self.path("nothing")), (CORRUPT, self.path("text"))):
            self.expect(code, "ingest", self.path("none"), table)
            self.assertFalse(os.path.exists(self.path("none")), "a store is left")
        self.assertEqual(self.ok("scan", other, "--count").text, "3\n")

    def test_a_directory_of_other_files_takes_force(self):
        self.load("a\n")
        self.ok("compact", self.store)
        folder = self.path("etc")
        os.mkdir(folder)
        self.write("etc/passwd", "root\n")
        self.assertIn("--force", self.expect(IO, "ingest", folder, *self.tables()).err)
        self.assertEqual(os.listdir(folder), ["passwd"])
        self.ok("ingest", folder, *self.tables(), "--force")
        self.assertEqual(self.ok("scan", folder, "--keys-only").lines, ["a"])


class Damage(ToolTest):
    def setUp(self):
        super().setUp()
        self.load(words(3000), "--write-buffer", "64K")

    def file(self, name):
        return os.path.join(self.store, name)

    def manifest(self):
        return [name for name in os.listdir(self.store) if name.startswith("MANIFEST-")][0]

    def expect_everywhere(self, code, needle, ignore_lock=True):
        """Every command fails with the code, names the culprit, and changes no file."""
        before = self.store_files()
        for opener in some(OPENERS):
            result = self.expect(code, *command_on(opener, self.store))
            self.assertIn(needle, result.err)
        result = self.expect(code, "verify", self.store)
        self.assertIn(needle, result.err)
        after = self.store_files()
        if ignore_lock:
            before.pop("LOCK", None)
            after.pop("LOCK", None)
        self.assertEqual(before.keys(), after.keys())
        self.assertEqual(before, after)

    def test_a_missing_current_beside_tables_is_damage_not_a_new_store(self):
        os.rename(self.file("CURRENT"), self.path("CURRENT"))
        self.expect_everywhere(CORRUPT, "CURRENT")
        os.rename(self.path("CURRENT"), self.file("CURRENT"))
        self.assertEqual(self.ok("scan", self.store, "--count").text, "3000\n")

    def test_a_current_that_is_not_exactly_a_name(self):
        with open(self.file("CURRENT"), "rb") as file:
            good = file.read()
        for bad in (b"", good[:-1], good + b"\n", good + b"x", b"../" + good, good.replace(b"M", b"m"), b"\0" * 16):
            with open(self.file("CURRENT"), "wb") as file:
                file.write(bad)
            self.expect_everywhere(CORRUPT, "CURRENT")
        with open(self.file("CURRENT"), "wb") as file:
            file.write(good)
        self.ok("verify", self.store)

    def test_a_missing_manifest(self):
        name = self.manifest()
        os.rename(self.file(name), self.path(name))
        self.expect_everywhere(CORRUPT, name)
        os.rename(self.path(name), self.file(name))
        self.ok("verify", self.store)

    def test_a_damaged_manifest(self):
        path = self.file(self.manifest())
        with open(path, "rb") as file:
            good = file.read()
        bad = bytearray(good)
        bad[20] ^= 1
        with open(path, "wb") as file:
            file.write(bad)
        self.expect_everywhere(CORRUPT, self.manifest())
        with open(path, "wb") as file:
            file.write(good)
        self.ok("verify", self.store)

    def test_a_missing_table(self):
        table = self.tables()[0]
        os.rename(table, self.path("table"))
        self.expect_everywhere(CORRUPT, os.path.basename(table))
        os.rename(self.path("table"), table)
        self.assertEqual(self.ok("scan", self.store, "--count").text, "3000\n")

    def test_a_truncated_table(self):
        table = self.tables()[0]
        shutil.copy(table, self.path("table"))
        os.truncate(table, os.path.getsize(table) // 2)
        self.expect_everywhere(CORRUPT, os.path.basename(table))
        shutil.copy(self.path("table"), table)
        self.ok("verify", self.store)

    def test_a_flipped_bit_in_a_table_never_makes_a_key_absent(self):
        table = self.tables()[-1]
        with open(table, "rb") as file:
            good = file.read()
        for position in range(10, len(good), len(good) // fewer(12)):
            bad = bytearray(good)
            bad[position] ^= 0x10
            with open(table, "wb") as file:
                file.write(bad)
            result = self.expect(CORRUPT, "verify", self.store)
            self.assertIn(os.path.basename(table), result.err)
            self.assertRegex(result.err, r"offset \d+")
            scanned = run("scan", self.store, "--keys-only")
            self.assertTrue(scanned.code == CORRUPT or len(scanned.lines) == 3000, scanned.err)
            asked = run("get", self.store, *words(3000))
            self.assertIn(asked.code, (FOUND, CORRUPT), asked.err)
        with open(table, "wb") as file:
            file.write(good)
        self.ok("verify", self.store)

    def test_scan_in_json_says_that_it_is_incomplete(self):
        table = self.tables()[-1]
        with open(table, "r+b") as file:
            file.seek(30)
            file.write(b"\xAA" * 8)
        result = self.expect(CORRUPT, "scan", self.store, "--json")
        if result.out:
            self.assertFalse(result.json["complete"])


class Locked(ToolTest):
    def test_a_second_opener_is_kept_out_and_told_who_holds_the_store(self):
        with subprocess.Popen([BINARY, "load", self.store, "--ack", "--batch", "1"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as holder:
            holder.stdin.write(b"first\n")
            holder.stdin.flush()
            self.assertEqual(holder.stdout.readline(), b"1\tfirst\n")
            for opener in OPENERS:
                result = self.expect(IO, *command_on(opener, self.store))
                self.assertIn(str(holder.pid), result.err)
                self.assertEqual("--read-only" in result.err, opener[0] in ("get", "scan", "stat", "export", "explain"))
            busy = self.expect(IO, "verify", self.store)
            self.assertIn(str(holder.pid), busy.err)
            self.assertIn("--running", busy.err)
            before = self.store_files()
            self.assertTrue(self.ok("verify", self.store, "--running", "--json").json["complete"])
            for reader in (["get", "first"], ["scan"], ["stat"]):
                self.ok(*command_on(reader, self.store), "--read-only")
            self.ok("measure", self.store, "--keys", self.write("keys", "first\n"), "--read-only")
            self.assertEqual(before, self.store_files())
            holder.stdin.write(b"second\n")
            holder.stdin.close()
            self.assertEqual(holder.wait(timeout=60), FOUND)
        self.assertEqual(self.ok("scan", self.store, "--keys-only").lines, ["first", "second"])

    def test_the_lock_of_a_killed_process_is_free(self):
        with subprocess.Popen([BINARY, "load", self.store, "--ack", "--batch", "1"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as holder:
            holder.stdin.write(b"first\n")
            holder.stdin.flush()
            holder.stdout.readline()
            holder.send_signal(signal.SIGKILL)
            holder.wait(timeout=60)
        self.ok("get", self.store, "first")


class ReadOnly(ToolTest):
    def setUp(self):
        super().setUp()
        self.load(words(100))

    def expect_refusal(self, **options):
        for opener in (["load"], ["delete", "a"], ["compact"]):
            result = run(*command_on(opener, self.store), stdin="x\n", **options)
            self.assertEqual(result.code, IO, (opener, result.err))
            self.assertIn(self.store, result.err)
            self.assertRegex(result.err, "(?i)permission denied|read-only")

    def check(self, **options):
        """A user without write permission can verify a backup in a read-only directory."""
        for opener in (["get", "a"], ["scan"], ["stat"], ["select"], ["export"], ["attribute", "list"]):
            arguments = [*opener, self.store] if opener[0] == "attribute" else command_on(opener, self.store)
            self.assertIn("--read-only", run(*arguments, **options).err, arguments)
            self.assertIn(run(*arguments, "--read-only", **options).code, (FOUND, ABSENT), arguments)
        for arguments in (["verify", self.store], ["repair", self.store, "--dry-run"]):
            result = run(*arguments, **options)
            self.assertEqual(result.code, FOUND, (arguments, result.err))

    def test_a_directory_without_permission_to_write(self):
        options = {}
        if os.geteuid() == 0:
            # Permissions do not bind root: another user tries.
            os.chmod(self.directory, 0o755)
            options = {"user": 65534, "group": 65534, "extra_groups": []}
            for name in os.listdir(self.store):
                os.chmod(os.path.join(self.store, name), 0o444)
            try:
                subprocess.run([BINARY, "--version"], stdout=subprocess.DEVNULL, check=True, **options)
            except (PermissionError, subprocess.CalledProcessError):
                self.skipTest("the binary lies where others may not run it")
        os.chmod(self.store, 0o555)
        before = self.store_files()
        self.expect_refusal(**options)
        self.assertEqual(run("scan", self.store, "--count", "--read-only", **options).text, "100\n")
        self.check(**options)
        os.chmod(self.store, 0o755)
        self.assertEqual(before, self.store_files())
        self.assertEqual(self.ok("scan", self.store, "--count").text, "100\n")

    def test_a_file_system_mounted_read_only(self):
        mounted = self.path("mounted")
        os.mkdir(mounted)
        if not mount_tmpfs(mounted, "4M"):
            self.skipTest("tmpfs can not be mounted here")
        try:
            self.store = os.path.join(mounted, "store")
            self.load(words(100))
            subprocess.run(["mount", "-o", "remount,ro", mounted], check=True)
            self.expect_refusal()
            self.assertEqual(self.ok("scan", self.store, "--count", "--read-only").text, "100\n")
            self.check()
            subprocess.run(["mount", "-o", "remount,rw", mounted], check=True)
            self.assertEqual(self.ok("scan", self.store, "--count").text, "100\n")
        finally:
            subprocess.run(["umount", mounted], check=True)


def mount_tmpfs(path, size):
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    return subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0755", "tmpfs", path],
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def incompressible(count, seed):
    """Lines that LZ4 can do nothing about."""
    rng = random.Random(seed)
    return "".join(f"{seed}-{i}\t{rng.randbytes(400).hex()}\n" for i in range(count))


class Full(ToolTest):
    """A disk fills up during a load. With space again, every acknowledged record is there."""

    def load_until_full(self, **options):
        result = run("load", self.store, "--tsv", "--ack", "--batch", "3", "--write-buffer", "256K",
                     stdin=incompressible(20000, 1), **options)
        self.assertEqual(result.code, IO, result.err)
        acknowledged = [line.split("\t")[1] for line in result.lines]
        self.assertGreater(len(acknowledged), 0)
        self.assertLess(len(acknowledged), 20000)
        return acknowledged, result.err

    def expect_all(self, acknowledged):
        self.ok("verify", self.store)
        present = set(self.ok("scan", self.store, "--keys-only").lines)
        self.assertEqual(set(acknowledged) - present, set())
        self.load("more\n")
        self.ok("get", self.store, "more")

    def test_a_full_file_system(self):
        mounted = self.path("mounted")
        os.mkdir(mounted)
        if not mount_tmpfs(mounted, "6M"):
            self.skipTest("tmpfs can not be mounted here; the limit on file sizes is tested all the same")
        try:
            self.store = os.path.join(mounted, "store")
            acknowledged, message = self.load_until_full()
            self.assertRegex(message, "(?i)no space")
            # The size of a tmpfs can grow: that is the space again.
            subprocess.run(["mount", "-o", "remount,size=64M", mounted], check=True)
            self.expect_all(acknowledged)
        finally:
            subprocess.run(["umount", mounted], check=True)

    def test_a_limit_on_the_size_of_files(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100 * 1024, 100 * 1024))

        # The log reaches the limit, or a table that the full memtable becomes.
        acknowledged, message = self.load_until_full(preexec_fn=limit, restore_signals=False)
        self.assertIn(self.store, message)
        self.assertRegex(message, "(?i)file too large")
        self.expect_all(acknowledged)


if __name__ == "__main__":
    main()
