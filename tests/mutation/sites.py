"""Places where scripts/mutate changes the library, found in the text of the sources.

A site is one small change of one .c file. It keeps the number of lines, so that the line numbers in
assertions are the same. Sites are inside functions, never in comments, literals, preprocessor lines
or assertions. Each has a class:

    check       if (x)                 -> if (!(x))
    constant    if (x)                 -> if (0 && (x)), if (1 || (x))
    status      status == BB_OK        -> always true; status != BB_OK -> always false
    comparison  == -> !=, != -> ==
    bound       <  -> <=, <= -> <, > -> >=, >= -> >; + 1 and - 1 removed
    logic       && -> ||, || -> &&
    sync        a call marked /* sync S<n> */ -> BB_OK
    lock        a lock, an unlock, a signal or a broadcast removed
    failure     return bb_fail(...)    -> return BB_OK, also bb_corrupt, bb_fail_errno, statuses
"""
import hashlib
import posixpath
import random
import re

import c_source
import sync_sites

LAYERS = ("base", "sstable", "compaction", "kv")
CLASSES = ("check", "constant", "status", "comparison", "bound", "logic", "sync", "lock", "failure")

_PREPROCESSOR = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_ASSERTION = re.compile(r"\b(?:BB_ASSERT|BB_DEBUG_ASSERT|_Static_assert|static_assert)\s*\(")
_IF = re.compile(r"\bif\s*\(")
_EQUAL = re.compile(r"[=!]=")
_RELATION = re.compile(r"(?<=[\s])(<=|>=|<|>)(?=\s)")
_OFF_BY_ONE = re.compile(r"(?<=[\w)\]]) ([+-] 1)(?=u?[;,)\]\s])")
_LOGIC = re.compile(r"&&|\|\|")
_STATUS_TEST = re.compile(r"\b\w*status ([=!])= BB_OK\b")
_LOCKING = re.compile(r"^[ \t]*(bb_(?:mutex_(?:lock|unlock)|condvar_(?:signal|broadcast))\([^;]*\));", re.MULTILINE)
_FAILURE = re.compile(r"\breturn (?=bb_(?:fail|corrupt|fail_errno)\(|BB_(?!OK\b|NOT_FOUND\b)[A-Z_]+;)")
_OPPOSITE = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&"}


def _statement_begin(text, offset):
    """The offset of the first text after the semicolon or brace before the offset."""
    begin = max(text.rfind(mark, 0, offset) for mark in ";{}") + 1
    return begin + len(text[begin:offset]) - len(text[begin:offset].lstrip())


class Site:
    """One change. edits are (begin, end, replacement), in order; label is a short description. The
    statement with the change begins at first_line.
    """

    def __init__(self, path, text, kind, label, edits):
        self.path = path
        begin = _statement_begin(text, edits[0][0])
        self.line = c_source.line_of(text, edits[0][0])
        self.first_line = c_source.line_of(text, begin)
        self.statement = _short(text[begin:text.find(";", edits[0][1])])
        self.kind = kind
        self.label = label
        self.edits = edits

    @property
    def layer(self):
        return self.path.split("/", maxsplit=1)[0]

    @property
    def room(self):
        return posixpath.dirname(self.path)

    @property
    def description(self):
        """The label, and for a test of a status, whose label is frequent, its statement."""
        return f"{self.label}: {self.statement}" if self.kind == "status" else self.label

    def apply(self, text):
        """The text with the change."""
        for begin, end, replacement in reversed(self.edits):
            text = text[:begin] + replacement + text[end:]
        return text


def _keep_lines(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def closing(bare, opening):
    """The offset of the parenthesis that closes the one at opening."""
    depth = 0
    for offset in range(opening, len(bare)):
        depth += (bare[offset] == "(") - (bare[offset] == ")")
        if depth == 0:
            return offset
    return len(bare) - 1


def _without_assertions(bare):
    while True:
        match = _ASSERTION.search(bare)
        if not match:
            return bare
        end = closing(bare, match.end() - 1) + 1
        bare = bare[:match.start()] + re.sub(r"[^\n]", " ", bare[match.start():end]) + bare[end:]


def mutable_code(text):
    """The text with all protected parts blanked. Offsets do not move."""
    bare = _without_assertions(_PREPROCESSOR.sub(_keep_lines, c_source.code(text)))
    lines = bare.split("\n")
    inside = [False] * (len(lines) + 1)
    for _, first, last in c_source.functions(text):
        while first <= last and lines[first - 1].rstrip() != "{":
            first += 1
        for number in range(first, last + 1):
            inside[number] = True
    return "\n".join(line if inside[index + 1] else " " * len(line) for index, line in enumerate(lines))


def _short(text):
    return " ".join(text.split())[:70]


def _conditions(path, text, bare):
    for match in _IF.finditer(bare):
        begin, end = match.end(), closing(bare, match.end() - 1)
        condition = _short(text[begin:end])
        if not _STATUS_TEST.fullmatch(bare[begin:end].strip()):
            yield Site(path, text, "check", f"negated: {condition}",
                       [(begin, begin, "!("), (end, end, ")")])
            for word, prefix in (("never", "0 && ("), ("always", "1 || (")):
                yield Site(path, text, "constant", f"{word}: {condition}", [(begin, begin, prefix), (end, end, ")")])


def _status_tests(path, text, bare):
    for match in _STATUS_TEST.finditer(bare):
        always = "1" if match.group(1) == "=" else "0"
        yield Site(path, text, "status", f"{match.group(0)} -> {always}", [(match.start(), match.end(), always)])


def _operators(path, text, bare):
    status_tests = {match.start(1) for match in _STATUS_TEST.finditer(bare)}
    for kind, pattern in (("comparison", _EQUAL), ("bound", _RELATION), ("logic", _LOGIC)):
        for match in pattern.finditer(bare):
            if match.start() in status_tests:
                continue
            old = match.group(0)
            line = text[text.rfind("\n", 0, match.start()) + 1:text.find("\n", match.start())]
            yield Site(path, text, kind, f"{old} -> {_OPPOSITE[old]}: {_short(line)}",
                       [(match.start(), match.end(), _OPPOSITE[old])])


def _offsets(path, text, bare):
    for match in _OFF_BY_ONE.finditer(bare):
        line = text[text.rfind("\n", 0, match.start()) + 1:text.find("\n", match.start())]
        yield Site(path, text, "bound", f"without {match.group(1)}: {_short(line)}",
                   [(match.start(1), match.end(1), "")])


def _locking(path, text, bare):
    for match in _LOCKING.finditer(bare):
        yield Site(path, text, "lock", f"without {_short(match.group(1))}",
                   [(match.start(1), match.end(1), "\n" * match.group(1).count("\n"))])


def _failures(path, text, bare):
    for match in _FAILURE.finditer(bare):
        failure = _short(text[match.end():text.find(";", match.end())])
        yield Site(path, text, "failure", f"BB_OK for {failure}", [(match.end(), match.end(), "1 ? BB_OK : ")])


def _syncs(tree, layers):
    marked, _ = sync_sites.find(tree)
    for call in marked:
        if call.path.split("/", maxsplit=1)[0] in layers:
            text = tree.text(call.path)
            lines = text.count("\n", call.begin, call.end)
            yield Site(call.path, text, "sync", f"without sync {call.name}, {call.callee}()",
                       [(call.begin, call.end, "BB_OK" + "\n" * lines)])


def in_text(path, text):
    """The sites of one file, without syncs."""
    bare = mutable_code(text)
    found = []
    for finder in (_conditions, _status_tests, _operators, _offsets, _locking, _failures):
        found += finder(path, text, bare)
    return found


def find(tree, layers):
    """All sites of the layers, in the order of the files."""
    found = list(_syncs(tree, layers))
    for path in tree.with_suffix(".c"):
        if path.split("/", maxsplit=1)[0] in layers:
            found += in_text(path, tree.text(path))
    return sorted(found, key=lambda site: (site.path, site.edits[0][0], CLASSES.index(site.kind), site.label))


def _by_lot(sites, seed):
    """The sites in random order. A site's place depends on its file's name, its change, and the
    number of equal changes before it, so that a change of other code keeps the order of the rest.
    """
    seen, lots = {}, []
    for site in sites:
        name = (site.path.rsplit("/", maxsplit=1)[-1], site.kind, site.label)
        seen[name] = seen.get(name, 0) + 1
        lots.append((hashlib.sha256(repr((seed, name, seen[name])).encode()).digest(), site))
    return [site for _, site in sorted(lots, key=lambda entry: entry[0])]


def draw(sites, seed):
    """All sites in random order. Each round takes one site of each class of each layer, so that the
    first n sites are spread over both.
    """
    rng = random.Random(seed)
    strata = {}
    for site in reversed(_by_lot(sites, seed)):
        strata.setdefault((site.kind, site.layer), []).append(site)
    order = []
    while strata:
        keys = sorted(strata)
        rng.shuffle(keys)
        for key in keys:
            order.append(strata[key].pop())
            if not strata[key]:
                del strata[key]
    return order
