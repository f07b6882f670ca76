#!/usr/bin/env python3
"""Selections by conditions on values: the same records with and without an index."""
import json
import unittest

import bloomblock
from module_case import ModuleCase


class SelectTest(ModuleCase):

    def setUp(self):
        super().setUp()
        self.store = self.open()
        self.store.create_attribute("status u64 = json($.status)")
        self.store.create_attribute("agent bytes = json($.agent)")
        self.records = {b"%05d" % number: {"status": number % 50, "agent": f"robot {number % 7}"}
                        for number in range(1000)}
        self.store.update((key, json.dumps(record).encode()) for key, record in self.records.items())

    def check(self):
        expected = [key for key, record in self.records.items() if record["status"] == 7]
        found = self.store.select("status = 7")
        for key, _ in found:
            self.assertEqual(key, expected.pop(0))
            self.assertEqual(found.attributes, {"status": 7, "agent": self.records[key]["agent"].encode()})
        self.assertEqual(expected, [])
        self.assertEqual(found.account["records_returned"], 20)
        self.assertEqual(self.store.count("status < 10 AND has_token(agent, '3')"),
                         sum(record["status"] < 10 and record["agent"] == "robot 3"
                             for record in self.records.values()))

    def test_with_and_without_an_index(self):
        self.check()
        self.store.create_index("by_status", "values(status)")
        self.store.flush()
        self.store.wait_idle()
        self.store.materialize_indexes()
        self.assertEqual([index["name"] for index in self.store.indexes()], ["by_status"])
        self.check()
        self.store.drop_index("by_status")
        self.store.drop_attribute("agent")
        self.assertEqual(self.store.attributes(), ["status u64 = json($.status)"])

    def test_ranges_limits_directions_and_snapshots(self):
        with self.store.snapshot() as snapshot:
            self.store.delete_range(b"", b"\xff")
            self.assertEqual([key for key, _ in self.store.select()], [])
            found = self.store.select("status = 7", low=b"00100", high=b"00300", snapshot=snapshot, reverse=True,
                                      limit=2)
            self.assertEqual([key for key, _ in found], [b"00257", b"00207"])
            self.assertEqual(self.store.count(snapshot=snapshot), 1000)

    def test_errors(self):
        with self.assertRaisesRegex(bloomblock.InvalidError, "colour"):
            self.store.select("colour = 1")
        with self.assertRaises(TypeError):
            self.store.select(b"status = 1")
        with self.assertRaises(bloomblock.InvalidError):
            self.store.create_attribute("status u64")
        for call in (lambda: self.store.count("status = 1\0 AND status = 2"),
                     lambda: self.store.create_attribute("a bytes = value\0"),
                     lambda: self.store.create_index("a\0b", "values(status)"),
                     lambda: self.store.drop_index("a\0b")):
            with self.assertRaisesRegex(ValueError, "null byte"):
                call()
        found = self.store.select("status = 1")
        with self.assertRaises(bloomblock.InvalidError):
            found.attributes  # pylint: disable=pointless-statement
        found.close()
        with self.assertRaisesRegex(bloomblock.InvalidError, "is closed"):
            next(found)


if __name__ == "__main__":
    unittest.main()
