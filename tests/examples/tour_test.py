"""The example tour: it prints the output of docs/guide.md, and right statistics.

Its store is sound afterwards.

Method: the program's output is compared with the page, line by line. Values that depend on a
table's random salt may differ: whether a filter passes the one absent key, and the last lines'
numbers. Sums may not.
"""
import os
import re
import subprocess

from example import COMMAND, PAGE, ExampleTest, main

GUIDE = os.path.join(os.path.dirname(PAGE), "guide.md")
ABSENT = 499


class Tour(ExampleTest):
    def test_what_the_guide_shows(self):
        with open(GUIDE, encoding="utf-8") as file:
            shown = re.search(r"(?s)```\n(get .*?)```", file.read()).group(1).splitlines()
        text = self.run_example().splitlines()
        self.assertEqual(len(text), len(shown))
        self.assertEqual(text[:-3], shown[:-3])
        self.assertRegex(text[-3], r"  level 1: table filter (negative|maybe), filter .*, block .*")
        self.assertEqual([self.without_numbers(line) for line in text[-2:]],
                         [self.without_numbers(line) for line in shown[-2:]])

    def without_numbers(self, line):
        return re.sub(r"[\d.]+", "N", line)

    def test_statistics_add_up(self):
        text = self.run_example()
        gets, found, asked, spared = self.numbers(
            text, r"statistics (\d+) gets, (\d+) found; blocks requested (\d+), spared (\d+)")
        self.assertEqual((gets, found), (3 + 2 + ABSENT, 3))
        # One of the two explained keys is there; each absent one costs a block, or is spared it.
        self.assertEqual(asked + spared, 2 + ABSENT)
        self.assertLess(asked, 1 + 6 + 0.01 * (ABSENT + 1) * 3)
        expected, target = self.numbers(text, r"absent key: ([\d.]+) block requests, target ([\d.]+)")
        self.assertLessEqual(expected, 1.1 * target)

    def test_the_store_is_sound(self):
        store = self.path("store")
        self.run_example(store)
        if COMMAND is not None:
            subprocess.run([COMMAND, "verify", store], check=True, stdout=subprocess.DEVNULL)
        self.run_example(store, code=1)


if __name__ == "__main__":
    main()
