"""Whatever code calls with whatever arguments, it gets a value, an exception of its own, or a limit."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.sandbox.tracked import Calls, Done, Failed, Reply, Tracked, TrackedLimits, UnsupportedCodeError

VALUES = [
    "None",
    "True",
    "0",
    "-1",
    "3",
    "2.5",
    "float('nan')",
    "10**30",
    "''",
    "'abc'",
    "'a,b'",
    "'{}'",
    "[]",
    "[1,2]",
    "['a','b']",
    "[[1,2]]",
    "()",
    "(1,2)",
    "('a',)",
    "{}",
    "{'a':1}",
    "{1:2}",
    "set()",
    "{1,2}",
    "{'a'}",
    "range(3)",
    "iter([1])",
    "(x~for~x~in~[1])",
    "len",
    "(lambda*a:1)",
    "(lambda:1)",
    "ValueError('x')",
    "ValueError",
    "send",
    "[].append",
    "json",
    "re.search('a','a')",
    "str",
    "[(1,2)]",
    "'\\ud800'",
    "sorted",
    "re",
    "asyncio.gather()",
    "af()",
]
FUNCTIONS = [
    "len",
    "list",
    "set",
    "tuple",
    "enumerate",
    "zip",
    "reversed",
    "sum",
    "dict",
    "abs",
    "bool",
    "chr",
    "float",
    "format",
    "int",
    "isinstance",
    "ord",
    "range",
    "repr",
    "round",
    "str",
    "any",
    "all",
    "map",
    "filter",
    "sorted",
    "min",
    "max",
    "print",
    "next",
    "iter",
    "json.loads",
    "json.dumps",
    "math.ceil",
    "math.exp",
    "math.log",
    "math.sqrt",
    "re.search",
    "re.fullmatch",
    "re.findall",
    "re.finditer",
    "re.split",
    "re.sub",
    "asyncio.gather",
    "asyncio.run",
    "ValueError",
    "ToolError",
    "send",
]
METHODS = [
    "strip",
    "lower",
    "split",
    "splitlines",
    "partition",
    "startswith",
    "find",
    "index",
    "count",
    "replace",
    "zfill",
    "center",
    "removeprefix",
    "join",
    "format",
    "append",
    "extend",
    "insert",
    "pop",
    "remove",
    "clear",
    "sort",
    "reverse",
    "copy",
    "get",
    "keys",
    "values",
    "items",
    "popitem",
    "setdefault",
    "update",
    "add",
    "discard",
    "union",
    "intersection",
    "difference_update",
    "issubset",
    "isdisjoint",
    "group",
    "groups",
    "start",
    "a",
]
OPERATORS = [
    "+",
    "-",
    "*",
    "/",
    "//",
    "%",
    "**",
    "<<",
    ">>",
    "&",
    "|",
    "^",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "in",
    "is",
    "and",
    "or",
]
NAMES = [
    "key",
    "default",
    "reverse",
    "start",
    "strict",
    "sep",
    "end",
    "indent",
    "sort_keys",
    "flags",
    "count",
    "maxsplit",
    "kind",
    "body",
]
HEAD = "import json, math, re, asyncio\nasync def af():\n    return 1\n"


class Use:
    """One statement that uses values in a way that may make no sense at all."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def value(self) -> str:
        return self.random.choice(VALUES).replace("~", " ")

    def arguments(self) -> str:
        found = [self.random.choice(["", "", "", "*"]) + self.value() for _ in range(self.random.randrange(4))]
        if not self.random.randrange(4):
            found.append(f"{self.random.choice(NAMES)}={self.value()}")
        return ", ".join(found)

    def expression(self) -> str:
        # Of what is written out it would be known beforehand which methods it has.
        one, other = f"(lambda: {self.value()})()", f"({self.value()})"
        return self.random.choice(
            [
                f"{self.random.choice(FUNCTIONS)}({self.arguments()})",
                f"{self.random.choice(FUNCTIONS)}({self.arguments()})",
                f"{one}.{self.random.choice(METHODS)}({self.arguments()})",
                f"{one}.{self.random.choice(METHODS)}({self.arguments()})",
                f"{one} {self.random.choice(OPERATORS)} {other}",
                f"{one}[{other}]",
                f"{one}[{other}:{other}]",
                f"format({one}, {other})",
                f"[*{one}]",
                f"{{**{one}}}",
                f"{{{one}: {other}}}",
                f"-{one}",
                f"[y for y in {one}]",
                f"await {one}",
                f"{one}.a",
                f"{one}({self.arguments()})",
            ]
        )

    def code(self) -> str:
        expression, one, other = self.expression(), self.value(), self.value()
        return HEAD + self.random.choice(
            [
                f"z = {expression}",
                f"{expression}",
                f"z = {one}\nz[{other}] = {expression}",
                f"z = {one}\nz += {expression}",
                f"a, *b = {expression}",
                f"z = {one}\ndel z[{other}]",
                f"for q in {expression}:\n    pass",
                f"raise {expression}",
                f"try:\n    raise ValueError\nexcept {one}:\n    pass",
                f"z = {one}\nz[{other}:] = {expression}",
                f"assert {expression}, {one}",
                f"print({expression})",
                f"try:\n    z = {expression}\nexcept Exception as e:\n    print(e, e.args)",
            ]
        )


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 2**32))
def test_any_use_of_any_value_ends_in_one_of_three_ways_or_is_refused(seed: int) -> None:
    limits = TrackedLimits(steps=20_000, allocated=200_000, size=50_000)
    try:
        run = Tracked(Use(seed).code(), tools={"send": ("to", "body")}, limits=limits)
    except UnsupportedCodeError:
        return
    step = run.start()
    while isinstance(step, Calls):
        step = run.answer([Reply(value={"a": 1})] * len(step.calls))
    assert isinstance(step, Done | Failed)
