"""The example guard: it queries the database as rarely as predicted, and denies no key of it.

Method: the program's auditor reads the newest key over a separate connection and probes the guard,
while keys are added and removed and the filter is rebuilt. The program's figures are compared with
the theory of Bloom filters.
"""
import math

from example import ExampleTest, main

ABSENT = 200000
BITS_PER_KEY = math.log2(100) / math.log(2)
LINE = (r"(?m)^{} +(\d+) keys, (\d+) bytes; (\d+) lookups of absent keys: (\d+) spared, "
        r"(\d+) sent to SQLite \(predicted ([\d.]+)\)")


class Guard(ExampleTest):
    def test_the_whole_story(self):
        text = self.run_example()
        stages = {when: self.numbers(text, LINE.format(when)) for when in ("built", "grown", "rebuilt")}
        for count, _, absent, spared, asked, predicted in stages.values():
            self.assertEqual((absent, spared + asked), (ABSENT, ABSENT))
            self.check_rate(asked, predicted)
        self.assertEqual([stage[0] for stage in stages.values()], [50000, 80000, 80000])
        # Pass rates of a Bloom filter for 5/4 of the keys, at 1 %: with those keys, and after
        # 30,000 more; and the size of its counters of four bits.
        space = 50000 * 5 / 4
        for when, keys in (("built", 50000), ("grown", 80000)):
            fill = 1 - math.exp(-7 * keys / (BITS_PER_KEY * space))
            self.assertAlmostEqual(stages[when][5] / (ABSENT * fill ** 7), 1, delta=0.05)
            self.assertAlmostEqual(stages[when][1] / (BITS_PER_KEY * space / 2), 1, delta=0.01)
        self.assertLess(stages["rebuilt"][5], 0.0045 * ABSENT)
        changes, audits = self.numbers(text, r"(\d+) changes during the rebuild; (\d+) audits, no key")
        self.check_page("".join(text.splitlines(keepends=True)[:2]))
        self.assertGreater(changes, 0)
        self.assertGreater(audits, 0)


if __name__ == "__main__":
    main()
