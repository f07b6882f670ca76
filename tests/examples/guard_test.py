"""The example guard: the database is asked as rarely as predicted, and no key that it has is denied.

Method: the program's own auditor reads the newest key over a connection of its own and asks the guard, all the while
keys come and go and the filter is rebuilt; its figures are compared with those that Bloom filters must have.
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
        # What a Bloom filter with room for 5/4 of the keys, at 1 %, passes when it holds them, and when 30,000 more
        # have come; and its counters of four bits.
        room = 50000 * 5 / 4
        for when, keys in (("built", 50000), ("grown", 80000)):
            fill = 1 - math.exp(-7 * keys / (BITS_PER_KEY * room))
            self.assertAlmostEqual(stages[when][5] / (ABSENT * fill ** 7), 1, delta=0.05)
            self.assertAlmostEqual(stages[when][1] / (BITS_PER_KEY * room / 2), 1, delta=0.01)
        self.assertLess(stages["rebuilt"][5], 0.0045 * ABSENT)
        changes, audits = self.numbers(text, r"(\d+) changes during the rebuild; (\d+) audits, no key")
        self.check_page("".join(text.splitlines(keepends=True)[:2]))
        self.assertGreater(changes, 0)
        self.assertGreater(audits, 0)


if __name__ == "__main__":
    main()
