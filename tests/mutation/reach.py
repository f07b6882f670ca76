"""The lines of the library that each test runs. A mutant needs only the tests that run its line.

The tests are built a second time with gcc --coverage. Each runs once, and gcov lists its lines. A
child that is killed, or leaves by _exit, writes no counts: tests that call fork count as if they
ran every line.
"""
import json
import os
import shutil
import subprocess

FILES_PER_CALL = 60


class Reach:
    """The lines of each test, kept in a file of the build, so that a run can be continued."""

    def __init__(self, source, build):
        self.source = source
        self.build = build
        self.path = os.path.join(build, "reach.json")
        self.counts_folder = os.path.join(build, "counts")
        self.known = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                self.known = json.load(file)

    def program(self, test):
        return os.path.join(self.build, "tests", os.path.basename(test.command[0]))

    def is_known(self, test):
        held = self.known.get(test.name)
        return held is not None and held["built"] == os.stat(self.program(test)).st_mtime_ns

    def learn(self, test, run):
        """Runs the test with run(program, environment) and keeps the lines that gcov counts."""
        shutil.rmtree(self.counts_folder, ignore_errors=True)
        os.makedirs(self.counts_folder)
        run(self.program(test), {"GCOV_PREFIX": self.counts_folder, "GCOV_PREFIX_STRIP": str(self.build.count(os.sep))})
        built = os.stat(self.program(test)).st_mtime_ns
        self.known[test.name] = {"built": built, "lines": self._lines()}

    def save(self):
        with open(self.path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.known, file)
        os.replace(self.path + ".new", self.path)

    def _notes_of(self, counts):
        """Links the compiler's notes next to the counts, where gcov looks for them."""
        notes = counts.removesuffix(".gcda") + ".gcno"
        original = os.path.join(self.build, os.path.relpath(notes, self.counts_folder))
        if os.path.exists(original):
            os.symlink(original, notes)
        return os.path.exists(original)

    def _lines(self):
        """{path: lines that ran} of the library's sources."""
        found = [os.path.join(place, name) for place, _, names in os.walk(self.counts_folder) for name in names
                 if name.endswith(".gcda") and os.sep + "tests" + os.sep not in place]
        found = [counts for counts in sorted(found) if self._notes_of(counts)]
        lines = {}
        for begin in range(0, len(found), FILES_PER_CALL):
            done = subprocess.run(["gcov", "--json-format", "--stdout", *found[begin:begin + FILES_PER_CALL]],
                                  cwd=self.counts_folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                  check=False)
            for part in done.stdout.split("\n"):
                for file in json.loads(part)["files"] if part.startswith("{") else ():
                    ran = {line["line_number"] for line in file["lines"] if line["count"] > 0}
                    path = os.path.relpath(os.path.join(self.build, file["file"]), self.source).replace(os.sep, "/")
                    lines.setdefault(path, set()).update(ran)
        return {path: sorted(numbers) for path, numbers in lines.items() if numbers}

    def may_notice(self, test, site):
        """Whether the test runs a line of the statement that the site is in."""
        if test.forks or test.name not in self.known:
            return True
        lines = self.known[test.name]["lines"].get(site.path, ())
        return any(site.first_line <= line <= site.line for line in lines)
