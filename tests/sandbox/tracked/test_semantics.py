"""Code that can be tracked means what Python says it means."""

from __future__ import annotations

import ast
import contextlib
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tracked_driving import done, run
from tracked_programs import Program

from wieldy.sandbox.tracked import Answer, Done, Labelled, Reply, ToolFailure, TrackedCall, TrackedLimits

SNIPPETS = {
    "numbers": """
[7 // 2, -7 // 2, 7 % 3, -7 % 3, 2 ** 10, 7 / 2, 1 << 4, 5 & 3, 5 | 3, 5 ^ 3, ~5, -3, +2, True + 1,
    1e3, 0.1 + 0.2]
""",
    "comparisons": """
[1 < 2 < 3, 1 < 3 < 2, 'a' < 'b', [1, 2] < [1, 3], (1,) < (1, 0), 1 == 1.0, 'a' != 'b',
    None is None, 1 in [1], 'b' in 'abc', 2 not in {1: 2}]
""",
    "boolean operators": """
[1 and 0, 0 or 'x', not [], not 'a', 1 if [] else 2, '' or None or {}]
""",
    "text": """
['%', 'a' + 'b', 'ab' * 3, 'abc'[1], 'abc'[::-1], 'a,b'.split(','), ' x '.strip(), 'x'.upper(),
    'a-b'.replace('-', '+'), '-'.join(['a', 'b'])]
""",
    "more text": r"""
['abc'.find('c'), 'aXb'.partition('X'), 'abc'.startswith(('x', 'a')), '7'.zfill(3),
    'a\nb'.splitlines(), 'Ab'.swapcase(), 'a'.center(5, '*'), 'x1'.isalnum()]
""",
    "f-strings": """
x = 3.14159
y = {'a': [1, None]}
[f'{x:.2f}', f'{y}', f'{x!r:>10}', f'{"a"!r}', f'{1000000:,}', f'{x:{8}.{3}}', '{} {a}'.format(1,
    a='b')]
""",
    "representations": """
str([1, 'a', (1,), {'k': None}, True, 1.5, {1}, ()])
""",
    "lists": """
xs = [3, 1, 2]
xs.append(5)
xs.insert(0, 9)
xs.extend((7, 8))
xs.remove(1)
a = xs.pop()
b = xs.pop(0)
xs.sort()
xs.reverse()
xs[0] = 4
xs[1:2] = [6, 6]
del xs[0]
[xs, a, b, xs.index(6), xs.count(6), xs + [1], xs * 2, xs[-1], xs[::2], xs.copy()]
""",
    "dicts": """
d = {'a': 1, **{'b': 2}}
d['c'] = 3
d.update({'a': 5})
x = d.pop('b')
y = d.setdefault('z', [])
y.append(1)
[d, x, list(d.items()), list(d), d.get('q', 7), len(d), 'a' in d, d | {'e': 1}]
""",
    "sets": """
a, b = {1, 2}, {2, 3}
a.add(4)
[sorted(a | b), sorted(a & b), sorted(a - b), sorted(a ^ b), 1 in a, a.issuperset({1}), len(a),
    sorted(a.union([9]))]
""",
    "tuples": """
t = (1, 2, 3)
a, *b = t
(*c, d) = t
[t[0], t[1:], a, b, c, d, t + (4,), t.index(2), len(t), (1,) * 2]
""",
    "keys": """
d = {1: 'a', 1.0: 'b', True: 'c', (1, 'x'): 'd', 2 ** 40: 'e', 0.5: 'f', None: 'g'}
[len(d), d[1], d[(1, 'x')], d[2 ** 40], d[0.5], d[None]]
""",
    "loops": """
out = []
for i in range(10):
    if i == 2:
        continue
    if i == 5:
        break
    out.append(i)
else:
    out.append('no')
n = 0
while n < 3:
    n += 1
else:
    out.append('yes')
out
""",
    "comprehensions": """
[[x * y for x in range(3) for y in range(x) if y], {k: v for k, v in zip('ab', [1, 2])},
    sorted({x % 2 for x in range(5)}), sum(x for x in range(4))]
""",
    "functions": """
def f(a, b=2, *c, d=4, **e):
    return [a, b, list(c), d, e]
[f(1), f(1, 3, 5, 6, d=7, z=8), f(*[1, 2], **{'d': 3}), (lambda x, y=1: x + y)(2)]
""",
    "closures": """
def make():
    n = 0
    def inc():
        nonlocal n
        n += 1
        return n
    return inc
a, b = make(), make()
[a(), a(), b()]
""",
    "globals": """
n = 0
def f():
    global n
    n += 1
f()
f()
n
""",
    "recursion": """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
fib(10)
""",
    "exceptions": """
out = []
try:
    try:
        1 // 0
    except ValueError:
        out.append('no')
    finally:
        out.append('finally')
except ZeroDivisionError as e:
    out.append(str(e))
else:
    out.append('else')
def f():
    try:
        return 1
    finally:
        out.append('f')
f()
try:
    raise ValueError('a', 1)
except (KeyError, ValueError) as e:
    out.append(list(e.args))
out
""",
    "raising again": """
out = []
try:
    try:
        {}['k']
    except LookupError:
        raise
except KeyError as e:
    out.append(str(e))
try:
    assert 1 > 2, 'why'
except AssertionError as e:
    out.append(str(e))
out
""",
    "iterators": """
it = iter([1, 2, 3])
a = next(it)
b = list(it)
[a, b, next(it, 'end'), list(map(lambda x: x + 1, [1, 2])), list(filter(None, [0, 1])),
    list(enumerate('ab', 1)), list(reversed([1, 2])), list(zip([1], 'a'))]
""",
    "builtins": """
[abs(-2), round(2.567, 1), round(3.5), min(3, 1), max([1, 5], key=lambda x: -x), min([],
    default=0), sum([1.5, 2]), any([0, 1]), all([]), sorted('bca', reverse=True), int('12'),
    int('ff', 16), float('1.5'), bool(''), str(None), list('ab'), tuple([1]), dict([('a', 1)],
    b=2), len('abc'), ord('a'), chr(98), isinstance(1, (str, int)), isinstance([], list), repr('a')]
""",
    "walrus and ternaries": """
xs = [y for x in range(5) if (y := x * 2) > 2]
[xs, y, 'a' if xs else 'b']
""",
    "lazy": """
out = []
def f(x):
    out.append(x)
    return x
any(f(x) for x in [0, 1, 2])
g = (f(x) for x in [7, 8])
next(g)
out
""",
    "printing": """
print('a', 1, [2], sep='-', end='!')
print()
None
""",
    "json": """
import json
json.loads(json.dumps({'a': [1, None, True, 'ü']}, sort_keys=True))
""",
    "math": """
import math
from math import sqrt
[math.ceil(1.2), math.floor(1.8), sqrt(9), math.pi > 3]
""",
    "augmented assignments": """
xs = [1]
ys = xs
ys += (2,)
d = {'n': 1}
d['n'] += 2
d |= {'m': 1}
n = 2
n **= 3
t = (1,)
u = t
t += (2,)
[xs, d, n, t, u]
""",
    "what several share goes on where they stopped": """
it = iter([1, 2, 3])
a = [list(zip([7, 8], it)), next(it, 'none')]
it = iter([1, 2, 3])
e = enumerate(it, start=5)
b = [next(e), list(it), list(e)]
it = iter([1, 2, 3, 4])
c = [list(zip(it, it)), list(zip()), list(zip([1], [2], strict=True)), list(map(lambda x, y: x + y, [1, 2], [3]))]
xs = [1]
z = zip(xs, xs)
xs.append(2)
d = [list(z), list(zip(zip('ab'), enumerate('ab', 1)))]
[a, b, c, d]
""",
    "zip that is strict": """
out = []
for columns in [([1], [1, 2]), ([1, 2], [1]), ([1], [1]), ([], [1])]:
    try:
        for row in zip(*columns, strict=True):
            out.append(row)
    except ValueError:
        out.append('uneven')
out
""",
    "what cannot be reversed": """
out = []
for each in [iter([1]), {1}, (x for x in [1])]:
    try:
        out.append(list(reversed(each)))
    except TypeError:
        out.append('no')
[out, list(reversed([1, 2])), list(reversed((1, 2))), list(reversed('ab')), list(reversed({'a': 1}))]
""",
    "a key stays as it was put first": """
d = {1: 'a'}
d[True] = 'b'
e = {1: 'a', 1.0: 'b'}
e.update({True: 'c'})
f = {1: 'a'} | {True: 'b'}
g = {1: 'a'}
g |= {True: 'b'}
h = {k: 0 for k in [1, True]}
i = {**{1: 'a'}, **{True: 'b'}}
s = {1}
s.add(True)
s |= {1.0}
[str(d), str(e), str(f), str(g), str(h), str(i), str(dict([(1, 2), (True, 3)])), str(s),
    str({1} | {True}), str({1}.union([True]))]
""",
    "return in a finally": """
def f(x):
    try:
        try:
            raise ValueError('a')
        finally:
            if x:
                return 1
    except ValueError as e:
        return str(e)
def g():
    try:
        raise ValueError('a')
    finally:
        try:
            raise
        except ValueError as e:
            return str(e)
[f(0), f(1), g()]
""",
    "JSON with keys that are no text": """
import json
json.dumps({1: 2, None: [{True: 3}], 0.5: {2: 4}, 'a': 5})
""",
    "scopes of comprehensions": """
x = 'outer'
[[x for x in range(2)], x, (lambda: [x for y in range(1)])()]
""",
    "deleting": """
xs = [1, 2, 3, 4]
del xs[0], xs[::2]
d = {'a': 1}
del d['a']
[xs, d]
""",
}


def python_says(code: str) -> tuple[object, str]:
    tree = ast.parse(code)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    names: dict[str, object] = {}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<code>", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "<code>", "eval"), names)
    return plain(value), printed.getvalue()


def plain(value: object) -> object:
    """As JSON has it."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("a key must be text")
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


@pytest.mark.parametrize("code", SNIPPETS.values(), ids=SNIPPETS)
def test_code_gives_what_python_gives(code: str) -> None:
    end = done(code)
    assert (end.value, end.stdout) == python_says(code)


def python_runs(code: str, secret: int) -> tuple[list[object], str | None]:
    """The calls that Python makes of the code, and the kind of exception that ended it."""
    calls: list[object] = []

    def send(to: object, body: object) -> int:
        calls.append(plain(["send", to, body]))
        return len(calls)

    def web(query: object) -> int:
        calls.append(plain(["web", query]))
        return secret

    names: dict[str, object] = {"send": send, "web": web, "s": secret, "sl": list(range(secret)), "sd": {"k": secret}}
    try:
        exec(compile(code, "<code>", "exec"), names)
    except Exception as error:
        return calls, type(error).__name__
    return calls, None


def tracked_runs(code: str, secret: int) -> tuple[list[object], str | None]:
    count = 0

    def answer(call: TrackedCall) -> Answer:
        nonlocal count
        count += 1
        return Reply(value=secret if call.name == "web" else count)

    variables = {"s": secret, "sl": list(range(secret)), "sd": {"k": secret}}
    given = {name: Labelled(value=value) for name, value in variables.items()}
    calls, end = run(code, answer=answer, variables=given, limits=TrackedLimits(steps=60_000))
    return [[call.name, *call.arguments.values()] for call in calls], None if isinstance(end, Done) else end.error


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.booleans(), st.integers(3, 9), st.integers(0, 3))
def test_generated_programs_do_what_they_do_in_python(seed: int, failing: bool, size: int, secret: int) -> None:
    code = Program(seed, failing=failing, sets=False).text(size)
    calls, error = tracked_runs(code, secret)
    if error == "Limit":
        return
    assert (calls, error) == python_runs(code, secret)


def test_a_tool_is_called_plainly_where_nothing_awaits() -> None:
    calls, end = run("x = web('a')\ny = [web(q) for q in 'bc']\n[x, y]", answer=lambda call: Reply(value=call.seq))
    assert [call.arguments for call in calls] == [{"query": "a"}, {"query": "b"}, {"query": "c"}]
    assert isinstance(end, Done)
    assert end.value == [0, [1, 2]]


def test_a_tools_failure_is_caught_by_its_kind() -> None:
    code = "try:\n    fail()\nexcept ToolError as e:\n    x = [e.kind, str(e)]\nx"
    _, end = run(code, answer=lambda call: ToolFailure(kind="timeout", message="too slow"))
    assert isinstance(end, Done)
    assert end.value == ["timeout", "too slow"]


def test_a_field_of_a_result_is_read_by_name_or_as_a_key() -> None:
    _, end = run("p = web('q')\n[p.title, p['title']]", answer=lambda call: Reply(value={"title": "T"}))
    assert isinstance(end, Done)
    assert end.value == ["T", "T"]


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("x = 1\ny = 2", 2),
        ("x = 1\nfor i in range(3):\n    x = i", 2),
        ("x = 1\nx += 4", 5),
        ("def f():\n    pass", None),
        ("", None),
        ("x = 3\nx", 3),
        ("f = len\nf", "<function>"),
    ],
)
def test_the_value_is_the_last_expression_or_the_last_name(code: str, value: object) -> None:
    assert done(code).value == value
