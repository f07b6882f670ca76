"""A private copy of the sources, its build, and the trial of one mutant against the tests.

The copy is built once, with gcc --coverage, so that one run of each test tells its time and its
lines (reach.py). A mutant costs one compilation, and one link per program whose tests run its line.
The link line has the mutant's object before the static libraries, so the linker does not extract
the original from its archive. The build does not change; several mutants can be tried at a time.
"""
import concurrent.futures
import filecmp
import json
import os
import posixpath
import re
import resource
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import reach

LABELS = {"unit", "fuzz", "crash", "fault", "model", "regress", "fork"}
# How many of their similar cases the tests run, as scripts/test chooses for its preset dev.
QUICK = {"BB_TEST_OPS": "20000", "BB_TEST_CRASH_SEEDS": "1", "BB_TEST_CRASH_STRIDE": "17", "BB_TEST_STEP": "5",
         "BB_TEST_STORES": "8", "BB_TEST_LARGE_BYTES": "4194304", "BB_TEST_FAULT_STRIDE": "61", "BB_TEST_FORKS": "40"}
MEMORY_BYTES = 6 << 30
FILE_BYTES = 2 << 30
# The changed file traps where UndefinedBehaviorSanitizer would report, as in the preset dev.
MUTANT_OPTIONS = ["-O1", "-w", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"]
# A test that took longer with the original is run only with mutants of the module that it tests,
# and with mutants on lines that no shorter test runs.
LONGEST_SECONDS = 8
# The order of the tests: seconds to link and start one, and how much longer a test may take that is
# one step nearer to the mutant.
START_SECONDS, FARTHER = 0.2, 3
# A test of a mutant may take this much longer than with the original, and these seconds more. The
# processor time is limited too, so that an endless loop ends soon on a busy machine.
SLOWER, SECONDS_MORE = 6, 20
PROCESSOR_SECONDS_MORE = 4
# Where programs with coverage fail to write their counts at once, when these are not needed.
NO_COUNTS = {"GCOV_PREFIX": "/dev/null"}

KILLED, SURVIVED, SAME, DOES_NOT_COMPILE = "killed", "SURVIVED", "same object", "does not compile"


class Failure(Exception):
    """The run cannot continue; the text is for the user."""


class Test:
    """A test program: its times with the original, in seconds of processor time and by the clock,
    and the headers that its source includes.
    """

    def __init__(self, name, label, command, link):
        self.name = name
        self.label = label
        self.command = command
        self.link = link
        self.seconds = None
        self.clock = None
        self.includes = set()
        self.forks = label == "fork"


class Verdict:
    """The end of a trial: result is one of the constants above."""

    def __init__(self, result, test="", how="", seconds=0.0):
        self.result = result
        self.test = test
        self.how = how
        self.seconds = seconds


def _output(command, folder):
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    if done.returncode != 0:
        raise Failure(f"{' '.join(command[:6])} failed:\n{done.stdout[-4000:]}")
    return done.stdout


def _kill_group(number):
    try:
        os.killpg(number, signal.SIGKILL)
    except ProcessLookupError:
        pass


def copy_sources(tree, folder):
    """Makes the folder a copy of the tree. Equal files keep their times: no second compilation.
    True if a file changed.
    """
    has_changed = False
    for path in tree.paths:
        source, target = os.path.join(tree.root, path), os.path.join(folder, path)
        if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
            has_changed = True
    wanted = set(tree.paths)
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(place, name), folder).replace(os.sep, "/")
            if path not in wanted:
                os.remove(os.path.join(folder, path))
                has_changed = True
    return has_changed


class Deadline:
    """The time at which an invocation ends. Seconds from now; without seconds it has no end."""

    def __init__(self, seconds):
        self.end = None if seconds is None else time.monotonic() + seconds

    def has_passed(self):
        return self.end is not None and time.monotonic() > self.end


class Workshop:
    """The copy in folder/source, and its build in folder/build or folder/build-sanitize. A mutant
    survives when tests pass that take seconds_max of processor time.
    """

    def __init__(self, folder, sanitize, seconds_max):
        self.seconds_max = seconds_max
        self.source = os.path.join(folder, "source")
        self.build = os.path.join(folder, "build-sanitize" if sanitize else "build")
        self.sanitize = sanitize
        self.tests = []
        self.compile_commands = {}
        self.reach = reach.Reach(self.source, self.build)

    # The builds

    def prepare(self, jobs, has_changed):
        """Configures and builds the tests, unless the last invocation built these sources; fills
        tests and compile_commands.
        """
        mark = os.path.join(self.build, "is_built")
        if has_changed and os.path.exists(mark):
            os.remove(mark)
        if not os.path.exists(mark):
            self._build(jobs)
            with open(mark, "w", encoding="utf-8"):
                pass
        self._read_compile_commands()
        self._read_tests()

    def _build(self, jobs):
        options = ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O0", "-DBB_COVERAGE=ON", "-DBB_BUILD_BENCH=OFF",
                   "-DBB_BUILD_EXAMPLES=OFF", "-DBB_BUILD_TOOLS=OFF", "-DBB_BUILD_LEVELDB=OFF",
                   "-DBB_TEST_STATISTICS=OFF"]
        if self.sanitize:
            options.append("-DBB_SANITIZE=address,undefined")
        if shutil.which("ccache"):
            options.append("-DCMAKE_C_COMPILER_LAUNCHER=ccache")
        if shutil.which("mold"):
            options.append("-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold")
        _output(["cmake", "-S", self.source, "-B", self.build, "-G", "Ninja", *options], self.source)
        _output(["ninja", "-j", str(jobs)], self.build)

    def _read_compile_commands(self):
        with open(os.path.join(self.build, "compile_commands.json"), encoding="utf-8") as file:
            for entry in json.load(file):
                path = os.path.relpath(entry["file"], self.source).replace(os.sep, "/")
                self.compile_commands[path] = shlex.split(entry["command"])

    def _read_tests(self):
        self.tests = []
        links = self._link_commands()
        for entry in json.loads(_output(["ctest", "--show-only=json-v1"], self.build))["tests"]:
            label = next((p["value"][0] for p in entry["properties"] if p["name"] == "LABELS"), "")
            program = entry["command"][0]
            if label in LABELS and os.path.dirname(program) == os.path.join(self.build, "tests"):
                test = Test(entry["name"], label, entry["command"], links[os.path.basename(program)])
                self._look_at(test)
                self.tests.append(test)

    def _link_commands(self):
        """{program: the words of its link command} of all tests."""
        commands = {}
        for line in _output(["ninja", "-t", "commands", "tests/all"], self.build).split("\n"):
            program = re.search(r" -o tests/(\w+) ", line)
            if program:
                words = shlex.split(line)
                commands[program.group(1)] = words[words.index("&&") + 1:len(words) - 1 - words[::-1].index("&&")]
        return commands

    def _look_at(self, test):
        """Reads the includes of the test's source."""
        with open(self._source_of(test), encoding="utf-8") as file:
            text = file.read()
        test.includes = set(re.findall(r'^#include "([^"]+)"', text, re.MULTILINE))
        test.forks = test.forks or "fork()" in text

    def _source_of(self, test):
        """A program of unit tests has many sources; a test is named after its layer and source."""
        for word in test.link:
            match = re.fullmatch(r"tests/CMakeFiles/[^/]+\.dir/(.*\.c)\.o", word)
            if match and (test.label != "unit" or match[1] == "/".join(test.name.split("_", 2)) + ".c"):
                return os.path.join(self.source, "tests", match.group(1))
        raise Failure(f"no source in the link line of {test.name}")

    # Running tests

    def measure(self, jobs, deadline):
        """Runs each test whose program is new once. Removes tests that fail without a mutant, since
        they prove nothing, and returns their names and how they failed. Returns None if the
        deadline passed first.
        """
        unknown = [test for test in self.tests if not self.reach.is_known(test)]
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lambda test: deadline.has_passed() or self._learn(test), unknown))
        if not all(self.reach.is_known(test) for test in self.tests):
            return None
        return self._without_broken()

    def _learn(self, test):
        self.reach.learn(test, lambda variables: self._run(test, test.command[0], 900, variables))

    def _without_broken(self):
        sound, broken = [], []
        for test in self.tests:
            how, test.seconds, test.clock = self.reach.outcome(test)
            if how:
                broken.append(f"{test.name} ({how})")
            else:
                sound.append(test)
        self.tests = sound
        return broken

    def _limits(self, test):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, resource.RLIM_INFINITY))
        if test.seconds is not None:
            seconds = int(SLOWER * test.seconds) + PROCESSOR_SECONDS_MORE
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        if not self.sanitize:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))

    def _run(self, test, program, limit, variables=None):
        """How the test failed, "" if it passed; its seconds of processor time, and by the clock.
        variables: of the environment, for the counts of the coverage.
        """
        temporary = tempfile.mkdtemp(prefix="bb_mutant_")
        began = time.monotonic()
        # A program of cmocka then ends at its first failure.
        environment = {**os.environ, **QUICK, "TMPDIR": temporary, "CMOCKA_TEST_ABORT": "1", **(variables or NO_COUNTS)}
        environment.setdefault("BB_TEST_SEED", "1")
        running = subprocess.Popen([program, *test.command[1:]], cwd=temporary, env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True, preexec_fn=lambda: self._limits(test))
        timer = threading.Timer(limit, _kill_group, [running.pid])
        timer.start()
        _, status, usage = os.wait4(running.pid, 0)
        is_over = not timer.is_alive()
        timer.cancel()
        _kill_group(running.pid)
        status = running.returncode = os.waitstatus_to_exitcode(status)
        shutil.rmtree(temporary, ignore_errors=True)
        how = "" if status == 0 else f"status {status}" if status > 0 else signal.Signals(-status).name
        return "hangs" if is_over else how, usage.ru_utime + usage.ru_stime, time.monotonic() - began

    # Trying a mutant

    def text(self, path):
        with open(os.path.join(self.source, path), encoding="utf-8") as file:
            return file.read()

    def _compile(self, path, text, folder):
        """The object code of the text, compiled with the options of path and MUTANT_OPTIONS, or
        None. It is optimised and has no coverage, so that it is equal if the text has the same
        meaning. Original and mutant have the same file name for the same reason.
        """
        name = os.path.join(folder, posixpath.basename(path))
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
        command = list(self.compile_commands[path])
        if os.path.basename(command[0]) == "ccache":
            del command[0]
        command[command.index("-o") + 1] = name + ".o"
        command[command.index("-c") + 1] = name
        command = [word for word in command if word != "--coverage"] + MUTANT_OPTIONS
        done = subprocess.run(command, cwd=self.build, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False)
        if done.returncode != 0:
            return None
        with open(name + ".o", "rb") as file:
            return file.read()

    def _link(self, test, object_path, program):
        command = list(test.link)
        place = command.index("-o") + 1
        command[place:place + 1] = [program, object_path]
        return subprocess.run(command, cwd=self.build, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              check=False).returncode == 0

    def order(self, site):
        """The tests that run the line, in the order of their trial: a test is later the longer it
        takes and the farther it is. Nearest are the tests of the same module, then tests of the
        same noun, or for a sync the crash tests, then tests that include headers of the same
        folder, or for a status the fault tests, then tests of the layer, all others.
        """
        noun = posixpath.basename(site.path)[:-2]

        def distance(test):
            stem = test.name.split("_", 2)[2].removesuffix("_test") if test.name.count("_") > 1 else test.name
            if test.name == f"unit_{site.layer}_{noun}_test":
                return 0
            if site.kind == "sync" and test.label == "crash":
                return 1
            if stem.startswith(noun) or noun.startswith(stem) or site.path[:-2] + ".h" in test.includes:
                return 1
            if site.kind in ("status", "failure") and test.label == "fault":
                return 2
            if any(posixpath.dirname(include) == site.room for include in test.includes) and site.room != site.layer:
                return 2
            return 3 if test.name.startswith(f"unit_{site.layer}_") else 4

        ranked = [(distance(test), test) for test in self.tests if self.reach.may_notice(test, site)]
        kept = [entry for entry in ranked if entry[0] < 3 or entry[1].seconds <= LONGEST_SECONDS] or ranked
        kept.sort(key=lambda entry: (START_SECONDS + entry[1].seconds) * FARTHER ** entry[0])
        return [test for _, test in kept]

    def trial(self, site):
        """The verdict on one mutant."""
        began = time.monotonic()
        folder = tempfile.mkdtemp(prefix="bb_mutate_")
        try:
            text = self.text(site.path)
            original = self._compile(site.path, text, folder)
            mutant = self._compile(site.path, site.apply(text), folder)
            if original is None:
                raise Failure(f"{site.path} does not compile without a change")
            if mutant is None or mutant == original:
                return Verdict(SAME if mutant else DOES_NOT_COMPILE)
            object_path = os.path.join(folder, posixpath.basename(site.path) + ".o")
            verdict = self._try_tests(site, object_path, folder)
            verdict.seconds = time.monotonic() - began
            return verdict
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _try_tests(self, site, object_path, folder):
        tried, seconds, tests = 0, 0.0, self.order(site)
        links = {}  # of the tests' programs: True if they link with the mutant
        for test in tests:
            if seconds > self.seconds_max:
                return Verdict(SURVIVED, how=f"{tried} of {len(tests)} tests pass")
            # A program with a replacement for the object, such as alloc_fault.c for alloc.c, does
            # not link.
            program = os.path.join(folder, os.path.basename(test.command[0]))
            if program not in links:
                links[program] = self._link(test, object_path, program)
            if not links[program]:
                continue
            tried += 1
            how, used, _ = self._run(test, program, SLOWER * test.clock + SECONDS_MORE)
            seconds += used
            if how:
                return Verdict(KILLED, test.name, how)
        return Verdict(SURVIVED, how=f"{tried} tests pass")
