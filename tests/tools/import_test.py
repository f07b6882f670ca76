"""Goal: import and export lose nothing, invent nothing, and remove their files when they fail.
Method: LevelDB's own library writes stores, and a dictionary records their content. They are
imported whole, damaged byte by byte, cut, locked, or as files of other programs. Dumps and JSON
lines of any bytes go there and back, and through LMDB's own commands where they are installed."""
import json
import os
import random
import shutil
import struct
import signal
import subprocess
import unittest

import leveldb_writer
from tool import BINARY, CORRUPT, IO, UNSUPPORTED, USAGE, ToolTest, main, run

SEED = int(os.environ.get("BB_TEST_SEED", "1"))
HAS_LEVELDB = leveldb_writer.library() is not None
HEADER = "VERSION=3\nformat=print\ntype=btree\nHEADER=END\n"


def unescape(line):
    """A line of a dump in the format print."""
    out = bytearray()
    position = 1
    while position < len(line):
        if line[position:position + 1] != b"\\":
            out += line[position:position + 1]
            position += 1
        else:
            out.append(int(line[position + 1:position + 3], 16))
            position += 3
    return bytes(out)


def log_record(data):
    """A record of a log or manifest of LevelDB, whole."""
    checksum = 0xFFFFFFFF
    for byte in b"\1" + data:
        checksum ^= byte
        for _ in range(8):
            checksum = checksum >> 1 ^ (0x82F63B78 if checksum & 1 else 0)
    checksum ^= 0xFFFFFFFF
    masked = ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF
    return struct.pack("<IHB", masked, len(data), 1) + data


def varint(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


class ImportTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.rng = random.Random(SEED)
        self.source = self.path("source")

    def content(self, store=None):
        """The keys and values of a store, by its dump."""
        lines = self.ok("export", store or self.store).out.split(b"\n")
        self.assertEqual(lines[-2:], [b"DATA=END", b""])
        data = [unescape(line) for line in lines[lines.index(b"HEADER=END") + 1:-2]]
        return dict(zip(data[::2], data[1::2]))

    def refuse(self, code, *arguments, **options):
        """The import fails with the code, and there is no store."""
        result = self.expect(code, "import", *arguments, self.store, **options)
        self.assertFalse(os.path.exists(os.path.join(self.store, "CURRENT")), "a store is left")
        return result

    def any_bytes(self, size_max):
        kind = self.rng.randrange(3)
        if kind == 0:
            return self.rng.randbytes(self.rng.randrange(size_max))
        if kind == 1:
            return b"\\ \t\n\0\xff\xc3\xa9"[:self.rng.randrange(9)] * self.rng.randrange(3)
        return ("key-%05d" % self.rng.randrange(10000)).encode()


@unittest.skipUnless(HAS_LEVELDB, "LevelDB's library is not installed")
class FromLevelDB(ImportTest):
    def fill(self, writer, operations, model):
        for _ in range(operations):
            key = self.any_bytes(40)
            if self.rng.random() < 0.3 and model:
                key = self.rng.choice(list(model))
            if self.rng.random() < 0.3:
                writer.delete(key)
                model.pop(key, None)
            else:
                value = self.rng.randbytes(self.rng.randrange(200)) if self.rng.random() < 0.7 else b"text " * 50
                writer.put(key, value)
                model[key] = value

    def write_source(self, *, operations=2000, rounds=3, last_compacted=False, settled=False, **options):
        """settled: every file is needed by the store, and the log is short."""
        model = {}
        for i in range(rounds):
            writer = leveldb_writer.Writer(self.source, **options)
            self.fill(writer, operations, model)
            if i == 1 or (last_compacted and i == rounds - 1):
                writer.compact()
            writer.close()
        if settled:
            writer = leveldb_writer.Writer(self.source, **options)
            writer.compact()
            writer.close()
            writer = leveldb_writer.Writer(self.source, **options)
            self.fill(writer, 50, model)
            writer.close()
        return model

    def source_file(self, ending):
        names = sorted(name for name in os.listdir(self.source) if name.endswith(ending) or name.startswith(ending))
        return os.path.join(self.source, names[-1])

    def test_everything_in_tables_and_logs(self):
        model = self.write_source()
        before = self.store_files(self.source)
        report = self.ok("import", "leveldb", self.source, self.store, "--json").json
        self.assertEqual(report["records"], len(model))
        self.assertGreater(report["leveldb"]["tables"], 1)
        self.assertGreater(report["leveldb"]["log_writes"], 0)
        self.assertGreater(report["leveldb"]["superseded"], 0)
        self.assertGreater(report["leveldb"]["deleted"], 0)
        self.assertEqual(self.content(), model)
        self.assertEqual(self.store_files(self.source), before)
        self.ok("verify", self.store)

    def test_snappy_and_filters(self):
        model = self.write_source(compression=1, bloom=True, last_compacted=True)
        result = run("import", "leveldb", self.source, self.store)
        if result.code == UNSUPPORTED:
            self.assertIn("libsnappy-dev", result.err)
            return
        self.assertEqual(result.code, 0, result.err)
        self.assertEqual(self.content(), model)

    def test_an_empty_one(self):
        leveldb_writer.Writer(self.source).close()
        self.ok("import", "leveldb", self.source, self.store)
        self.assertEqual(self.content(), {})

    def test_reading_one_as_a_store_names_the_import(self):
        leveldb_writer.Writer(self.source).close()
        hint = f"Try: bloomblock import leveldb {self.source} NEW-DIR, if LevelDB wrote it\n"
        self.assertIn(hint, self.expect(CORRUPT, "get", self.source, "a").err)

    def test_one_large_value(self):
        writer = leveldb_writer.Writer(self.source)
        value = self.rng.randbytes(3 * 1024 * 1024)
        writer.put(b"", value)
        writer.close()
        self.ok("import", "leveldb", self.source, self.store)
        self.assertEqual(self.content(), {b"": value})

    def test_an_open_one_is_refused(self):
        writer = leveldb_writer.Writer(self.source)
        writer.put(b"a", b"1")
        self.assertIn("open in another process", self.refuse(IO, "leveldb", self.source).err)
        writer.close()
        self.ok("import", "leveldb", self.source, self.store)

    def test_another_order_is_refused_by_name(self):
        leveldb_writer.Writer(self.source, comparator="test.Backwards").close()
        self.assertIn("test.Backwards", self.refuse(UNSUPPORTED, "leveldb", self.source).err)

    def test_rocksdb_is_refused(self):
        self.write_source(operations=10)
        with open(os.path.join(self.source, "IDENTITY"), "w", encoding="utf-8") as file:
            file.write("1-2-3")
        self.assertIn("RocksDB", self.refuse(UNSUPPORTED, "leveldb", self.source).err)

    def test_rows_with_and_without_escapes_and_blanks_are_the_same(self):
        parts = ["", "\"", "\\", "\n", "\x7f", "\u2028", "{}:,", "a" * 7 + "\t", "a" * 8 + "\0\x1f", "\b\f\r/", "🌼" * 9,
                 "\ud7ff\ue000\uffff"]
        rows = [(f"key {number} é{part}", f"{part}value") for number, part in enumerate(parts)]
        plain = json.JSONEncoder(ensure_ascii=False).encode
        shapes = [lambda k, v: json.dumps({"key": k, "value": v}),
                  lambda k, v: json.dumps({"value": v, "key": k}, ensure_ascii=False),
                  lambda k, v: json.dumps({"key": k, "value": v}, ensure_ascii=False, separators=(",", ":")),
                  lambda k, v: f'  {{ "key" : {plain(k)}  ,"value":  {json.dumps(v)} }}  ',
                  lambda k, v: json.dumps({"key_hex": k.encode().hex(), "value": v}, ensure_ascii=False)]
        model = {key.encode(): value.encode() for key, value in rows}
        for number, shape in enumerate(shapes):
            store = self.path(f"shape{number}")
            self.ok("import", "json", "-", store, stdin="".join(shape(*row) + "\n" for row in rows))
            self.assertEqual(self.content(store), model)
            exported = [json.loads(line) for line in self.ok("export", store, "--json").text.split("\n")[:-1]]
            self.assertEqual(exported, [{"key": key, "value": value} for key, value in sorted(rows)])
        for value in (b'"\xff"', b'"b\x01"', b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\ud83d\\u0041"', b'"\\x41"',
                      b'"\\u12g4"', b'"b"}', b'"b'):
            self.refuse(USAGE, "json", "-", stdin=b'{"key":"a","value":' + value + b"}\n")
        for bad in (b'{"key":"a","value":"b"', b'{"key":"a" "value":"b"}', b'{"key":"a","key":"b","value":"c"}',
                    b'{"key":"a","value_hex":"4"}', b'{"key_hex":"\\u0061","value":"b"}'):
            self.refuse(USAGE, "json", "-", stdin=bad + b"\n")

    def begin(self, form):
        """An import of endless input that has written a table, and the directory that it builds."""
        process = subprocess.Popen([BINARY, "import", form, "-", self.store, "--write-buffer", "64K"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if form == "text":
            process.stdin.write(b"VERSION=3\nformat=print\nHEADER=END\n")
        building, number = self.store + ".importing", 0
        while not (os.path.isdir(building) and any(name.endswith(".bbt") for name in os.listdir(building))):
            for number in range(number, number + 500):
                value = "v" * 1000
                rows = {"json": f'{{"key": "{number}", "value": "{value}"}}\n', "text": f" {number}\n {value}\n"}
                process.stdin.write(rows[form].encode())
            process.stdin.flush()
        return process, building

    def test_an_interrupted_import_leaves_nothing(self):
        for form in ("json", "text"):
            process, building = self.begin(form)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=60), 130)  # although its input has not ended
            self.assertIn(b"interrupted", process.stderr.read())
            for stream in (process.stdin, process.stdout, process.stderr):
                stream.close()
            self.assertFalse(os.path.exists(building))
            self.assertFalse(os.path.exists(self.store))

    def test_a_killed_import_is_no_store_and_the_next_import_names_its_rest(self):
        process, building = self.begin("json")
        self.assertIn(self.store, self.expect(IO, "import", "json", "-", self.store).err)  # busy
        process.kill()
        process.communicate()
        self.assertTrue(os.path.isdir(building))
        self.expect(IO, "scan", self.store)
        row = b'{"key": "cat", "value": "9 lives"}\n'
        refusal = self.expect(IO, "import", "json", "-", self.store, stdin=row).err
        self.assertIn("bloomblock destroy", refusal)
        self.assertIn(building, refusal)
        self.ok("destroy", building, "--yes")
        self.ok("import", "json", "-", self.store, stdin=row)
        self.assertEqual(self.content(), {b"cat": b"9 lives"})
        self.assertFalse(os.path.exists(building))

    def test_a_store_of_the_name_that_an_import_builds_stays(self):
        """The import removed it."""
        mine = self.store + ".importing"
        self.ok("load", mine, stdin="mine\n")
        self.expect(IO, "import", "json", "-", self.store, stdin=b'{"key": "a", "value": "b"}\n')
        self.assertEqual(self.content(mine), {b"mine": b""})

    def test_a_directory_with_other_files_is_not_taken(self):
        os.mkdir(self.store)
        self.ok("import", "json", "-", self.store + "/", stdin=b'{"key": "a", "value": "b"}\n')
        self.assertEqual(self.content(), {b"a": b"b"})
        other = self.path("other")
        os.mkdir(other)
        self.write("other/file", "mine")
        self.assertIn("exists already", self.expect(IO, "import", "json", "-", other, stdin=b"").err)
        self.assertEqual(os.listdir(other), ["file"])

    def test_a_directory_that_cannot_be_replaced_is_refused_before_the_import(self):
        """The renaming failed after everything was imported, and the new store was removed."""
        for name in ("target", "here"):
            os.mkdir(self.path(name))
        os.symlink(self.path("target"), self.path("link"))
        os.symlink(self.path("nowhere"), self.path("dangling"))
        for store in (self.path("link"), self.path("dangling"), self.path("here") + "/."):
            result = self.expect(USAGE, "import", "json", "-", store, stdin=b"not read yet, so not refused\n")
            self.assertIn("name a directory that does not exist", result.err)
        for name in ("target", "here"):
            self.assertEqual(os.listdir(self.path(name)), [])
        self.assertFalse(os.path.exists(self.path("link") + ".importing"))

    def test_an_existing_store_stays(self):
        self.write_source(operations=10)
        self.load(["mine"])
        self.expect(IO, "import", "leveldb", self.source, self.store)
        self.assertEqual(self.content(), {b"mine": b""})

    def test_missing_files_are_named(self):
        self.write_source(settled=True)
        for ending in (".ldb", ".log", "MANIFEST", "CURRENT"):
            path = self.source_file(ending)
            os.rename(path, self.path("kept"))
            result = self.refuse(IO if ending in ("MANIFEST", "CURRENT") else CORRUPT, "leveldb", self.source)
            self.assertIn(os.path.basename(path), result.err)
            os.rename(self.path("kept"), path)
        self.refuse(IO, "leveldb", self.path("nowhere"))

    def test_a_log_that_breaks_off_ends_there(self):
        model = {}
        writer = leveldb_writer.Writer(self.source)
        for i in range(300):
            writer.put(b"%04d" % i, b"v" * 90)
            model[b"%04d" % i] = b"v" * 90
        writer.close()
        path = self.source_file(".log")
        os.truncate(path, os.path.getsize(path) - 50)
        result = self.ok("import", "leveldb", self.source, self.store)
        self.assertIn("incomplete", result.err)
        del model[b"0299"]
        self.assertEqual(self.content(), model)

    def damage(self, path, model):
        """One byte of the file is wrong: an error that names it, or an unused byte."""
        with open(path, "rb") as file:
            good = file.read()
        offset = self.rng.randrange(len(good))
        bad = bytearray(good)
        bad[offset] ^= 1 << self.rng.randrange(8)
        with open(path, "wb") as file:
            file.write(bad)
        result = run("import", "leveldb", self.source, self.store)
        self.assertNotIn("Sanitizer", result.err)
        if result.code == 0:
            self.assertTrue(self.content() == model or "note" in result.err, f"{path} {offset}")
            shutil.rmtree(self.store)
        else:
            self.assertIn(result.code, (CORRUPT, UNSUPPORTED), result.err)
            self.assertIn(os.path.basename(path), result.err)
            self.assertFalse(os.path.exists(self.store), f"{path} {offset}")
        with open(path, "wb") as file:
            file.write(good)
        return result.code != 0

    def test_tables_of_a_level_that_overlap_are_refused(self):
        """Merged as if they did not, they would bring older values back."""
        writer = leveldb_writer.Writer(self.source)
        for key in (b"a", b"b", b"c"):
            writer.put(key, b"1")
        writer.compact()
        writer.close()
        path = self.source_file(".ldb")
        key = b"\x09a" + bytes([1]) + bytes(7)
        table = (b"\7\2" + varint(int(os.path.basename(path).split(".")[0])) + varint(os.path.getsize(path)) +
                 key + key)
        name = b"leveldb.BytewiseComparator"
        for tables, code in ((1, 0), (2, CORRUPT)):
            with open(self.source_file("MANIFEST"), "wb") as file:
                file.write(log_record(b"\1" + varint(len(name)) + name + b"\2\0\3\x20\4\x20" + tables * table))
            result = self.expect(code, "import", "leveldb", self.source, self.store)
            if code == 0:
                self.assertEqual(self.content(), {b"a": b"1", b"b": b"1", b"c": b"1"})
                shutil.rmtree(self.store)
            else:
                self.assertIn(os.path.basename(path), result.err)
                self.assertIn("not in order", result.err)

    def test_damage_is_found_and_nothing_is_left(self):
        model = self.write_source(operations=600, settled=True)
        found = 0
        for ending in (".ldb", ".log", "MANIFEST"):
            found += sum(self.damage(self.source_file(ending), model) for _ in range(8))
        self.assertGreater(found, 16)
        self.ok("import", "leveldb", self.source, self.store)
        self.assertEqual(self.content(), model)


class TextForms(ImportTest):
    def fill(self, count=300):
        """A store of any bytes, made from JSON."""
        model = {b"": b"", b"\0": b"\xff", "é".encode(): b"\xc3", b"\\41": b"\\"}
        for _ in range(count):
            model[self.any_bytes(30)] = self.any_bytes(300)
        lines = [json.dumps({"key_hex": key.hex(), "value_hex": value.hex()}) for key, value in model.items()]
        report = self.ok("import", "json", "-", self.store, "--json", stdin="\n".join(lines)).json
        self.assertEqual(report["records"], len(model))
        return model

    def test_there_and_back(self):
        model = self.fill()
        self.assertEqual(self.content(), model)
        for form, options in (("text", []), ("text", ["--hex"]), ("json", ["--json"])):
            copy = self.path("copy" + "".join(options))
            dump = self.write("dump", self.ok("export", self.store, *options).out)
            self.ok("import", form, dump, copy)
            self.assertEqual(self.content(copy), model)
            self.ok("verify", copy)

    def test_a_range_is_what_a_scan_of_it_has(self):
        model = self.fill()
        keys = sorted(model)
        low, high = keys[len(keys) // 4], keys[len(keys) // 2]
        for options, expected in (
                (["--from", low.hex(), "--to", high.hex()], [key for key in keys if low <= key < high]),
                (["--from", low.hex()], [key for key in keys if low <= key]),
                (["--to", high.hex()], [key for key in keys if key < high]),
                (["--prefix", low[:1].hex()], [key for key in keys if key.startswith(low[:1])]),
                (["--from", high.hex(), "--to", low.hex()], [])):
            copy = self.path("copy" + "".join(options))
            dump = self.ok("export", self.store, "--hex", *options).out
            self.ok("import", "text", "-", copy, stdin=dump)
            self.assertEqual(self.content(copy), {key: model[key] for key in expected})
            rows = self.ok("export", self.store, "--json", "--hex", *options).lines
            self.assertEqual(len(rows), len(expected))
        self.expect(USAGE, "export", self.store, "--from", "a", "--prefix", "b")
        self.expect(USAGE, "export", self.store, "--hex", "--to", "x")

    def test_json_lines_are_text_where_they_can(self):
        self.ok("import", "json", "-", self.store, stdin='{"key": "caf\\u00e9\\u0000", "value": "x"}\n')
        self.assertEqual(self.content(), {"café\0".encode(): b"x"})
        row = json.loads(self.ok("export", self.store, "--json").text)
        self.assertEqual(row, {"key": "café\0", "value": "x"})

    def test_bad_dumps_leave_nothing(self):
        good = HEADER + " a\n 1\nDATA=END\n"
        self.assertIn("standard input: the file is empty", self.refuse(USAGE, "text", "-", stdin="").err)
        bad = ["VERSION=3\n", good.replace("VERSION=3\n", ""), good.replace("3", "2"),
               good.replace("btree", "recno"), good.replace("print", "csv"),
               good.replace("HEADER", "duplicates=1\nHEADER"), HEADER, HEADER + " a\n", HEADER + " a\n 1\n",
               HEADER + " a\nDATA=END\n", HEADER + "a\n1\nDATA=END\n", HEADER + " \\4\n 1\nDATA=END\n",
               HEADER + " \\xy\n 1\nDATA=END\n", good + good,
               good.replace("format=print", "format=bytevalue")]
        for dump in bad:
            self.assertIn("standard input: line", self.refuse(USAGE, "text", "-", stdin=dump).err)
        self.ok("import", "text", "-", self.store, stdin=good)
        self.assertEqual(self.content(), {b"a": b"1"})

    def test_bad_json_leaves_nothing(self):
        good = '{"key": "a", "value": "1"}'
        for line in ("", "{", "[]", '{"key": "a"}', '{"key": "a", "key_hex": "61"}', '{"key": 1, "value": "1"}',
                     '{"key_hex": "6", "value": "1"}', '{"key": "a", "value": "1", "other": 2}',
                     '{"key": "a", "key": "b"}'):
            self.assertIn("line 2", self.refuse(USAGE, "json", "-", stdin=good + "\n" + line + "\n").err)

    def test_what_cannot_be_done(self):
        self.assertIn("leveldb, text or json", self.refuse(USAGE, "csv", "-").err)
        for form in ("leveldb", "text", "json"):
            self.refuse(IO, form, self.path("nothing"))
        for form in ("text", "json"):
            self.assertIn("is a directory", self.refuse(USAGE, form, self.directory).err)
        self.refuse(IO, "leveldb", self.directory)
        self.assertIn("file: not a directory", self.refuse(USAGE, "leveldb", self.write("file", "hello\n")).err)
        self.load(["mine"])
        self.expect(IO, "import", "text", "-", self.store, stdin=HEADER + "DATA=END\n")
        self.assertEqual(self.content(), {b"mine": b""})
        self.expect(IO, "export", self.path("nothing"))

    def test_keys_too_large_are_refused(self):
        dump = HEADER + " " + "k" * 65537 + "\n v\nDATA=END\n"
        self.assertIn("65537", self.refuse(USAGE, "text", "-", stdin=dump).err)

    @unittest.skipUnless(shutil.which("mdb_load"), "LMDB's commands are not installed")
    def test_through_lmdb(self):
        everything = {key: value for key, value in self.fill().items() if 0 < len(key) < 500}
        # Old versions of mdb_dump -p do not escape a backslash, so that the output is ambiguous.
        plain = {key: value for key, value in everything.items() if b"\\" not in key + value}
        for form, options, model in (([], [], everything), ([], ["--hex"], everything), (["-p"], [], plain)):
            name = "".join(form + options)
            lines = [json.dumps({"key_hex": key.hex(), "value_hex": value.hex()}) for key, value in model.items()]
            self.ok("import", "json", "-", self.path("keyed" + name), stdin="\n".join(lines))
            dump = self.ok("export", self.path("keyed" + name), *options).out
            lmdb = self.path("lmdb" + name)
            subprocess.run(["mdb_load", "-n", lmdb], input=dump, check=True)
            theirs = subprocess.run(["mdb_dump", "-n", *form, lmdb], stdout=subprocess.PIPE, check=True).stdout
            self.ok("import", "text", "-", self.path("copy" + name), stdin=theirs)
            self.assertEqual(self.content(self.path("copy" + name)), model)


if __name__ == "__main__":
    assert BINARY
    print(f"import_test: BB_TEST_SEED={SEED}", flush=True)
    main()
