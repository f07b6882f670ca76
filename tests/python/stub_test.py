#!/usr/bin/env python3
"""The extension module has the functions, the parameters and the keywords of its stub."""
import ast
import inspect
import os
import unittest

import bloomblock
from bloomblock import _native
from module_case import ModuleCase

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
STUB = os.path.join(ROOT, "python", "bloomblock", "_native.pyi")
CLASSES = ("Store", "Snapshot", "Batch", "Cursor", "Scan", "Selection", "Filter", "FilterBuilder")
PARAMETER = inspect.Parameter


def functions_of(node):
    """By name; of an overloaded one the first, which has the default."""
    return {child.name: child for child in reversed(node.body) if isinstance(child, ast.FunctionDef)}


def is_marked(function, mark):
    return any(isinstance(marker, ast.Name) and marker.id == mark for marker in function.decorator_list)


def parameters_of(function):
    """Name, kind and default of each, without self."""
    arguments = function.args
    places = [(argument, PARAMETER.POSITIONAL_ONLY) for argument in arguments.posonlyargs]
    places += [(argument, PARAMETER.POSITIONAL_OR_KEYWORD) for argument in arguments.args]
    defaults = [None] * (len(places) - len(arguments.defaults)) + arguments.defaults
    places += [(argument, PARAMETER.KEYWORD_ONLY) for argument in arguments.kwonlyargs]
    defaults += arguments.kw_defaults
    found = [(argument.arg, kind, PARAMETER.empty if default is None else ast.literal_eval(default))
             for (argument, kind), default in zip(places, defaults)]
    return [parameter for parameter in found if parameter[0] != "self"]


def parameters_in(signature):
    found = [(parameter.name, parameter.kind, parameter.default) for parameter in signature.parameters.values()]
    return [parameter for parameter in found if parameter[0] != "self"]


class StubTest(ModuleCase):

    def setUp(self):
        super().setUp()
        with open(STUB, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        self.functions = functions_of(tree)
        classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
        self.methods = {}
        for name in CLASSES:
            bases = [classes[base.id] for base in classes[name].bases if isinstance(base, ast.Name)]
            self.methods[name] = {}
            for node in bases + [classes[name]]:
                self.methods[name].update(functions_of(node))
        self.assertEqual(set(classes), {"_Reader", *CLASSES})

    def objects(self):
        store = self.open()
        store[b"a"] = b"1"
        found = [store, store.snapshot(), bloomblock.Batch(), store.cursor(), store.items(), store.select(),
                 bloomblock.Filter.build([b"a"], kind="bloom"), bloomblock.FilterBuilder()]
        return zip(CLASSES, found)

    def callables(self):
        """The functions and methods of the stub, each with its counterpart in the module."""
        for name, function in self.functions.items():
            yield name, function, getattr(_native, name)
        for owner, instance in self.objects():
            for name, function in self.methods[owner].items():
                if name == "__init__":
                    yield owner, function, getattr(_native, owner)
                elif not name.startswith("_") and not is_marked(function, "property"):
                    yield owner + "." + name, function, getattr(instance, name)

    def test_has_the_same_names(self):
        for owner in CLASSES:
            names = {name for name in dir(getattr(_native, owner)) if not name.startswith("_")}
            self.assertEqual(names, {name for name in self.methods[owner] if not name.startswith("_")}, owner)
        names = {name for name, value in vars(_native).items() if callable(value) and not name.startswith("_")}
        self.assertEqual(names, {*self.functions, *CLASSES})

    def test_has_the_same_parameters(self):
        for name, function, called in self.callables():
            if not isinstance(called, type):
                self.assertEqual(parameters_in(inspect.signature(called)), parameters_of(function), name)

    def test_parameters_may_be_named(self):
        """Regression: 17 methods refused the names of parameters in the stub."""
        wrong = object()
        count = 0
        for name, function, called in self.callables():
            for parameter, kind, _ in parameters_of(function):
                if kind == PARAMETER.POSITIONAL_ONLY:
                    continue
                count += 1
                try:
                    called(**{parameter: wrong})
                except TypeError as error:
                    self.assertNotRegex(str(error), "keyword|no parameter|positional", f"{name}({parameter}=)")
        self.assertGreater(count, 70)

    def test_parameters_beyond_those_of_the_stub_are_refused(self):
        for name, function, called in self.callables():
            kinds = [kind for _, kind, _ in parameters_of(function)]
            places = sum(kind != PARAMETER.KEYWORD_ONLY for kind in kinds)
            with self.assertRaisesRegex(TypeError, "takes (no|one|exactly|[0-9])", msg=name):
                called(*[object()] * (places + 1))
            if function.args.kwarg is None:
                with self.assertRaisesRegex(TypeError, "no parameter 'colour'|no keyword arguments", msg=name):
                    called(colour=1)


if __name__ == "__main__":
    unittest.main()
