"""Programs made at random, that do all they can to carry a secret to a call without its label."""

from __future__ import annotations

import random

HEAD = """
a, b, c = 1, 2, 3
xs, ys, zs = [1, 2, 3], [4], []
d, e = {"k": 1, "m": 2}, {}
rows = [[1], [2, 3]]
t = (1, xs, 2)
u = {1, 2}
def make():
    n = 0
    def inc(k):
        nonlocal n
        n += k
        return n
    return inc
inc = make()
it = iter([5, 6, 7])
h, k, m = xs.append, inc, {}
g = (v + 1 for v in xs)
"""


class Program:
    """A program of statements chosen one by one; without `sets`, nothing depends on the order of one."""

    def __init__(self, seed: int, *, is_async: bool = False, failing: bool = True, sets: bool = True) -> None:
        self.choose = random.Random(seed).randrange
        self.sets = sets
        self.is_async = is_async
        self.failing = failing
        self.in_loop = 0
        self.in_function = False
        self.counter = 0

    def pick(self, *options: str) -> str:
        return options[self.choose(len(options))]

    def text(self, size: int = 8) -> str:
        lines = [HEAD]
        for number in range(2):
            lines += self.function(f"f{number}", size // 3)
        lines += self.block(size, 3)
        if self.is_async:
            calls = ", ".join(f"h{self.choose(2)}({self.number(1)})" for _ in range(2 + self.choose(2)))
            heads: list[str] = []
            for number in range(2):
                heads += self.function(f"h{number}", size // 3, prefix="async ")
            lines[1:1] = heads
            lines += [f"out = await asyncio.gather({calls})", "await send('z', out)", *self.block(2, 1)]
            lines.insert(0, "import asyncio")
        wait = "await " if self.is_async else ""
        lines += [f"{wait}send({self.value()}, {self.value()})" for _ in range(2)]
        return "\n".join([*lines, self.value()])

    def function(self, name: str, size: int, prefix: str = "") -> list[str]:
        saved, self.in_function = (self.in_loop, self.in_function), True
        self.in_loop = 0
        waits, self.waits = getattr(self, "waits", False), bool(prefix)
        lines = [f"{prefix}def {name}(p, q=xs):"]
        names = "a, b, c, xs, ys, zs, d, e, rows, t"
        if self.choose(3):
            lines.append(f"    global {names}")
        else:
            lines.append(f"    {names} = 1, 2, 3, q, [q], list(q), {{'k': 1, 'm': 2}}, {{}}, [q, [2]], (1, q)")
        lines += ["    " + line for line in self.block(1 + size, 2, ("p", "q"))]
        self.waits = waits
        (self.in_loop, self.in_function) = saved
        return [*lines, f"    return {self.value(('p',))}"]

    def block(self, size: int, depth: int, extra: tuple[str, ...] = ()) -> list[str]:
        lines: list[str] = []
        for _ in range(1 + self.choose(size)):
            lines += self.statement(depth, extra)
        return lines

    def nested(self, depth: int, extra: tuple[str, ...]) -> list[str]:
        return ["    " + line for line in self.block(3, depth - 1, extra)]

    def statement(self, depth: int, extra: tuple[str, ...]) -> list[str]:
        simple = (
            self.assign,
            self.assign,
            self.mutate,
            self.mutate,
            self.send,
            self.send,
            self.call,
            self.alias,
            self.jump,
            self.indirect,
            self.indirect,
            self.raises,
        )
        deep = (self.condition, self.condition, self.loop, self.repeat, self.attempt)
        number = self.choose(len(simple) + (len(deep) if depth else 0))
        return simple[number](extra) if number < len(simple) else deep[number - len(simple)](depth, extra)

    # Expressions.

    def number(self, depth: int = 2, extra: tuple[str, ...] = ()) -> str:
        options = [
            "a",
            "b",
            "c",
            "s",
            "1",
            "0",
            "len(xs)",
            "len(ys)",
            "len(d)",
            *[name for name in extra if name == "p"],
        ]
        if depth:
            left, right = self.number(depth - 1, extra), self.number(depth - 1, extra)
            options += [
                f"({left} + {right})",
                f"({left} * {right} % 7)",
                f"({left} if {right} > 1 else a)",
                f"({left} and {right})",
                f"({left} or {right})",
                f"({left} < {right} < 3)",
                f"sum({self.numbers()})",
                f"max({self.numbers()}, default={left})",
                f"(c := {left})",
                f"d.get('k', {left})",
                f"e.get({left}, 0)",
                f"int({left} in {self.numbers()})",
                f"len([v for v in {self.numbers()} if v > {left}])",
                f"next(it, {left})",
                f"inc({left})",
                f"int(any(v > {left} for v in xs))",
                "len(u)",
                f"len(str({left}))",
                f"(lambda w: w + {left})({right})",
                "len(sl)",
                "sd['k']",
                "sum(rows[0])",
                f"len(sorted(xs, key=lambda v: v * {left}))",
                f"int(not {left})",
                f"abs({left})",
                f"[{left}, {right}][0]",
                f"int(isinstance({left}, int))",
                f"f{self.choose(2)}({left})" if not self.in_function else "a",
            ]
            if self.failing:
                options += [f"xs[{left}]", "d['m']", f"({left} // {right})", "next(g)", "xs[-1]", "min(xs)"]
        return options[self.choose(len(options))]

    def numbers(self) -> str:
        return self.pick(
            "xs",
            "ys",
            "zs",
            "sl",
            "xs[1:]",
            "xs[:2]",
            "[a, b]",
            "list(u)" if self.sets else "sorted(u)",
            "list(d.values())",
            "ys + xs",
        )

    def value(self, extra: tuple[str, ...] = ()) -> str:
        return self.pick(
            "a",
            "b",
            "c",
            "xs",
            "ys",
            "zs",
            "d",
            "e",
            "rows",
            "len(xs)",
            "u" if self.sets else "b",
            "inc(0)",
            "list(it)",
            "'k' in d",
            "[v for v in xs]",
            "xs[:1]",
            "t[0]",
            "len(rows)",
            "str(xs)",
            "list(d)",
            "(a, b)",
            "rows[0]",
            self.number(2, extra),
        )

    # Statements.

    def assign(self, extra: tuple[str, ...]) -> list[str]:
        value = self.number(2, extra)
        return [
            self.pick(
                f"a = {value}",
                f"b = {value}",
                f"c = {value}",
                f"a += {value}",
                f"b -= {value}",
                f"xs = [a, {value}]",
                f"zs = [v + {value} for v in xs]",
                f"a, b = b, {value}",
                f"e = {{'k': {value}}}",
                f"c, *zs = {self.numbers()} + [1]",
                f"ys = sorted({self.numbers()})",
                f"rows = [xs, [{value}]]",
            )
        ]

    def mutate(self, extra: tuple[str, ...]) -> list[str]:
        value = self.number(1, extra)
        name = self.pick("xs", "ys", "zs", *[name for name in extra if name == "q"], "rows[0]")
        options = [
            f"{name}.append({value})",
            f"{name} += [{value}]" if "[" not in name else f"{name}.append(1)",
            f"{name}.extend(xs[:2])",
            f"{name}.insert(0, {value})",
            f"d['k'] = {value}",
            f"d[{value}] = a",
            f"e['n'] = {value}",
            f"e[a] = {value}",
            f"{name}.reverse()",
            f"{name}.sort()",
            f"u.add({value})",
            f"u.discard({value})",
            "d.update(e)",
            f"e.setdefault('k', {value})",
            f"{name}.clear()",
            f"rows.append({name})",
            "next(it, 0)",
            f"d.pop('k', {value})",
            f"q = {name}",
            f"{name}[:1] = [{value}]",
        ]
        if self.failing:
            options += [
                f"{name}.pop()",
                f"{name}[0] = {value}",
                f"{name}[{value}] = 1",
                f"del {name}[0]",
                f"{name}.remove({value})",
            ]
        return [options[self.choose(len(options))]]

    def indirect(self, extra: tuple[str, ...]) -> list[str]:
        """Functions, methods and iterators that are chosen, passed on, and used elsewhere."""
        value = self.number(1, extra)
        return [
            self.pick(
                f"h = xs.append if {value} > 1 else ys.append",
                f"h({value})",
                f"k = inc if {value} > 1 else (lambda n: n)",
                f"k({value})",
                "(lambda *w: xs.extend(w))(*sl)",
                f"(lambda w={value}: zs.append(w))(*sl[:1])",
                f"b = list(map(inc, {self.numbers()}))",
                f"b = list(filter(lambda v: v > {value}, {self.numbers()}))",
                f"g = (inc(v) for v in {self.numbers()})",
                "next(g, 0)",
                f"it = iter({self.numbers()})",
                "b = sum(it)",
                "b = sum(g)",
                f"it = (v for v in [1, 2, 3] if v > {value})",
                f"m = {{v: v + {value} for v in {self.numbers()}}}",
                "m.setdefault('n', []).append(len(m))",
                f"m[{value}] = h",
                f"m = {{'h': inc, **({{'h': k}} if {value} > 1 else {{}})}}",
                "m['h'](1)",
                "b = len(m)",
                f"b, *zs = {self.numbers()}",
                f"b = [*{self.numbers()}, {value}][-1]",
                "b = sorted(m)",
                f"b = max({value}, *sl)",
            )
        ]

    def alias(self, extra: tuple[str, ...]) -> list[str]:
        value = self.number(1, extra)
        return [
            self.pick(
                "ys = xs",
                "zs = ys",
                "rows = [xs, ys]",
                f"xs = ys if {value} > 1 else zs",
                f"zs = rows[{value} % len(rows)] if rows else xs",
                "e = d",
                "t = (a, ys)",
                "d, e = e, d",
                "q = t[1] if len(t) > 1 else xs",
                "g = (v for v in ys)",
            )
        ]

    def send(self, extra: tuple[str, ...]) -> list[str]:
        if getattr(self, "waits", False):
            return [self.pick(f"await send('x', {self.value(extra)})", f"b = await web({self.number(1, extra)})")]
        if self.is_async and self.in_function:
            return [f"a = {self.number(1, extra)}"]
        if self.is_async:
            return [self.pick(f"await send('x', {self.value(extra)})", f"b = await web({self.number(1, extra)})")]
        return [
            self.pick(
                f"send('x', {self.value(extra)})", f"send({self.value(extra)}, 1)", f"b = web({self.number(1, extra)})"
            )
        ]

    def call(self, extra: tuple[str, ...]) -> list[str]:
        if self.in_function:
            return [f"inc({self.number(1, extra)})"]
        function = self.pick(
            "f0", "f1", "f0", "f1", f"(f0 if {self.number(1)} > 1 else f1)", f"[f0, f1][{self.number(1)} % 2]"
        )
        return [
            self.pick(
                f"{function}({self.number(1)}, {self.pick('xs', 'ys', 'zs')})", f"a = {function}({self.number(1)})"
            )
        ]

    def jump(self, extra: tuple[str, ...]) -> list[str]:
        options = ["pass"]
        if self.in_loop:
            options += ["break", "continue"]
        if self.in_function:
            options += [f"return {self.number(1, extra)}"]
        return [f"if {self.number(1, extra)} > {self.choose(3)}:", f"    {options[self.choose(len(options))]}"]

    def raises(self, extra: tuple[str, ...]) -> list[str]:
        if not self.failing:
            return [f"a = {self.number(1, extra)}"]
        value = self.number(1, extra)
        return [
            self.pick(
                f"assert {value} < 5",
                f"if {value} > 2: raise ValueError({value})",
                f"b = 6 // {value}",
                "del c",
                f"c = {value}",
            )
        ]

    def condition(self, depth: int, extra: tuple[str, ...]) -> list[str]:
        test = self.pick(
            f"{self.number(1, extra)} > {self.choose(3)}",
            f"s == {self.choose(4)}",
            f"{self.number(1, extra)} in xs",
            "sl",
            "s > 1",
        )
        lines = [f"if {test}:", *self.nested(depth, extra)]
        return lines if self.choose(2) else [*lines, "else:", *self.nested(depth, extra)]

    def loop(self, depth: int, extra: tuple[str, ...]) -> list[str]:
        through = self.pick(
            "xs[:4]",
            "ys[:3]",
            "range(s)",
            "range(2)",
            "sl[:3]",
            "list(d)[:3]",
            "rows[:2]",
            "it",
            "u.copy()" if self.sets else "sorted(u)",
        )
        name = self.pick("v", "a", "row", "w")
        self.in_loop += 1
        body = self.nested(depth, extra)
        self.in_loop -= 1
        lines = [f"for {name} in {through}:", *body]
        return lines if self.choose(3) else [*lines, "else:", *self.nested(depth, extra)]

    def repeat(self, depth: int, extra: tuple[str, ...]) -> list[str]:
        self.counter += 1
        name = f"n{self.counter}"
        self.in_loop += 1
        body = self.nested(depth, extra)
        self.in_loop -= 1
        return [f"{name} = 0", f"while {name} < {self.pick('2', '3', 's', 's + 1')}:", f"    {name} += 1", *body]

    def attempt(self, depth: int, extra: tuple[str, ...]) -> list[str]:
        kind = self.pick("Exception", "ValueError", "ZeroDivisionError", "LookupError as error", "Exception as error")
        lines = ["try:", *self.nested(depth, extra), f"except {kind}:", *self.nested(depth, extra)]
        if not self.choose(3):
            lines += ["else:", *self.nested(depth, extra)]
        if not self.choose(3):
            lines += ["finally:", *self.nested(depth, extra)]
        return lines
