#!/usr/bin/env python3
"""The golden files of skip indexes, read and asked by a reader that knows nothing but docs/format-skip.md."""
import functools
import os
import re
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, HERE)

from read_skip import Corrupt, SkipFile  # noqa: E402

GRANULES = 40


def read_file(name):
    with open(os.path.join(HERE, name), "rb") as file:
        return file.read()


def rows_of(granule):
    """The rows that the golden was made of, as tests/unit/skip/skip_golden_test.c makes them."""
    for i in range(granule * 5, granule * 5 + 5):
        yield (b"GET /page-%d/item%d by User%d" % (i % 7, i, i % 50), i * 37 % 101 - 50)


@functools.lru_cache(maxsize=None)
def granules_with(index, member):
    found, first = [], 0
    for granules, _, segment in index.segments:
        found += [first + g for g in segment.ask(member)]
        first += granules
    return found


def members(index, row):
    line, number = row
    if index.kind == 3:
        return [struct.pack("<q", number)]
    line = line.lower() if index.folds else line
    if index.kind == 4:
        return re.findall(rb"[A-Za-z0-9\x80-\xff]+", line)
    return [line[i:i + index.n] for i in range(len(line) - index.n + 1)]


def must_read_as(file, name):
    """The description of the file is the stored text NAME, which BB_UPDATE_GOLDENS=1 rewrites."""
    if file.describe() == read_file(name).decode("ascii"):
        return
    if os.environ.get("BB_UPDATE_GOLDENS") != "1":
        sys.exit(f"the golden does not read as {name}")
    with open(os.path.join(HERE, name), "w", encoding="ascii") as text:
        text.write(file.describe())


def must_notice_damage(bytes_of_file, step, name):
    """One bit of each step-th byte is flipped."""
    for at in range(0, len(bytes_of_file), step):
        damaged = bytearray(bytes_of_file)
        damaged[at] ^= 0x10
        try:
            SkipFile(bytes(damaged)).describe()
        except (Corrupt, struct.error, IndexError):
            continue
        sys.exit(f"{name}: a changed byte at {at} was not noticed")


data = read_file("skip.bin")
skip = SkipFile(data)
must_read_as(skip, "skip.txt")
if skip.places != [granule * 100 for granule in range(GRANULES)]:
    sys.exit("places")
for index in skip.indexes:
    if index.kind == 6:
        found = [item for _, _, content in index.segments for granule in content for item in granule]
        wanted = [row[index.attribute] for granule in range(GRANULES) for row in rows_of(granule)] \
            if index.attribute < 2 else found
        if found != wanted or len(found) != skip.records:
            sys.exit(f"a column of attribute {index.attribute} has other values")
    if index.kind not in (3, 4, 5):
        continue
    for granule in range(GRANULES):
        for row in rows_of(granule):
            for member in members(index, row):
                if granule not in granules_with(index, member):
                    sys.exit(f"{member} of granule {granule} is denied")
    wrong = sum(len(granules_with(index, b"absent%d" % i)) for i in range(200)) / 200 / GRANULES
    if wrong > 5 * index.target:
        sys.exit(f"members that are nowhere seem to be in {wrong:.4f} of the granules")
must_notice_damage(data, 29, "skip.bin")



def line_of_words(i):
    line = b"GET /page-%d GET id%08x%08x common%d longlonglonglong%03d caf\xc3\xa9 " % (
        i % 7, i * 2654435761 % 2 ** 32, i * 40503 * 40503 % 2 ** 32, i % 3, i)
    return line + b"x" * 300 if i == 77 else line


def dictionary():
    """Each token, cut to 256 bytes: of each granule how many records have it."""
    found = {}
    for i in range(400):
        for token in {token[:256] for token in re.findall(rb"[A-Za-z0-9\x80-\xff]+", line_of_words(i))}:
            found.setdefault(token, {}).setdefault(i // 10, 0)
            found[token][i // 10] += 1
    return found


wanted = dictionary()
data = read_file("skip_text.bin")
for index in SkipFile(data).indexes:
    (granules, _, content), = index.segments
    found = {token: (where, counts) for token, where, counts in content.tokens}
    if found != {token: (sorted(at), [at[g] for g in sorted(at)] if index.counts else None) for token, at in wanted.items()}:
        sys.exit("a dictionary has other tokens")
    if granules != GRANULES or len(content.fences) < 3 or content.unindexed:
        sys.exit("a dictionary has another form")
must_notice_damage(data, 101, "skip_text.bin")

def words_of_line(i):
    return [b"It's", b"User%d" % (i % 5), b"pi", b"3.14", "caf\xe9".encode(), "\u6f22".encode(), "\u5b57".encode(),
            b"%d" % (i % 3), b"STRASSE"]


words, dictionary_of_words = SkipFile(read_file("skip_words.bin")).indexes
if (words.kind, words.folds, dictionary_of_words.kind, dictionary_of_words.folds) != (8, 0, 9, 1):
    sys.exit("kinds of indexes of words")
if {words.words, dictionary_of_words.words} != {"libunistring 1.0.0"}:
    sys.exit(f"words of {words.words}")
for i in range(40):
    for word in words_of_line(i):
        if i // 4 not in granules_with(words, word):
            sys.exit(f"{word} of granule {i // 4} is denied")
(_, _, content), = dictionary_of_words.segments
counts = {}
for i in range(40):
    for word in words_of_line(i):
        at = counts.setdefault(word.lower(), {})
        at[i // 4] = at.get(i // 4, 0) + 1
if {token: (where, of) for token, where, of in content.tokens} != \
        {word: (sorted(at), [at[g] for g in sorted(at)]) for word, at in counts.items()}:
    sys.exit("a dictionary of words has other words")


def ribbon_rows(granule):
    """The rows of skip_ribbons.bin, as skip_golden_test.c makes them."""
    for i in range(granule * 20, granule * 20 + 20):
        yield (b"GET visit%d far%d item%d id%d" % (i // 70, i % 1280, granule // 9 * 20 + i % 20, i), i * 1000003 - 50000)


data = read_file("skip_ribbons.bin")
ribbons = SkipFile(data)
must_read_as(ribbons, "skip_ribbons.txt")
forms = {(form, content.t > 0, content.addressed > 0) for index in ribbons.indexes for _, form, content in index.segments}
if forms != {(8, False, False), (8, True, True)}:
    sys.exit(f"segments with ribbons have other forms: {forms}")
version_2 = SkipFile(read_file("skip_version_2.bin"))
for file in (ribbons, version_2):
    for index in file.indexes:
        for granule in range(0, file.granules, 3 if file is ribbons else 9):
            for row in ribbon_rows(granule):
                member = members(index, row)[(row[1] // 1000003) % 5 - 5 if index.kind == 4 else 0]
                if granule not in granules_with(index, member):
                    sys.exit(f"{member} of granule {granule} is denied by a ribbon")
if {form for index in version_2.indexes for _, form, _ in index.segments} != {6}:
    sys.exit("a file of version 2")
for index in ribbons.indexes:
    wrong = sum(len(granules_with(index, b"absent%d" % i)) for i in range(100)) / 100 / ribbons.granules
    if not index.predicted / 2 < wrong < 1.5 * index.predicted <= 1.5 * index.target:
        sys.exit(f"members that are nowhere seem to be in {wrong:.4f} of the granules of ribbons")
must_notice_damage(data, 61, "skip_ribbons.bin")
if len(SkipFile(read_file("skip_version_1.bin")).indexes) != len(skip.indexes):
    sys.exit("a file of version 1")

text = b"".join(b"line%d %d\n" % (i, i * 7) for i in range(10))
lines = SkipFile(read_file("skip_lines.bin"))
source = lines.source
if (source.size, source.modified, source.indexed) != (len(text) + 3, 1234567890123456789, len(text)):
    sys.exit("what is kept of a file of lines")
if source.schema != b"line bytes = split(' ', 1)\nnumber i64 = split(' ', 2)\n":
    sys.exit("the schema of a file of lines")
if lines.places != [0, text.index(b"line5")] or skip.source is not None:
    sys.exit("places of a file of lines")
if not source.is_of(text + b"more") or source.is_of(text[:-1] + b"x") or source.is_of(b"x" + text[1:]):
    sys.exit("a file of lines is not known again")
print("7 goldens read")
