"""measure: real lookups, and sums that agree to the unit.

Method: stores of several runs, with absent keys between the present ones. The sums are computed
again from the JSON, under several options. Then the wasted requests are compared with the target
over several secrets.
"""

from tool import IO, USAGE, ToolTest, fewer, main, test_random, words


def runs_of(document):
    return {(run["filters"], "cold" if run["cold"] else "warm"): run for run in document["runs"]}


class Measure(ToolTest):
    PRESENT = 12000
    ABSENT = fewer(8000)

    def setUp(self):
        super().setUp()
        self.rng = test_random()
        keys = words(self.PRESENT + self.ABSENT)
        self.rng.shuffle(keys)
        self.present, self.absent = keys[:self.PRESENT], keys[self.PRESENT:]
        self.keys = self.write("keys", "".join(f"{key}\n" for key in self.absent + self.present[:1000]))

    def make(self, *options):
        self.load([f"{key}\tvalue of {key}" for key in self.present], "--tsv", "--write-buffer", "128K",
                  *(["--table-size", "64K"] if "--table-size" not in options else []), *options)

    def measure(self, *options):
        return self.ok("measure", self.store, "--keys", self.keys, "--json", *options).json

    def check_sums(self, document, without_cache):
        self.assertTrue(document["ok"])
        self.assertTrue(all(check["ok"] for check in document["checks"]))
        runs = runs_of(document)
        for temperature in ("cold", "warm"):
            off, on = runs[False, temperature], runs[True, temperature]
            for run in (off, on):
                passes = document["repeat"] if temperature == "warm" else 1
                self.assertEqual(run["lookups"], passes * (self.ABSENT + 1000))
                self.assertEqual(run["present"], passes * 1000)
                self.assertEqual(run["absent"], passes * self.ABSENT)
                self.assertEqual(sum(run["visits"].values()), run["table_visits"])
                self.assertEqual(run["visits"]["present"] + run["memtable_hits"], run["present"])
                self.assertEqual(sum(level["table_visits"] for level in run["levels"]), run["table_visits"])
                parts = ("block_reads", "page_reads", "table_filter_reads", "opening_reads")
                self.assertEqual(sum(run[part] for part in parts), run["engine_reads"])
                self.assertEqual(run["opening_reads"] > 0, temperature == "cold")
                self.assertEqual(sum(level["table_filter_reads"] for level in run["levels"]), run["table_filter_reads"])
                self.assertEqual(run["table_filter_read_bytes"] > 0, run["table_filter_reads"] > 0)
                if run["system"]["available"]:
                    self.assertEqual(run["system"]["read_calls"], run["engine_reads"])
                else:
                    print("the operating system's counts are not available:", run["system"]["reason"])
            self.assertEqual(on["block_requests"] + on["block_requests_avoided"], off["block_requests"])
            self.assertEqual(off["block_requests_avoided"], 0)
            self.assertEqual(on["visits"]["filter_negatives"] + on["visits"]["table_filter_negatives"],
                             on["block_requests_avoided"])
            self.assertGreater(on["block_requests_avoided"], self.ABSENT / 2)
            self.assertEqual(off["visits"]["filter_negatives"], 0)
            if without_cache:
                self.assertEqual(on["block_reads"] + on["block_reads_avoided"], off["block_reads"])
                self.assertEqual(on["block_reads"], on["block_requests"])
        return runs

    def test_the_sums_agree(self):
        self.make()
        runs = self.check_sums(self.measure("--cache", "64K", "--repeat", "2"), False)
        cold = runs[False, "cold"]
        self.assertGreater(cold["pages"], 0)
        self.assertGreater(cold["block_reads"], 0)

    def test_the_sums_agree_without_a_cache(self):
        self.make()
        self.check_sums(self.measure("--cache-off", "--shuffle", "3"), True)

    def test_the_sums_agree_for_other_filters_and_granularities(self):
        for options in (["--filter", "bloom", "--granularity", "3"], ["--granularity", "page"],
                        ["--filter", "blocked-bloom", "--target", "0.3"]):
            self.store = self.path("".join(options))
            self.make(*options)
            self.check_sums(self.measure("--cache-off", *options), True)

    def test_the_sums_agree_with_index_pages_in_the_cache(self):
        self.make()
        self.check_sums(self.measure("--cache", "64K", "--index-cached"), False)

    def test_the_sums_agree_when_table_files_are_closed_and_opened_again(self):
        self.make("--table-size", "8K")
        self.assertGreater(len(self.tables()), 32)
        runs = self.check_sums(self.measure("--open-tables", "16", "--shuffle", "5", "--table-size", "8K"), False)
        self.assertGreater(runs[True, "warm"]["lookups"], 0)

    def test_reads_of_table_filters_are_shown(self):
        self.make()
        for options in ((), ("--table-filter-off",)):
            runs = self.check_sums(self.measure(*options, "--cache", "64K"), False)
            self.assertEqual(runs[True, "cold"]["table_filter_reads"] > 0, not options)
            self.assertEqual(runs[True, "warm"]["table_filter_reads"], 0)
            self.assertEqual(runs[False, "cold"]["table_filter_reads"], 0)

    def test_without_filters_nothing_is_avoided(self):
        self.make("--filter", "none")
        document = self.measure("--filter", "none")
        self.assertTrue(document["ok"])
        for run in document["runs"]:
            self.assertEqual(run["block_requests_avoided"], 0)
        self.assertEqual(document["passing_tables"], document["tables"])
        self.assertIn("NO KEY IS RULED OUT: the store has no filters.",
                      self.ok("measure", self.store, "--keys", self.keys).text)

    def test_tombstones_old_versions_and_the_log_are_counted(self):
        self.make()
        self.ok("delete", self.store, *self.absent[:100], *self.present[:50])
        self.load([f"{key}\tnewer" for key in self.present[500:900]], "--tsv", "--no-flush")
        document = self.measure("--cache-off")
        runs = runs_of(document)
        self.assertTrue(document["ok"])
        self.assertEqual(runs[True, "cold"]["absent"], self.ABSENT + 50)

    def test_the_store_is_left_as_it_was(self):
        # Much is due by the default options: a target of a fiftieth, and one level fewer.
        self.make("--target", "0.5", "--level0-compact", "50", "--level0-stop", "60")
        before = self.ok("scan", self.store).out
        tables = self.tables()
        self.measure()
        self.ok("stat", self.store)
        self.ok("get", self.store, self.present[0])
        self.assertEqual(self.tables(), tables)
        self.assertEqual(self.ok("scan", self.store).out, before)

    def test_text_has_the_figures(self):
        self.make()
        text = self.ok("measure", self.store, "--keys", self.keys, "--details").text
        for word in ("filters off, cold", "filters on, warm", "block requests avoided", "per absent lookup", "target",
                     "agrees", "system: read calls", "index page bytes read", "table filter preads",
                     "table filter bytes read", "preads for opening tables"):
            self.assertIn(word, text)
        self.assertNotIn("DIFFERS", text)

    def test_without_details_bars_and_a_headline_fit_a_terminal(self):
        self.make()
        lines = self.ok("measure", self.store, "--keys", self.keys).lines
        self.assertEqual(lines[0], self.store)
        for line in lines[1:]:
            self.assertLessEqual(len(line), 80, line)
        runs = runs_of(self.measure())
        requests = runs[False, "cold"]["block_requests"]
        share = 100 * runs[True, "cold"]["block_requests_avoided"] / requests
        headline = next(line for line in lines if line.startswith("filters avoided"))
        self.assertIn(f"filters avoided {share:.1f} % of {requests:,} block requests; lookups ", headline)
        bars = [line for line in lines if "#" in line]
        self.assertEqual(bars[0].split(), ["without", "filters", "#" * 40, f"{requests:,}"])
        self.assertEqual(bars[1].split()[-1], f"{runs[True, 'cold']['block_requests']:,}")
        self.assertIn("all agree to the unit", lines[-1])

    def test_unwanted_system_counts_are_said_to_be_missing(self):
        self.make()
        for run in self.measure("--no-system")["runs"]:
            self.assertEqual(run["system"], {"available": False, "reason": "not wanted"})

    def test_bad_arguments(self):
        self.make()
        self.assertIn("--keys", self.expect(USAGE, "measure", self.store).err)
        self.expect(IO, "measure", self.store, "--keys", "/does/not/exist")
        self.expect(USAGE, "measure", self.store, "--keys", "/dev/null")
        self.expect(USAGE, "measure", self.store, "--keys", self.keys, "--repeat", "0")
        self.expect(USAGE, "measure", self.store, "--keys", self.keys, "--shuffle", "x")


class Arguments(ToolTest):
    def test_a_failure_without_advice(self):
        self.load(["a"])
        self.assertTrue(self.expect(USAGE, "measure", self.store).err.endswith("Try: bloomblock measure --help\n"))
        self.expect(USAGE, "measure", self.store, "--keys", self.directory)
        self.expect(USAGE, "measure", self.store, "--where", self.directory)


class Target(ToolTest):
    """Wasted requests per absent lookup match the target.

    Pooled over secrets, because one store is one draw.
    """

    KEYS = 20000
    SECRETS = fewer(4)

    def wasted(self, target, options, compact):
        rng = test_random()
        keys = words(2 * self.KEYS)
        path = self.write("keys", "".join(f"{key}\n" for key in keys[1::2]))
        wasted = lookups = 0
        for _ in range(self.SECRETS):
            store = self.path(f"store{rng.randrange(1 << 60)}")
            self.load(keys[::2], "--target", str(target), "--secret-seed", str(rng.randrange(1 << 60)), *options,
                      store=store)
            if compact:
                self.ok("compact", store, "--target", str(target), *options)
            document = self.ok("measure", store, "--keys", path, "--json", "--target", str(target), *options).json
            run = runs_of(document)[True, "cold"]
            wasted += run["wasted_requests_absent"]
            lookups += run["absent"]
        return wasted, lookups

    def test_after_compaction_the_target_is_met(self):
        target = 0.05
        wasted, lookups = self.wasted(target, ["--write-buffer", "256K"], True)
        # Ten per cent, and five standard deviations of this many draws.
        slack = 0.1 * target + 5 * (target / lookups) ** 0.5
        self.assertAlmostEqual(wasted / lookups, target, delta=slack)

    def test_as_loaded_it_is_not_exceeded(self):
        target = 0.05
        wasted, lookups = self.wasted(target, ["--write-buffer", "128K", "--level0-compact", "8"], False)
        self.assertLessEqual(wasted / lookups, 1.1 * target + 5 * (target / lookups) ** 0.5)


if __name__ == "__main__":
    main()
