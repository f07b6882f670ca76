"""Shared by the tests of select, index and load --lines: a generated log, as lines and as rows.

The log has the combined format.
"""
import datetime
import os
import random
import re
import sys

from tool import ToolTest

BEGIN = datetime.datetime(2015, 5, 17, tzinfo=datetime.timezone.utc)
AGENTS = ["Mozilla/5.0 (X11; Linux x86_64)", "curl/7.68.0", "Googlebot/2.1 (+http://www.google.com/bot.html)", "-"]


def generate(rng, count):
    """Rows of the log: dictionaries by attribute, None for NULL. Times grow. Some agents hold tabs,
    backslashes, or bytes that are not UTF-8."""
    rows = []
    for i in range(count):
        agent = rng.choice(AGENTS)
        if rng.random() < 0.002:
            agent = rng.choice(["sqlmap/1.5", "a\tb\\c", "bad \udcff byte", "ünïcode ☃"])
        status = rng.choice([200] * 30 + [301, 404, 404, 500]) if rng.random() > 0.001 else 418
        rows.append({"host": f"10.{rng.randrange(4)}.{rng.randrange(256)}.{rng.randrange(256)}",
                     "time": BEGIN + datetime.timedelta(seconds=3 * i),
                     "path": f"/item/{rng.randrange(500)}",
                     "status": status,
                     "bytes": None if rng.random() < 0.05 else rng.randrange(100000),
                     "agent": None if agent == "-" else agent})
    return rows


def line_of(row):
    time = row["time"].strftime("%d/%b/%Y:%H:%M:%S +0000")
    size = "-" if row["bytes"] is None else row["bytes"]
    line = (f'{row["host"]} - - [{time}] "GET {row["path"]} HTTP/1.1" {row["status"]} {size} "-" '
            f'"{row["agent"] or "-"}"')
    return line.encode("utf-8", "surrogateescape")


def lines_of(rows):
    return b"".join(line_of(row) + b"\n" for row in rows)


def has_token(text, token):
    return text is not None and token in re.split(r"[^0-9A-Za-z\x80-\U0010ffff]+", text)


class LogTest(ToolTest):
    COUNT = 6000
    INDEXES = ["tokens(agent)", "min_max(time)", "values(host)", "set(status)"]
    # Small tables and granules, so that there are many of both.
    SIZES = ["--write-buffer", "256K", "--granule", "8K"]

    @staticmethod
    def random():
        """A generator of a fixed seed."""
        seed = int(os.environ.get("BB_TEST_SEED", "20150517"))
        print(f"seed {seed}", file=sys.stderr)
        return random.Random(seed)

    def load_log(self, rows, *options, store=None, indexes=None):
        specs = [part for spec in (self.INDEXES if indexes is None else indexes) for part in ("--index", spec)]
        return self.ok("load", store or self.store, "--lines", "--format", "clf", *self.SIZES, *specs, *options,
                       stdin=lines_of(rows))
