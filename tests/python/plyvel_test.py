#!/usr/bin/env python3
"""bloomblock.plyvel has the results of plyvel: a program of random calls runs on both, if plyvel is
installed, and its notes are compared. The documented moves of iterators are tested without it.
"""
import random
import unittest

import bloomblock.plyvel
from module_case import ModuleCase, test_random

try:
    import plyvel
except ImportError:
    plyvel = None

CALLS = 3000


def noted(function):
    """The result of a call, or the name of its exception."""
    try:
        return function()
    except (StopIteration, RuntimeError, TypeError) as error:
        return type(error).__name__
    except Exception as error:  # pylint: disable=broad-except
        return [base.__name__ for base in type(error).__mro__ if base.__name__ in ("Error", "IOError")]


def key_of(rng):
    return rng.choice([b"a", b"ab", b"b", b"c\xff", b"d"]) + b"%d" % rng.randrange(20)


def range_of(rng):
    """Keyword arguments of iterator().

    A reverse one has at most one bound: with two, plyvel's misses a single entry between them.
    """
    options = {"reverse": rng.random() < 0.5, "include_key": rng.random() < 0.8, "include_value": rng.random() < 0.8}
    start, stop = sorted([key_of(rng), key_of(rng) + b"+"])
    if options["reverse"]:
        options.update(rng.choice([{}, {"start": start}, {"stop": stop}]))
    elif rng.random() < 0.2:
        options["prefix"] = rng.choice([b"a", b"", b"\xff", b"c\xff", b"zz"])
    elif rng.random() < 0.7:
        options.update(start=start, stop=stop)
    if "start" in options:
        options["include_start"] = rng.random() < 0.5
    if "stop" in options:
        options["include_stop"] = rng.random() < 0.5
    return options


def moves_of(options, is_prefixed):
    """The moves in which plyvel keeps to its own manual.

    Between two bounds its prev() misses a single entry. After a seek an iterator with a lower bound
    or a reverse iterator may leave its range.
    """
    has_low = is_prefixed or "start" in options or "prefix" in options
    has_high = is_prefixed or "stop" in options or "prefix" in options
    moves = ["next", "next"]
    if not (has_low and has_high):
        moves.append("prev")
    if not has_low and not options["reverse"]:
        moves += ["seek", "seek_to_start", "seek_to_stop"]
    return moves


def walk(rng, iterator, moves):
    """Random moves of an iterator."""
    notes = []
    for _ in range(rng.randrange(12)):
        move = rng.choice(moves)
        if move == "seek":
            target = key_of(rng)
            notes += [target, noted(lambda at=target: iterator.seek(at))]
        elif move == "next":
            notes.append(noted(lambda: next(iterator)))
        else:
            notes += [move, noted(getattr(iterator, move))]
    notes.append(list(iterator))
    iterator.close()
    notes.append(noted(lambda: next(iterator)))
    return notes


def walk_raw(rng, iterator):
    notes = [iterator.valid(), noted(iterator.key)]
    for _ in range(rng.randrange(8)):
        move = rng.choice(["next", "prev", "seek_to_first", "seek_to_last", "seek"])
        notes.append(noted((lambda: iterator.seek(key_of(rng))) if move == "seek" else getattr(iterator, move)))
        notes += [iterator.valid(), noted(iterator.item)]
    iterator.close()
    return notes


def write_batch(rng, db):
    def run():
        with db.write_batch(transaction=rng.random() < 0.5) as batch:
            for _ in range(rng.randrange(6)):
                if rng.random() < 0.7:
                    batch.put(key_of(rng), b"%d" % rng.randrange(1000))
                else:
                    batch.delete(key_of(rng))
            if rng.random() < 0.2:
                raise TypeError
    return noted(run)


def program(module, path, rng):
    """The notes of a program that uses the interface."""
    notes = [noted(lambda: module.DB(path))]
    db = module.DB(path, create_if_missing=True, bloom_filter_bits=10, compression=None, write_buffer_size=1 << 16)
    notes.append(noted(lambda: module.DB(path)))
    snapshot = db.snapshot()
    for _ in range(CALLS):
        part = rng.choice([db, db, db.prefixed_db(b"a"), db.prefixed_db(b"c\xff")])
        kind = rng.randrange(8)
        if kind <= 2:
            notes.append(part.put(key_of(rng), b"%d" % rng.randrange(1000), sync=False))
        elif kind == 3:
            notes.append(part.delete(key_of(rng)))
        elif kind == 4:
            notes.append((part.get(key_of(rng)), part.get(key_of(rng), b"none")))
        elif kind == 5:
            notes.append(write_batch(rng, part))
        elif kind == 6:
            options = range_of(rng)
            source = rng.choice([part, snapshot])
            notes.append((options, walk(rng, source.iterator(**options), moves_of(options, source is part is not db))))
        else:
            notes.append(walk_raw(rng, rng.choice([db, snapshot]).raw_iterator()))
        if rng.random() < 0.02:
            snapshot.close()
            snapshot = db.snapshot()
    notes += [list(db), list(db.prefixed_db(b"a")), noted(lambda: db.iterator(prefix=b"a", start=b"b"))]
    iterator = db.iterator()
    db.close()
    notes += [db.closed, noted(lambda: db.get(b"a")), noted(lambda: next(iterator)), db.close()]
    module.repair_db(path)
    notes.append(noted(lambda: module.DB(path, error_if_exists=True)))
    module.destroy_db(path)
    return notes


class PlyvelTest(ModuleCase):

    def test_does_what_plyvel_does(self):
        seed = test_random().random()
        theirs = program(plyvel, self.path("theirs"), random.Random(seed)) if plyvel else None
        ours = program(bloomblock.plyvel, self.path("ours"), random.Random(seed))
        if theirs is None:
            self.skipTest("plyvel is not installed: the program ran, and nothing compared its notes")
        for index, (their, our) in enumerate(zip(theirs, ours)):
            self.assertEqual(our, their, f"note {index}")
        self.assertEqual(len(ours), len(theirs))

    def test_documented_moves_of_an_iterator(self):
        db = bloomblock.plyvel.DB(self.path(), create_if_missing=True)
        for number in range(5):
            db.put(b"k%d" % number, b"v%d" % number)
        iterator = db.iterator(include_value=False)
        self.assertEqual((next(iterator), iterator.prev()), (b"k0", b"k0"))
        self.assertEqual(noted(iterator.prev), "StopIteration")
        self.assertEqual(list(iterator), [b"k0", b"k1", b"k2", b"k3", b"k4"])
        self.assertEqual(iterator.prev(), b"k4")
        self.assertEqual(list(db.iterator(reverse=True, start=b"k1", stop=b"k3", include_value=False)), [b"k2", b"k1"])
        self.assertEqual(list(db.prefixed_db(b"k").iterator(start=b"3")), [(b"3", b"v3"), (b"4", b"v4")])
        with self.assertRaises(NotImplementedError):
            bloomblock.plyvel.DB(self.path("other"), comparator=lambda a, b: 0, comparator_name=b"x")
        db.close()
        self.assertEqual(noted(lambda: next(iterator)), "RuntimeError")

    def test_an_unknown_compression_is_refused(self):
        """Regression: every value was accepted, and most compressed with LZ4."""
        sizes = {}
        for choice in ("snappy", b"snappy", "lz4", "none", None):
            with bloomblock.plyvel.DB(self.path(repr(choice)), create_if_missing=True, compression=choice) as db:
                db.put(b"a", bytes(100000))
                db.compact_range()
                sizes[choice] = db.approximate_size(b"a", b"b") > 50000
        self.assertEqual(sizes, {"snappy": False, b"snappy": False, "lz4": False, "none": True, None: True})
        for wrong, kind in (("zz", ValueError), ("Snappy", ValueError), (b"\xff", ValueError), (5, TypeError)):
            with self.assertRaisesRegex(kind, "compression"):
                bloomblock.plyvel.DB(self.path("wrong"), create_if_missing=True, compression=wrong)
        with self.assertRaisesRegex(ValueError, "'zz' is not one of snappy, lz4, none and None"):
            bloomblock.plyvel.DB(self.path("wrong"), create_if_missing=True, compression="zz")


if __name__ == "__main__":
    unittest.main()
