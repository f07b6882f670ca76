#!/usr/bin/env python3
"""At least every second function with a documented precondition asserts it, in each layer.

A precondition is a comment with the word REQUIRES above a declaration or a definition. The
definition must contain BB_ASSERT or BB_DEBUG_ASSERT. Some preconditions cannot be tested: that
bytes are synced, or that no other thread uses an object.

    check_requires.py . kv     lists the functions of a layer that assert nothing
"""
import collections
import re
import sys

import c_source
import source_tree

LAYERS = ("base", "bloomblock", "standalone", "skip", "sstable", "compaction", "kv")
_COMMENT = re.compile(r"/\*(?:(?!\*/).)*?\bREQUIRES\b(?:(?!\*/).)*?\*/", re.DOTALL)
_DECLARATION = re.compile(r"\s*\n([^;{}]*?)\b(\w+)\(")
_ASSERTION = re.compile(r"\bBB_(?:DEBUG_)?ASSERT\(")


def layer_of(path):
    return path.split("/", 1)[0]


def required(tree):
    """(path, name) of the functions with a REQUIRES, without a path for declarations in headers."""
    names = set()
    for path in tree.with_suffix(".c", ".h"):
        if layer_of(path) not in LAYERS + ("include",):
            continue
        text = tree.text(path)
        for comment in _COMMENT.finditer(text):
            declaration = _DECLARATION.match(text, comment.end())
            if declaration is not None:
                names.add((path if path.endswith(".c") else None, declaration.group(2)))
    return names


def count(tree):
    """{layer: ([(path, line, name)] of functions that assert, [...] of others)}."""
    names = required(tree)
    counts = collections.defaultdict(lambda: ([], []))
    for path in tree.with_suffix(".c", ".h"):
        if layer_of(path) not in LAYERS:
            continue
        text = tree.text(path)
        lines = text.split("\n")
        for name, first, last in c_source.functions(text):
            if (None, name) in names or (path, name) in names:
                has_assertion = _ASSERTION.search("\n".join(lines[first - 1:last])) is not None
                counts[layer_of(path)][0 if has_assertion else 1].append((path, first, name))
    return counts


def check(tree):
    problems = []
    for layer, (asserting, others) in sorted(count(tree).items()):
        if len(asserting) < len(others):
            path, line, name = others[0]
            problems.append(f"{path}:{line}: {len(asserting)} of {len(asserting) + len(others)} functions of {layer} "
                            f"with a REQUIRES assert it, at least half must; the first that does not is {name}")
    return problems


def print_counts(tree):
    for layer, (asserting, others) in sorted(count(tree).items()):
        print(f"{layer:12} {len(asserting):4} of {len(asserting) + len(others):4} functions with a REQUIRES assert it")


def list_others(tree, layers):
    for layer in layers:
        for path, line, name in count(tree)[layer][1]:
            print(f"{path}:{line}: {name}")


HEADER = "/* REQUIRES: at < 8. */\nint bb_word_get(int at);\n/* REQUIRES:\n * valid. */\nvoid bb_word_next(int *at);\n"
FIRST = "int bb_word_get(int at)\n{\n    BB_DEBUG_ASSERT(at < 8);\n    return at;\n}\n\n"
SECOND = "void bb_word_next(int *at)\n{\n    (*at)++;\n}\n"
CLEAN = {
    "base/word.h": HEADER,
    "base/word.c": FIRST + SECOND,
    "kv/free.c": "/* Any at. */\nint bb_free_get(int at)\n{\n    return at;\n}\n",
}
VIOLATIONS = [
    ({"base/word.c": FIRST.replace("BB_DEBUG_ASSERT", "check") + SECOND}, "0 of 2 functions of base"),
    ({"kv/own.c": "/* REQUIRES: at > 0. */\nstatic int own_get(int at)\n{\n    return at;\n}\n"},
     "0 of 1 functions of kv"),
    ({"include/bb/a.h": "/* REQUIRES: at > 0. */\nBB_API int bb_free_get(int at);\n"},
     "the first that does not is bb_free_get"),
]

if __name__ == "__main__":
    if len(sys.argv) > 2:
        list_others(source_tree.Tree(sys.argv[1]), sys.argv[2:])
    else:
        if len(sys.argv) == 2:
            print_counts(source_tree.Tree(sys.argv[1]))
        source_tree.main(check, CLEAN, VIOLATIONS)
