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
from tool import ABSENT, BINARY, FOUND, SOURCE, ToolTest, main, some, test_random

LINE = re.compile(r"^(bloomblock |sed |source )")
# The comments of these lines state that the key is absent.
ABSENT_LINES = ("bloomblock explain", "bloomblock filter check words.bbf --key aardwolf")


def lines_of(page):
    """The commands of the page's blocks."""
    with open(os.path.join(SOURCE, page), encoding="utf-8") as file:
        blocks = re.findall(r"^```sh\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if LINE.match(line)]


# Commands that make the state in which an example of the help runs.
WORDS = "bloomblock filter create words.bbf /usr/share/dict/words"
BLOOM = "bloomblock filter create {}.bbf --kind bloom --keys 1000 < monday.txt"
ONLINE = "bloomblock filter create online.bbf --kind counting --keys 1000 < monday.txt"
LINES = "bloomblock index create --file access.log --attribute '{0} = clf({1})' --index '{2}({1})'"
PREPARATIONS = {
    "bloomblock attribute create /tmp/access": "bloomblock attribute drop /tmp/access status",
    "bloomblock attribute create /tmp/events": "bloomblock load /tmp/events lookups.txt",
    "bloomblock index drop /tmp/access": "bloomblock index create /tmp/access 'tokens(agent)'",
    "bloomblock index drop --file": LINES.format("status u64", "status", "column"),
    "bloomblock index list --file": LINES.format("status u64", "status", "column"),
    "bloomblock index create --file access.log  ": LINES.format("status u64", "status", "column"),
    "bloomblock select --file access.log": LINES.format("agent bytes", "agent", "tokens"),
    "bloomblock filter check": WORDS, "bloomblock filter info": WORDS,
    "bloomblock filter add": f"{BLOOM.format('seen')} && {ONLINE}", "bloomblock filter remove": ONLINE,
    "bloomblock filter create tuesday": BLOOM.format("monday"),
    "bloomblock filter union": f"{BLOOM.format('monday')} && "
                               "bloomblock filter create tuesday.bbf --like monday.bbf < monday.txt",
    "bloomblock filter top": "bloomblock filter create users.bbf < monday.txt",
}

# Examples that change no file.
READING = re.compile(r"bloomblock (?:get|scan|stat|explain|dump|filters|verify|measure|select /|attribute list|"
                     r"index (?:list|advise|estimate) /|filter plan)")


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

    def make_stores(self):
        for name in ("typed", "other-words", "monday", "tuesday", "wednesday", "came", "left", "asked", "notes"):
            self.write(f"{name}.txt", "apple\nzebra\n")
        shutil.copy(self.path("monday.txt"), self.path("notes"))
        for line in ("sed 's/$/x/' /usr/share/dict/words >lookups.txt", "gzip -c monday.txt >seen.gz",
                     "bloomblock load /tmp/words /usr/share/dict/words",
                     "printf 'cat\\t9 lives\\ndog\\t1\\n' | bloomblock load /tmp/pets --tsv",
                     "bloomblock load /tmp/access --lines access.log --format clf",
                     "bloomblock load /tmp/other monday.txt && mkdir /tmp/more && cp /tmp/other/*.bbt /tmp/more"):
            self.assertEqual(self.run_line(line).returncode, FOUND, line)
        shutil.copytree(self.directory, self.directory + ".made", symlinks=True)
        self.addCleanup(shutil.rmtree, self.directory + ".made")

    def restore(self):
        shutil.rmtree(self.directory)
        shutil.copytree(self.directory + ".made", self.directory, symlinks=True)

    def examples(self):
        """The examples of all help texts, continued lines joined."""
        pages = [[*name.split(), "--help"] for name in self.ok("reference", "names").lines]
        pages += [["select", "--file", "x", "--help"], ["index", "create", "--file", "x", "--help"],
                  ["index", "list", "--file", "x", "--help"], ["index", "drop", "--file", "x", "--help"]]
        texts = [self.ok("--help").text] + [self.ok(*page).text.replace("\\\n", "") for page in pages]
        found = [line.strip() for text in texts for line in
                 re.findall(r"^  (?:bloomblock|printf|echo|zcat|tail|mdb_dump) .*$", text, re.MULTILINE)]
        return list(dict.fromkeys(found))

    def runs_here(self, line):
        """The tests of `cluster` have servers, the tests of `import` stores of LMDB."""
        if line.startswith("bloomblock cluster") or "mdb_dump" in line:
            return False
        if "import leveldb" in line and leveldb_writer.library() is None:
            return False
        return all(shutil.which(name) for name in ("jq", "mdb_load") if name in line)

    def run_example(self, line):
        for begin, preparation in PREPARATIONS.items():
            if line.startswith(begin):
                self.assertEqual(self.run_line(preparation).returncode, FOUND, preparation)
        if "import text" in line and "/tmp/pets -" not in line:
            shutil.rmtree(self.path("tmp/copy"), ignore_errors=True)
        done = self.run_line(line.replace(" FILE", " lookups.txt"))
        self.assertIn(done.returncode, (FOUND, ABSENT), f"{line}\n{done.stdout[-300:]}\n{done.stderr[-500:]}")

    def test_of_the_help(self):
        """Each example of a help text runs, by itself."""
        self.make_stores()
        lines = self.examples()
        self.assertGreater(len(lines), 80)
        is_changed = False
        for line in some(line for line in lines if self.runs_here(line)):
            if is_changed:
                self.restore()
            self.run_example(line)
            is_changed = not READING.match(line)

    def test_of_the_readme(self):
        self.assertGreater(self.run_page("README.md"), 20)

    def test_of_the_guide(self):
        self.assertGreater(self.run_page("docs/guide.md"), 3)

    def test_of_the_manual_of_the_command(self):
        self.assertGreater(self.run_page("docs/tools.md"), 2)


if __name__ == "__main__":
    main()
