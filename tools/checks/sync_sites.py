"""The sync calls of the store: calls marked /* sync S<n> */, and calls that lack a mark.

A mark follows the statement with the call, or is on the line before it. A call needs no mark if it
is inside a function with "sync" in its name (its callers are marked instead), or if it calls a
function that contains marked calls.
"""
import re

import c_source

FOLDERS = ("kv/", "sstable/", "compaction/", "skip/")
PAGE = "docs/durability.md"

_MARK = re.compile(r"/\*\s*sync (S\d+)\b[^*]*\*/")
_CALL = re.compile(r"[A-Za-z_][\w]*(?:(?:->|\.)\w+)*\s*\(")
_TABLE_ROW = re.compile(r"^\| (S\d+) \|", re.MULTILINE)


class Site:
    """A sync call. begin and end are the offsets of the function's name and the end of the call."""

    def __init__(self, path, line, callee, begin, end):
        self.path = path
        self.line = line
        self.callee = callee
        self.begin = begin
        self.end = end
        self.name = None


def _closing(bare, opening):
    depth = 0
    for offset in range(opening, len(bare)):
        depth += (bare[offset] == "(") - (bare[offset] == ")")
        if depth == 0:
            return offset + 1
    return len(bare)


def _function_at(functions, line):
    for name, first, last in functions:
        if first <= line <= last:
            return name
    return ""


def _calls(path, text):
    """Calls of something with "sync" in its name, inside functions."""
    bare = c_source.code(text)
    functions = c_source.functions(text)
    for match in _CALL.finditer(bare):
        callee = re.split(r"->|\.", match.group(0).rstrip(" (\n"))[-1].strip()
        line = c_source.line_of(bare, match.start())
        inside = _function_at(functions, line)
        is_definition = bare[:match.start()].rfind("\n") + 1 == match.start() or inside == callee
        if "sync" in callee and "async" not in callee and inside and not is_definition:
            yield Site(path, line, callee, match.start(), _closing(bare, match.end() - 1)), inside


def _statement_bounds(bare, offset):
    """The statement that ends last before offset: begin and end."""
    end = bare.rfind(";", 0, offset) + 1
    begin = max(bare.rfind(character, 0, end - 1) for character in ";{}") + 1
    return begin, end


def _marked_call(text, bare, mark, sites):
    """The site that a mark belongs to, or None."""
    line_begin = text.rfind("\n", 0, mark.start()) + 1
    if text[line_begin:mark.start()].strip():
        begin, end = _statement_bounds(bare, mark.start())
        if bare[end:mark.start()].strip():
            end = mark.start()
            begin = line_begin
    else:
        begin = mark.end()
        end = min((bare.find(character, begin) for character in ";{" if bare.find(character, begin) >= 0),
                  default=len(bare))
    inside = [site for site in sites if begin <= site.begin < end]
    return inside[0] if len(inside) == 1 else None


def find(tree):
    """The marked sites, and problems."""
    marked, problems, unmarked, functions_with_marks = [], [], [], set()
    for path in tree.with_suffix(".c"):
        if not path.startswith(FOLDERS):
            continue
        text = tree.text(path)
        bare = c_source.code(text)
        calls = list(_calls(path, text))
        for mark in _MARK.finditer(text):
            site = _marked_call(text, bare, mark, [site for site, _ in calls])
            if site is None:
                line = c_source.line_of(text, mark.start())
                problems.append(f"{path}:{line}: the mark {mark.group(1)} belongs to no single sync call")
            else:
                site.name = mark.group(1)
        marked += [site for site, _ in calls if site.name]
        functions_with_marks |= {inside for site, inside in calls if site.name}
        unmarked += [(site, inside) for site, inside in calls if not site.name]
    for site, inside in unmarked:
        if "sync" not in inside and site.callee not in functions_with_marks:
            problems.append(f"{site.path}:{site.line}: {site.callee}() has no mark /* sync S<n> */")
    return marked, problems


def documented_names(tree):
    return set(_TABLE_ROW.findall(tree.text(PAGE))) if PAGE in tree.paths else set()


def check(tree):
    """Finds unmarked calls, marks without calls, and names that only the code or the page has."""
    marked, problems = find(tree)
    names = {site.name for site in marked}
    documented = documented_names(tree)
    for site in marked:
        if site.name not in documented:
            problems.append(f"{site.path}:{site.line}: {site.name} is not in the table of {PAGE}")
    for name in sorted(documented - names):
        problems.append(f"{PAGE}:1: {name} marks no call in the code")
    return problems
