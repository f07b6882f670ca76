"""Index files in the command: stat, dump, filters, measure --where, index advise, index estimate.

Method: a generated log. The output is compared with the rows that made it, sums are computed again
from the JSON, and the estimates of advise are compared with the same index after it is built.
"""
import os

from log_case import LogTest, generate, has_token, lines_of
from tool import CORRUPT, IO, USAGE, main, run


class IndexFiles(LogTest):
    """stat, dump and filters."""

    def setUp(self):
        super().setUp()
        self.rows = generate(self.random(), 3000)
        self.load_log(self.rows)
        self.files = sorted(os.path.join(self.store, name) for name in os.listdir(self.store) if name.endswith(".bbi"))

    def test_stat_has_their_sizes_and_the_indexes(self):
        document = self.ok("stat", self.store, "--json").json
        self.assertEqual(document["index_files"], len(self.files))
        self.assertEqual(document["index_file_bytes"], sum(map(os.path.getsize, self.files)))
        self.assertEqual([index["name"] for index in document["indexes"]],
                         ["agent_tokens", "time_min_max", "host_values", "status_set"])
        self.assertLess(sum(index["size_bytes"] for index in document["indexes"]), document["index_file_bytes"])
        text = self.ok("stat", self.store).text
        self.assertIn("index files: ", text)
        self.assertIn("tokens(agent, rate=0.0001, fold=none)", text)

    def test_stat_of_a_store_without_indexes_is_silent_of_them(self):
        other = self.path("other")
        self.load(["a", "b"], store=other)
        self.assertNotIn("index files", self.ok("stat", other).text)

    def test_dump_shows_each_granule(self):
        records = nulls = 0
        for file in self.files:
            document = self.ok("dump", file, "--json", "--limit", "0").json
            self.assertTrue(document["sound"])
            self.assertEqual(document["granule_count"], len(document["granules"]))
            self.assertEqual(document["file_bytes"], os.path.getsize(file))
            places = [granule["place"] for granule in document["granules"]]
            self.assertEqual(places, sorted(set(places)))
            for granule in document["granules"]:
                self.assertEqual(sorted(granule["attributes"]), ["agent", "host", "status", "time"])
                for counts in granule["attributes"].values():
                    self.assertEqual(sum(counts.values()), granule["records"])
                nulls += granule["attributes"]["agent"]["null"]
                records += granule["records"]
        self.assertEqual(records, len(self.rows))
        self.assertEqual(nulls, sum(row["agent"] is None for row in self.rows))
        text = self.ok("dump", self.files[0], "--limit", "1").text
        self.assertIn("checksums agree", text)
        self.assertIn("granule  place  records", text)

    def granules_in_order(self, store):
        """Granules of all files with their rows: the rows' times grow with their keys."""
        names = [os.path.join(store, name) for name in os.listdir(store) if name.endswith(".bbi")]
        granules = [granule for name in names
                    for granule in self.ok("dump", name, "--json", "--limit", "0").json["granules"]]
        granules.sort(key=lambda granule: granule["indexes"][0]["low"])
        begin = 0
        for granule in granules:
            yield granule, self.rows[begin:begin + granule["records"]]
            begin += granule["records"]
        self.assertEqual(begin, len(self.rows))

    def test_dump_shows_bounds_and_values_of_each_granule(self):
        other = self.path("other")
        self.load_log(self.rows, store=other, indexes=[
            "min_max(time)", "min_max(bytes)", "min_max(agent)", "set(status)", "column(bytes)", "values(host)"])
        granule_count = 0
        for granule, rows in self.granules_in_order(other):
            granule_count += 1
            time, size, agent, status, column = granule["indexes"]
            self.assertEqual([time["index"], time["attribute"]], ["min_max", "time"])
            times = [row["time"].strftime("%Y-%m-%dT%H:%M:%SZ") for row in rows]
            self.assertEqual((time["low"], time["high"]), (times[0], times[-1]))
            sizes = sorted({row["bytes"] for row in rows if row["bytes"] is not None})
            self.assertEqual((size["low"], size["high"], size["has_nan"]), (sizes[0], sizes[-1], False))
            agents = sorted(row["agent"].encode("utf-8", "surrogateescape") for row in rows if row["agent"] is not None)
            self.assertLessEqual(agent["low"].encode(), agents[0])
            self.assertEqual(agent["low"].encode(), agents[0][:16])
            self.assertGreaterEqual(agent["high"].encode(), agents[-1][:16])
            self.assertEqual(status["index"], "set")
            statuses = sorted({row["status"] for row in rows})
            self.assertEqual((status["value_count"], [value["value"] for value in status["values"]]),
                             (len(statuses), statuses))
            self.assertEqual(column["index"], "column")
            self.assertEqual((column["value_count"], [value["value"] for value in column["values"]]),
                             (len(sizes), sizes[:8]))
        self.assertGreater(granule_count, 5)

    def test_dump_prints_bounds_and_values_as_the_attribute_s_type(self):
        text = self.ok("dump", self.files[0], "--limit", "1").text
        document = self.ok("dump", self.files[0], "--json", "--limit", "1").json
        bounds, values = document["granules"][0]["indexes"]
        self.assertIn("bounds (min_max) and distinct values (set, column) of each granule", text)
        self.assertRegex(text, rf'0  min_max\(time\) +{bounds["low"]} \.\.\. {bounds["high"]}\n')
        shown = ", ".join(str(value["value"]) for value in values["values"])
        self.assertRegex(text, rf'0  set\(status\) +{values["value_count"]}: {shown}\n')

    def test_filters_shows_each_index(self):
        document = self.ok("filters", self.files[0], "--json").json
        self.assertNotIn("granules", document)
        by_kind = {index["kind"]: index for index in document["indexes"]}
        self.assertEqual(sorted(by_kind), ["min_max", "set", "tokens", "values"])
        self.assertEqual(by_kind["values"]["target_rate"], 0.001)
        self.assertLessEqual(by_kind["values"]["predicted_rate"], 0.001)
        self.assertEqual(by_kind["min_max"]["pairs"], document["granule_count"])
        for index in by_kind.values():
            self.assertAlmostEqual(index["bits_per_pair"], 8 * index["size_bytes"] / index["pairs"])
        text = self.ok("filters", self.files[0]).text
        for word in ("tokens", "bits/pair", "predicted", "exact", "host bytes = clf(host)"):
            self.assertIn(word, text)

    def test_a_damaged_index_file_is_shown_and_named(self):
        file = self.files[0]
        with open(file, "rb") as source:
            sound = source.read()
        for place in range(0, len(sound), len(sound) // 40):
            spoilt = self.write("spoilt.bbi", sound[:place] + bytes([sound[place] ^ 0x10]) + sound[place + 1:])
            for command in ("dump", "filters"):
                self.assertIn("spoilt.bbi", self.expect(CORRUPT, command, spoilt, "--json").err)
        for size in (0, 1, 63, 64, len(sound) - 1):
            self.expect(CORRUPT, "dump", self.write("cut.bbi", sound[:size]))

    def test_verify_and_repair_say_what_they_think_of_index_files(self):
        self.assertEqual(self.ok("verify", self.store, "--json").json["indexes"], len(self.files))
        self.assertIn("without a missing record", self.ok("verify", self.store).text)
        with open(self.files[0], "r+b") as file:
            file.seek(100)
            byte = file.read(1)
            file.seek(100)
            file.write(bytes([byte[0] ^ 1]))
        found = self.expect(CORRUPT, "verify", self.store)
        self.assertIn(os.path.basename(self.files[0]), found.err)
        self.assertIn(f"Try: bloomblock index materialize {self.store}", found.err)
        self.assertEqual(self.expect(CORRUPT, "verify", self.store, "--json").json["indexes_damaged"], 1)
        self.assertEqual(self.ok("repair", self.store, "--json").json["indexes_dropped"], 1)
        self.ok("verify", self.store)

    def test_verify_names_every_damaged_index_file(self):
        os.truncate(self.files[0], 0)
        os.remove(self.files[1])
        found = self.expect(CORRUPT, "verify", self.store)
        for file in self.files[:2]:
            self.assertIn(os.path.basename(file), found.err)
        self.assertEqual(self.expect(CORRUPT, "verify", self.store, "--json").json["indexes_damaged"], 2)
        self.assertIn(", 2 unreadable: materialize", self.ok("index", "list", self.store).text)
        self.ok("index", "materialize", self.store)
        self.assertNotIn("unreadable", self.ok("index", "list", self.store).text)
        self.ok("verify", self.store)

    def test_verify_of_a_running_store_advises_to_materialize(self):
        os.truncate(self.files[0], 100)
        os.remove(self.files[1])
        found = self.expect(CORRUPT, "verify", self.store, "--running")
        for file in self.files[:2]:
            self.assertEqual(found.err.count(os.path.basename(file)), 1)
        self.assertIn(f"Try: bloomblock index materialize {self.store}", found.err)
        document = self.expect(CORRUPT, "verify", self.store, "--running", "--json").json
        self.assertEqual((document["damaged"], document["indexes_damaged"]), (2, 2))
        self.ok("index", "materialize", self.store)
        self.ok("verify", self.store, "--running")

    def test_what_is_no_file_is_a_damaged_index_file(self):
        for spoil in (os.mkdir, os.mkfifo, lambda path: os.symlink("nowhere", path)):
            file = next(os.path.join(self.store, name) for name in sorted(os.listdir(self.store))
                        if name.endswith(".bbi") and not os.path.isdir(os.path.join(self.store, name)))
            os.remove(file)
            spoil(file)
            for command in (["verify"], ["verify", "--running"]):
                self.assertIn("expected a regular file", self.expect(CORRUPT, *command, self.store).err)
            self.assertIn(", 1 unreadable: materialize", self.ok("index", "list", self.store).text)
            self.ok("stat", self.store)
            self.ok("index", "materialize", self.store)
            self.ok("verify", self.store)

    def test_materialize_drops_the_damaged_files_of_dropped_indexes(self):
        self.ok("index", "drop", self.store, "agent_tokens", "time_min_max", "host_values", "status_set")
        os.truncate(self.files[0], 100)
        found = self.expect(CORRUPT, "verify", self.store)
        self.assertIn(f"Try: bloomblock index materialize {self.store}", found.err)
        self.ok("index", "materialize", self.store)
        self.assertEqual(self.ok("verify", self.store, "--json").json["indexes"], len(self.files) - 1)

    def test_an_index_file_is_known_by_its_bytes_under_any_name(self):
        with open(self.files[0], "rb") as source:
            other = self.write("other", source.read())
        self.assertEqual(self.ok("filters", other, "--json").json["form"], "index file")
        self.expect(IO, "dump", self.path("nothing.bbi"))
        self.expect(USAGE, "dump", self.files[0], "--entries")
        self.expect(USAGE, "filters", self.files[0], "--absent", other)


class Measure(LogTest):
    CONDITIONS = ["status = 418", "has_token(agent, 'sqlmap')", "status = 200", "bytes is null", "host = '10.1.2.3'",
                  "time < '2015-05-17T01:00:00Z' and status = 404", "not (status = 200 or bytes < 100)",
                  "time >= '2015-05-17T01:00:00Z'"]

    def measure(self, *options, conditions=None):
        text = "# a comment\n\n" + "".join(f"{where}\n" for where in conditions or self.CONDITIONS)
        return self.ok("measure", self.store, "--where", "-", "--json", *options, stdin=text).json

    def check(self, document, rows):
        self.assertTrue(document["ok"], document["mismatches"])
        self.assertEqual([entry["where"] for entry in document["conditions"]], self.CONDITIONS)
        for entry in document["conditions"]:
            everything, indexed, counted = entry["unindexed"], entry["indexed"], entry["counted"]
            self.assertEqual(everything["records"], indexed["records"])
            self.assertEqual(everything["records"], counted["records"])
            for measured in (everything, indexed, counted):
                account = measured["account"]
                self.assertEqual(account["granules"], account["granules_excluded"] + account["granules_counted"] +
                                 account["granules_read"])
                self.assertEqual(measured["engine_reads"],
                                 account["data_reads"] + account["index_reads"] + measured["newer_reads"])
                if measured["system_reads"] is not None:
                    self.assertEqual(measured["engine_reads"], measured["system_reads"])
            self.assertEqual(everything["account"]["granules"], 0)
            self.assertLessEqual(indexed["account"]["blocks_read"], everything["account"]["blocks_read"])
        records = {entry["where"]: entry["indexed"]["records"] for entry in document["conditions"]}
        self.assertEqual(records["status = 200"], sum(row["status"] == 200 for row in rows))
        self.assertEqual(records["has_token(agent, 'sqlmap')"], sum(has_token(row["agent"], "sqlmap") for row in rows))

    def test_the_sums_agree(self):
        rows = generate(self.random(), self.COUNT)
        self.load_log(rows)
        document = self.measure()
        self.check(document, rows)
        token = document["conditions"][1]
        self.assertGreater(token["ratio"]["blocks"], 2)
        time = document["conditions"][-1]
        self.assertGreater(time["counted"]["account"]["granules_counted"], 0)
        for options in (["--cache-off"], ["--index-cached", "--cache", "64K"], ["--no-system"]):
            self.check(self.measure(*options), rows)

    def test_the_sums_agree_with_columns_that_count(self):
        rows = generate(self.random(), self.COUNT)
        self.load_log(rows, indexes=["column(status)", "column(bytes)", "tokens(agent)"])
        self.check(self.measure(), rows)

    def test_the_sums_agree_over_several_runs_with_overwritten_and_deleted_records(self):
        rows = generate(self.random(), self.COUNT)
        self.load_log(rows, "--level0-compact", "50", "--level0-stop", "60")
        for number in range(0, self.COUNT, 3):
            rows[number] = dict(rows[number], status=404 if number % 2 else 418)
        changed = b"".join(f"{number + 1:016}\t".encode() + lines_of([rows[number]])
                           for number in range(0, self.COUNT, 3))
        self.load(changed, "--tsv", "--level0-compact", "50", "--level0-stop", "60", "--write-buffer", "128K")
        keys = [f"{number + 1:016}" for number in range(1, self.COUNT, 30)]
        self.ok("delete", self.store, *keys, "--level0-compact", "50", "--level0-stop", "60")
        gone = set(range(1, self.COUNT, 30))
        rows = [row for number, row in enumerate(rows) if number not in gone]
        for options in ([], ["--cache-off"]):
            document = self.measure(*options)
            self.check(document, rows)
        hidden = sum(entry["indexed"]["account"]["records_hidden"] for entry in document["conditions"])
        self.assertGreater(hidden, 0)

    def test_text_has_the_figures(self):
        self.load_log(generate(self.random(), 500))
        text = self.ok("measure", self.store, "--where", "-", stdin="status = 200\n").text
        for word in ("status = 200", "all is read", "by indexes", "count", "ratio", "checked, differing: 0"):
            self.assertIn(word, text)

    def test_bad_arguments(self):
        self.load_log(generate(self.random(), 10))
        file = self.write("conditions", "status = 1\nstatus = = 1\n")
        self.assertIn("^", self.expect(USAGE, "measure", self.store, "--where", file).err)
        self.expect(USAGE, "measure", self.store, "--where", self.write("empty", "# nothing\n"))
        self.expect(USAGE, "measure", self.store, "--where", self.write("zero", "status\0= 1\n"))
        self.expect(USAGE, "measure", self.store, "--where", file, "--keys", file)
        self.expect(USAGE, "measure", self.store, "--where", file, "--repeat", "2")
        self.expect(IO, "measure", self.store, "--where", self.path("nothing"))
        self.expect(IO, "measure", self.path("nothing"), "--where", file)


class Advise(LogTest):
    """Columns for which the best index is known."""

    COUNT = 30000

    def make(self):
        rng = self.random()
        lines = []
        for i in range(self.COUNT):
            near = rng.randrange(1 << 40)
            words = " ".join(f"w{rng.randrange(200)}" for _ in range(4)) + f" id{rng.randrange(1 << 30)}"
            state = "" if rng.random() < 0.25 else rng.choice("ab")
            lines.append(f"{i}\t{near}\t{i // 3000}\t{state}\t{words}\n")
        self.ok("load", self.store, "--lines", "--write-buffer", "1M", "--attribute", "grows u64 = tsv(1)",
                "--attribute", "unique bytes = tsv(2)", "--attribute", "phase bytes = tsv(3)", "--attribute",
                "state u64 = tsv(4)", "--attribute", "text bytes = tsv(5)", "--attribute", "letter bytes = tsv(4)",
                stdin="".join(lines))

    def advise(self, *options):
        document = self.ok("index", "advise", self.store, "--granule", "16K", "--json", *options).json
        facts = {row["name"]: row for row in document["attributes"]}
        specs = [row["spec"] for row in document["proposals"] if row["spec"] is not None]
        return document, facts, specs

    def test_it_proposes_what_pays_and_nothing_else(self):
        self.make()
        before = self.store_files()
        document, facts, specs = self.advise()
        self.assertEqual(specs, ["min_max(grows)", "values(unique)", "min_max(phase)", "values(text)",
                                 "tokens(text)"])
        self.assertEqual([row["attribute"] for row in document["proposals"] if row["spec"] is None],
                         ["state", "letter"])
        after = self.store_files()
        self.assertEqual([name for name in after if name.endswith((".bbi", ".bbt"))],
                         [name for name in before if name.endswith((".bbi", ".bbt"))])
        self.assertGreater(facts["grows"]["order"], 0.999)
        self.assertLess(abs(facts["unique"]["order"]), 0.2)
        self.assertEqual(facts["state"]["null_share"], 1)
        self.assertEqual(facts["letter"]["distinct"], 3)
        self.assertEqual(facts["text"]["words"], 5)
        self.assertGreater(facts["unique"]["length"], 10)
        self.assertGreater(facts["unique"]["value_skip"], 0.9)
        self.assertLess(facts["letter"]["value_skip"], 0.01)

    def make_text(self):
        """Frequent words: of 200, three in a line. Rare, repeated words: of runs. Unique words."""
        rng = self.random()
        lines = []
        for i in range(self.COUNT):
            frequent = " ".join(f"word{rng.randrange(200)}" for _ in range(3))
            runs = f"phase{i // 100} step{i // 100}x{rng.randrange(20)}"
            lines.append(f"{frequent}\t{runs}\tid {rng.randrange(1 << 40):x} {rng.randrange(1 << 40):x}\n")
        self.ok("load", self.store, "--lines", "--write-buffer", "1M", "--attribute", "frequent bytes = tsv(1)",
                "--attribute", "runs bytes = tsv(2)", "--attribute", "unique bytes = tsv(3)", stdin="".join(lines))
        return [line.split("\t") for line in lines]

    def test_it_proposes_text_where_words_repeat(self):
        lines = self.make_text()
        document, facts, specs = self.advise("--sample", "65536")
        words = {spec for spec in specs if spec.startswith(("text", "tokens"))}
        self.assertEqual(words, {"text(frequent, counts=yes)", "text(runs)", "tokens(unique)"})
        self.assertEqual(facts["frequent"]["distinct_words"], 200)
        self.assertEqual(facts["frequent"]["word_repeats"], 3 * self.COUNT / 200)
        self.assertLess(facts["unique"]["word_repeats"], 2)
        self.ok("index", "create", self.store, *sorted(words), "--granule", "16K")
        self.ok("index", "materialize", self.store)
        built = {index["definition"].split()[0]: index
                 for index in self.ok("index", "list", self.store, "--json").json["indexes"]}
        proposed = {row["attribute"]: row for row in document["proposals"] if row["spec"] in words}
        for name, row in proposed.items():
            self.assertLess(abs(row["size_bytes"] - built[name]["size_bytes"]), 0.1 * built[name]["size_bytes"], row)
        # The estimated share for the longest word of a record, and counts of frequent words without
        # a read.
        skipped = []
        for line in lines[::1500]:
            longest = max(line[1].split(), key=len)
            account = self.ok("select", self.store, "--where", f"has_token(runs, '{longest}')", "--json",
                              "--explain").json["account"]
            skipped.append(account["granules_excluded"] / account["granules"])
        self.assertAlmostEqual(sum(skipped) / len(skipped), proposed["runs"]["skip"], delta=0.03)
        counted = self.ok("select", self.store, "--where", "has_token(frequent, 'word17')", "--count", "--json",
                          "--explain").json
        self.assertEqual(counted["account"]["granules_read"], 0)
        self.assertEqual(counted["count"], sum("word17" in line[0].split() for line in lines))

    def test_what_it_promises_is_what_the_index_does(self):
        self.make()
        document, _, specs = self.advise("--sample", "65536")
        self.ok("index", "create", self.store, *specs, "--granule", "16K")
        self.ok("index", "materialize", self.store)
        built = {index["spec"].split("(")[0] + index["definition"].split()[0]: index
                 for index in self.ok("index", "list", self.store, "--json").json["indexes"]}
        for proposal in document["proposals"]:
            if proposal["spec"] is None:
                continue
            kind = proposal["spec"].split("(")[0]
            size = built[kind + proposal["attribute"]]["size_bytes"]
            self.assertLess(abs(proposal["size_bytes"] - size), 0.1 * size, proposal)
        values = self.ok("select", self.store, "--columns", "unique", "--json").json["records"]
        skipped = []
        for record in values[::1500]:
            account = self.ok("select", self.store, "--where", f"unique = '{record['unique']}'", "--json",
                              "--explain").json["account"]
            skipped.append(account["granules_excluded"] / account["granules"])
        promised = next(row["skip"] for row in document["proposals"] if row["attribute"] == "unique")
        self.assertAlmostEqual(sum(skipped) / len(skipped), promised, delta=0.03)

    def test_an_estimate_is_what_the_index_is(self):
        self.make()
        self.ok("index", "create", self.store, "tokens(text)", "--granule", "16K")
        for spec in ("min_max(unique)", "tokens(text)"):
            for options in ([], ["--segments", "2", "--granules", "20"]):
                estimate = self.ok("index", "estimate", self.store, spec, "--where", "has_token(text, 'w17')", "--json",
                                   *options).json
                self.assertEqual(estimate["is_whole"], not options)
                self.assertLessEqual(estimate["raw_bytes_sampled"], estimate["raw_bytes"])
                self.assertLessEqual(estimate["granules_read"], estimate["granules"])
        self.ok("index", "materialize", self.store)
        built = self.ok("index", "list", self.store, "--json").json["indexes"][0]
        estimate = self.ok("index", "estimate", self.store, "tokens(text)", "--json").json
        for name in ("size_bytes", "granules", "share_of_data", "tables"):
            self.assertEqual(estimate[name], built[name])
        self.assertNotIn("granules_read", estimate)
        text = self.ok("index", "estimate", self.store, "min_max(grows)", "--where", "grows = 7").text
        for word in ("size  ", "standard error 0", "the whole store"):
            self.assertIn(word, text)
        self.expect(USAGE, "index", "estimate", self.store, "tokens(nothing)")
        wrong = self.expect(USAGE, "index", "estimate", self.store, "tokens(text)", "--where", "none = 1").err
        self.assertTrue(wrong.startswith("  none = 1\n  ^\n"), wrong)
        self.assertEqual(run("index", "estimate", self.store).code, USAGE)

    def test_a_form_for_files_was_suggested_as_filter(self):
        for command in ("materialize", "advise", "estimate"):
            error = self.expect(USAGE, "index", command, self.store, "--file", "x").err
            self.assertIn("unknown option --file: this command works on stores only", error)
            self.assertTrue(error.endswith(f"Try: bloomblock index {command} --help\n"), error)
            self.assertNotIn("did you mean", error)

    def test_text_says_how_it_was_computed(self):
        self.make()
        text = self.ok("index", "advise", self.store).text
        for word in ("min_max(grows)", "none for letter", "Measured on", "granules of 64.0 KiB", "order", "rare"):
            self.assertIn(word, text)

    def test_what_cannot_be_measured_is_said(self):
        self.load(["a", "b"])
        self.assertIn("no attributes", self.expect(USAGE, "index", "advise", self.store).err)
        empty = self.path("empty")
        self.ok("load", empty, "--lines", "--attribute", "a bytes = value", stdin="")
        self.assertIn("no tables", self.expect(IO, "index", "advise", empty).err)
        for options in (["--granule", "1"], ["--sample", "1"], ["--sample", "x"]):
            self.expect(USAGE, "index", "advise", self.store, *options)
        self.assertEqual(run("index", "advise").code, USAGE)


if __name__ == "__main__":
    main()
