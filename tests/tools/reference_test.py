"""`bloomblock reference`: manual pages and completions, made from the tables of the commands.

Method: compares the pages with the help, runs the linters that are installed over the pages, and
completes command lines in the shells that are installed.
"""
import os
import re
import shutil
import subprocess
import unittest

from tool import SOURCE, STEP, USAGE, ToolTest, main, some

GROUPS = ("filter", "index", "attribute", "cluster")
BASH = r"""
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
compopt() { :; }
_bloomblock
printf '%s\n' "${COMPREPLY[@]}"
"""
LINES = {
    "fil": ["filter", "filters"],
    "filter c": ["check", "create"],
    "help index e": ["estimate"],
    "load /tmp/x --sty": ["--style"],
    "load --style la": ["lazy"],
    "filter create --kind co": ["counting"],
    "index create --file x --reb": ["--rebuild"],
    "load /tmp/x --cache 1": [],
}


class Manual(ToolTest):
    def names(self):
        return self.ok("reference", "names").lines

    def test_there_is_a_page_for_each_command(self):
        names = self.names()
        self.assertEqual(len(names), len(set(names)))
        for listed in re.findall(r"^  ([a-z]+) ", self.ok("--help").text.split("Commands:")[1], re.MULTILINE):
            self.assertIn(listed, names)
        for group in GROUPS:
            for listed in re.findall(rf"^  ({group} [a-z]+) ", self.ok(group, "--help").text, re.MULTILINE):
                self.assertIn(listed, names)
        self.assertIn("frobnicate", self.expect(USAGE, "reference", "man", "frobnicate").err)
        self.expect(USAGE, "reference")
        self.expect(USAGE, "reference", "tcsh")

    def test_a_page_has_the_options_of_its_command(self):
        for name in some(name for name in self.names() if name not in GROUPS):
            command, page = name.split(), self.ok("reference", "man", name).text.replace("\\-", "-")
            options = set(re.findall(r"^\\fB(--[a-z0-9-]+)", page, re.MULTILINE))
            listed = {line.split()[0] for form in ("--help", "--help-options")
                      for line in self.ok(*command, form).lines if line.startswith("  --")}
            self.assertLessEqual(listed, options, name)

    def test_a_page_with_a_form_for_files_has_the_options_of_both(self):
        page = self.ok("reference", "man", "index create").text.replace("\\-", "-")
        self.assertIn("FILES INSTEAD OF STORES", page)
        for option in ("granule", "rebuild", "write-buffer"):
            self.assertIn(f"\\fB--{option}\\fR", page)

    def test_pages_pass_the_linters(self):
        linters = [linter for linter in (["mandoc", "-T", "lint", "-W", "warning"], ["groff", "-man", "-ww", "-z"])
                   if shutil.which(linter[0])]
        pages = [self.ok("reference", "man").out]
        pages += [self.ok("reference", "man", name).out for name in some(self.names())]
        for section in (3, 5):
            with open(os.path.join(SOURCE, f"docs/man/bloomblock.{section}"), "rb") as file:
                pages.append(file.read().replace(b"@DATE@", b"2026-01-01"))
        for linter in linters:
            for page in pages:
                done = subprocess.run(linter, input=page, capture_output=True, check=False)
                self.assertEqual(done.stdout + done.stderr, b"", page.decode())

    @unittest.skipUnless(shutil.which("groff"), "groff is not installed")
    def test_pages_fit_a_terminal(self):
        for name in some(self.names()):
            page = self.ok("reference", "man", name).out
            text = subprocess.run(["groff", "-man", "-Tascii", "-P-cbou"], input=page, capture_output=True,
                                  check=True).stdout.decode()
            for line in text.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_the_page_of_the_library_names_functions_that_exist(self):
        folder, declared = os.path.join(SOURCE, "include/bb"), ""
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                declared += file.read()
        with open(os.path.join(SOURCE, "docs/man/bloomblock.3"), encoding="utf-8") as file:
            page = file.read()
        functions = re.findall(r"^\.BR (bb_\w+) \(\)", page, re.MULTILINE)
        self.assertGreater(len(functions), 40)
        for function in functions:
            self.assertIn(f"{function}(", declared)
        for header in re.findall(r"<bb/(.*?)>", page):
            self.assertIn(header, os.listdir(folder))


class Completions(ToolTest):
    def script(self, shell):
        path = os.path.join(self.directory, shell)
        with open(path, "wb") as file:
            file.write(self.ok("reference", shell).out)
        return path

    def output(self, *command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_bash(self):
        script = self.script("bash")
        for line, found in LINES.items():
            output = self.output("bash", "-c", BASH, "bash", script, "bloomblock", *line.split())
            self.assertEqual(sorted(output.split()), found, line)
        output = self.output("bash", "-c", BASH, "bash", script, "bloomblock", "load", "--style", "=", "ti")
        self.assertEqual(output.split(), ["tiered"])
        for words in (["get", "x", ""], ["index", "create", "--file", ""]):
            output = self.output("bash", "-c", BASH, "bash", script, "bloomblock", *words)
            self.assertEqual(output.split(), [], "bash completes files")

    @unittest.skipUnless(shutil.which("fish") and STEP == 1, "fish is not installed, or release tests it")
    def test_fish(self):
        script = self.script("fish")
        for line, found in LINES.items():
            output = self.output("fish", "--no-config", "-c", f"source {script}; complete -C 'bloomblock {line}'")
            words = [row.split("\t")[0] for row in output.splitlines()]
            self.assertEqual(sorted(words), found, line)

    @unittest.skipUnless(shutil.which("zsh") and STEP == 1, "zsh is not installed, or release tests it")
    def test_zsh(self):
        script = self.script("zsh")
        self.output("zsh", "-f", "-n", script)
        output = self.output("zsh", "-f", "-c", f"autoload -U compinit; compinit -u -d {self.directory}/dump; "
                             f"source {script}; echo $_comps[bloomblock]")
        self.assertEqual(output, "_bloomblock\n")


if __name__ == "__main__":
    main()
