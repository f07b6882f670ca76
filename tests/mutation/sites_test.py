#!/usr/bin/env python3
"""Sites of scripts/mutate: each class is found; comments, literals, assertions are protected."""
import os
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "tools", "checks"), os.path.join(ROOT, "tests", "mutation")]

import sites  # noqa: E402
import source_tree  # noqa: E402

HEAD = "enum bb_status bb_thing_read(size_t size)\n{\n"


def mutants(body, kind):
    """The bodies that the mutants of the class have."""
    text = HEAD + body + "}\n"
    return [site.apply(text)[len(HEAD):-2] for site in sites.in_text("kv/thing.c", text) if site.kind == kind]


class EachClass(unittest.TestCase):
    def test_a_check_is_negated(self):
        self.assertEqual(mutants("    if (a && f(b))\n        g();\n", "check"),
                         ["    if (!(a && f(b)))\n        g();\n"])

    def test_a_condition_becomes_constant(self):
        self.assertEqual(mutants("    if (a)\n        g();\n", "constant"),
                         ["    if (0 && (a))\n        g();\n", "    if (1 || (a))\n        g();\n"])

    def test_a_step_of_a_chain_no_longer_depends_on_the_status(self):
        body = "    if (status == BB_OK)\n        status = g();\n    if (status != BB_OK)\n        return status;\n"
        self.assertEqual(mutants(body, "status"),
                         [body.replace("status == BB_OK", "1"), body.replace("status != BB_OK", "0")])
        self.assertEqual(mutants(body, "check") + mutants(body, "comparison"), [])

    def test_each_step_of_a_chain_is_described(self):
        text = HEAD + "    if (status == BB_OK)\n        status = g();\n    is = status == BB_OK;\n}\n"
        self.assertEqual([site.description for site in sites.in_text("kv/thing.c", text) if site.kind == "status"],
                         ["status == BB_OK -> 1: if (status == BB_OK) status = g()",
                          "status == BB_OK -> 1: is = status == BB_OK"])

    def test_a_comparison_is_reversed(self):
        self.assertEqual(mutants("    bool is = a == b;\n", "comparison"), ["    bool is = a != b;\n"])

    def test_a_bound_moves_by_one(self):
        self.assertEqual(mutants("    while (i < size - 1)\n", "bound"),
                         ["    while (i <= size - 1)\n", "    while (i < size )\n"])
        self.assertEqual(mutants("    x->y = 1 << z;\n", "bound"), [])

    def test_logic_is_exchanged(self):
        self.assertEqual(mutants("    return a || b;\n", "logic"), ["    return a && b;\n"])

    def test_an_unlock_is_left_out(self):
        self.assertEqual(mutants("    bb_mutex_unlock(&db->mutex);\n", "lock"), ["    ;\n"])

    def test_a_failure_becomes_ok(self):
        self.assertEqual(mutants("    return bb_corrupt(place, 0, \"no\");\n    return BB_INVALID;\n", "failure"),
                         ["    return 1 ? BB_OK : bb_corrupt(place, 0, \"no\");\n    return BB_INVALID;\n",
                          "    return bb_corrupt(place, 0, \"no\");\n    return 1 ? BB_OK : BB_INVALID;\n"])


class NotChanged(unittest.TestCase):
    def test_comments_literals_assertions_and_preprocessor_lines(self):
        body = ("    /* if (a == b) */\n    f(\"if (a < b)\");\n    BB_ASSERT(a == b &&\n              c < d);\n"
                "#if A == 1\n#endif\n")
        self.assertEqual(sites.in_text("kv/thing.c", HEAD + body + "}\n"), [])

    def test_text_outside_of_functions(self):
        self.assertEqual(sites.in_text("kv/thing.c", "static const int limit = A == B;\n"), [])


class Tree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tree = source_tree.Tree(ROOT)
        cls.found = sites.find(cls.tree, sites.LAYERS)

    def test_every_layer_has_sites_of_every_class_but_sync(self):
        seen = {(site.layer, site.kind) for site in self.found}
        wanted = {(layer, kind) for layer in sites.LAYERS for kind in sites.CLASSES if kind != "sync"}
        self.assertEqual(wanted - seen, set())
        self.assertIn(("kv", "sync"), seen)

    def test_a_change_keeps_the_number_of_lines(self):
        texts = {path: self.tree.text(path) for path in {site.path for site in self.found}}
        for site in self.found:
            for begin, end, replacement in site.edits:
                self.assertEqual(replacement.count("\n"), texts[site.path].count("\n", begin, end),
                                 f"{site.path}:{site.line} {site.label}")

    def test_the_same_seed_draws_the_same_mutants(self):
        first, second = sites.draw(self.found, 7), sites.draw(self.found, 7)
        self.assertEqual([(site.path, site.edits) for site in first], [(site.path, site.edits) for site in second])
        self.assertEqual(len(first), len(self.found))
        early = {(site.layer, site.kind) for site in first[:40]}
        self.assertGreater(len(early), 30)


if __name__ == "__main__":
    unittest.main()
