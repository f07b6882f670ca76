#!/usr/bin/env python3
"""Comments, messages and pages are plain English: few idioms, and lines of at most 100 columns.

IDIOMS lists turns of phrase that were frequent here and are rare in other engines: LevelDB, RocksDB,
zstd and libuv each have 0.9 to 1.0 per 1,000 words. The check counts them in comments, in string
literals of four words or more outside tests, and in Markdown outside code blocks. A folder or a
page may have one per 1,000 words, and at least one. Tables and code blocks may be wider.

    check_english.py .                    prints all counts, fails for the folders and pages in HELD
    check_english.py . kv/wal README.md   lists each hit in these, fails as if they were in HELD

A folder or page joins HELD as soon as it passes. "kv/*" in HELD means the folders below kv/.
"""
import fnmatch
import functools
import posixpath
import re
import sys

import c_source
import source_tree

PROSE_COLUMNS_MAX = 100
WORDS_PER_IDIOM = 1000
LITERAL_WORDS_MIN = 4

# Folders and pages that may not fall back.
HELD = [
    ".ci", "CHANGELOG.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "base", "bench",
    "bloomblock", "bloomblock/*", "cmake", "compaction/*", "docs/architecture.md",
    "docs/README.md", "docs/benchmarks.md", "docs/comparison.md", "docs/decisions/*",
    "docs/durability.md", "docs/examples.md",
    "docs/filters.md", "docs/format-filter-file.md", "docs/format-manifest.md",
    "docs/format-skip.md", "docs/format-wal.md", "docs/format.md", "docs/guide.md",
    "docs/interleavings.md", "docs/leveldb.md", "docs/mutation.md", "docs/options.md",
    "docs/cpp.md", "docs/python.md", "python", "python/bloomblock", "python/bloomblock/native", "python/README.md",
    "tests/cpp", "tests/python",
    "docs/redis.md", "docs/skip-indexes.md", "docs/status.md", "docs/style.md", "docs/testing.md", "docs/tools.md",
    "docs/traps.md", "examples", "include/bb", "kv", "kv/*", "leveldb", "redis/*", "scripts", "skip/*",
    "sstable", "sstable/*", "standalone", "standalone/*", "tests", "tests/crash", "tests/damage",
    "tests/examples", "tests/explore", "tests/fault", "tests/fork", "tests/fork/bindings", "tests/fuzz",
    "tests/fuzz/*", "tests/install", "tests/install/consumer", "tests/install/subproject",
    "tests/interleaving", "tests/kill", "tests/leveldb", "tests/model", "tests/mutation",
    "tests/redis", "tests/regress", "tests/support", "tests/support/alloc", "tests/tools", "tests/unit/*", "tools",
    "tools/*",
]

IDIOMS = {
    # Clauses used as nouns: "What is written is synced" is "Written bytes are synced". A question may ask what.
    "what": r"what(?!\s+(?:to|happens|happened|if)\b)(?![^.;:]*\?)",
    "who": r"whoever|whosoever|those\s+who|somebody|nobody|(?<=[.;:]\s)who",
    "whatever": r"whatever",
    # Verbs and prepositions that mean something else in the field.
    "stands": r"(?<!-)(?:stands?|stood|standing)(?!-|\s+for\b|\s*alone\b)",
    "lies": r"(?:lies|lie|lain)(?!\s+(?:about|to)\b)",
    "behind": r"behind(?!\s+(?:the\s+scenes)\b)",
    "beside": r"besides?",
    "is asked": r"(?:is|are|was|were|be|been|being)\s+asked|asks|"
                r"asked\s+(?:for|of|first|before|again|at)",
    "comes by": r"(?:comes?|came|coming)\s+(?:by|of|to\s+(?!mind)|about|first|last|along|on\s+top|next|after|before|"
                r"with|apart)",
    "goes on": r"(?:goes|go|went|going)\s+(?:on|by|along)(?!\s+top)",
    "says": r"says?|said|told",
    "is left": r"(?:is|are|was|were)\s+left(?!\s+(?:unchanged|shift|child|open|by)\b)|left\s+(?:over|out|alone|as)",
    "let through": r"(?:let|lets|letting)\s+(?:through|go|in|out|pass)",
    "passed over": r"pass(?:es|ed|ing)?\s+(?:over|by)(?!\s+(?:value|reference|pointer|the\s+caller))",
    "gives way": r"(?:gives?|gave|given)\s+(?:way|back|rise|out)",
    "takes over": r"(?:takes?|took|taken)\s+(?:in|part\s+in|for|place\s+of)",
    "dies": r"dies|died",
    "meets": r"(?:meets?|met)(?!\s+(?:the|its|a|this|that|every)\s+(?:target|limit|bound|budget))",
    "wanted": r"wanted",
    "for want of": r"want\s+of",
    "look-up": r"looked\s+(?:at|for|into)",
    # Quantities and pronouns.
    "so many": r"so\s+(?:many|much|few|little)(?!\s+that\b)",
    "is none": r"(?:is|are|was|were|has|have)\s+none|none\s+(?:is|are|was|were|at\s+all)|:\s+none\.",
    "nothing": r"nothing\s+(?:are|of|that|but|else|more|behind|can|may|has|had|follows)|"
               r"nothing\s+(?:is|was)(?!\s+changed)|and\s+nothing|(?<=[.;:]\s)nothing(?!\s+was\s+changed)|"
               r"for\s+nothing|to\s+nothing|as\s+nothing",
    "those of": r"those\s+(?:of|that|in|with|before|whose|are)|(?:is|as|to|than|and|by|with|from)\s+that\s+of",
    "alone": r"alone",
    "of its own": r"of\s+(?:its|their|one's|his|your)\s+own|by\s+itself|by\s+themselves|in\s+itself",
    "of it": r"the\s+whole\s+of|of\s+it\s+(?:is|are|that)",
    "the one": r"the\s+one\s+(?:that|before|behind|after|who|of)|one\s+that|such\s+(?:a\s+one|ones)|"
               r"(?:one|ones)\s+to\s+be",
    "the least": r"(?<!at )the\s+(?:least|greatest)|the\s+most\s+of|the\s+like",
    # Adverbs.
    "at hand": r"at\s+hand|by\s+hand\s+of|on\s+hand|beforehand",
    "in force": r"in\s+force|at\s+rest|under\s+way|at\s+once|"
                r"by\s+turns|in\s+turn|once\s+more|for\s+ever|from\s+now\s+on",
    "as far as": r"(?:as|so)\s+far\s+as|how\s+(?:far|long|soon|often)\s+it",
    "as it was": r"as\s+(?:it|they)\s+(?:was|were|are|stands?|came|comes?|did|do)|"
                 r"as\s+(?:if|though)\s+it\s+(?:had|were)",
    "in place of": r"in\s+(?:its|their|the)\s+(?:place|stead)(?:\s+of)?|in\s+place\s+of",
    "anew": r"anew|alike|thereby|therein|thereof|whereby|moreover|elsewise|meanwhile|hitherto|thither|nowhere|"
            r"needless|lest|likewise|betimes|ere|twofold",
    "but for": r"(?:nothing|none|all|anything|never|not)\s+but|"
               r"but\s+for|save\s+for|other\s+than\s+by",
    "is to be": r"(?:is|are|was|were)\s+to\s+be|(?:has|have|had)\s+yet\s+to",
    "in front": r"in\s+front",
    # Words of this house for which the field has others.
    "glimpse": r"glimpses?",
    "promise": r"promis(?:e|es|ed|ing)",
    "mend": r"mend(?:s|ed|ing)?",
    "foreign keys": r"foreign\s+(?:keys?|elements?|members?)",
    "answer": r"has\s+nothing\s+to\s+say|no\s+say|has\s+a\s+say|by\s+(?:its|their|the)\s+look",
}
# One pass over a text finds all of them: one pass for each idiom takes three times as long. The text
# is in lower case, and a word begins with a letter: IGNORECASE takes five times as long.
_IDIOM = re.compile(r"(?<![\w/.`-])(?=[a-z:])(?:" + "|".join(IDIOMS.values()) + r")(?![\w`]|-\w)")
_WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*")
_STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
_FENCE = re.compile(r"^```.*?^```[^\n]*$", re.MULTILINE | re.DOTALL)
_CODE_SPAN = re.compile(r"`[^`\n]*`")
_HASH_COMMENT = re.compile(r"(?:^|(?<=\s))#(?![!{])[^\n]*")
_DOCSTRING = re.compile(r'"""(.*?)"""', re.DOTALL)


def blank(match):
    return c_source.blanks(match.group(0))


def is_hash_commented(path):
    name = posixpath.basename(path)
    return name.endswith((".py", ".sh", ".cmake")) or name == "CMakeLists.txt" \
        or (path.startswith(("scripts/", ".ci/")) and "." not in name)


def kept(text, spans):
    """The text with everything outside the spans blanked, so that lines keep their numbers."""
    parts, end = [], 0
    for begin, stop in sorted(spans):
        if begin >= end:
            parts += [c_source.blanks(text[end:begin]), text[begin:stop]]
            end = stop
    return "".join(parts + [c_source.blanks(text[end:])])


def c_spans(path, text):
    spans = []
    for match in c_source.tokens(text):
        token = match.group(0)
        is_message = token[0] == '"' and not path.startswith("tests/") \
            and len(_WORD.findall(token)) >= LITERAL_WORDS_MIN
        if token[0] == "/" or is_message:
            spans.append(match.span())
    return spans


@functools.cache
def prose_of(path, text):
    """Only the prose of a file, each line in its place."""
    if path.endswith(".md"):
        return _CODE_SPAN.sub(blank, _FENCE.sub(blank, text))
    if path.endswith((".c", ".h")):
        prose = kept(text, c_spans(path, text))
        return _CODE_SPAN.sub(blank, re.sub(r"\\n|^[ \t]*\*", lambda m: " " * len(m.group(0)), prose, flags=re.M))
    spans = [match.span() for match in _HASH_COMMENT.finditer(text)]
    if path.endswith(".py") or re.match(r"#!.*python", text):
        spans += [match.span(1) for match in _DOCSTRING.finditer(text)]
    return kept(text, spans)


def is_read(path):
    if path == "tools/checks/check_english.py" or "/golden/" in path or "/corpus/" in path:
        return False
    return path.endswith((".md", ".c", ".h")) or is_hash_commented(path)


def group_of(path):
    return path if path.endswith(".md") else posixpath.dirname(path) or "."


@functools.cache
def hits_in(prose):
    """(line, the words in lower case) of each idiom."""
    numbered = [(number, line.strip()) for number, line in enumerate(prose.split("\n"), 1) if line.strip()]
    text = "\n".join(line for _, line in numbered).lower()
    return [(numbered[text.count("\n", 0, match.start())][0], " ".join(match.group(0).split()))
            for match in _IDIOM.finditer(text)]


def long_lines(path, text, prose):
    """Numbers of the lines of prose that are too long. Tables, links alone on a line and code are no prose."""
    lines = text.split("\n")
    return [number for number, line in enumerate(prose.split("\n"), 1)
            if len(lines[number - 1].rstrip()) > PROSE_COLUMNS_MAX and line.strip()
            and not (path.endswith(".md") and re.match(r"\s*(?:\||\[[^\]]*\]\S*$|    )", lines[number - 1]))
            and not is_literal_line(path, lines[number - 1])]


def is_literal_line(path, line):
    """A message may be longer, so that it can be found with grep."""
    is_comment = path.endswith(".md") or "/*" in line or '"""' in line
    return not is_comment and _STRING.search(line) is not None


class Count:
    def __init__(self):
        self.words = 0
        self.hits = []
        self.long = []

    def allowed(self):
        return max(1, self.words // WORDS_PER_IDIOM)

    def rate(self):
        return 1000 * len(self.hits) / max(self.words, 1)


def count(tree, names=("*",)):
    """{folder or page: Count}, of the groups with these names."""
    counts = {}
    for path in tree.paths:
        if not is_read(path) or not is_held(group_of(path), names):
            continue
        text = tree.text(path)
        prose = prose_of(path, text)
        entry = counts.setdefault(group_of(path), Count())
        entry.words += len(_WORD.findall(prose))
        entry.hits += [(path, line, words) for line, words in hits_in(prose)]
        entry.long += [(path, line) for line in long_lines(path, text, prose)]
    return counts


def is_held(group, held):
    return any(group == name or fnmatch.fnmatchcase(group, name) for name in held)


def problems_of(counts, held):
    problems = []
    for group, entry in sorted(counts.items()):
        if not is_held(group, held):
            continue
        if len(entry.hits) > entry.allowed():
            path, line, words = entry.hits[0]
            problems.append(f"{path}:{line}: {group} has {len(entry.hits)} idioms in {entry.words} words, at most "
                            f"{entry.allowed()}; the first is \"{words}\"")
        problems += [f"{path}:{line}: prose of more than {PROSE_COLUMNS_MAX} columns" for path, line in entry.long]
    return problems


def check(tree):
    return problems_of(count(tree, HELD), HELD)


def print_table(counts):
    print(f"{'folder or page':36} {'words':>7} {'idioms':>7} {'per 1000':>9} {'long lines':>11}")
    for group, entry in sorted(counts.items()):
        mark = " held" if is_held(group, HELD) else ""
        print(f"{group:36} {entry.words:7} {len(entry.hits):7} {entry.rate():9.1f} {len(entry.long):11}{mark}")


def list_groups(tree, names):
    counts = count(tree, names)
    for _, entry in sorted(counts.items()):
        for path, line, words in entry.hits:
            print(f"{path}:{line}: {words}")
    print_table(counts)
    problems = problems_of(counts, names)
    print("\n".join(problems))
    sys.exit(1 if problems else 0)


PLAIN = "Returns the block that holds the key, or null if no block does.\n"
CLEAN = {
    "tools/checks/a.py": '"""' + PLAIN + '"""\nbehind = beside  # The cache owns it.\n',
    "tools/checks/b.c": "/* " + PLAIN + " */\nint stands; /* `behind` is a field. Asked? What is it? */\n",
    "tools/checks/c.py": "# " + "x" * 90 + "\n",
    "free/a.c": "/* The bytes that stand behind the footer are beside what is read. */\n",
}
VIOLATIONS = [
    ({"tools/checks/a.c": "/* What is behind it. */\n"}, "has 2 idioms"),
    ({"tools/checks/a.c": "/* This is\n * of its\n * own, and nobody sees it. */\n"}, "\"of its own\""),
    ({"tools/checks/a.c": "char *a = \"the bytes behind so many\";\n"}, "has 2 idioms"),
    ({"tools/checks/a.py": '"""What is read.\n\nBeside it."""\n'}, "has 2 idioms"),
    ({"scripts/a": '#!/usr/bin/env python3\n"""What is read.\n\nBeside it."""\n'}, "has 2 idioms"),
    ({"tools/checks/a.cmake": "# The rest lies behind.\n"}, "has 2 idioms"),
    ({"tools/checks/a.c": "/* " + "long " * 20 + "*/\n"}, "more than 100 columns"),
    ({"tools/checks/c.py": "# " + "x" * 99 + "\n"}, "more than 100 columns"),
]

if __name__ == "__main__":
    if len(sys.argv) > 2:
        list_groups(source_tree.Tree(sys.argv[1]), sys.argv[2:])
    else:
        if len(sys.argv) == 2:
            print_table(count(source_tree.Tree(sys.argv[1])))
        source_tree.main(check, CLEAN, VIOLATIONS)
