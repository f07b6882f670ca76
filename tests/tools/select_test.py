"""select: the records for which Python evaluates the same condition to true, in every output form.

Method: a generated log with NULLs, tabs, backslashes and bytes that are not UTF-8. Python evaluates
each condition on the rows that made the lines. TSV and JSON are parsed back and compared with the
rows.
"""
import datetime
import json
import os
import signal
import subprocess

from log_case import LogTest, generate, has_token, line_of
from tool import ABSENT, BINARY, CORRUPT, FOUND, IO, USAGE, main, run

INTERRUPTED = 130
HOUR = datetime.timedelta(hours=1)


def conditions(rows):
    """(text, the same in Python)."""
    middle = rows[len(rows) // 2]["time"]
    end = middle + HOUR
    host = rows[7]["host"]
    return [
        ("status = 418", lambda r: r["status"] == 418),
        ("status != 200", lambda r: r["status"] != 200),
        ("status in (404, 500) and bytes < 1000", lambda r: r["status"] in (404, 500) and (r["bytes"] or 1000) < 1000),
        ("bytes is null", lambda r: r["bytes"] is None),
        ("not bytes > 5000", lambda r: r["bytes"] is not None and r["bytes"] <= 5000),
        (f"time >= '{middle:%Y-%m-%dT%H:%M:%SZ}' and time < '{end:%Y-%m-%dT%H:%M:%SZ}'",
         lambda r: middle <= r["time"] < end),
        ("has_token(agent, 'sqlmap')", lambda r: has_token(r["agent"], "sqlmap")),
        ("has_token(agent, 'sqlmap') or status = 418",
         lambda r: has_token(r["agent"], "sqlmap") or r["status"] == 418),
        ("agent is not null and not has_token(agent, 'Mozilla')",
         lambda r: r["agent"] is not None and not has_token(r["agent"], "Mozilla")),
        (f"host = '{host}'", lambda r: r["host"] == host),
        ("path like '/item/1_'", lambda r: len(r["path"]) == 8 and r["path"].startswith("/item/1")),
        ("starts_with(host, '10.3.') and contains(agent, 'bot')",
         lambda r: r["host"].startswith("10.3.") and "bot" in (r["agent"] or "")),
        ("matches(path, '/item/[0-9]$')", lambda r: len(r["path"]) == 7),
        ("status = 999", lambda r: False),
        ("true", lambda r: True),
    ]


def unescape(text):
    """The bytes that a TSV text was made from."""
    out = bytearray()
    data = text.encode()
    i = 0
    while i < len(data):
        if data[i:i + 1] != b"\\":
            out += data[i:i + 1]
            i += 1
        elif data[i + 1:i + 2] == b"x":
            out.append(int(data[i + 2:i + 4], 16))
            i += 4
        else:
            out += {b"t": b"\t", b"n": b"\n", b"r": b"\r", b"\\": b"\\"}[data[i + 1:i + 2]]
            i += 2
    return bytes(out)


class Select(LogTest):
    def setUp(self):
        super().setUp()
        self.rows = generate(self.random(), self.COUNT)

    def select(self, where, *options, code=None):
        result = run("select", self.store, "--where", where, *options)
        self.assertIn(result.code, (FOUND, ABSENT) if code is None else (code,), result.err)
        return result

    def test_records_are_those_of_python_with_and_without_indexes(self):
        self.load_log(self.rows)
        for where, holds in conditions(self.rows):
            wanted = [line_of(row) for row in self.rows if holds(row)]
            for options in ([], ["--no-index"]):
                result = self.select(where, *options)
                self.assertEqual(result.out.split(b"\n")[:-1], wanted, where)
                self.assertEqual(result.code, FOUND if wanted else ABSENT, where)
                self.assertEqual(self.select(where, "--count", *options).text, f"{len(wanted)}\n", where)
            backward = self.select(where, "--reverse").out.split(b"\n")[:-1]
            self.assertEqual(backward, wanted[::-1], where)
            self.assertEqual(self.select(where, "--limit", "3").out.split(b"\n")[:-1], wanted[:3], where)

    def test_records_stay_the_same_when_indexes_are_built_later(self):
        self.load_log(self.rows, indexes=[])
        self.ok("index", "create", self.store, *self.INDEXES)
        report = self.ok("index", "materialize", self.store, "--json").json
        self.assertTrue(all(index["tables_built"] == index["tables"] > 0 for index in report["indexes"]))
        for where, holds in conditions(self.rows):
            self.assertEqual(self.select(where, "--count").text, f"{sum(map(holds, self.rows))}\n", where)

    def test_tsv_parses_back(self):
        self.load_log(self.rows)
        out = self.select("true", "--columns", "time,status,bytes,agent,key").text
        lines = out.split("\n")[:-1]
        self.assertEqual(len(lines), len(self.rows))
        for number, (line, row) in enumerate(zip(lines, self.rows), 1):
            time, status, size, agent, key = line.split("\t")
            self.assertEqual(time, row["time"].strftime("%Y-%m-%dT%H:%M:%SZ"))
            self.assertEqual(status, str(row["status"]))
            self.assertEqual(size, "\\N" if row["bytes"] is None else str(row["bytes"]))
            wanted = None if row["agent"] is None else row["agent"].encode("utf-8", "surrogateescape")
            self.assertEqual(None if agent == "\\N" else unescape(agent), wanted)
            self.assertEqual(key, f"{number:016}")

    def test_tsv_without_columns_is_key_and_value(self):
        self.load_log(self.rows[:100])
        for number, line in enumerate(self.select("true", "--tsv").text.split("\n")[:-1]):
            key, value = line.split("\t")
            self.assertEqual(key, f"{number + 1:016}")
            self.assertEqual(unescape(value), line_of(self.rows[number]))

    def test_json_parses_back(self):
        self.load_log(self.rows)
        document = self.select("true", "--json", "--columns", "time,status,bytes,agent").json
        self.assertTrue(document["complete"])
        self.assertEqual(document["count"], len(self.rows))
        for record, row in zip(document["records"], self.rows):
            self.assertEqual(record["time"], row["time"].strftime("%Y-%m-%dT%H:%M:%SZ"))
            self.assertEqual(record["status"], row["status"])
            self.assertEqual(record["bytes"], row["bytes"])
            agent = record.get("agent")
            if "agent_hex" in record:
                agent = bytes.fromhex(record["agent_hex"]).decode("utf-8", "surrogateescape")
            self.assertEqual(agent, row["agent"])
        values = self.select("status = 418", "--json").json["records"]
        self.assertEqual([record["value"] for record in values if "value" in record],
                         [line_of(row).decode() for row in self.rows
                          if row["status"] == 418 and "\udcff" not in (row["agent"] or "")])

    def test_hex_was_ignored_in_json_and_columns(self):
        self.load_log(self.rows[:20])
        plain = self.select("true", "--hex", "--tsv").lines
        rows = self.select("true", "--hex", "--json").json["records"]
        self.assertEqual([f"{row['key_hex']}\t{row['value_hex']}" for row in rows], plain)
        self.assertEqual(set(rows[0]), {"key_hex", "value_hex"})
        for options in ([], ["--json"]):
            self.assertIn("--columns", self.select("true", "--hex", "--columns", "host", *options, code=USAGE).err)

    def test_numbers_of_every_type_survive_json_and_tsv(self):
        values = ["18446744073709551615", "9223372036854775808", "0", "0.1", "1e300", "-0.0", "nan", "inf", "x", ""]
        self.ok("load", self.store, "--lines", "--attribute", "u u64 = value", "--attribute", "f f64 = value",
                "--attribute", "i i64 = value", stdin="".join(f"{value}\n" for value in values))
        records = self.ok("select", self.store, "--json", "--columns", "u,f,i").json["records"]
        self.assertEqual([record["u"] for record in records],
                         [18446744073709551615, 9223372036854775808, 0] + [None] * 7)
        self.assertEqual([record["f"] for record in records],
                         [2.0 ** 64, 2.0 ** 63, 0, 0.1, 1e300, -0.0, "nan", "inf", None, None])
        rows = [line.split("\t") for line in self.ok("select", self.store, "--columns", "u,f,i").lines]
        self.assertEqual(rows[0], ["18446744073709551615", "1.8446744073709552e+19", "\\N"])
        self.assertEqual([row[1] for row in rows][3:], ["0.1", "1e+300", "-0", "nan", "inf", "\\N", "\\N"])
        for row, record in zip(rows, records):
            if isinstance(record["f"], float):
                self.assertEqual(float(row[1]), record["f"])

    def test_times_before_1970_and_at_the_ends_are_printed(self):
        times = ["1677-09-21T00:12:44Z", "1969-12-31T23:59:59.5Z", "1970-01-01T00:00:00Z",
                 "2262-04-11T23:47:16.854775807Z", "1969-12-31T23:59:59.999999999Z"]
        self.ok("load", self.store, "--lines", "--attribute", "t time(rfc3339) = value",
                stdin="".join(f"{time}\n" for time in times))
        self.assertEqual(self.ok("select", self.store, "--columns", "t").lines, times)

    def test_a_range_of_keys_bounds_the_records(self):
        self.load_log(self.rows)
        out = self.select("true", "--from", f"{11:016}", "--to", f"{21:016}").out
        self.assertEqual(out.split(b"\n")[:-1], [line_of(row) for row in self.rows[10:20]])
        hexadecimal = f"{11:016}".encode().hex()
        self.assertEqual(self.select("true", "--from", hexadecimal, "--hex", "--limit", "1").text.strip(),
                         line_of(self.rows[10]).hex())

    def test_an_attribute_for_one_selection_is_not_kept(self):
        self.load_log(self.rows)
        where = "octet = 3"
        definition = "octet u64 = split('.', 2)"
        wanted = sum(row["host"].split(".")[1] == "3" for row in self.rows)
        out = self.select(where, "--attribute", definition, "--count").text
        self.assertEqual(out, f"{wanted}\n")
        self.assertIn("octet", self.select(where, code=USAGE).err)

    def test_explain_accounts_for_all_granules(self):
        self.load_log(self.rows)
        for where, holds in conditions(self.rows):
            account = self.select(where, "--json", "--explain", "--count").json["account"]
            self.assertEqual(account["granules"], account["granules_excluded"] + account["granules_counted"] +
                             account["granules_read"], where)
            self.assertLessEqual(account["granules_matching"], account["granules_read"])
            self.assertEqual(account["records_matching"] - account["records_hidden"], account["records_returned"])
        account = self.select("has_token(agent, 'sqlmap')", "--json", "--explain").json["account"]
        self.assertGreater(account["granules_excluded"], account["granules"] / 2)
        self.assertEqual(account["damaged_indexes"], 0)
        (index,) = account["indexes"]
        self.assertEqual(index["granules_excluded"], account["granules_excluded"])
        self.assertEqual((index["reads"], index["read_bytes"]), (account["index_reads"], account["index_read_bytes"]))
        self.assertEqual(index["false_share"], account["false_share"])
        text = self.select("has_token(agent, 'sqlmap')", "--explain")
        for word in ("granules", "excluded", "preads", "records", "time"):
            self.assertIn(word, text.err)
        self.assertEqual(text.out, self.select("has_token(agent, 'sqlmap')").out)

    def test_a_wrong_condition_is_shown_with_a_caret_below_it(self):
        self.load_log(self.rows[:10])
        for where, place in (("status = = 4", 9), ("status ~ 4", 7), ("nothing = 1", 0), ("agent = 5", 8),
                             ("status = 'x'", 9), ("status = 1 and", 14), ("(status = 1", 11),
                             ("matches(agent, '(')", 15), ("agent = 'ü' and x = 1", 16)):
            result = self.select(where, code=USAGE)
            self.assertEqual(result.out, b"")
            text, caret = result.err.splitlines()[:2]
            self.assertEqual(text, "  " + where)
            self.assertEqual(caret, " " * (2 + place) + "^", where)
            self.assertIn("at byte", result.err)
        long = "status = 1 or " * 40 + "status = = 1"
        text, caret = self.select(long, code=USAGE).err.splitlines()[:2]
        self.assertEqual(text[caret.index("^") - 2:caret.index("^") + 3], "= = 1")

    def test_bad_arguments(self):
        self.load_log(self.rows[:10])
        known = self.select("true", "--columns", "status,nothing", code=USAGE).err
        self.assertIn('"nothing"', known)
        self.assertIn("agent", known)
        self.select("true", "--columns", "", code=USAGE)
        self.select("true", "--columns", "status,", code=USAGE)
        self.select("true", "--columns", "status", "--count", code=USAGE)
        self.select("true", "--json", "--tsv", code=USAGE)
        self.select("true", "--limit", "x", code=USAGE)
        self.select("true", "--from", "abc", "--hex", code=USAGE)
        self.select("true", "--attribute", "status u64 = clf(status)", code=USAGE)
        self.select("true", "--attribute", "nonsense", code=USAGE)
        self.expect(IO, "select", self.path("nowhere"), "--where", "true")
        self.expect(USAGE, "select")

    def test_a_damaged_index_costs_reads_and_loses_nothing(self):
        self.load_log(self.rows)
        where, holds = "status = 418", lambda row: row["status"] == 418
        paths = [os.path.join(self.store, name) for name in os.listdir(self.store) if name.endswith(".bbi")]
        self.assertGreater(len(paths), 0)
        for path in paths:
            with open(path, "r+b") as file:
                file.truncate(os.path.getsize(path) // 2)
        document = self.select(where, "--json", "--explain", "--count").json
        self.assertEqual(document["count"], sum(map(holds, self.rows)))
        self.assertEqual(document["account"]["damaged_indexes"], len(paths))
        self.assertIn("damaged", self.select(where, "--explain").err)
        self.assertIn(f"because of {len(paths)} damaged index", self.select(where).err)

    def test_a_damaged_table_ends_in_an_error_after_what_was_read(self):
        self.load_log(self.rows, indexes=[])
        path = max(self.tables(), key=os.path.getsize)
        with open(path, "r+b") as file:
            file.seek(os.path.getsize(path) // 3)
            file.write(b"\xff" * 64)
        document = self.select("true", "--json", code=CORRUPT).json
        self.assertFalse(document["complete"])
        self.assertEqual(document["count"], len(document["records"]))
        self.assertLess(document["count"], len(self.rows))
        self.assertEqual(self.select("true", "--count", code=CORRUPT).out, b"")

    def test_overwritten_and_deleted_records_are_not_shown(self):
        self.load_log(self.rows)
        self.ok("delete", self.store, f"{1:016}", f"{2:016}")
        changed = dict(self.rows[2], status=777)
        self.load(f"{3:016}\t".encode() + line_of(changed) + b"\n", "--tsv")
        self.assertEqual(self.select("status = 777").out, line_of(changed) + b"\n")
        wanted = [line_of(row) for row in self.rows[3:] if row["status"] == 200]
        self.assertEqual(self.select("status = 200").out.split(b"\n")[:-1], wanted)

    def interrupt(self, *options):
        """Ctrl-C while the output waits for its reader: (exit code, output, standard error)."""
        process = subprocess.Popen([BINARY, "select", self.store, *options], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        first = os.read(process.stdout.fileno(), 1000)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        return process.returncode, first + out, err.decode()

    def test_interrupted_it_ends_in_good_order(self):
        # More than the pipe and the output buffer hold, so that the command has not finished.
        rows = generate(self.random(), 3000)
        self.load_log(rows)
        wide = "key," + ",".join(["agent,host,path,time"] * 20)
        code, out, err = self.interrupt("--columns", wide)
        self.assertEqual(code, INTERRUPTED, err)
        lines = out.decode().split("\n")
        self.assertEqual(lines[-1], "")
        self.assertLess(len(lines) - 1, len(rows))
        self.assertEqual([line.split("\t")[0] for line in lines[:-1]],
                         [f"{number:016}" for number in range(1, len(lines))])
        self.assertIn("interrupted", err)
        code, out, err = self.interrupt("--columns", wide, "--json", "--explain")
        self.assertEqual(code, INTERRUPTED, err)
        document = json.loads(out)
        self.assertFalse(document["complete"])
        self.assertEqual(document["count"], len(document["records"]))
        self.ok("verify", self.store)

    def test_a_reader_that_leaves_ends_it_quietly(self):
        self.load_log(self.rows)
        process = subprocess.Popen([BINARY, "select", self.store], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read()
        process.stderr.close()
        self.assertEqual((process.wait(timeout=120), err), (FOUND, b""))


class Indexes(LogTest):
    """attribute and index: create, drop, list, materialize."""

    def names(self):
        return [row["name"] for row in self.ok("index", "list", self.store, "--json").json["indexes"]]

    def setUp(self):
        super().setUp()
        self.rows = generate(self.random(), 2000)

    def test_they_are_created_listed_and_dropped(self):
        self.load_log(self.rows, indexes=[])
        self.ok("attribute", "create", self.store, "octet u64 = split('.', 2)", "all bytes = value")
        attributes = self.ok("attribute", "list", self.store, "--json").json["attributes"]
        self.assertEqual(attributes[-2:],
                         [{"name": "octet", "type": "u64", "definition": "octet u64 = split('.', 2)"},
                          {"name": "all", "type": "bytes", "definition": "all bytes = value"}])
        self.ok("index", "create", self.store, "set(octet)", "words = tokens(all, fold=lower)")
        self.assertEqual(self.names(), ["octet_set", "words"])
        self.assertIn("words", self.expect(USAGE, "attribute", "drop", self.store, "all").err)
        self.ok("index", "drop", self.store, "words")
        self.ok("attribute", "drop", self.store, "all")
        self.assertEqual(self.names(), ["octet_set"])
        self.assertNotIn("all", self.ok("attribute", "list", self.store).text.split())

    def test_list_shows_what_is_built(self):
        self.load_log(self.rows, indexes=[])
        self.ok("index", "create", self.store, "values(host)")
        row = self.ok("index", "list", self.store, "--json").json["indexes"][0]
        self.assertEqual((row["tables_built"], row["size_bytes"]), (0, 0))
        self.ok("index", "materialize", self.store)
        document = self.ok("index", "list", self.store, "--json").json
        row = document["indexes"][0]
        self.assertEqual(row["tables_built"], row["tables"])
        self.assertGreater(row["pairs"], 0)
        self.assertAlmostEqual(row["share_of_data"], row["size_bytes"] / document["raw_bytes"])
        self.assertIn("values(host, rate=0.001)", self.ok("index", "list", self.store).text)

    def test_a_condition_on_a_store_without_attributes_names_the_command_that_defines_them(self):
        self.load("a\n")
        refusal = self.expect(USAGE, "select", self.store, "--where", "status = 404").err
        self.assertIn("the store has no attributes", refusal)
        self.assertIn("bloomblock attribute create", refusal)
        self.ok("select", self.store, "--where", "all = ''", "--attribute", "all bytes = value")

    def test_what_is_not_acceptable_is_named(self):
        self.load_log(self.rows[:10])
        for arguments in (["attribute", "create", self.store, "x u65 = value"],
                          ["attribute", "create", self.store, "x u64 = nonsense(1)"],
                          ["attribute", "create", self.store, "status u64 = clf(status)"],
                          ["attribute", "create", self.store, "and bytes = value"],
                          ["attribute", "create", self.store, "x bytes = callback(f)"],
                          ["attribute", "create", self.store, ""],
                          ["attribute", "create", self.store],
                          ["attribute", "drop", self.store, "nothing"],
                          ["attribute", "nothing"],
                          ["index", "create", self.store, "tokens(nothing)"],
                          ["index", "create", self.store, "tokens(status)"],
                          ["index", "create", self.store, "values(host, rate=2)"],
                          ["index", "create", self.store, "a\nb = values(host)"],
                          ["index", "create", self.store, "x" * 65 + " = values(host)"],
                          ["index", "create", self.store, "values(host)"],
                          ["index", "create", self.store, "values(path)", "--granule", "1"],
                          ["index", "drop", self.store, "nothing"],
                          ["index"]):
            result = run(*arguments)
            self.assertIn(result.code, (USAGE, 5), (arguments, result.err))
            self.assertTrue(result.err.splitlines()[-1].startswith(("bloomblock", "Try")), result.err)
        self.expect(IO, "index", "list", self.path("nowhere"))
        self.expect(IO, "attribute", "create", self.path("nowhere"), "x bytes = value")
        self.assertFalse(os.path.exists(self.path("nowhere")))


if __name__ == "__main__":
    main()
