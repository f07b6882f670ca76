"""A small reader of C for the checks: text without comments and literals, includes, functions.

It finds functions by the layout that clang-format enforces: the opening and the closing brace of a
function's body are each the only character of their line. check_style.py forbids other layouts.
"""
import functools
import re

_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)
_NAME_BEFORE_PARENTHESIS = re.compile(r"(\w+)\s*\(")
_ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)")


def blanks(text):
    """As many spaces, with the same ends of lines."""
    return "\n".join(" " * len(line) for line in text.split("\n"))


def _blank(match):
    token = match.group(0)
    if token[0] in "\"'":
        return token[0] + " " * (len(token) - 2) + token[-1]
    return blanks(token)


@functools.cache
def code(text):
    """The text with comments and the insides of literals blanked. Lines and columns do not move.
    The result is kept, because a check reads a file several times."""
    return _TOKEN.sub(_blank, text)


def tokens(text):
    """Matches of the comments and literals, in order."""
    return _TOKEN.finditer(text)


def comments(text):
    """(line, comment) of each comment."""
    return [(line_of(text, match.start()), match.group(0)) for match in tokens(text) if match.group(0)[0] == "/"]


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


@functools.cache
def includes(text):
    """(line, path, quoted) of each include. Blanks comments, but not the path's literal."""
    bare = re.sub(r"/\*.*?\*/|//[^\n]*", _blank, text, flags=re.DOTALL)
    return [(line_of(bare, match.start()), match.group(1) or match.group(2), match.group(1) is not None)
            for match in _INCLUDE.finditer(bare)]


def _header_start(lines, brace):
    """The first line of the declaration whose body opens at line index brace."""
    start = brace
    while start > 0 and lines[start - 1].strip() and not lines[start - 1].rstrip().endswith((";", "}")) \
            and not lines[start - 1].startswith("#"):
        start -= 1
    return start


@functools.cache
def _definitions(text):
    """(declaration, first line, last line), lines from 1, of each function."""
    lines = code(text).split("\n")
    found = []
    brace = None
    for index, line in enumerate(lines):
        if line.rstrip() == "{" and brace is None:
            brace = index
        elif line.startswith("}") and brace is not None:
            start = _header_start(lines, brace)
            found.append((_ATTRIBUTE.sub("", " ".join(lines[start:brace])), start + 1, index + 1))
            brace = None
    return found


def functions(text):
    """(name, first line, last line), lines from 1, from the declaration to the closing brace."""
    named = [(_NAME_BEFORE_PARENTHESIS.search(declaration), first, last)
             for declaration, first, last in _definitions(text)]
    return [(name.group(1), first, last) for name, first, last in named if name]


def external_functions(text):
    """(name, first line) of the functions that other files can call."""
    named = [(_NAME_BEFORE_PARENTHESIS.search(declaration), first)
             for declaration, first, _ in _definitions(text) if not re.search(r"\bstatic\b", declaration)]
    return [(name.group(1), first) for name, first in named if name]
