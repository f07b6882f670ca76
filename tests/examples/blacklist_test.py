"""The example blacklist: it blocks the same names as a list of suffixes in Python, with few reads.

Method: lists and queries are drawn at random over few labels, so that entries nest. Other queries
share no domain, so that each is an independent draw for the predicted rate.
"""
from example import ExampleTest, main, test_random


def normal(name):
    words = name.split("#")[0].split()
    return words[0].lower().removesuffix(".") if words else ""


def blocking_entry(entries, name):
    labels = name.split(".")
    suffixes = (".".join(labels[i:]) for i in range(len(labels)))
    return next((suffix for suffix in suffixes if suffix in entries), None)


class Blacklist(ExampleTest):
    def blocked(self, names, queries):
        """Its lines about queries that are blocked, and all it printed."""
        text = self.run_example(self.write("list", names), self.write("queries", queries))
        return [line for line in text.splitlines() if " is blocked by " in line], text

    def check(self, names, queries):
        entries = {normal(name) for name in names} - {""}
        spelled = [normal(query) for query in queries if normal(query) != ""]
        pairs = [(query, blocking_entry(entries, query)) for query in spelled]
        lines, text = self.blocked(names, queries)
        self.assertEqual(lines, [f"{query} is blocked by {entry}" for query, entry in pairs if entry is not None])
        self.assertEqual(self.numbers(text, r"entries +(\d+)"), [len(entries)])
        self.assertEqual(self.numbers(text, r"queries +(\d+), blocked (\d+)"), [len(spelled), len(lines)])
        return text

    def test_its_own_list(self):
        text = self.run_example()
        self.assertIn("cdn.ads.test is blocked by ads.test\n", text)
        self.assertIn("a.b.malware.example is blocked by malware.example\n", text)
        self.assertNotIn("roads.test is", text)
        self.assertEqual(self.numbers(text, r"queries +(\d+), blocked (\d+)"), [9, 4])
        self.check_page(self.run_example("--seed", "1"))

    def test_the_lists_of_the_page(self):
        names = self.write("list", (f"{i}.ads.test" for i in range(1, 200001)))
        queries = [f"www.shop{i}.market{i}" for i in range(1, 100001)] + [f"cdn.{i}.ads.test" for i in range(1, 1001)]
        text = self.run_example("--seed", "1", names, self.write("queries", queries))
        self.check_page(text[text.index("entries "):])

    def test_suffixes_end_at_dots(self):
        self.check(["b.c"], ["b.c", "a.b.c", "ab.c", "c", "b.cd", "b.c.d", ".b.c", "a..b.c", "b..c"])

    def test_spelling(self):
        self.check(["# only a comment", "", "  UPPER.test  # why", "dot.test.", "tab.test\tcolumn"],
                   ["upper.TEST", "Dot.test", "x.dot.test.", "tab.test", "column", "."])

    def test_empty_lists(self):
        self.check([], ["a.b"])
        self.check(["a.b"], [])
        self.check([], [])

    def test_random_lists(self):
        rng = test_random()
        for _ in range(20):
            names = [".".join(rng.choices("abcDE", k=rng.randrange(1, 6))) for _ in range(300)]
            self.check(names[:rng.randrange(1, 60)], names)

    def test_few_names_reach_the_list(self):
        rng = test_random()
        names = [f"listed{i}.x{rng.randrange(10**9)}" for i in range(20000)]
        strangers = [f"other{i}.y{rng.randrange(10**9)}-{i}" for i in range(100000)]
        text = self.check(names, strangers + ["sub." + name for name in names[:500]])
        asked, listed, in_vain, predicted = self.numbers(
            text, r"lookups in list +(\d+): (\d+) listed, (\d+) in vain \(predicted ([\d.]+)\)")
        self.assertEqual((asked, listed), (listed + in_vain, 500))
        self.assertAlmostEqual(predicted, 200500 * 0.001, delta=20)
        self.check_rate(in_vain, predicted)
        self.assertLess(self.numbers(text, r"([\d.]+) bits per entry")[0], 10.3)


if __name__ == "__main__":
    main()
