"""Shared by the tests of `bloomblock filter`: a filter file, member keys and non-member keys."""
import os

from tool import ABSENT, FOUND, ToolTest, run, words

HEADER = 256  # of a filter's file; the envelope follows


def lines_of(keys):
    return "".join(f"{key}\n" for key in keys)


class FilterTest(ToolTest):
    COUNT = 3000

    def setUp(self):
        super().setUp()
        self.filter = self.path("keys.bbf")
        self.keys = words(self.COUNT)
        self.strangers = words(20000, "stranger")

    def create(self, *options, keys=None, path=None):
        """The report as JSON."""
        return self.ok("filter", "create", path or self.filter, *options, "--json",
                       stdin=lines_of(self.keys if keys is None else keys)).json

    def content(self, path=None):
        with open(path or self.filter, "rb") as file:
            return file.read()

    def spoil(self, content):
        return self.write("spoilt.bbf", bytes(content))

    def maybe_count(self, keys, path=None):
        result = run("filter", "check", path or self.filter, "--count", "--json", stdin=lines_of(keys))
        self.assertIn(result.code, (FOUND, ABSENT))
        self.assertEqual(result.json["keys"], len(keys))
        return result.json["maybe"]

    def leftovers(self):
        return [name for name in os.listdir(self.directory) if name.endswith(".tmp")]
