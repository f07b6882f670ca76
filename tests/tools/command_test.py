"""The command's frame: help, options, exit codes, progress, output with no reader or no space.

Method: runs the command as a user would and looks at exit code, standard output and standard error.
"""
import os
import pty
import re
import resource
import select
import subprocess
import time
import unittest

from tool import BINARY, FOUND, IO, OVERFULL, SOURCE, USAGE, Result, ToolTest, main, run, some, words

COMMANDS = ["load", "get", "scan", "delete", "compact", "stat", "dump", "filters", "verify", "measure", "destroy",
            "checkpoint", "ingest", "repair", "explain", "export", "import", "select"]
FILTER_COMMANDS = ["filter create", "filter add", "filter remove", "filter check", "filter info", "filter union",
                   "filter plan", "filter top"]
INDEX_COMMANDS = ["index create", "index drop", "index list", "index materialize", "index advise",
                  "index estimate"]
ATTRIBUTE_COMMANDS = ["attribute create", "attribute drop", "attribute list"]
GROUPS = {"filter": FILTER_COMMANDS, "index": INDEX_COMMANDS, "attribute": ATTRIBUTE_COMMANDS}
ALL_COMMANDS = COMMANDS + FILTER_COMMANDS + INDEX_COMMANDS + ATTRIBUTE_COMMANDS


class Help(ToolTest):
    def test_help_of_the_tool_names_every_command_and_exit_code(self):
        for option in ("--help", "-h", "help"):
            text = self.ok(option).text
            for command in [*COMMANDS, *GROUPS]:
                self.assertIn(f"\n  {command} ", text)
            for code in [*range(9), 130]:
                self.assertIn(f"\n{code:3}  ", text)

    def test_help_of_a_group_of_commands_names_each(self):
        for group, commands in GROUPS.items():
            for option in ("--help", "-h", "help"):
                text = self.ok(group, option).text
                self.assertTrue(text.startswith(f"usage: bloomblock {group} "), text)
                for command in commands:
                    self.assertIn(f"\n  {command} ", text)

    def test_a_group_of_commands_is_summed_up_by_their_names(self):
        for group, commands in GROUPS.items():
            summary = next(line for line in self.ok("--help").lines if line.startswith(f"  {group} "))
            names = ", ".join(command.split()[1] for command in commands)
            self.assertTrue(summary.endswith(f": {names}"), summary)

    def test_help_and_documentation_name_the_same_kinds_of_filters(self):
        with open(os.path.join(SOURCE, "docs", "tools.md"), encoding="utf-8") as file:
            shown = re.search(r"^[|] `--kind KIND` [|] (.*?) [|]$", file.read(), re.MULTILINE).group(1)
        text = " ".join(self.ok("filter", "create", "--help").text.split())
        self.assertIn(f"--kind KIND {shown} --rate", text)

    def test_help_of_each_command_has_usage_examples_and_options(self):
        for command in some(ALL_COMMANDS):
            text = self.ok(*command.split(), "--help").text
            self.assertTrue(text.startswith(f"usage: bloomblock {command} "), text)
            self.assertIn("Example", text)
            self.assertIn("--json", text)
            self.assertEqual(self.ok(*command.split(), "nonsense", "-h").text, text)

    def test_help_fits_a_terminal(self):
        for command in some(["", *GROUPS, *ALL_COMMANDS]):
            lines = self.ok(*command.split(), "--help").lines
            for line in lines:
                self.assertLessEqual(len(line), 80, line)
            if command:
                self.assertLessEqual(len(lines), 40, command)

    def test_help_of_the_options_that_commands_share_fits_a_terminal(self):
        for command in some(ALL_COMMANDS):
            lines = self.ok(*command.split(), "--help-options").lines
            self.assertEqual(f"usage: bloomblock {command} [OPTION...] ...", lines[0])
            for line in lines:
                self.assertLessEqual(len(line), 80, line)

    def test_help_is_a_command_too(self):
        for command in some(ALL_COMMANDS):
            self.assertEqual(self.ok("help", *command.split()).text, self.ok(*command.split(), "--help").text)
        self.assertEqual(self.ok("index", "help", "list").text, self.ok("index", "list", "--help").text)
        self.assertIn("frobnicate", self.expect(USAGE, "help", "frobnicate").err)
        self.assertEqual(self.ok("help", "help").text, self.ok("--help").text)
        self.assertEqual(self.ok("help", "version").text, self.ok("version", "--help").text)
        self.assertEqual(self.ok("help", "reference").text, self.ok("reference", "--help").text)

    def test_the_page_and_the_help_name_each_extractor(self):
        self.load(["a"])
        error = self.expect(USAGE, "attribute", "create", self.store, "a bytes = frobnicate(1)").err
        names = re.search("expected one of (.*)\n", error).group(1).split(", ")
        self.assertNotIn("callback", names)
        with open(os.path.join(SOURCE, "docs", "tools.md"), encoding="utf-8") as file:
            part = re.search(r"^### `bloomblock attribute create (.*?)^###", file.read(), re.MULTILINE | re.DOTALL)[1]
        text = self.ok("attribute", "create", "--help").text
        for name in names:
            self.assertRegex(part, rf"(?m)^[|].*`{name}[`(].*[|].*[|]$")
            self.assertRegex(text, rf"\b{name}\b")

    def test_a_mistyped_word_gets_a_suggestion(self):
        self.assertIn("did you mean load?", self.expect(USAGE, "laod").err)
        self.assertIn("did you mean create?", self.expect(USAGE, "index", "crate").err)
        self.assertIn("did you mean --limit?", self.expect(USAGE, "scan", self.store, "--limt", "3").err)
        self.assertIn("did you mean --target?", self.expect(USAGE, "scan", self.store, "--traget=1").err)
        for word in ("x", "frobnicate", "l" * 1000):
            self.assertNotIn("did you mean", self.expect(USAGE, word).err)

    def options_in(self, *arguments):
        return {line.split()[0] for line in self.ok(*arguments).lines if line.startswith("  --")}

    def test_the_documentation_names_the_options_of_each_command_and_no_others(self):
        with open(os.path.join(SOURCE, "docs", "tools.md"), encoding="utf-8") as file:
            page = file.read()
        parts = dict(re.findall(r"^##+ (.*?)\n(.*?)(?=^##)", page + "\n##", re.MULTILINE | re.DOTALL))
        shared = set(re.findall(r"^[|] `(--[a-z0-9-]+)", parts["Options of the store"], re.MULTILINE))
        for command in some(ALL_COMMANDS):
            part = next(text for title, text in parts.items() if re.match(f"`bloomblock {command}[ `]", title))
            quoted = [text for text in re.findall(r"`([^`\n]*)`", part) if not text.startswith(("compact ", "mdb"))]
            named = {option for text in quoted for option in re.findall(r"--[a-z][a-z0-9-]*", text)}
            own = self.options_in(*command.split(), "--help")
            options = own | self.options_in(*command.split(), "--help-options")
            self.assertLessEqual(own, named, f"options of {command} that the page does not name")
            self.assertLessEqual(named, options, f"options that {command} does not have")

    def test_version(self):
        """The command, the headers, the packages and the newest part of the changelog agree."""
        with open(os.path.join(SOURCE, "include/bb/base.h"), encoding="utf-8") as file:
            numbers = re.findall(r"^#define BB_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", file.read(), re.MULTILINE)
        with open(os.path.join(SOURCE, "CHANGELOG.md"), encoding="utf-8") as file:
            newest = re.search(r"^## ([\d.]+), ", file.read(), re.MULTILINE)
        with open(os.path.join(SOURCE, "debian/changelog"), encoding="utf-8") as file:
            package = re.match(r"bloomblock \(([\d.]+)\) ", file.readline())
        self.assertEqual(len(numbers), 3)
        self.assertEqual(self.ok("--version").text, f"bloomblock {'.'.join(numbers)}\n")
        self.assertEqual(self.ok("version", "--json").json, {"version": ".".join(numbers)})
        self.assertEqual((newest[1], package[1]), (".".join(numbers),) * 2)


class CommandLine(ToolTest):
    def test_nothing_or_an_unknown_command_is_a_usage_error(self):
        self.expect(USAGE)
        self.assertIn("frobnicate", self.expect(USAGE, "frobnicate").err)
        self.assertIn("--json", self.expect(USAGE, "--json").err)
        self.assertIn("extra", self.expect(USAGE, "version", "extra").err)
        self.assertIn("extra", self.expect(USAGE, "version", "--json", "extra").err)
        self.assertIn("missing", self.expect(USAGE, "filter").err)
        self.assertIn("frobnicate", self.expect(USAGE, "filter", "frobnicate").err)
        self.assertIn("--json", self.expect(USAGE, "filter", "--json").err)

    def test_control_characters_of_an_unknown_command_reached_the_terminal(self):
        word, shown = "x\033[1m\nfake", "x\\x1b[1m\\nfake"
        for arguments in ([word], ["help", word], ["version", word], ["index", word], ["reference", "man", word]):
            error = self.expect(USAGE, *arguments).err
            self.assertIn(shown, error)
            self.assertNotIn("\033", error)

    def test_an_unknown_option_is_named(self):
        for command in some(ALL_COMMANDS):
            for option in ("--frobnicate", "--frobnicate=3", "-x"):
                result = self.expect(USAGE, *command.split(), "a", "b", "c", option)
                self.assertIn(option.split("=")[0], result.err)
                self.assertIn(f"{command} --help", result.err)
                self.assertEqual(result.out, b"")

    def test_an_option_is_not_abbreviated(self):
        self.expect(USAGE, "scan", self.store, "--lim", "3")

    def test_missing_and_surplus_arguments(self):
        for command in some(ALL_COMMANDS):
            if command not in ("filter plan", "filter top"):
                self.assertIn("missing", self.expect(USAGE, *command.split()).err)
        for command in ("scan", "compact", "stat", "dump", "filters", "verify", "destroy", "filter info"):
            self.assertIn('"surplus"', self.expect(USAGE, *command.split(), "a", "surplus").err)
        self.assertIn('"surplus"', self.expect(USAGE, "filter", "plan", "surplus").err)
        self.assertIn("missing", self.expect(USAGE, "get", self.store).err)
        self.assertIn("--keys", self.expect(USAGE, "measure", self.store).err)

    def test_option_values_are_checked(self):
        cases = [
            ("--limit", "x"), ("--limit", "-1"), ("--limit", ""), ("--limit", "3K"), ("--cache", "12Q"),
            ("--limit", "99999999999999999999"), ("--cache", "99999999999G"), ("--block-size", "5G"),
            ("--target", "0"), ("--target", "-1"), ("--target", "nan"), ("--target", "x"), ("--target", "2"),
            ("--filter", "sieve"), ("--granularity", "many"), ("--limit",), ("--json=yes",),
        ]
        self.load(["a"])
        for case in cases:
            result = self.expect(USAGE, "scan", self.store, *case)
            self.assertIn(case[0].split("=")[0].lstrip("-").split("-")[0], result.err)

    def test_an_option_with_one_value_is_not_given_twice(self):
        for options in (["--limit", "1", "--limit=2"], ["--cache", "1M", "--prefix", "a", "--cache", "1M"]):
            error = self.expect(USAGE, "scan", self.store, *options).err
            self.assertIn(f"option {options[0]} is given twice", error)
        self.load(["a"])
        self.ok("scan", self.store, "--hex", "--hex")

    def test_fractions_are_no_sizes_and_counts(self):
        for option in ("--cache", "--limit"):
            error = self.expect(USAGE, "scan", self.store, option, "1.5G").err
            self.assertIn('"1.5G" is not a whole number', error)

    def test_kinds_of_filters_are_those_that_the_command_accepts(self):
        for kind in ("counting", "count-min", "default", "cuckoo"):
            error = self.expect(USAGE, "load", self.store, "--filter", kind).err
            self.assertTrue(error.splitlines()[0].endswith("; possible are none, ribbon, blocked-bloom, bloom"), error)
        for arguments in (["create", self.path("a.bbf")], ["plan", "--keys", "9", "--rate", "0.1"]):
            error = self.expect(USAGE, "filter", *arguments, "--kind", "count-min").err
            self.assertIn("split-block, counting, scalable, partitioned\n", error)

    def test_sizes_take_units(self):
        for size in ("1048576", "1024K", "1M", "1MiB", "1m"):
            self.load(["a"], "--write-buffer", size)
            self.load(["a"], f"--write-buffer={size}")

    def test_options_may_stand_anywhere_and_dashes_end_them(self):
        self.load(["--limit", "-", "a"])
        self.assertEqual(self.ok("scan", "--limit", "1", self.store).lines,
                         self.ok("scan", self.store, "--limit=1").lines)
        self.ok("get", self.store, "--", "--limit")
        self.ok("get", self.store, "-")

    def test_options_that_exclude_each_other(self):
        self.load(["a"])
        self.expect(USAGE, "scan", self.store, "--prefix", "a", "--from", "a")
        self.expect(USAGE, "scan", self.store, "--cache-off", "--index-cached")
        self.expect(USAGE, "scan", self.store, "--target", "0.1", "--filter-budget", "1M")


class Output(ToolTest):
    def test_a_reader_that_leaves_ends_the_command_quietly(self):
        self.load(words(20000))
        for arguments in (["scan", self.store], ["scan", self.store, "--json"]):
            with subprocess.Popen([BINARY, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                process.stdout.readline()
                process.stdout.close()
                self.assertEqual(process.wait(timeout=60), FOUND)
                self.assertEqual(Result(0, b"", process.stderr.read()).complaints, [])
        self.ok("verify", self.store)

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full")
    def test_a_full_disk_under_the_output_is_an_error(self):
        self.load(words(20000))
        for arguments in (["scan", self.store], ["--help"], ["stat", self.store, "--json"]):
            with open("/dev/full", "wb") as full:
                process = subprocess.run([BINARY, *arguments], stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual(process.returncode, IO)
            self.assertIn(b"standard output", process.stderr)

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no /dev/full")
    def test_an_overfull_filter_hid_that_its_report_was_not_written(self):
        keys = self.write("keys", "\n".join(words(1000)))
        small, other = self.path("small.bbf"), self.path("other.bbf")
        kind = ["--kind", "bloom", "--keys", "100"]
        self.expect(OVERFULL, "filter", "create", small, keys, *kind)
        self.expect(OVERFULL, "filter", "create", other, "--like", small, keys)
        for arguments in (["filter", "create", self.path("new"), keys, *kind], ["filter", "add", small, keys],
                          ["filter", "union", self.path("both"), small, other]):
            with open("/dev/full", "wb") as full:
                process = subprocess.run([BINARY, *arguments], stdout=full, stderr=subprocess.PIPE, check=False)
            self.assertEqual(process.returncode, IO, process.stderr)
            self.assertIn(b"the rate of the filter is", process.stderr)
            self.assertIn(b"standard output", process.stderr)

    def test_a_limit_on_the_size_of_files_is_an_error_and_not_the_end(self):
        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))

        result = self.expect(IO, "load", self.store, stdin="\n".join(words(20000)), preexec_fn=limit_files)
        self.assertIn("large", result.err)
        self.ok("verify", self.store)

    def test_closed_standard_files_are_not_the_files_of_the_store(self):
        """The next file opened gets the number of the closed one. So the command read the lock as
        keys, and wrote its output to the log."""
        for closed in ([0], [1], [2], [0, 1, 2]):
            def close_them(numbers=tuple(closed)):
                for number in numbers:
                    os.close(number)

            store = self.path("closed" + "".join(map(str, closed)))
            result = run("load", store, "--no-flush", "--ack", stdin="a\nb\n", preexec_fn=close_them)
            self.assertEqual(result.code, IO if closed != [2] else FOUND, result.err)
            if 0 in closed:
                self.assertFalse(os.path.exists(store))
                self.load([], store=store)
            count = len(self.ok("scan", store).lines)
            self.assertEqual(count, 0 if 0 in closed else 2)
            self.ok("verify", store)
            self.assertEqual(run("stat", store, preexec_fn=close_them).code, IO if 1 in closed else FOUND)


class Progress(ToolTest):
    def load_slowly(self, seconds, stderr):
        """Feeds the loader for a while, and keeps the store."""
        process = subprocess.Popen([BINARY, "load", self.store], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=stderr)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            process.stdin.write(b"key %f\n" % time.monotonic())
            process.stdin.flush()
            time.sleep(0.02)
        process.stdin.close()
        process.stdout.read()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), FOUND)

    def load_on_a_terminal(self, seconds):
        outer, inner = pty.openpty()
        self.load_slowly(seconds, inner)
        os.close(inner)
        shown = b""
        while select.select([outer], [], [], 0.1)[0]:
            try:
                shown += os.read(outer, 65536)
            except OSError:
                break
        os.close(outer)
        return shown

    def test_long_work_on_a_terminal_shows_a_bar_and_removes_it(self):
        shown = self.load_on_a_terminal(2)
        self.assertIn(b"\rloading", shown)
        self.assertRegex(shown, rb"loading: [0-9.]+ (B|KiB), [0-9.]+ (B|KiB)/s")
        self.assertTrue(shown.endswith(b"\r\x1b[K"), shown[-100:])

    def test_short_work_shows_none(self):
        self.assertNotIn(b"\rloading", self.load_on_a_terminal(0.1))

    def test_no_terminal_no_bar(self):
        with open(self.path("stderr"), "wb") as file:
            self.load_slowly(1.5, file)
        with open(self.path("stderr"), "rb") as file:
            self.assertEqual(Result(0, b"", file.read()).complaints, [])


if __name__ == "__main__":
    main()
