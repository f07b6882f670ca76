"""The example crawler: kills, and an old, damaged or missing filter, do not change its result.

Method: the test makes up the same web as the program, and counts its links. An undisturbed run is
the reference for all other runs with as many pages. Every number that they print must be the same,
because a page counts once, with its batch. BB_KILLS sets the number of kills from outside (10),
BB_TEST_SEED the seed.
"""
import math
import os
import signal
import subprocess
import time
import unittest

from example import BINARY, COMMAND, ExampleTest, main, test_random

KILLS = int(os.environ.get("BB_KILLS", "10"))
PAGES = 5000
LINKS = 8
MASK = (1 << 64) - 1


def mix(x):
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ x >> 27) * 0x94d049bb133111eb & MASK
    return x ^ x >> 31


def links_of(page, page_count):
    for i in range(1, LINKS + 1):
        x = (mix(page * LINKS + i) >> 11) * 2.0 ** -53
        target = 2 * page + i if i <= 2 else int(page_count * x * x)
        if target < page_count:
            yield target


class CrawlerTest(ExampleTest):
    def setUp(self):
        super().setUp()
        self.store = self.path("store")

    def crawl(self, *arguments, code=0, store=None):
        return self.run_example(store or self.store, str(PAGES), *map(str, arguments), code=code)

    def summary(self, text):
        """The output of a complete run."""
        self.assertIn("\npages ", "\n" + text)
        return text[text.index("pages "):]

    @property
    def reference(self):
        if not hasattr(CrawlerTest, "undisturbed"):
            CrawlerTest.undisturbed = self.summary(self.crawl(store=self.path("undisturbed")))
        return CrawlerTest.undisturbed


class Crawl(CrawlerTest):
    """Counts, and kills."""

    def numbers_of(self, text):
        visited, met = self.numbers(text, r"pages +(\d+) visited, (\d+) URLs found")
        links, new, duplicates = self.numbers(text, r"links +(\d+): (\d+) new, (\d+) duplicates")
        asked, in_vain, spared = self.numbers(text, r"store +asked (\d+) times, (\d+) in vain; spared (\d+)")
        return visited, met, links, new, duplicates, asked, in_vain, spared

    def test_its_own_run(self):
        text = self.run_example()
        visited, met, *_ = self.numbers_of(text)
        self.assertEqual((visited, met), (20000, 20000))
        self.check_page(text)
        self.run_example(self.store, "20000", "7000", code=-signal.SIGKILL)
        text = self.run_example(self.store)
        self.check_page(text[:text.index("fixed ")])

    def test_the_numbers_are_those_of_the_web(self):
        links = [list(links_of(page, PAGES)) for page in range(PAGES)]
        total = sum(map(len, links))
        on_page = sum(len(page) - len(set(page)) for page in links)
        visited, met, link_count, new, duplicates, asked, in_vain, spared = self.numbers_of(self.reference)
        self.assertEqual((visited, met, link_count), (PAGES, PAGES, total))
        # The first URL is in no link that is new.
        self.assertEqual((new, duplicates), (PAGES - 1, total - PAGES + 1))
        self.assertEqual(asked, duplicates - on_page + in_vain)
        self.assertEqual(spared, new - in_vain)
        self.assertLess(in_vain, 0.01 * PAGES + 5 * math.sqrt(0.01 * PAGES))

    def test_the_fixed_filter_loses_what_it_must(self):
        planned, holds, lost = self.numbers(
            self.reference, r"fixed +planned for (\d+) URLs, holds (\d+): (\d+) pages would never have been visited")
        self.assertEqual((planned, holds + lost), (PAGES // 2 + 1, PAGES))
        self.assertIn("WARNING", self.reference)
        bits, probes, held, expected = 9.585 * planned, 7, 0.0, 0.0
        for _ in range(PAGES):
            rate = (1 - math.exp(-probes * held / bits)) ** probes
            held += 1 - rate
            expected += rate
        self.check_rate(lost, expected)

    def test_killed_in_the_middle_of_a_page(self):
        rng = test_random()
        for kill_after in sorted(rng.sample(range(1, PAGES), 5)) + [PAGES]:
            text = self.crawl(kill_after, code=-signal.SIGKILL)
            self.assertNotIn("pages ", text)
        text = self.crawl()
        self.assertIn(f"starts at page {PAGES - 1} of {PAGES}:", text)
        self.assertEqual(self.summary(text), self.reference)

    def test_killed_from_outside(self):
        rng = test_random()
        reference = self.reference
        for _ in range(KILLS):
            process = subprocess.Popen([BINARY, self.store, str(PAGES)], stdout=subprocess.DEVNULL)
            time.sleep(rng.random() * 0.05)
            process.kill()
            self.assertIn(process.wait(timeout=60), (0, -signal.SIGKILL))
        self.assertEqual(self.summary(self.crawl()), reference)

    def test_started_again_when_all_is_done(self):
        self.crawl()
        self.assertEqual(self.summary(self.crawl()), self.reference)


@unittest.skipIf(COMMAND is None, "the command is not built")
class StoredFilter(CrawlerTest):
    """Damage to the filter that the store keeps."""

    def command(self, *arguments, stdin=""):
        process = subprocess.run([COMMAND, *arguments], input=stdin, stdout=subprocess.PIPE, timeout=60, check=True,
                                 encoding="utf-8")
        return process.stdout

    def filter(self):
        return bytes.fromhex(self.command("get", self.store, "--hex", b"filter".hex()).strip())

    def set_filter(self, value):
        self.command("load", self.store, "--tsv", "--hex", stdin=f"{b'filter'.hex()}\t{value.hex()}\n")

    def check_store(self):
        """Each URL was queued once, under its own number."""
        queue = dict(line.split("\t") for line in self.command("scan", self.store, "--prefix", "q0").splitlines())
        numbers = dict(line.split("\t") for line in self.command("scan", self.store, "--prefix", "u").splitlines())
        self.assertEqual(list(queue), [f"q{number:012}" for number in range(PAGES)])
        self.assertEqual({"u" + url: key[1:] for key, url in queue.items()}, numbers)

    def resume(self, expected):
        text = self.crawl()
        self.assertRegex(text, expected)
        self.assertEqual(self.summary(text), self.reference)
        self.check_store()

    def test_an_old_filter(self):
        self.crawl(1500, code=-signal.SIGKILL)
        old = self.filter()
        self.crawl(4500, code=-signal.SIGKILL)
        self.assertNotEqual(self.filter(), old)
        self.set_filter(old)
        self.resume(r"filter of [1-9]\d* URLs loaded, [1-9]\d* added")

    def test_no_filter_yet(self):
        self.crawl(500, code=-signal.SIGKILL)
        self.resume(r"filter of 0 URLs loaded, [1-9]\d* added")

    def test_a_damaged_filter(self):
        rng = test_random()
        for damage in (lambda value, at: b"", lambda value, at: value[:at],
                       lambda value, at: value[:at] + bytes([value[at] ^ 1 << rng.randrange(8)]) + value[at + 1:]):
            self.store += "x"
            self.crawl(2500, code=-signal.SIGKILL)
            value = self.filter()
            self.set_filter(damage(value, rng.randrange(len(value))))
            self.resume(r"filter of 0 URLs loaded, [1-9]\d* added")

    def test_a_filter_of_more_than_there_is(self):
        self.crawl()
        value = self.filter()
        self.store += "x"
        self.crawl(500, code=-signal.SIGKILL)
        self.set_filter(value)
        self.resume(r"filter of 0 URLs loaded, [1-9]\d* added")


if __name__ == "__main__":
    main()
