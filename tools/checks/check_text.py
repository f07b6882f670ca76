#!/usr/bin/env python3
"""The text of the tree is true on every machine: no private paths; named commands and links exist.

- No absolute path into a home folder or a workplace, in any file that is text.
- A script, preset or target folder that a code block of a page uses exists.
- A relative link of a Markdown file leads to a file; `scripts/...` in its prose too.
- A script is executable and its first line names its interpreter.
- A file that a page, or a comment in C, names by its path from the root exists.
- A decision has a unique number, which is also in its title.
- docs/architecture.md lists every file of the layers in reading order. Forms for a set of
  instructions (_avx2, _avx512) and kinds of filters (kind_) are listed as a group.
- docs/testing.md names the variables that tests read, and the steps of scripts/soak.
"""
import fnmatch
import json
import os
import posixpath
import re

import source_tree

# Spelled in pieces, so that this file does not accuse itself.
PRIVATE_PATH = re.compile(r"(?<![\w.~)}\]-])/(?:" + "home|root|Users" + r")/\w"
                          r"|(?<![\w.~)}\]/-])/(?:" + "wo" + r"rk|tmp/b" + r"b)(?=[/\s`'\"]|$)", re.MULTILINE)
CODE_BLOCK = re.compile(r"^```(?:sh|bash|console|shell)?[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INDENTED_BLOCK = re.compile(r"^    \$ (.*)$", re.MULTILINE)
SCRIPT = re.compile(r"(?<![\w/.-])(?:\./)?((?:\.ci|scripts|bench|tools)/[\w./-]*[\w-])")
PRESET = re.compile(r"--preset[ =](\w+)")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
VARIABLE = re.compile(r"(?:getenv\(|environ\.get\(|environ\[)\"(BB_\w+)\"")
STEP = re.compile(r"^step_(\w+)\(\)", re.MULTILINE)
NAMED_FILE = re.compile(r"(?<![\w/.<*-])((?:base|bloomblock|skip|sstable|compaction|kv|leveldb|redis|include|tools"
                        r"|tests|bench|examples|docs)/[\w/*-]+\.(?:c|h|cc|py|md))\b")
FOREIGN_FILES = {"leveldb/c.h"}  # the distribution's
DECISION = re.compile(r"docs/decisions/(\d{4})-[\w-]+\.md")
LAYER_FILE = re.compile(r"(?:base|bloomblock|standalone|skip|sstable|compaction|kv)/(?:[\w/]*/)?(\w+)\.[ch]")
GROUPED = re.compile(r"\w+_avx(?:2|512)|kind_\w+")
PROSE_SCRIPT = re.compile(r"`(scripts/[\w-]+)[^`]*`")


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def check_private_paths(tree, path):
    content = tree.bytes(path)
    if b"\0" in content:
        return []
    text = content.decode("utf-8", errors="replace")
    return [f"{path}:{line_of(text, match.start())}: path of somebody's machine: {match.group(0).strip()}"
            for match in PRIVATE_PATH.finditer(text)]


def preset_names(tree):
    if "CMakePresets.json" not in tree.paths:
        return set()
    presets = json.loads(tree.text("CMakePresets.json"))
    return {preset["name"] for preset in presets.get("configurePresets", []) if not preset.get("hidden")}


def check_block(tree, path, line, block):
    problems = []
    for match in SCRIPT.finditer(block):
        if not tree.has(match.group(1)):
            problems.append(f"{path}:{line + line_of(block, match.start()) - 1}: {match.group(1)} does not exist")
    for match in PRESET.finditer(block):
        if match.group(1) not in preset_names(tree):
            problems.append(f"{path}:{line + line_of(block, match.start()) - 1}: no preset {match.group(1)}")
    return problems


def check_page(tree, path):
    text = tree.text(path)
    problems = []
    for pattern in (CODE_BLOCK, INDENTED_BLOCK):
        for match in pattern.finditer(text):
            problems += check_block(tree, path, line_of(text, match.start(1)), match.group(1))
    prose = CODE_BLOCK.sub(lambda match: "\n" * match.group(0).count("\n"), text)
    for match in LINK.finditer(prose):
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), match.group(1)))
        if "://" not in match.group(1) and not match.group(1).startswith("mailto:") and not tree.has(target):
            problems.append(f"{path}:{line_of(prose, match.start())}: the link leads nowhere: {match.group(1)}")
    for match in PROSE_SCRIPT.finditer(prose):
        if not tree.has(match.group(1)):
            problems.append(f"{path}:{line_of(prose, match.start())}: {match.group(1)} does not exist")
    return problems


def check_script(tree, path):
    if not tree.text(path).startswith("#!"):
        return [f"{path}:1: a script begins with #!"]
    if not os.access(os.path.join(tree.root, path), os.X_OK):
        return [f"{path}:1: the script is not executable"]
    return []


def is_there(tree, pattern):
    """Does a file have this name, or match it?"""
    return pattern in tree.path_set or ("*" in pattern and bool(fnmatch.filter(tree.paths, pattern)))


def check_named_files(tree, path):
    text = tree.text(path)
    return [f"{path}:{line_of(text, match.start())}: {match.group(1)} does not exist"
            for match in NAMED_FILE.finditer(text)
            if match.group(1) not in FOREIGN_FILES and not is_there(tree, match.group(1))]


def is_script(path):
    return path.startswith((".ci/", "scripts/")) and "." not in posixpath.basename(path)


def check_testing_page(tree):
    page = tree.text("docs/testing.md") if "docs/testing.md" in tree.paths else ""
    named = set(re.findall(r"`(\w+)`", page))
    problems = []
    for path in tree.paths:
        if path.startswith("tests/") and path.endswith((".c", ".h", ".py")):
            problems += [f"{path}: docs/testing.md lacks the variable {name}"
                         for name in VARIABLE.findall(tree.text(path)) if name not in named]
    if "scripts/soak" in tree.paths:
        problems += [f"scripts/soak: docs/testing.md lacks the step {name}"
                     for name in STEP.findall(tree.text("scripts/soak")) if name not in named]
    return problems


def check_decisions(tree):
    problems = []
    taken = {}
    for path in sorted(tree.paths):
        match = DECISION.fullmatch(path)
        if match is None:
            continue
        number = match.group(1)
        if number in taken:
            problems.append(f"{path}: {taken[number]} has that number")
        taken[number] = path
        if not tree.text(path).startswith(f"# {int(number)}. "):
            problems.append(f"{path}:1: the title does not begin with the number, {int(number)}")
    return problems


def check_reading_order(tree):
    page = "docs/architecture.md"
    if page not in tree.paths:
        return []
    listed = set(re.findall(r"`(\w+)`", tree.text(page)))
    names = ((path, LAYER_FILE.fullmatch(path)) for path in sorted(tree.paths))
    return [f"{path}: {page} does not list it" for path, match in names
            if match and match.group(1) not in listed and not GROUPED.fullmatch(match.group(1))]


def check(tree):
    problems = check_testing_page(tree) + check_decisions(tree) + check_reading_order(tree)
    for path in tree.paths:
        problems += check_private_paths(tree, path)
        if path.endswith(".md"):
            problems += check_page(tree, path)
        if path.endswith((".md", ".c", ".h")):
            problems += check_named_files(tree, path)
        if is_script(path):
            problems += check_script(tree, path)
    return problems


CLEAN = {
    "README.md": "# x\n\n```sh\nscripts/test\ncmake --preset dev\n./scripts/demo --keys 3\n```\n"
                 "See [style](docs/style.md#names), [web](https://example.org/home/page), `scripts/demo --help`.\n",
    "docs/style.md": "# style\n\nBack to [README](../README.md). a/" + "home/b, x/wo" + "rk, workload, "
                     "`tests/*_test.c`\n",
    "docs/decisions/0001-errors.md": "# 1. Errors\n",
    "docs/decisions/0012-large-pages.md": "# 12. Large pages\n",
    "docs/architecture.md": "| `kv/` | `a` `store` |\n",
    "kv/read/store.h": "int a;\n",
    "kv/store_avx2.c": "int a;\n",
    "docs/testing.md": "`scripts/soak` takes the step `long`; `BB_TEST_OPS` is read.\n",
    "tests/a_test.c": "getenv(\"BB_TEST_OPS\");\n",
    "scripts/soak": "#!/bin/sh\nstep_long() {\n}\n",
    "scripts/test": "#!/bin/sh\n",
    "scripts/demo": "#!/bin/sh\n",
    "CMakePresets.json": "{\"configurePresets\": [{\"name\": \"base\", \"hidden\": true}, {\"name\": \"dev\"}]}\n",
}

VIOLATIONS = [
    ({"kv/a.c": "/* see /ho" + "me/me/notes */\n"}, "somebody's machine"),
    ({"kv/a.c": "/* see /wo" + "rk/main */\n"}, "somebody's machine"),
    ({"docs/style.md": "In `/ro" + "ot/x`.\n"}, "somebody's machine"),
    ({"README.md": "```sh\nscripts/tests --all\n```\n"}, "scripts/tests does not exist"),
    ({"README.md": "```\n./scripts/check all\n```\n"}, "scripts/check does not exist"),
    ({"README.md": "    $ scripts/other\n"}, "scripts/other does not exist"),
    ({"README.md": "```sh\ncmake --preset base\n```\n"}, "no preset base"),
    ({"docs/style.md": "See [there](there.md).\n"}, "leads nowhere"),
    ({"docs/style.md": "`scripts/check_all x` does.\n"}, "scripts/check_all does not exist"),
    ({"docs/style.md": "As `tests/b_test.c` does.\n"}, "tests/b_test.c does not exist"),
    ({"kv/a.c": "/* See kv/b*.h. */\n"}, "kv/b*.h does not exist"),
    ({"kv/a.c": "/* See docs/format-wall.md. */\n"}, "docs/format-wall.md does not exist"),
    ({"docs/decisions/0001-readers.md": "# 1. Readers\n"}, "has that number"),
    ({"docs/decisions/0002-readers.md": "# 1. Readers\n"}, "does not begin with the number, 2"),
    ({"kv/read/lookup.c": "int a;\n"}, "docs/architecture.md does not list it"),
    ({"tests/b_test.c": "getenv(\"BB_TEST_LENGTH\");\n"}, "lacks the variable BB_TEST_LENGTH"),
    ({"tests/b_test.py": "os.environ.get(\"BB_TEST_LENGTH\", 1)\n"}, "lacks the variable BB_TEST_LENGTH"),
    ({"scripts/soak": "#!/bin/sh\nstep_longer() {\n}\n"}, "lacks the step longer"),
    ({"scripts/test": "#!/bin/sh\n", ".ci/run": "exec true\n"}, "begins with #!"),
]


if __name__ == "__main__":
    source_tree.main(check, CLEAN, VIOLATIONS)
