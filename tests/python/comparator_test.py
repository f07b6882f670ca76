#!/usr/bin/env python3
"""Stores with an order that was compiled: tests/python/comparator.c, in a capsule."""
import ctypes
import gc
import os
import sys
import unittest

import bloomblock
from module_case import ModuleCase, test_random

LIBRARY = os.environ.get("BB_TEST_COMPARATOR")
NAME = b"bb_comparator"


def capsule(name=NAME):
    """The order `backwards`. Only the capsule refers to the name."""
    create = ctypes.pythonapi.PyCapsule_New
    create.restype, create.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    order = ctypes.c_char.in_dll(ctypes.CDLL(LIBRARY), "backwards")
    return create(ctypes.addressof(order), name, None)


@unittest.skipUnless(LIBRARY, "BB_TEST_COMPARATOR names no library with an order")
class ComparatorTest(ModuleCase):

    def test_a_store_has_the_order_of_a_capsule(self):
        store, model, rng = self.open(comparator=capsule(), write_buffer_bytes=1 << 16), {}, test_random()
        for _ in range(4000):
            key = b"%03d" % rng.randrange(1000)
            store[key] = model[key] = rng.randbytes(50)
        self.assertEqual(list(store), sorted(model, reverse=True))
        self.assertEqual(list(store.keys(low=b"500", high=b"100")),
                         [key for key in sorted(model, reverse=True) if b"100" < key <= b"500"])
        store.compact()
        store.close()
        store = self.open(comparator=capsule())
        self.assertEqual(list(store.items()), sorted(model.items(), reverse=True))
        store.close()
        self.assertEqual(bloomblock.verify(self.path(), comparator=capsule())["entries"], len(model))
        self.assertTrue(bloomblock.repair(self.path(), dry_run=True, comparator=capsule())["is_whole"])

    def test_the_store_keeps_the_capsule_until_it_is_closed(self):
        order = capsule()
        references = sys.getrefcount(order)
        store = self.open(comparator=order)
        self.assertEqual(sys.getrefcount(order), references + 1)
        store.close()
        self.doCleanups()
        del store
        gc.collect()
        self.assertEqual(sys.getrefcount(order), references)

    def test_another_order_is_refused(self):
        self.open(comparator=capsule()).close()
        with self.assertRaisesRegex(bloomblock.InvalidError, "backwards"):
            bloomblock.Store(self.path())
        with self.assertRaisesRegex(bloomblock.InvalidError, "backwards"):
            bloomblock.verify(self.path())

    def test_only_a_capsule_of_that_name_is_an_order(self):
        for wrong in (lambda a, b: 0, b"backwards", 5, capsule(b"other")):
            with self.assertRaisesRegex(TypeError, "bb_comparator"):
                bloomblock.open(self.path("other"), comparator=wrong)
            self.assertFalse(os.path.exists(self.path("other")))


if __name__ == "__main__":
    unittest.main()
