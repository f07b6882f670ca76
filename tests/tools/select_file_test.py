"""select --file and index create --file find the lines that grep finds, byte for byte.

This holds for any state of the index file. Method: generated logs; each condition has a pattern for
`grep -a`. The file grows, is truncated and rewritten, the index file is damaged and removed,
permissions are removed.
"""
import os
import signal
import subprocess
import unittest

from log_case import LogTest, generate, lines_of
from tool import ABSENT, BINARY, CORRUPT, FOUND, IO, USAGE, main, run, some

ATTRIBUTES = ["line bytes = value", "agent bytes = clf(agent)", "status u64 = clf(status)", "host bytes = clf(host)"]
INDEXES = ["tokens(agent)", "set(status)", "values(host)", "ngrams(line, n=4)"]
# Conditions, each with the options and the pattern of grep that select the same lines.
CONDITIONS = [
    ("has_token(agent, 'sqlmap')", ["-w", "-F", "sqlmap"]),
    ("contains(line, 'Googlebot/2.1')", ["-F", "Googlebot/2.1"]),
    ("contains(line, 'GET /item/77 ')", ["-F", "GET /item/77 "]),
    ("status = 418", ["-E", '" 418 ']),
    ("status in (404, 500)", ["-E", '" (404|500) ']),
    ("matches(line, '^10[.]2[.].*curl')", ["-E", "^10[.]2[.].*curl"]),
    ("line like '%item/1_ HTTP%'", ["-E", "item/1. HTTP"]),
    ("host = '10.1.2.3' or contains(line, 'ünïcode')", ["-E", "^10[.]1[.]2[.]3 |ünïcode"]),
    ("contains(line, 'nowhere at all')", ["-F", "nowhere at all"]),
    ("line = ''", ["-E", "^\r?$"]),
]


class SelectFile(LogTest):
    def setUp(self):
        super().setUp()
        self.rng = self.random()
        self.log = self.path("access.log")
        self.index = self.log + ".bbi"
        self.write("access.log", lines_of(generate(self.rng, 4000)))

    def create(self, *options, code=FOUND):
        definitions = [part for text in ATTRIBUTES for part in ("--attribute", text)]
        specs = [part for text in INDEXES for part in ("--index", text)]
        return self.expect(code, "index", "create", "--file", self.log, "--granule", "8K", *definitions, *specs,
                           *options)

    def append(self, content):
        with open(self.log, "ab") as file:
            file.write(content)

    def select(self, where, *options):
        definitions = [part for text in ATTRIBUTES for part in ("--attribute", text)]
        return run("select", "--file", self.log, "--where", where, *definitions, *options)

    def grep(self, options):
        environment = dict(os.environ, LC_ALL="C")
        return subprocess.run(["grep", "-a", *options, self.log], stdout=subprocess.PIPE, env=environment, check=False)

    def check(self, is_told=False):
        """All conditions match grep. is_told: the command reports an unused index file."""
        for where, options in some(CONDITIONS):
            wanted = self.grep(options)
            for more in ([], ["--no-index"]):
                result = self.select(where, *more)
                self.assertEqual(result.out, wanted.stdout, where)
                self.assertEqual(result.code, wanted.returncode, where)
                self.assertEqual("index" in result.err, is_told, result.err)
            count = self.select(where, "--count")
            lines = wanted.stdout.count(b"\n")
            self.assertEqual(count.text, f"{lines}\n", where)

    def excluded(self):
        return self.select("status = 418 and has_token(agent, 'sqlmap')", "--json", "--explain").json["account"]

    def test_lines_are_those_of_grep(self):
        self.append(b"\n\r\n\x00 Googlebot/2.1 \xff\r\ncurl without an end")
        self.check()
        self.create()
        self.check()
        self.assertGreater(self.excluded()["granules_excluded"], 20)

    def test_long_lines(self):
        self.append(b"x" * 3000000 + b" Googlebot/2.1 " + b"y" * 3000000 + b"\n")
        self.check()
        self.create()
        self.check()

    def test_what_is_appended_is_read_and_then_indexed(self):
        self.create()
        size = os.path.getsize(self.log)
        self.append(lines_of(generate(self.rng, 300))[:-1])
        self.check()
        account = self.excluded()
        self.assertEqual(account["unindexed_bytes"], os.path.getsize(self.log) - size)
        self.assertGreater(account["granules_excluded"], 20)
        report = self.ok("index", "create", "--file", self.log, "--json").json
        self.assertEqual(report["file_bytes"], os.path.getsize(self.log))
        self.assertEqual(report["records"], 4299)
        self.check()

    def test_a_file_that_was_changed_is_read_as_a_whole(self):
        self.create()
        with open(self.log, "rb") as file:
            content = file.read()
        other = content.replace(b"10.", b"11.", 1)
        for changed in (content[:len(content) // 2], b"", other, other + b"more\n", content[:-3] + b"xy\n"):
            self.write("access.log", changed)
            os.utime(self.log, ns=(1, 1))
            self.check(is_told=True)
        self.ok("index", "create", "--file", self.log)
        self.check()

    def test_a_damaged_index_file_loses_no_line(self):
        self.create()
        with open(self.index, "rb") as file:
            content = file.read()
        for cut in (0, 1, len(content) // 2, len(content) - 1):
            self.write("access.log.bbi", content[:cut])
            self.check(is_told=True)
        met = 0
        for _ in range(40):
            at = self.rng.randrange(len(content) - 500)
            self.write("access.log.bbi", content[:at] + bytes([content[at] ^ 64]) + content[at + 1:])
            where, options = self.rng.choice(CONDITIONS)
            result = self.select(where, "--explain")
            self.assertEqual(result.out, self.grep(options).stdout)
            is_met = "damaged: " in result.err
            self.assertEqual(is_met, "because of 1 damaged index;" in result.err, result.err)
            met += is_met
        self.assertGreater(met, 0)
        os.unlink(self.index)
        self.check()
        self.assertIn("--attribute", self.expect(USAGE, "select", "--file", self.log, "--where", "status = 1").err)

    def test_definitions_come_from_the_index_file(self):
        self.create()
        wanted = self.grep(["-E", '" 418 ']).stdout
        self.assertEqual(run("select", "--file", self.log, "--where", "status = 418").out, wanted)
        columns = run("select", "--file", self.log, "--where", "status = 418", "--columns", "status,key,value")
        offsets = [int(row.split("\t")[1]) for row in columns.lines]
        with open(self.log, "rb") as file:
            content = file.read()
        self.assertEqual([content[at:content.index(b"\n", at) + 1] for at in offsets], wanted.splitlines(True))
        document = run("select", "--file", self.log, "--where", "status = 418", "--json", "--limit", "2").json
        self.assertEqual([row["offset"] for row in document["records"]], offsets[:2])
        self.assertEqual(document["count"], min(2, len(offsets)))

    def test_columns_decide_lines_and_indexes_account_for_granules(self):
        self.create("--index", "column(status)", "--index", "column(host)")
        where = "status IN (404, 500) AND host != '10.1.2.3'"
        everything = self.select(where, "--count", "--no-index", "--json", "--explain").json
        self.assertEqual(everything["account"]["indexes"], [])
        counted = self.select(where, "--count", "--json", "--explain").json
        account = counted["account"]
        self.assertEqual(counted["count"], everything["count"])
        self.assertEqual((account["data_reads"], account["records_examined"], account["granules_read"]), (0, 0, 0))
        self.assertGreater(account["granules_counted"], 0)
        shown = self.select(where, "--json", "--explain").json
        self.assertEqual(shown["count"], everything["count"])
        self.assertEqual(shown["account"]["granules_read"], shown["account"]["granules_matching"])
        for account in (counted["account"], shown["account"]):
            names = {index["name"] for index in account["indexes"]}
            self.assertLessEqual({"set(status)", "column(status)", "column(host)"}, names)
            self.assertEqual(sum(index["reads"] for index in account["indexes"]), account["index_reads"])
            self.assertEqual(sum(index["read_bytes"] for index in account["indexes"]), account["index_read_bytes"])
        rare = self.select("has_token(agent, 'sqlmap')", "--json", "--explain").json["account"]
        (tokens,) = rare["indexes"]
        self.assertEqual(tokens["granules_excluded"], rare["granules_excluded"])
        self.assertEqual(tokens["false_share"], rare["false_share"])
        self.assertIn("index     tokens(agent): 1 segment,", self.select("has_token(agent, 'sqlmap')", "--explain").err)

    def test_columns_and_other_indexes_lose_no_line(self):
        """Regression: of a granule, select took the lines that columns decide to be all matches."""
        self.create("--index", "column(status)")
        for where in some(["status = 404 and has_token(agent, 'sqlmap')", "status = 200 and host = '10.1.2.3'",
                           "status = 500 or has_token(agent, 'sqlmap')",
                           "not (status = 200 or has_token(agent, 'curl'))"]):
            with self.subTest(where=where):
                self.assertEqual(self.select(where).out, self.select(where, "--no-index").out)
                self.assertEqual(self.select(where, "--count").out, self.select(where, "--count", "--no-index").out)

    def test_indexes_are_listed_and_dropped(self):
        self.create("--index", "column(status)")
        listed = self.ok("index", "list", "--file", self.log, "--json").json
        specs = [index["spec"] for index in listed["indexes"]]
        self.assertEqual([spec.split("(")[0] for spec in specs], ["tokens", "set", "values", "ngrams", "column"])
        self.assertEqual(listed["indexed_bytes"], os.path.getsize(self.log))
        self.assertEqual(listed["index_bytes"], os.path.getsize(self.index))
        self.assertLess(sum(index["size_bytes"] for index in listed["indexes"]), listed["index_bytes"])
        self.assertIn("column(status)", self.ok("index", "list", "--file", self.log).text)
        dropped = self.ok("index", "drop", "--file", self.log, specs[1], specs[4], "--json").json
        left = self.ok("index", "list", "--file", self.log, "--json").json
        self.assertEqual(dropped, left)
        self.assertEqual([index["spec"] for index in left["indexes"]], [specs[0], specs[2], specs[3]])
        self.assertLess(os.path.getsize(self.index), listed["index_bytes"])
        self.check()
        self.expect(IO, "index", "drop", "--file", self.log, specs[1])
        self.expect(USAGE, "index", "drop", "--file", self.log)
        self.expect(USAGE, "index", "drop", "--file", self.log, specs[0], "--all")
        self.assertEqual(self.ok("index", "drop", "--file", self.log, "--all", "--json").json,
                         {"indexes": [], "index_bytes": 0})
        self.assertFalse(os.path.exists(self.index))
        self.expect(IO, "index", "list", "--file", self.log)
        self.expect(IO, "index", "drop", "--file", self.log, "--all")
        self.create()
        self.ok("index", "drop", "--file", self.log, *specs[:4])
        self.assertFalse(os.path.exists(self.index))
        self.check()

    def test_damage_of_an_index_file_has_its_exit_code(self):
        self.create()
        with open(self.index, "r+b") as file:
            file.truncate(os.path.getsize(self.index) - 20)
        self.expect(CORRUPT, "index", "list", "--file", self.log)
        self.expect(CORRUPT, "index", "drop", "--file", self.log, "set(status)")

    def test_what_is_no_file(self):
        os.mkdir(self.path("directory"))
        os.mkfifo(self.path("fifo"))
        for name, code in (("directory", USAGE), ("fifo", USAGE), ("missing", IO)):
            self.expect(code, "select", "--file", self.path(name))
            self.expect(code, "index", "create", "--file", self.path(name), "--attribute", "a bytes = value", "--index",
                        "tokens(a)")
            self.assertFalse(os.path.exists(self.path(name) + ".bbi"))

    def test_links_are_followed(self):
        self.create()
        os.symlink(self.log, self.path("link"))
        wanted = self.grep(["-E", '" 418 ']).stdout
        result = run("select", "--file", self.path("link"), "--where", "status = 418")
        self.assertEqual(result.out, wanted)

    @unittest.skipIf(os.geteuid() == 0, "root has every permission")
    def test_without_permission(self):
        self.create()
        os.chmod(self.index, 0)
        self.check(is_told=True)
        os.unlink(self.index)
        os.chmod(self.directory, 0o500)
        self.addCleanup(os.chmod, self.directory, 0o700)
        self.check()
        self.create(code=IO)
        self.assertEqual(os.listdir(self.directory), ["access.log"])
        os.chmod(self.log, 0)
        self.expect(IO, "select", "--file", self.log)

    def test_bad_arguments(self):
        for options in (["--index", "tokens(nothing)"], ["--attribute", "x"], ["--granule", "1"]):
            self.assertTrue(self.create(*options, code=USAGE).err)
        result = self.expect(USAGE, "index", "create", "--file", self.log, "--attribute", ATTRIBUTES[0])
        self.assertIn("--index", result.err)
        self.expect(IO, "index", "create", "--file", self.log)
        self.assertFalse(os.path.exists(self.index))
        self.assertIn("^", self.select("status == 1").err)
        self.assertEqual(self.select("status == 1").code, USAGE)
        self.expect(USAGE, "select", "--file", self.log, "argument")

    def test_help(self):
        for command in (["select"], ["index", "create"]):
            self.assertIn("--file", run(*command, "--help").text)
            self.assertIn(".bbi", run(*command, "--file", "x", "--help").text)

    def test_ctrl_c_leaves_the_index_file_as_it_was(self):
        self.create()
        with open(self.index, "rb") as file:
            before = file.read()
        with open(self.log, "rb") as file:
            content = file.read()
        self.append(content * 150)
        process = subprocess.Popen([BINARY, "index", "create", "--file", self.log, "--rebuild"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while not any(name.endswith(".new") for name in os.listdir(self.directory)) and process.poll() is None:
            pass
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
        names = sorted(os.listdir(self.directory))
        self.assertEqual(names, ["access.log", "access.log.bbi"])
        with open(self.index, "rb") as file:
            self.assertEqual(file.read() == before, process.returncode == 130)


if __name__ == "__main__":
    main()
