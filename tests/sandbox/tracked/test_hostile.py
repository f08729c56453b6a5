"""Code that means harm gets hold of nothing of the host, and costs no more than its limits."""

from __future__ import annotations

import pytest
from tracked_driving import TOOLS, done, failed, run

from wieldy.sandbox.tracked import Calls, Failed, Labelled, Reply, Tracked, TrackedLimits, UnsupportedCodeError

REFUSED = {
    "().__class__": (1, ".__class__"),
    "x = 1\nx.__dict__": (2, ".__dict__"),
    "def f():\n    pass\nf.__globals__": (3, ".__globals__"),
    "(x for x in [1]).gi_frame._f": (1, "._f"),
    "__import__('os')": (1, "__import__"),
    "__builtins__": (1, "__builtins__"),
    "import os": (1, "import os"),
    "from os import path": (1, "from os import"),
    "from . import x": (1, "from None import"),
    "from json import decoder": (1, "from json import decoder"),
    "import json.decoder": (1, "import json.decoder"),
    "class A:\n    pass": (1, "class"),
    "with open('x') as f:\n    pass": (1, "with"),
    "def f():\n    yield 1": (2, "yield"),
    "@f\ndef g():\n    pass": (2, "@"),
    "match 1:\n    case 1:\n        pass": (1, "match"),
    "x = [1]\nx.a = 2": (2, ".a ="),
    "1j": (1, "1j"),
    "b'x'": (1, "b'x'"),
    "async def f():\n    async for x in y:\n        pass": (2, "async for"),
    "x = 1\nx @ x": (2, "@"),
    "def f(__x):\n    pass": (1, "__x"),
    "try:\n    pass\nexcept* ValueError:\n    pass": (1, "except*"),
    "break": (1, "syntax"),
    "return 1": (1, "syntax"),
    "x = (": (1, "syntax"),
    "x = '\\0": (1, "syntax"),
    "\x00": (0, "syntax"),
    "(" * 300 + ")" * 300: (1, "syntax"),
    "-" * 200 + "1": (1, "nesting"),
    "+".join("1" * 5000): (1, "nesting"),
    "send('bob', 'x')\n'%s' % 3": (2, "% with text"),
    "x = 1\nf'{x}%s' % 3": (2, "% with text"),
    "x = 'é'\nx.encode()": (2, ".encode()"),
    "'abc'.translate({})": (1, ".translate()"),
    "(1).to_bytes(1, 'big')": (1, ".to_bytes()"),
    "(1.5).hex()": (1, ".hex()"),
    "dict.fromkeys([1])": (1, ".fromkeys()"),
    "[1].add(2)": (1, ".add()"),
    "[x for x in [1]].keys()": (1, ".keys()"),
    "d = {}\nd.update(b=2)": (2, ".update(name=...)"),
    "round(1.5, ndigits=1)": (1, "round(ndigits=...)"),
    "print(1, file=None)": (1, "print(file=...)"),
    "import json\njson.dumps(1, separators=(1, 2))": (2, "json.dumps(separators=...)"),
    "await asyncio.gather(return_exceptions=True)": (1, "asyncio.gather(return_exceptions=...)"),
}


@pytest.mark.parametrize("code", REFUSED, ids=[construct for _, construct in REFUSED.values()])
def test_what_cannot_be_tracked_is_refused_before_it_runs(code: str) -> None:
    with pytest.raises(UnsupportedCodeError) as refused:
        Tracked(code, tools=TOOLS)
    line, construct = REFUSED[code]
    assert (refused.value.construct, refused.value.line) in {(construct, line), ("syntax", line), ("syntax", 0)}
    assert str(refused.value).endswith(".")


ALLOWED = [
    "def round(x, ndigits):\n    return ndigits\nround(1, ndigits=2)",
    "'a-b'.split(sep='-')",
    "xs = [2, 1]\nxs.sort(key=lambda x: x, reverse=True)\nxs",
    "d = {'f': lambda x: x}\nd.f(x=1)",
    "{'f': lambda x: x}.f(x=1)",
    "x = 7\nx % 3",
]


@pytest.mark.parametrize("code", ALLOWED)
def test_what_only_looks_like_something_that_is_lacking_is_not_refused(code: str) -> None:
    done(code)


REACHING = [
    "'{0.__class__}'.format(1)",
    "'{0[a]}'.format({'a': 1})",
    "'{x.__init__}'.format(x=1)",
    "'{:{}}'.format(1, 5)",
    "('%s' + '') % ()",
    "f = 'abc'.format_map",
    "['abc'.encode][0]()",
    "['abc'.translate][0]({})",
    "[(1).to_bytes][0](1, 'big')",
    "[(1.5).hex][0]()",
    "(1).real",
    "len.a",
    "[].gi_frame",
    "(x for x in [1]).gi_frame",
    "(lambda: 1).func_globals",
    "send.a",
    "open('x')",
    "eval('1')",
    "exec('1')",
    "globals()",
    "vars()",
    "dir()",
    "type(1)",
    "getattr(1, 'real')",
    "object()",
    "super()",
    "compile('1', '', 'exec')",
    "input()",
    "breakpoint()",
    "ValueError('x').with_traceback",
    "ValueError.mro",
    "print.a",
    "{}.fromkeys",
    "raise BaseException('x')",
    "raise KeyboardInterrupt",
    "raise 5",
    "None()",
    "[][0]",
    "{[]: 1}",
    "hash('a')",
    "id('a')",
    "'a'.join([1])",
    "isinstance(1, 1)",
    "sorted([1, 'a'])",
    "float('nan') in {float('nan'): 1}",
    "(-1) ** 0.5",
    "10.0 ** 400",
    "1 << -1",
    "chr(-1)",
    "range(1, 2, 0)",
    "int('x' * 10)",
    "send(len)",
    "send({1: 2})",
    "send(float('inf'))",
    "send(chr(0xd800))",
]


@pytest.mark.parametrize("code", REACHING)
def test_reaching_for_the_host_is_an_ordinary_error(code: str) -> None:
    end = failed(code)
    assert end.error not in {"Limit"}
    assert end.line == 1
    caught = failed(f"try:\n    {code}\nexcept Exception as error:\n    raise ValueError('caught')")
    assert caught.message == "caught"


COSTLY = {
    "a loop without end": "while True:\n    pass",
    "recursion without end": "def f():\n    return f()\nf()",
    "recursion by way of a builtin": "def f(x):\n    return sorted([1], key=f)\nf(1)",
    "repeated text": "'a' * 10 ** 12",
    "repeated list": "[0] * 10 ** 12",
    "repeated tuple": "(0,) * 10 ** 12",
    "a power": "10 ** 10 ** 10",
    "a tower of powers": "x = 3\nfor _ in range(100):\n    x = x ** 3",
    "a shift": "1 << 10 ** 10",
    "a factorial": "x = 1\nfor i in range(1, 10 ** 6):\n    x *= i",
    "text that doubles": "x = 'a'\nwhile True:\n    x += x",
    "lists that double": "x = [1]\nwhile True:\n    x += x",
    "many texts": "xs = []\nwhile True:\n    xs.append('a' * 100_000)",
    "a wide format": "f'{1:999999999}'",
    "a precise format": "f'{1.5:.999999999f}'",
    "a wide template": "'{:999999999}'.format(1)",
    "filled text": "'a'.zfill(10 ** 10)",
    "centred text": "'a'.center(10 ** 10)",
    "replaced text": "'a'.replace('', 'b' * 900_000).replace('', 'b' * 900_000)",
    "joined text": "('a' * 900_000).join(['b'] * 1000)",
    "expanded text": "x = 'a' * 900_000\nx.replace('a', x)",
    "a list of a large range": "list(range(10 ** 9))",
    "a sum over a large range": "sum(range(10 ** 9))",
    "a list that contains itself": "x = []\nx.append(x)\nx",
    "a comparison of such lists": "x, y = [], []\nx.append(x)\ny.append(y)\nx == y",
    "text of such a list": "x = []\nx.append(x)\nstr(x)",
    "JSON of such a list": "import json\nx = []\nx.append(x)\njson.dumps(x)",
    "the same list many times over": "x = [0]\nfor _ in range(50):\n    x = [x, x]\nx",
    "text of the same list many times over": "x = [0]\nfor _ in range(50):\n    x = [x, x]\nstr(x)",
    "a comparison of the same": "x = [0]\ny = [0]\nfor _ in range(50):\n    x = [x, x]\n    y = [y, y]\nx == y",
    "indented JSON": "import json\nx = [0] * 1000\nfor _ in range(40):\n    x = [x]\njson.dumps([x] * 100, indent=16)",
    "numbers whose hashes collide": "d = {}\nfor i in range(10 ** 6):\n    d[i * (2 ** 61 - 1)] = 1",
    "growing what is gone through": "x = [1]\nfor i in x:\n    x.append(i)",
    "chained generator expressions": "g = (v for v in [1])\nfor _ in range(5000):\n    g = (v for v in g)\nlist(g)",
    "printing": "while True:\n    print('a' * 1000)",
    "many coroutines": (
        "import asyncio\nasync def f():\n    await asyncio.gather(*[f() for _ in range(100)])\nawait f()"
    ),
    "coroutines within coroutines": "import asyncio\nasync def f():\n    await asyncio.gather(f())\nawait f()",
    "slices": "x = [0] * 900_000\nwhile True:\n    x[:]",
    "sorting": "x = list(range(5000, 0, -1))\nwhile True:\n    sorted(x, key=lambda v: -v)",
    "searching": "x = 'a' * 900_000\nwhile True:\n    'b' in x",
    "what nothing catches": (
        "while True:\n    try:\n        while True:\n            pass\n    except Exception:\n        pass"
    ),
}


@pytest.mark.parametrize("code", COSTLY.values(), ids=COSTLY)
def test_what_costs_too_much_ends_at_a_limit(code: str) -> None:
    end = failed(code, TrackedLimits(steps=100_000, allocated=4_000_000))
    assert end.error == "Limit"


def test_nothing_is_left_of_a_run_that_failed() -> None:
    run_ = Tracked("send(1, 2)\n1 // 0", tools=TOOLS)
    assert isinstance(run_.start(), Calls)
    assert isinstance(run_.answer([Reply(value=None)]), Failed)
    with pytest.raises(RuntimeError, match="waits for calls"):
        run_.answer([])


def test_data_goes_in_and_out_as_copies() -> None:
    given = {"k": [1]}
    tracked = Tracked(
        "x['k'].append(2)\nsend(x, 1)\nx['k'].append(3)\nx", tools=TOOLS, variables={"x": Labelled(value=given)}
    )
    step = tracked.start()
    assert isinstance(step, Calls)
    assert step.calls[0].arguments["to"] == {"k": [1, 2]}
    tracked.answer([Reply(value=None)])
    assert step.calls[0].arguments["to"] == {"k": [1, 2]}
    assert given == {"k": [1]}


def test_a_reply_that_is_no_json_is_refused_and_the_run_goes_on() -> None:
    tracked = Tracked("web('q')", tools=TOOLS)
    tracked.start()
    with pytest.raises(TypeError, match="expected JSON"):
        tracked.answer([Reply(value=object())])
    with pytest.raises(ValueError, match="expected 1 answers"):
        tracked.answer([])
    end = tracked.answer([Reply(value=1)])
    assert not isinstance(end, Calls | Failed)


def test_a_call_that_was_not_awaited_says_so() -> None:
    end = run("import asyncio\nx = web('q')\nx['title']", answer=lambda call: Reply(value=1))[1]
    assert isinstance(end, Failed)
    assert "write `await`" in end.message
    assert done("async def f():\n    return 1\nawait f()").value == 1
