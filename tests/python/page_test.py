#!/usr/bin/env python3
"""The Python of docs/python.md and of README.md runs, with the output shown there."""
import contextlib
import doctest
import io
import os
import re
import unittest

from module_case import ModuleCase

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"print\(.*\)\s+# (.*)$", re.MULTILINE)


def blocks_of(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return BLOCK.findall(file.read())


class PageTest(ModuleCase):

    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.folder)

    def test_the_manual(self):
        blocks = blocks_of("docs/python.md")
        self.assertGreater(len(blocks), 5)
        examples = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "docs/python.md", None, 0)
        said = io.StringIO()
        results = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=said.write)
        self.assertEqual(results.failed, 0, said.getvalue())
        self.assertGreater(results.attempted, 40)

    def test_what_a_wheel_needs(self):
        """Regression: old setuptools without the package wheel: "invalid command 'bdist_wheel'"."""
        with open(os.path.join(ROOT, "python", "pyproject.toml"), encoding="utf-8") as file:
            required, = re.findall(r"^requires = \[(.*)\]", file.read(), re.MULTILINE)
        packages = re.findall(r'"(\w+)', required)
        self.assertEqual(packages, ["setuptools", "wheel"])
        for page in ("docs/python.md", "python/README.md"):
            with open(os.path.join(ROOT, page), encoding="utf-8") as file:
                sentence, = re.findall(r"To build a wheel, install (.*?)run", file.read(), re.DOTALL)
            self.assertEqual(set(re.findall(r"\w+", sentence)) & {"pip", *packages}, {"pip", *packages}, page)

    def test_the_readme(self):
        block, = blocks_of("README.md")
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(block, "README.md", "exec"), {})  # pylint: disable=exec-used
        self.assertEqual(said.getvalue().splitlines(), SHOWN.findall(block))
        self.assertTrue(said.getvalue())


if __name__ == "__main__":
    unittest.main()
