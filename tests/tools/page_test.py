"""The commands that README.md and the pages of docs/ print run as they are printed.

Method: each line that begins with the command is run by a shell, in order, in a folder with the
files that the lines name. Only the folders of the examples are moved into the test's own. The
outputs that docs/tools.md shows are compared by filter_test.py.
"""
import os
import re
import shutil
import subprocess

import leveldb_writer
import log_case
from tool import ABSENT, BINARY, FOUND, SOURCE, ToolTest, main, test_random

LINE = re.compile(r"^(bloomblock |sed |source )")
# The comments of these lines state that the key is absent.
ABSENT_LINES = ("bloomblock explain", "bloomblock filter check words.bbf --key aardwolf")


def lines_of(page):
    """The commands of the page's blocks."""
    with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
        blocks = re.findall(r"^```sh\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if LINE.match(line)]


class Pages(ToolTest):
    def setUp(self):
        super().setUp()
        for folder in ("bin", "tmp", "share/dict", "lib"):
            os.makedirs(self.path(folder))
        os.symlink(BINARY, self.path("bin/bloomblock"))
        words = ["aardvark", "zebra"] + [f"bloom{number}" for number in range(20)]
        words += [f"{first}{second}{number}" for first in "abcdefghijklmnopqrstuvwxyz" for second in "aeiou"
                  for number in range(400)]
        self.write("share/dict/words", "".join(f"{word}\n" for word in sorted(words)))
        rows = log_case.generate(test_random(), 3000)
        rows[0].update(status=404, agent="sqlmap/1.5")
        self.write("access.log", log_case.lines_of(rows))
        if leveldb_writer.library() is not None:
            writer = leveldb_writer.Writer(self.path("lib/old"))
            writer.put(b"a", b"1")
            writer.close()

    def run_line(self, line):
        line = re.sub(r"(?<=\s)/(?:usr/(?=share/dict/)|var/(?=lib/)|(?=tmp/))", self.directory + "/", line)
        environment = {**os.environ, "PATH": f"{self.path('bin')}:{os.environ['PATH']}"}
        shell = "fish" if "reference fish" in line else "bash"
        return subprocess.run([shell, "-c", line], cwd=self.directory, env=environment, capture_output=True, text=True,
                              check=False)

    def run_page(self, page):
        count = 0
        for line in lines_of(page):
            if "import leveldb" in line and leveldb_writer.library() is None:
                continue
            if "reference fish" in line and not shutil.which("fish"):
                continue
            done = self.run_line(line)
            expected = ABSENT if line.startswith(ABSENT_LINES) else FOUND
            self.assertEqual(done.returncode, expected, f"{page}: {line}\n{done.stdout[-500:]}\n{done.stderr[-500:]}")
            count += 1
        return count

    def test_of_the_readme(self):
        self.assertGreater(self.run_page("README.md"), 20)

    def test_of_the_guide(self):
        self.assertGreater(self.run_page("docs/guide.md"), 3)

    def test_of_the_manual_of_the_command(self):
        self.assertGreater(self.run_page("docs/tools.md"), 2)


if __name__ == "__main__":
    main()
