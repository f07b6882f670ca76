#!/usr/bin/env python3
"""Stores: like a dictionary, in ranges and both directions, in batches, from snapshots; errors."""
import gc
import importlib
import os
import pathlib
import re
import subprocess
import sys
import unittest

import bloomblock
from module_case import ModuleCase, test_random


class StoreTest(ModuleCase):

    def test_has_the_version_of_the_headers(self):
        header = pathlib.Path(__file__).parents[2] / "include/bb/base.h"
        numbers = re.findall(r"^#define BB_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)$", header.read_text(), re.MULTILINE)
        self.assertEqual(bloomblock.__version__, ".".join(numbers))

    def test_a_second_import_keeps_the_objects_of_the_first(self):
        """Regression: it replaced the types, and open stores refused their own batches."""
        store = self.open()
        batch = bloomblock.Batch()
        batch.put(b"a", b"1")
        first = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "bloomblock"}
        try:
            importlib.import_module("bloomblock")
            store.write(batch)
            with store.snapshot() as snapshot:
                self.assertEqual(snapshot.get(b"a"), b"1")
            with self.assertRaises(bloomblock.TooLargeError):
                store.put(b"x" * 100000, b"")
        finally:
            sys.modules.update(first)

    def test_is_like_a_dictionary_of_bytes(self):
        store, model, rng = self.open(write_buffer_bytes=1 << 16), {}, test_random()
        for _ in range(4000):
            key = b"%03d" % rng.randrange(400)
            if rng.random() < 0.3:
                store.delete(key)
                model.pop(key, None)
            else:
                store[key] = model[key] = rng.randbytes(rng.randrange(100))
        self.assertEqual(dict(store.items()), model)
        self.assertEqual(list(store), sorted(model))
        self.assertEqual(list(store.values()), [model[key] for key in sorted(model)])
        keys = [b"%03d" % number for number in range(-1, 401)]
        self.assertEqual(store.get_many(keys), [model.get(key) for key in keys])
        self.assertEqual([store.get(key, b"none") for key in keys], [model.get(key, b"none") for key in keys])
        self.assertEqual([key in store for key in keys], [key in model for key in keys])

    def test_an_absent_key(self):
        store = self.open()
        self.assertIsNone(store.get(b"x"))
        self.assertEqual(store.get(b"x", default=7), 7)
        with self.assertRaises(KeyError) as raised:
            store[b"x"]
        self.assertEqual(raised.exception.args, (b"x",))
        del store[b"x"]

    def test_keys_and_values_are_buffers(self):
        store = self.open()
        store[bytearray(b"a")] = memoryview(b"xbx")[1:2]
        self.assertEqual(store.get(memoryview(b"a")), b"b")
        store[b""] = b""
        self.assertEqual(store[b""], b"")
        large = bytes(3 << 20)
        store[b"large"] = large
        self.assertEqual(store[b"large"], large)
        for bad in ("a", 1, None, [1]):
            with self.assertRaises(TypeError):
                store.put(bad, b"")
            with self.assertRaises(TypeError):
                store.put(b"", bad)

    def test_ranges_in_both_directions(self):
        store = self.open()
        keys = [b"%02d" % number for number in range(100)]
        store.update((key, b"v" + key) for key in keys)
        for options, expected in [({}, keys), ({"low": b"10"}, keys[10:]), ({"high": b"10"}, keys[:10]),
                                  ({"low": b"10", "high": b"20"}, keys[10:20]), ({"prefix": b"7"}, keys[70:80]),
                                  ({"prefix": b"x"}, []), ({"low": b"20", "high": b"10"}, [])]:
            self.assertEqual(list(store.keys(**options)), expected)
            self.assertEqual(list(store.keys(reverse=True, **options)), expected[::-1])
        self.assertEqual(next(store.items(prefix=b"5")), (b"50", b"v50"))
        with self.assertRaises(bloomblock.InvalidError):
            store.keys(prefix=b"a", low=b"a")

    def test_a_cursor_moves_both_ways(self):
        store = self.open()
        store.update({b"a": b"1", b"b": b"2", b"c": b"3"})
        with store.cursor(low=b"a", high=b"c") as cursor:
            self.assertFalse(cursor.valid)
            self.assertTrue(cursor.last())
            self.assertEqual((cursor.key, cursor.value), (b"b", b"2"))
            self.assertTrue(cursor.prev())
            self.assertEqual(cursor.key, b"a")
            self.assertFalse(cursor.prev())
            for function in (cursor.next, cursor.prev, lambda: cursor.key, lambda: cursor.value):
                with self.assertRaises(bloomblock.InvalidError):
                    function()
            self.assertFalse(cursor.seek(b"c"))
        self.assertTrue(cursor.closed)
        with self.assertRaises(bloomblock.InvalidError):
            cursor.first()

    def test_a_batch_is_written_whole_or_not_at_all(self):
        store = self.open()
        store[b"old"] = b""
        with store.batch(sync=True) as batch:
            batch[b"a"] = b"1"
            batch.put(b"b", b"2")
            del batch[b"a"]
            batch.delete_range(b"o", b"p")
            self.assertEqual(len(batch), 4)
        self.assertEqual(dict(store.items()), {b"b": b"2"})
        with self.assertRaises(ZeroDivisionError):
            with store.batch() as batch:
                batch.put(b"c", b"3")
                raise ZeroDivisionError
        self.assertNotIn(b"c", store)
        again = bloomblock.Batch()
        again.put(b"d", b"4")
        store.write(again)
        store.write(again, sync=True)
        self.assertEqual(store[b"d"], b"4")

    def test_a_snapshot_does_not_change(self):
        store = self.open()
        store.update({b"a": b"1", b"b": b"2"})
        with store.snapshot() as snapshot:
            store.delete_range(b"a", b"c")
            store.flush()
            store.compact()
            self.assertEqual(dict(snapshot.items()), {b"a": b"1", b"b": b"2"})
            self.assertEqual((snapshot[b"a"], snapshot.get(b"x"), b"b" in snapshot), (b"1", None, True))
            self.assertEqual(snapshot.get_many([b"b", b"x"]), [b"2", None])
            scan = snapshot.keys()
        self.assertEqual(list(scan), [b"a", b"b"])
        self.assertEqual(list(store), [])
        with self.assertRaises(bloomblock.InvalidError):
            snapshot.get(b"a")

    def test_closing_ends_iterators_and_snapshots(self):
        store = self.open()
        store[b"a"] = b"1"
        scan, cursor, snapshot = iter(store), store.cursor(), store.snapshot()
        store.close()
        store.close()
        self.assertTrue(store.closed)
        for function in (lambda: next(scan), cursor.first, lambda: snapshot.get(b"a"), lambda: store.get(b"a"),
                         store.flush, lambda: store.put(b"a", b"b"), store.snapshot, store.events, store.stats):
            with self.assertRaisesRegex(bloomblock.InvalidError, "is closed"):
                function()
        del scan, cursor, snapshot
        self.assertEqual(self.open()[b"a"], b"1")

    def test_a_store_that_was_never_opened_is_a_closed_one(self):
        """Regression: repr() raised AttributeError, and events() named a parent process."""
        store = bloomblock.Store.__new__(bloomblock.Store)
        with self.assertRaises(bloomblock.NotFoundError):
            store.__init__(self.path("absent"))
        for closed in (store, bloomblock.Store.__new__(bloomblock.Store)):
            self.assertEqual((closed.closed, repr(closed)), (True, "<bloomblock.Store '' closed>"))
            closed.close()
            for function in (closed.events, closed.stats, closed.flush, closed.keys, closed.snapshot):
                with self.assertRaisesRegex(bloomblock.InvalidError, "^the store is closed$"):
                    function()

    def test_a_store_without_references_is_closed(self):
        bloomblock.open(self.path())[b"a"] = b"1"
        scan = iter(self.open())
        self.assertEqual(next(scan), b"a")

    def test_a_cycle_of_a_store_and_its_objects_is_collected(self):
        """Regression: such a store stayed open, and locked, for the life of the process."""
        def items(store):
            scan = store.items()
            next(scan)
            return scan
        makers = (items, bloomblock.Store.cursor, bloomblock.Store.snapshot, bloomblock.Store.select,
                  lambda store: iter(store.snapshot()), lambda store: store.batch(), lambda store: store.events)
        for maker in makers:
            store = bloomblock.open(self.path())
            store[b"a"] = b"1"
            store.mine = [maker(store), store]
            del store
            gc.collect()
            with bloomblock.open(self.path()) as again:
                self.assertEqual(again[b"a"], b"1")

    def test_a_cycle_of_stores_is_collected_with_their_objects(self):
        first, second = (bloomblock.open(self.path(name)) for name in ("first", "second"))
        first.mine = [second.snapshot(), second.cursor(), iter(second)]
        second.mine = [first.snapshot(), first.cursor(), iter(first)]
        del first, second
        gc.collect()
        for name in ("first", "second"):
            self.open(name)

    def test_errors_have_classes_and_the_librarys_message(self):
        store = self.open()
        with self.assertRaisesRegex(bloomblock.BusyError, "already locked"):
            bloomblock.open(self.path())
        with self.assertRaisesRegex(bloomblock.NotFoundError, "create_if_missing"):
            bloomblock.Store(self.path("absent"))
        with self.assertRaises(bloomblock.ExistsError):
            bloomblock.open(self.path(), error_if_exists=True)
        with self.assertRaisesRegex(bloomblock.TooLargeError, "key"):
            store[bytes(1 << 20)] = b""
        with self.assertRaisesRegex(TypeError, "no parameter 'colour'"):
            bloomblock.open(self.path("other"), colour=1)
        for scan in (store.keys, store.values, store.items):
            with self.assertRaisesRegex(TypeError, scan.__name__ + r"\(\) has no parameter 'colour'"):
                scan(colour=1)
        with self.assertRaises(ValueError):
            bloomblock.open(self.path("other"), compression="zip")
        for amount in (10, ("bits", 10), ("bytes", "many")):
            with self.assertRaises((TypeError, ValueError)):
                bloomblock.open(self.path("other"), filter_amount=amount)
        reader = bloomblock.open(self.path(), read_only=True)
        with self.assertRaises(bloomblock.ReadOnlyError):
            reader[b"a"] = b"1"
        reader.close()
        self.assertTrue(issubclass(bloomblock.NoSpaceError, OSError))
        self.assertEqual(len(bloomblock.errors.BY_STATUS), 12)

    def test_a_wrong_option_names_itself(self):
        """Regression: "an integer is required", for one of thirty options."""
        wrong_types = [
            ({"cache_bytes": "64M"}, "^cache_bytes is an integer, not <class 'str'>$"),
            ({"block_size_bytes": 1.5}, "^block_size_bytes is an integer"),
            ({"absent_share": "half"}, "^absent_share is a number, not <class 'str'>$"),
            ({"compression": 1}, "^compression is one of the words none, lz4, not <class 'int'>$"),
            ({"filter_kind": 1}, "^filter_kind is a text"),
            ({"filter_amount": ("bytes", "x")}, "^the number of filter_amount is a number"),
        ]
        wrong_values = [
            ({"cache_bytes": -1}, f"^cache_bytes: -1 is not between 0 and {2**64 - 1}$"),
            ({"cache_bytes": 2**64}, "^cache_bytes: 18446744073709551616 is not between"),
            ({"cache_bytes": 1}, "cache_bytes is 1, allowed are"),
            ({"block_size_bytes": 2**32}, f"^block_size_bytes: {2**32} is not between 0 and {2**32 - 1}$"),
            ({"absent_share": 10**400}, "^absent_share: 10+ is too large$"),
            ({"compression": "zip"}, "^compression: 'zip' is not one of the words none, lz4$"),
            ({"filter_kind": "count-min"}, '^filter_kind: "count-min" is no kind'),
            ({"filter_kind": "a\0b"}, "^filter_kind: a text with a NUL$"),
            ({"filter_amount": ("bits", 1)}, "^filter_amount: 'bits' is not one of the words wasted-reads, bytes, b"),
        ]
        for kind, cases in ((TypeError, wrong_types), (bloomblock.InvalidError, wrong_values)):
            for options, message in cases:
                with self.assertRaisesRegex(kind, message):
                    bloomblock.open(self.path(), **options)
        with self.assertRaisesRegex(bloomblock.InvalidError, "^limit: -1 is not between"):
            self.open().select("x = 1", limit=-1)
        with self.assertRaisesRegex(bloomblock.InvalidError, "^planned_keys: -1 is not between"):
            bloomblock.Filter.build([b"a"], kind="bloom", planned_keys=-1)

    def test_an_error_of_a_number_stays(self):
        class Number:
            def __float__(self):
                raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            bloomblock.open(self.path(), absent_share=Number())

    def test_damage_names_the_file(self):
        store = self.open()
        store.update((b"%05d" % number, bytes(100)) for number in range(2000))
        store.flush()
        table = store.tables()[0]["path"]
        store.close()
        with open(table, "r+b") as file:
            file.seek(100)
            file.write(b"damage")
        store = self.open(cache_off=True)
        with self.assertRaisesRegex(bloomblock.CorruptError, os.path.basename(table)):
            list(store)
        store.close()
        self.assertTrue(bloomblock.repair(self.path())["entries_salvaged"] > 0)
        self.assertTrue(bloomblock.verify(self.path())["entries"] > 0)

    def test_work_on_the_whole_store(self):
        store = self.open(compression="none", filter_kind="blocked-bloom", filter_amount=("bits-per-key", 8))
        store.update((b"%05d" % number, bytes(100)) for number in range(1000))
        store.flush()
        store.compact(b"00100", b"00200")
        store.wait_idle()
        self.assertGreater(store.approximate_size()["file_bytes"], 50000)
        self.assertEqual(store.stats()["writes"], 1000)
        store.checkpoint(pathlib.Path(self.path("copy")))
        self.assertEqual(list(self.open("copy")), list(store))
        store.close()
        self.assertTrue(bloomblock.destroy(self.path())["directory_removed"])
        self.assertFalse(os.path.exists(self.path()))

    def test_tables_built_elsewhere_are_added(self):
        with self.open("other") as other:
            other.update({b"%04d" % number: b"x" * 40 for number in range(1000)})
            other.flush()
            paths = [table["path"] for table in other.tables()]
        store = self.open()
        store[b"0007"] = b"older"
        store.ingest(iter(paths), verify=True)
        self.assertEqual(sum(1 for _ in store), 1000)
        self.assertEqual(store[b"0007"], b"x" * 40)
        store.ingest([])
        with self.assertRaises(bloomblock.NotFoundError):
            store.ingest([self.path("absent.bbt")])
        for wrong in (7, [7], None):
            with self.assertRaises(TypeError):
                store.ingest(wrong)

    def test_events_are_kept_until_they_are_asked_for(self):
        store = self.open(write_buffer_bytes=1 << 16)
        self.assertEqual(store.events(), [])
        for number in range(3000):
            store[b"%06d" % number] = bytes(100)
        store.wait_idle()
        events = store.events()
        self.assertIn("flush", {event["kind"] for event in events})
        self.assertTrue(all(event["bytes_written"] > 0 for event in events if event["kind"] == "flush"))
        self.assertEqual(store.events(), [])
        for number in range(400):  # each flush is an event
            store[b"%06d" % number] = b"y"
            store.flush()
        store.wait_idle()
        self.assertEqual(len(store.events()), 256)

    def test_an_open_store_at_the_end_of_the_interpreter(self):
        program = "\n".join(["import bloomblock, sys", "store = bloomblock.open(sys.argv[1])", "store[b'a'] = b'1'",
                             "scan = iter(store)", "print(next(scan))"])
        for _ in range(2):
            done = subprocess.run([sys.executable, "-c", program, self.path()], capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"b'a'\n", b""))


if __name__ == "__main__":
    unittest.main()
