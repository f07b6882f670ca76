#!/usr/bin/env python3
"""Writes csv_rows.txt: rows of CSV and what Python's csv module reads in them.

A line per row, words between blanks: the row in hexadecimal, then its fields, "-" for an empty one; or "malformed" where
the module refuses the row. Half of the rows are written by the module, half are marks and letters in any order.
"""
import csv
import io
import os
import random

SEED = 20261122
ROWS = 1500
PIECES = ["a", "b", " ", ",", '"', '""', "\u00ff", "\t", "x" * 40, ""]


def drawn_text(rng, pieces):
    return "".join(rng.choice(pieces) for _ in range(rng.randrange(6)))


def written_row(rng):
    fields = [drawn_text(rng, PIECES + ["\n"]) for _ in range(rng.randrange(1, 6))]
    out = io.StringIO()
    quoting = rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
    csv.writer(out, quoting=quoting, lineterminator="\n").writerow(fields)
    return out.getvalue()[:-1]


def drawn_row(rng):
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(14)))


def hexadecimal(text):
    return text.encode("latin-1").hex() or "-"


def read(row):
    try:
        rows = list(csv.reader([row], strict=True))
    except csv.Error:
        return ["malformed"]
    return [hexadecimal(field) for field in rows[0]] if rows else []


def main():
    rng = random.Random(SEED)
    lines = []
    for number in range(ROWS):
        row = written_row(rng) if number % 2 == 0 else drawn_row(rng)
        lines.append(" ".join([hexadecimal(row)] + read(row)))
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "csv_rows.txt")
    with open(path, "w", encoding="ascii") as out:
        out.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
