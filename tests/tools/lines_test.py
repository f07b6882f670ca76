"""load --lines: each line is a record, in the order of the lines, with keys of two forms and
attributes of five formats.

Method: stores are read back with scan and select, and compared with the lines. Formats are compared
with Python's own parsers. An error names the file, the line and the byte.
"""
import csv
import io
import json
import os

from log_case import LogTest, generate, line_of, lines_of
from tool import ABSENT, IO, USAGE, main, run


class Lines(LogTest):
    def entries(self, store=None):
        document = self.ok("scan", store or self.store, "--json").json
        return [(entry["key"], entry["value"]) for entry in document["entries"]]

    def attributes(self, store=None):
        rows = self.ok("attribute", "list", store or self.store, "--json").json["attributes"]
        return {row["name"]: row["definition"].split(" ", 1)[1] for row in rows}

    def load_lines(self, content, *options, code=0, store=None):
        return self.expect(code, "load", store or self.store, "--lines", *options, stdin=content)

    def test_keys_are_running_numbers_that_go_on(self):
        self.load_lines("b\na\n\nlast without newline")
        self.load_lines("again\n")
        self.assertEqual(self.entries(), [(f"{number:016}", line) for number, line in
                                          enumerate(["b", "a", "", "last without newline", "again"], 1)])

    def test_lines_are_taken_as_they_are(self):
        lines = [b"\tx\t", b" blank ", b"carriage\r", b"\x00\xff", b"x" * 300000]
        self.load_lines(b"\n".join(lines) + b"\n")
        out = self.ok("select", self.store).out
        self.assertEqual(out, b"\n".join(lines) + b"\n")

    def test_several_files_come_one_after_the_other(self):
        first, second = self.write("first", "1\n2\n"), self.write("second", "3\n")
        self.ok("load", self.store, "--lines", first, second)
        self.assertEqual([value for _, value in self.entries()], ["1", "2", "3"])
        self.expect(IO, "load", self.path("other"), "--lines", first, self.path("nowhere"))
        self.assertFalse(os.path.exists(self.path("other")))

    def test_a_store_with_other_keys_is_refused(self):
        self.load(["zebra"])
        self.assertIn("--key", self.load_lines("1\n", code=USAGE).err)
        self.assertEqual(len(self.entries()), 1)

    def test_keys_with_a_time_are_in_its_order_and_unique(self):
        rows = generate(self.random(), 500)
        shuffled = rows[::-1] + [rows[3], rows[3]]
        for _ in range(2):
            self.load_lines(lines_of(shuffled), "--format", "clf", "--key", "time")
        out = self.ok("select", self.store).out.split(b"\n")[:-1]
        wanted = sorted(2 * shuffled, key=lambda row: row["time"])
        self.assertEqual(out, [line_of(row) for row in wanted])
        key = self.ok("select", self.store, "--columns", "key", "--limit", "1").lines[0]
        self.assertRegex(key, r"^2015-05-17T00:00:00\.000000000Z\\t\d{16}$")
        hour = self.ok("select", self.store, "--from", "2015-05-17T00:10", "--to", "2015-05-17T00:20", "--count").text
        self.assertEqual(hour, f"{sum(row['time'].hour == 0 and 10 <= row['time'].minute < 20 for row in wanted)}\n")

    def test_keys_of_every_type_are_in_the_order_of_the_type(self):
        values = [0, 5, 10, 2 ** 63 - 1, -1, -10, -2 ** 63, 99]
        self.load_lines("".join(f"{value}\n" for value in values) + "none\n", "--attribute", "n i64 = value",
                        "--key", "n")
        self.assertEqual(self.ok("select", self.store).lines, ["none"] + [str(value) for value in sorted(values)])
        times = ["1677-09-21T00:12:44Z", "1969-12-31T23:59:59.9Z", "1970-01-01T00:00:00Z", "2262-04-11T23:47:16Z"]
        store = self.path("times")
        result = self.load_lines("".join(f"{time}\n" for time in times[::-1]) + "none\n", "--attribute",
                                 "t time(rfc3339) = value", "--key", "t", store=store)
        self.assertIn('1 lines have no "t"', result.err)
        self.assertEqual(self.ok("select", store).lines, ["none"] + times)
        store = self.path("texts")
        texts = ["b", "ab", "a", "", "z" * 5000]
        self.load_lines("".join(f"{text}\n" for text in texts), "--attribute", "s bytes = value", "--key", "s",
                        store=store)
        self.assertEqual(self.ok("select", store).lines, sorted(texts))

    def test_attributes_and_indexes_may_be_given_again(self):
        options = ["--attribute", "a bytes = split(' ', 1)", "--attribute", "n u64=split(' ',2)", "--index",
                   "mine = values(a, rate=0.001)", "--index", "min_max(n)", "--granule", "16K"]
        for _ in range(2):
            self.load_lines("x 1\ny 2\n", *options)
        indexes = self.ok("index", "list", self.store, "--json").json["indexes"]
        self.assertEqual([index["name"] for index in indexes], ["mine", "n_min_max"])
        self.assertTrue(all(index["tables"] == index["tables_built"] > 0 for index in indexes))
        other = self.load_lines("x\n", "--attribute", "a bytes = value", code=USAGE)
        self.assertIn("split(' ', 1)", other.err)
        self.assertIn("mine", self.load_lines("x\n", "--index", "mine = values(a, rate=0.1)", code=USAGE).err)

    def test_format_clf(self):
        rows = generate(self.random(), 300)
        self.load_lines(lines_of(rows), "--format", "clf")
        self.assertEqual(list(self.attributes()), ["host", "ident", "user", "time", "request", "method", "path",
                                                   "protocol", "status", "bytes", "referer", "agent"])
        records = self.ok("select", self.store, "--json", "--columns", "host,status,bytes,method").json["records"]
        self.assertEqual(records, [{"host": row["host"], "status": row["status"], "bytes": row["bytes"],
                                    "method": "GET"} for row in rows])

    def test_an_input_without_records_gets_its_attributes_and_indexes(self):
        self.load_lines("", "--format", "clf", "--index", "values(host)")
        self.assertIn("host", self.attributes())
        self.assertIn("host_values", self.ok("index", "list", self.store).text)
        wrong = self.load_lines("", "--format", "clf", "--index", "values(nosuch)", code=USAGE, store=self.path("two"))
        self.assertIn("expected the name of an attribute; known are host, ident, user", wrong.err)
        wrong = self.expect(USAGE, "select", self.store, "--where", "stats = 5")
        self.assertIn("expected the name of an attribute, found stats; known are host, ident, user", wrong.err)
        self.load_lines("", "--format", "csv", "--index", "values(a)", store=self.path("three"))

    def test_format_csv_takes_names_from_the_header_of_each_file(self):
        text = 'id,"full name",and,2nd,id\r\n1,"Smith, ""J""",x,y,z\r\n2,,,,\r\n'
        file = self.write("a.csv", text)
        self.ok("load", self.store, "--lines", "--format", "csv", file, file)
        names = ["id", "full_name", "and_", "_2nd", "id_"]
        self.assertEqual(self.attributes(), {name: f"bytes = csv({number})" for number, name in enumerate(names, 1)})
        records = self.ok("select", self.store, "--json", "--columns", ",".join(names)).json["records"]
        self.assertEqual([list(record.values()) for record in records],
                         2 * list(csv.reader(io.StringIO(text)))[1:])
        self.assertNotIn(b"\r", self.ok("select", self.store).out)
        other = self.write("b.csv", "id,other\n1,2\n")
        error = self.expect(USAGE, "load", self.path("two"), "--lines", "--format", "csv", file, other).err
        self.assertIn("b.csv", error)
        empty = self.write("empty.csv", "\n1,2\n")
        self.expect(USAGE, "load", self.path("three"), "--lines", "--format", "csv", empty, other)

    def test_format_csv_with_a_header_by_option_and_a_type_by_attribute(self):
        self.load_lines("7,x\n8,y\n", "--format", "csv=number,name", "--attribute", "number u64 = csv(1)")
        self.assertEqual(self.attributes(), {"number": "u64 = csv(1)", "name": "bytes = csv(2)"})
        self.assertEqual(self.ok("select", self.store, "--where", "number > 7").lines, ["8,y"])

    def test_a_later_load_with_other_columns_filed_values_under_wrong_names(self):
        self.load_lines("name,city\nann,Bonn\n", "--format", "csv")
        self.load_lines("name\tcity\n", "--format", "tsv", store=self.path("tsv"))
        for header in ("city,name", "x,y", "name,x", "city", '"city",name'):
            error = self.load_lines(header + "\nParis,bob\n", "--format", "csv", code=USAGE).err
            self.assertIn("standard input: line 1: column ", error)
            error = self.load_lines("Paris,bob\n", "--format", "csv=" + header, code=USAGE).err
            self.assertIn("option --format: column ", error)
        self.assertIn('"name bytes = tsv(1)"', self.load_lines("city\tname\n1\t2\n", "--format", "tsv", code=USAGE,
                                                              store=self.path("tsv")).err)
        self.assertEqual(self.attributes(), {"name": "bytes = csv(1)", "city": "bytes = csv(2)"})
        self.assertEqual(len(self.entries()), 1)

    def test_a_later_load_with_the_same_columns_or_more_of_them_is_accepted(self):
        for header in ("id,and,id,2nd", "id,and,id,2nd,id", "id,and"):
            for _ in range(2):
                self.load_lines(header + "\n1,2,3,4,5\n", "--format", "csv")
                self.load_lines("1,2,3,4,5\n", "--format", "csv=" + header)
        self.assertEqual(self.attributes(), {"id": "bytes = csv(1)", "and_": "bytes = csv(2)", "id_": "bytes = csv(3)",
                                             "_2nd": "bytes = csv(4)", "id__": "bytes = csv(5)"})

    def test_a_column_whose_attribute_was_dropped_gets_it_again(self):
        header = "a,b,a"
        self.load_lines(header + "\n1,2,3\n", "--format", "csv")
        for name in ("a", "b", "a_"):
            self.ok("attribute", "drop", self.store, name)
            self.load_lines(header + "\n1,2,3\n", "--format", "csv")
        self.assertEqual(self.attributes(), {"a": "bytes = csv(1)", "b": "bytes = csv(2)", "a_": "bytes = csv(3)"})
        # Column 1 is now b, whose name the store has for column 2.
        self.ok("attribute", "drop", self.store, "a")
        self.assertIn('column 1 is "b"', self.load_lines("b\n1\n", "--format", "csv", code=USAGE).err)

    def test_an_attribute_with_another_name_than_its_column_is_given_in_each_load(self):
        number = ["--attribute", "num u64 = csv(1)"]
        for _ in range(2):
            self.load_lines("number,name\n7,x\n", "--format", "csv", *number)
        self.assertEqual(self.attributes(), {"num": "u64 = csv(1)", "name": "bytes = csv(2)"})
        self.assertIn('column 1 is "number", but the store has the attribute "num u64 = csv(1)"',
                      self.load_lines("number,name\n7,x\n", "--format", "csv", code=USAGE).err)
        self.load_lines("num,name\n7,x\n", "--format", "csv")
        # A second attribute of the column does not make the first one correct.
        self.load_lines("age,name\n7,x\n", "--format", "csv", "--attribute", "age u64 = csv(1)", code=USAGE)
        self.load_lines("name,num\n7,x\n", "--format", "csv", *number, code=USAGE)
        self.assertEqual(self.ok("select", self.store, "--where", "num = 7", "--count").text, "3\n")

    def test_an_attribute_whose_type_has_an_equals_sign_is_that_of_its_column(self):
        time = ["--attribute", "day time('%Y=%m=%d') = csv(1)"]
        self.load_lines("day,n\n2015=05=17,1\n", "--format", "csv", *time)
        self.load_lines("day,n\n2015=05=18,1\n", "--format", "csv")
        self.assertEqual(list(self.attributes()), ["day", "n"])

    def test_a_byte_order_mark_became_a_part_of_the_first_name(self):
        mark = b"\xef\xbb\xbf"
        first, second = self.write("a.csv", mark + b'"id",b\r\n1,2\r\n'), self.write("b.csv", '"id",b\n3,4\n')
        self.ok("load", self.store, "--lines", "--format", "csv", first, second)
        self.load_lines(mark + b"5,6\n" + mark + b"7,8\n", "--format", "csv=id,b")
        self.assertEqual(list(self.attributes()), ["id", "b"])
        self.assertEqual(self.ok("select", self.store).out, b"1,2\n3,4\n5,6\n" + mark + b"7,8\n")
        store = self.path("json")
        self.load_lines(mark + b'{"a":1}\n', "--format", "json", store=store)
        self.assertEqual(self.attributes(store), {"a": "i64 = json($.a)"})
        self.load_lines(mark + b"x\n", store=self.path("plain"))
        self.assertEqual(self.ok("select", self.path("plain")).out, mark + b"x\n")

    def test_a_header_of_another_separator_is_noted(self):
        note = "the header has one column and another separator: is --format csv correct?"
        self.assertIn(note, self.load_lines(b"a;b;c\n1;2;3\n", "--format", "csv").err)
        for name, header in (("one", b"a"), ("two", b'"a;b",c')):
            self.assertNotIn("note", self.load_lines(header + b"\n1,2\n", "--format", "csv", store=self.path(name)).err)

    def test_lines_without_the_fields_of_the_format_are_counted(self):
        good = b'10.0.0.1 - - [17/May/2015:10:05:03 +0000] "-" 408 -\n'
        note = "no clf(status) in 2 lines of the first 1,000: is --format clf correct?"
        self.assertIn(note, self.load_lines(b'{"a": 1}\n' + good + b"\n", "--format", "clf").err)
        self.assertEqual(self.load_lines(good, "--format", "clf").err, "")
        for kind in ("csv", "tsv"):
            store = self.path(kind)
            note = f"no {kind}(2) in 2 lines of the first 1,000: is --format {kind} correct?"
            header = "a,b" if kind == "csv" else "a\tb"
            self.assertIn(note, self.load_lines("1;2\n3;4\n", "--format", f"{kind}={header}", store=store).err)
            text = header + "\n1\n" + header + "\n"
            self.assertEqual(self.load_lines(text, "--format", kind, store=store).err, "")
        log = "#fields\ta\tb\n1 2\n"
        self.assertIn("no zeek(2) in 1 line ", self.load_lines(log, "--format", "zeek", store=self.path("zeek")).err)

    def test_format_tsv(self):
        self.load_lines("a\tb c\n1\t2\n", "--format", "tsv")
        self.assertEqual(self.attributes(), {"a": "bytes = tsv(1)", "b_c": "bytes = tsv(2)"})
        self.assertEqual(self.ok("select", self.store, "--columns", "b_c").lines, ["2"])

    def test_format_zeek_takes_names_and_types_from_the_log(self):
        log = ("#separator \\x09\n#path\tconn\n#fields\tts\tuid\tid.orig_h\tid.orig_p\tduration\ttags\n"
               "#types\ttime\tstring\taddr\tport\tinterval\tset[string]\n"
               "1521911720.865716\tCX1\t10.0.0.1\t443\t0.5\t(empty)\n"
               "1521911721.5\tCX2\t10.0.0.2\t-\t-\ta,b\n#close\t2018-03-24-18-15-21\n")
        self.load_lines(log, "--format", "zeek", "--key", "ts", "--index", "min_max(ts)")
        self.assertEqual(self.attributes(),
                         {"ts": "time(unix_float) = zeek(1)", "uid": "bytes = zeek(2)",
                          "id_orig_h": "bytes = zeek(3)", "id_orig_p": "u64 = zeek(4)", "duration": "f64 = zeek(5)",
                          "tags": "bytes = zeek(6)"})
        records = self.ok("select", self.store, "--json", "--columns", "ts,id_orig_p,duration,tags").json["records"]
        self.assertEqual(records, [{"ts": "2018-03-24T17:15:20.865716Z", "id_orig_p": 443, "duration": 0.5, "tags": ""},
                                   {"ts": "2018-03-24T17:15:21.5Z", "id_orig_p": None, "duration": None,
                                    "tags": "a,b"}])
        self.assertIn("#fields", self.load_lines("1\t2\n", "--format", "zeek", code=USAGE, store=self.path("no")).err)

    def test_a_second_zeek_header_with_other_columns_is_refused(self):
        first = "#fields\ta\tb.c\n#types\tcount\tstring\n1\tx\n"
        second = "#fields\tb.c\ta\n#types\tstring\tcount\nx\t1\n"
        files = [self.write("first.log", first), self.write("second.log", second)]
        error = self.expect(USAGE, "load", self.store, "--lines", "--format", "zeek", *files).err
        self.assertIn('second.log: line 1: column 1 of "#fields" is "b.c", but "a" in the previous "#fields"', error)
        error = self.load_lines(first + second, "--format", "zeek", code=USAGE, store=self.path("one")).err
        self.assertIn('standard input: line 4: column 1 of "#fields" is "b.c"', error)
        error = self.load_lines(second, "--format", "zeek", code=USAGE).err
        self.assertIn('line 1: column 1 is "b_c", but the store has the attribute "a u64 = zeek(1)"', error)
        self.assertEqual([value for _, value in self.entries()], ["1\tx"])

    def test_a_second_zeek_header_may_have_more_columns_or_fewer(self):
        headers = ["#fields\ta\n#types\tcount\n1\n", "#fields\ta\tb\n#types\tcount\tint\n1\t-2\n"]
        self.load_lines("".join(headers + headers), "--format", "zeek")
        self.load_lines("".join(headers), "--format", "zeek")
        self.assertEqual(self.attributes(), {"a": "u64 = zeek(1)", "b": "i64 = zeek(2)"})
        self.assertEqual(self.ok("select", self.store, "--where", "b = -2", "--count").text, "3\n")

    def test_format_json_takes_fields_and_types_from_the_first_lines(self):
        objects = [{"ts": "2015-05-17T10:05:03Z", "n": 1, "x": 1, "deep": {"a b": True, "c": {"d": "e"}}, "list": [1]},
                   {"ts": "2015-05-17T10:05:04.5Z", "n": -2, "x": 1.5, "late": "text", "mixed": 1},
                   {"ts": "2015-05-17T10:05:05Z", "mixed": "a", "nothing": None, "quo\"te\\": 3}]
        lines = "".join(json.dumps(value) + "\n" for value in objects) + "no json\n"
        self.load_lines(lines, "--format", "json", "--key", "ts", "--index", "min_max(n)")
        self.assertEqual(self.attributes(),
                         {"ts": "time(rfc3339) = json($.ts)", "n": "i64 = json($.n)", "x": "f64 = json($.x)",
                          "deep_a_b": 'bytes = json($.deep."a b")', "deep_c_d": "bytes = json($.deep.c.d)",
                          "list": "bytes = json($.list)", "late": "bytes = json($.late)",
                          "mixed": "bytes = json($.mixed)", "nothing": "bytes = json($.nothing)",
                          "quote": 'i64 = json($."quo\\"te\\\\")'})
        self.assertEqual(self.ok("select", self.store, "--where", "n < 0 and deep_c_d is null").lines,
                         [json.dumps(objects[1])])
        self.assertEqual(len(self.entries()), 4)

    def test_format_json_judges_lines_with_unusual_values(self):
        lines = ('{"id":9223372036854775808,"k":1.5,"n":7,"user":"a\\u0000b"}\n{"k":2,"n":8}\n'
                 '{"a\\tb":1,"%s":1}\n{"x":1e400}\n' % ("y" * 2000))
        done = self.load_lines(lines, "--format", "json")
        self.assertEqual(self.attributes(), {"id": "f64 = json($.id)", "k": "f64 = json($.k)",
                                             "n": "f64 = json($.n)", "user": "bytes = json($.user)"})
        self.assertIn("from 1 line: no JSON object", done.err)
        self.assertIn("from 2 fields: a name", done.err)
        self.assertEqual(len(self.entries()), 4)

    def test_format_json_stores_the_lines_it_has_looked_at_when_a_later_one_fails(self):
        lines = '{"a": 1}\n{"a": 2}\n' + "x" * 5000 + "\n"
        error = self.load_lines(lines, "--format", "json", "--line-max", "1K", code=USAGE).err
        self.assertIn("line 3, which begins at offset 18", error)
        self.assertEqual(len(self.entries()), 2)

    def test_a_line_that_is_too_long_is_named_with_its_byte(self):
        for end in ("\n", ""):
            store = self.path("store" + str(len(end)))
            error = self.load_lines("short\n" + "x" * 200000 + end, "--line-max", "100000", code=USAGE, store=store).err
            self.assertIn("standard input: line 2, which begins at offset 6, is longer than 100000 bytes", error)
            self.assertEqual(self.entries(store), [(f"{1:016}", "short")])
        self.load_lines("x" * 1000, "--line-max", "1000", store=self.path("exact"))
        self.load_lines("x" * 1001, "--line-max", "1000", code=USAGE, store=self.path("exact"))

    def test_a_line_without_end_is_refused_at_the_limit(self):
        # /dev/zero has no newline and no end: the limit bounds the bytes that the command reads.
        error = self.expect(USAGE, "load", self.store, "--lines", "--line-max", "1M", "/dev/zero").err
        self.assertIn("line 1, which begins at offset 0, is longer than 1048576 bytes", error)

    def test_bad_arguments(self):
        for options in (["--format", "nonsense"], ["--format", "clf=x"], ["--key", "nothing"], ["--line-max", "0"],
                        ["--line-max", "2G"], ["--granule", "1"], ["--granule", "1G"], ["--attribute", "x"],
                        ["--index", "tokens(nothing)"], ["--tsv"], ["--hex"], ["--format", "clf", "--key", "x"],
                        ["--attribute", "f f64 = value", "--key", "f"]):
            self.assertTrue(self.load_lines("1\n", *options, code=USAGE).err)
        self.assertIn("--lines", self.expect(USAGE, "load", self.store, "--format", "clf", stdin="1\n").err)
        self.assertEqual(run("select", self.store).code, ABSENT)


if __name__ == "__main__":
    main()
