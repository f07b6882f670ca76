"""The lines of the library that each test runs. A mutant needs only the tests that run its line.

Each test runs once in the build with gcc --coverage, and gcov lists its lines. A child that is
killed, or leaves by _exit, writes no counts: tests that call fork count as if they ran every line.
"""
import hashlib
import json
import os
import shutil
import subprocess
import tempfile

FILES_PER_CALL = 60


class Reach:
    """The lines of each test, its times and how it failed, in a file per test in the build, so that
    a run can be continued. A test is known again if its program has the same bytes.
    """

    def __init__(self, source, build):
        self.source = source
        self.build = build
        self.known = {}

    def _path(self, name):
        return os.path.join(self.build, "reach", name + ".json")

    def _program(self, test):
        """The digest of the test's program."""
        with open(test.command[0], "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def is_known(self, test):
        if test.name not in self.known and os.path.exists(self._path(test.name)):
            with open(self._path(test.name), encoding="utf-8") as file:
                entry = json.load(file)
            if entry["built"] == os.stat(test.command[0]).st_mtime_ns or entry["program"] == self._program(test):
                self.known[test.name] = entry
        return test.name in self.known

    def outcome(self, test):
        """How the test failed, "" if it passed; its seconds of processor time, and by the clock."""
        entry = self.known[test.name]
        return entry["how"], entry["seconds"], entry["clock"]

    def learn(self, test, run):
        """Runs the test with run(environment) and keeps the lines that gcov counts."""
        folder = tempfile.mkdtemp(prefix="bb_counts_")
        try:
            how, seconds, clock = run({"GCOV_PREFIX": folder, "GCOV_PREFIX_STRIP": str(self.build.count(os.sep))})
            self.keep(test, {"how": how, "seconds": seconds, "clock": clock, "lines": self.lines(folder)})
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def keep(self, test, entry):
        entry["program"] = self._program(test)
        entry["built"] = os.stat(test.command[0]).st_mtime_ns
        self.known[test.name] = entry
        path = self._path(test.name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(entry, file)
        os.replace(path + ".new", path)

    def _notes_of(self, folder, counts):
        """Links the compiler's notes next to the counts, where gcov looks for them."""
        notes = counts.removesuffix(".gcda") + ".gcno"
        original = os.path.join(self.build, os.path.relpath(notes, folder))
        if os.path.exists(original) and not os.path.lexists(notes):
            os.symlink(original, notes)
        return os.path.exists(original)

    def lines(self, folder):
        """{path: lines that ran} of the library's sources, by the counts in the folder."""
        found = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names
                 if name.endswith(".gcda") and os.sep + "tests" + os.sep not in place]
        found = [counts for counts in sorted(found) if self._notes_of(folder, counts)]
        lines = {}
        for begin in range(0, len(found), FILES_PER_CALL):
            done = subprocess.run(["gcov", "--json-format", "--stdout", *found[begin:begin + FILES_PER_CALL]],
                                  cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
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
