"""Ways to launder data of strangers, every one of which is noticed; and code that does no such thing."""

from __future__ import annotations

import pytest
from tracked_driving import WEB, run

from wieldy.sandbox.tracked import Answer, Done, Reply, ToolFailure, TrackedCall

PAGE = {"title": "Hi", "n": 3, "lines": ["a", "b"], "admin": True}

IN_ARGUMENTS = {
    "a variable": "p = web('q')\nx = p['title']\nsend('bob', x)",
    "a list": "p = web('q')\nxs = [1]\nxs.append(p['title'])\nsend('bob', xs)",
    "a key of a dict": "p = web('q')\nd = {p['title']: 1}\nfor k in d:\n    send('bob', k)",
    "a branch": "p = web('q')\nx = 0\nif p['n'] > 2:\n    x = 1\nsend('bob', x)",
    "a branch that is not taken": "p = web('q')\nx = 0\nif p['n'] > 100:\n    x = 1\nsend('bob', x)",
    "a while loop that counts": "p = web('q')\nn = 0\nwhile n < p['n']:\n    n += 1\nsend('bob', n)",
    "a for loop that counts": "p = web('q')\nn = 0\nfor _ in p['lines']:\n    n += 1\nsend('bob', n)",
    "an early return": "def f(n):\n    if n > 2:\n        return 1\n    return 0\np = web('q')\nsend('bob', f(p['n']))",
    "what is behind a return": (
        "out = []\ndef f(n):\n    if n > 2:\n        return\n    out.append(1)\np = web('q')\n"
        "f(p['n'])\nsend('bob', out)"
    ),
    "a break": "p = web('q')\nn = 0\nfor i in range(9):\n    if i == p['n']:\n        break\n    n = i\nsend('bob', n)",
    "a continue": (
        "p = web('q')\nn = 0\nfor i in range(9):\n    if i == p['n']:\n        continue\n    n += i\nsend('bob', n)"
    ),
    "an else of a loop": (
        "p = web('q')\nx = 0\nfor i in range(9):\n    if i == p['n']:\n        break\nelse:\n    x = 1\nsend('bob', x)"
    ),
    "an exception": "p = web('q')\nx = 1\ntry:\n    int(p['title'])\nexcept ValueError:\n    x = 0\nsend('bob', x)",
    "an exception that is not raised": (
        "p = web('q')\nx = 0\ntry:\n    int(p['n'])\n    x = 1\nexcept ValueError:\n    pass\nsend('bob', x)"
    ),
    "an exception's text": (
        "p = web('q')\ntry:\n    int(p['title'])\nexcept ValueError as e:\n    x = str(e)\nsend('bob', x)"
    ),
    "a failure in a function": (
        "p = web('q')\nxs = []\ndef f():\n    int(p['title'])\n    xs.append(1)\n"
        "try:\n    f()\nexcept ValueError:\n    pass\nsend('bob', xs)"
    ),
    "a finally": (
        "p = web('q')\nx = 0\ntry:\n    x = 6 // (p['n'] - 3)\nexcept Exception:\n    pass\nfinally:\n"
        "    x = x + 1\nsend('bob', x)"
    ),
    "a failure of a tool": "x = 1\ntry:\n    fail()\nexcept ToolError as e:\n    x = e.kind\nsend('bob', x)",
    "a function that is chosen": "p = web('q')\nf = (lambda: 1) if p['n'] > 2 else (lambda: 2)\nsend('bob', f())",
    "a closure": (
        "def make(n):\n    def f():\n        return n + 1\n    return f\np = web('q')\nsend('bob', make(p['n'])())"
    ),
    "a name of an outer function": (
        "def f(p):\n    n = 0\n    def g():\n        nonlocal n\n        n = 1\n    if p['n'] > 100:\n"
        "        g()\n    return n\n"
        "send('bob', f(web('q')))"
    ),
    "a global name": (
        "x = 0\ndef f():\n    global x\n    x = 1\np = web('q')\nif p['n'] > 100:\n    f()\nsend('bob', x)"
    ),
    "a filter of a comprehension": "p = web('q')\nsend('bob', [i for i in range(5) if i < p['n']])",
    "sorting": "p = web('q')\nsend('bob', sorted([1, 2], key=lambda v: v * p['n']))",
    "formatting": "p = web('q')\nsend('bob', f'{p[\"n\"]:>5}')",
    "str.format": "p = web('q')\nsend('bob', '{0} {x}'.format(1, x=p['n']))",
    "a length": "p = web('q')\nsend('bob', len(p['lines']))",
    "membership": "p = web('q')\nsend('bob', 'a' in p['lines'])",
    "a short circuit": "p = web('q')\nx = p['n'] > 2 and 1\nsend('bob', x)",
    "a walrus behind a short circuit": "p = web('q')\nx = 0\np['n'] > 100 and (x := 1)\nsend('bob', x)",
    "a chained comparison": "p = web('q')\nx = 0\n0 < p['n'] < (x := 2)\n3 < p['n'] < (x := 1)\nsend('bob', x)",
    "a default argument": "p = web('q')\ndef f(x=p['n']):\n    return x\nsend('bob', f())",
    "a default that is changed": (
        "def f(v, xs=[]):\n    xs.append(v)\n    return xs\np = web('q')\nif p['n'] > 100:\n    f(1)\nsend('bob', f(2))"
    ),
    "an alias": "p = web('q')\nxs = []\nys = xs\nif p['n'] > 100:\n    ys.append(1)\nsend('bob', xs)",
    "an alias in a container": (
        "p = web('q')\nxs = []\nd = {'k': xs}\nif p['n'] > 100:\n    d['k'].append(1)\nsend('bob', xs)"
    ),
    "an alias made in the branch": (
        "p = web('q')\nxs, ys = [], []\nif p['n'] > 100:\n    ys = xs\n    ys.append(1)\nsend('bob', xs)"
    ),
    "a choice between containers": (
        "p = web('q')\nxs, ys = [], []\n(xs if p['n'] > 2 else ys).append(1)\nsend('bob', ys)"
    ),
    "a choice between methods": (
        "p = web('q')\nxs, ys = [], []\nf = xs.append if p['n'] > 2 else ys.append\nf(1)\nsend('bob', ys)"
    ),
    "an order of keys": (
        "p = web('q')\nd = {}\nif p['n'] > 2:\n    d['a'] = 1\nd['b'] = 1\nd['a'] = 1\nsend('bob', list(d)[0])"
    ),
    "deleting": "p = web('q')\nd = {'a': 1}\nif p['n'] > 100:\n    del d['a']\nsend('bob', 'a' in d)",
    "sorting in place": "p = web('q')\nxs = [3, 1]\nxs.sort(key=lambda v: v * p['n'])\nsend('bob', xs[0])",
    "which one it is": "p = web('q')\na, b = [], []\nx = a if p['n'] > 2 else b\nsend('bob', x is a)",
    "an augmented assignment": "p = web('q')\nxs = []\nys = xs\nif p['n'] > 100:\n    ys += [1]\nsend('bob', xs)",
    "an index": "p = web('q')\nxs = [0, 0, 0, 0]\nxs[p['n']] = 1\nsend('bob', xs[0])",
    "an iterator": "p = web('q')\nit = iter([1, 2, 3])\nif p['n'] > 100:\n    next(it)\nsend('bob', next(it))",
    "a generator expression": (
        "p = web('q')\ng = (v for v in [1, 2, 3, 4, 5])\nany(v == p['n'] for v in g)\nsend('bob', list(g))"
    ),
    "a name that is unbound": (
        "p = web('q')\nx = 1\nif p['n'] > 2:\n    del x\ntry:\n    y = x\nexcept NameError:\n    y = 0\nsend('bob', y)"
    ),
    "JSON": "import json\np = web('q')\nsend('bob', json.loads(json.dumps({'a': p['n']}))['a'])",
    "a tool in between": "x = web('a')\ny = inbox()\nsend('bob', send('bob', x['title']))",
    "how many arguments there are": (
        "p = web('q')\nout = []\ndef f(*xs):\n    for x in xs:\n        out.append(1)\n"
        "f(*p['lines'])\nsend('bob', len(out))"
    ),
    "a default that counts or not": "p = web('q')\ndef f(x=1):\n    return x\nsend('bob', f(*p['lines'][:0]))",
    "a generator expression that goes on later": (
        "p = web('q')\nout = []\ng = (out.append(v) for v in p['lines'])\nnext(g)\nnext(g)\n"
        "out = []\nnext(g, 0)\nsend('bob', len(out))"
    ),
    "a coroutine that has not begun": (
        "import asyncio\np = await web('q')\nout = []\nasync def f():\n    if p['n'] > 100:\n        await inbox()\n"
        "async def g():\n    if p['n'] > 100:\n        out.append(1)\n"
        "await asyncio.gather(f(), g())\nawait send('bob', len(out))"
    ),
    "a name bound anew beside": (
        "import asyncio\nout = []\nasync def f():\n    global out\n    await inbox()\n"
        "    await inbox()\n    out = []\nasync def g():\n"
        "    p = await web('q')\n    if p['n'] > 100:\n        await inbox()\n    out.append(1)\n"
        "await asyncio.gather(f(), g())\nawait send('bob', len(out))"
    ),
    "what goes on beside": (
        "import asyncio\nxs = []\nasync def f():\n    p = await web('q')\n    if p['n'] > 2:\n        await inbox()\n"
        "    xs.append(1)\nasync def g():\n    await inbox()\n    await inbox()\n    xs.append(2)\n"
        "await asyncio.gather(f(), g())\nawait send('bob', xs[0])"
    ),
}

IN_CONTROL = {
    "a branch": "p = web('q')\nif p['n'] > 2:\n    send('bob', 'x')",
    "a finally after a failure": (
        "p = web('q')\ntry:\n    try:\n        pass\n    except Exception:\n        pass\n    else:\n"
        "        int(p['n'])\n"
        "    finally:\n        send('bob', 'x')\nexcept ValueError:\n    pass"
    ),
    "a loop": "p = web('q')\nfor _ in p['lines']:\n    send('bob', 'x')",
    "a return before": "def f(p):\n    if p['n'] > 100:\n        return\n    send('bob', 'x')\nf(web('q'))",
    "a short circuit": "p = web('q')\np['n'] > 2 and send('bob', 'x')",
    "a filter": "p = web('q')\n[send('bob', 'x') for i in range(4) if i < p['n']]",
    "a handler": "p = web('q')\ntry:\n    int(p['title'])\nexcept ValueError:\n    send('bob', 'x')",
    "what follows in a try": "p = web('q')\ntry:\n    int(p['n'])\n    send('bob', 'x')\nexcept ValueError:\n    pass",
    "a function that is chosen": "p = web('q')\nf = (lambda: send('bob', 'x')) if p['n'] > 2 else (lambda: 2)\nf()",
    "arguments that are spread": (
        "p = web('q')\ndef f(*xs):\n    for x in xs:\n        send('bob', 'x')\nf(*p['lines'])"
    ),
    "how many go on at once": (
        "import asyncio\np = await web('q')\nawait asyncio.gather(*[send('bob', 'x') for _ in p['lines']])"
    ),
}

BENIGN = {
    "after a branch": "p = web('q')\nif p['n'] > 2:\n    x = 1\nsend('bob', 'x')",
    "after a loop": "p = web('q')\nfor line in p['lines']:\n    x = line\nsend('bob', 'x')",
    "after a function": "def f(p):\n    if p['n'] > 2:\n        return 1\n    return 0\nf(web('q'))\nsend('bob', 'x')",
    "after a try": "p = web('q')\ntry:\n    int(p['title'])\nexcept ValueError:\n    pass\nsend('bob', 'x')",
    "a list of its own": (
        "p = web('q')\nxs = ['bob']\nys = []\nfor line in p['lines']:\n    ys.append(line)\nsend(xs[0], 'x')"
    ),
    "a field beside": "p = web('q')\nd = {'to': 'bob', 'text': p['title']}\nsend(d['to'], 'x')",
    "an argument beside": "def f(text, to):\n    return to\np = web('q')\nsend(f(p['title'], 'bob'), 'x')",
    "a helper with a list of its own": (
        "names = ['bob']\ndef clean(text):\n    out = []\n    for c in text:\n        out.append(c)\n"
        "    return ''.join(out)\n"
        "p = web('q')\nif p['n'] > 2:\n    t = clean(p['title'])\nsend(names[0], 'x')"
    ),
    "a name bound anew": "p = web('q')\nx = p['title']\nx = 'x'\nsend('bob', x)",
    "several at once": (
        "import asyncio\nasync def f(q):\n    p = await web(q)\n    return p['title']\n"
        "ts = await asyncio.gather(f('a'), f('b'))\nawait send('bob', 'x')"
    ),
    "several at once, as many as a stranger says": (
        "import asyncio\nto = ['bob']\nasync def f(line):\n    found = await web(line)\n    return found['title']\n"
        "p = await web('a')\nts = await asyncio.gather(*[f(line) for line in p['lines']])\nawait send(to[0], 'x')"
    ),
    "a helper for each line": (
        "to = ['bob']\ndef f(line):\n    return line.upper()\np = web('a')\nts = list(map(f, p['lines']))\n"
        "us = sorted(ts, key=lambda t: -len(t))\nsend(to[0], 'x')"
    ),
    "changing what a stranger sent": (
        "p = web('q')\nxs = ['bob']\np['seen'] = True\np['lines'].append('c')\nsend(xs[0], 'x')"
    ),
}


def answer(call: TrackedCall) -> Answer:
    if call.name == "web":
        return Reply(value=PAGE, sources=WEB)
    if call.name == "fail":
        return ToolFailure(kind="timeout", message="too slow", sources=WEB)
    return Reply(value="sent" if call.name == "send" else [])


def last_send(code: str) -> TrackedCall:
    calls, end = run(code, answer=answer)
    assert isinstance(end, Done), end
    return [call for call in calls if call.name == "send"][-1]


@pytest.mark.parametrize("code", IN_ARGUMENTS.values(), ids=IN_ARGUMENTS)
def test_laundered_data_keeps_its_source(code: str) -> None:
    assert "web" in last_send(code).sources["body"]


@pytest.mark.parametrize("code", IN_CONTROL.values(), ids=IN_CONTROL)
def test_a_call_says_whose_data_decided_that_it_is_made(code: str) -> None:
    call = last_send(code)
    assert "web" in call.decided_by
    assert call.sources == {"to": frozenset(), "body": frozenset()}


@pytest.mark.parametrize("code", BENIGN.values(), ids=BENIGN)
def test_calls_that_data_had_no_part_in_are_clean(code: str) -> None:
    call = last_send(code)
    assert call.sources == {"to": frozenset(), "body": frozenset()}
    assert call.decided_by == frozenset()


def test_a_loop_over_mails_that_sends_to_one_address_tells_number_from_address() -> None:
    call = last_send("for line in web('q')['lines']:\n    send('bob', line)")
    assert call.sources == {"to": frozenset(), "body": WEB}
    assert call.decided_by == WEB


def test_a_call_after_what_could_have_failed_says_what_it_survived() -> None:
    call = last_send("p = web('q')\nint(p['n'])\nsend('bob', 'x')")
    assert (call.decided_by, call.survived) == (frozenset(), WEB)


def test_what_is_printed_says_whose_it_is() -> None:
    _, end = run("p = web('q')\nif p['n'] > 100:\n    print('x')", answer=answer)
    assert end.stdout_sources == WEB


@pytest.mark.parametrize(
    ("body", "parts"),
    [
        ("p['title']", {("body",): WEB}),
        ("'x'", {}),
        ("{'text': p['title'], 'to': 'bob'}", {("body", "text"): WEB}),
        ("['a', p['title'], ('b', p['n'])]", {("body", "1"): WEB, ("body", "2", "1"): WEB}),
        ("p", {("body",): WEB}),
        ("{'all': [line for line in p['lines']]}", {("body", "all"): WEB}),
        ("{p['title']: 1}", {("body",): WEB}),
        ("[p['title']] * 200", {("body",): WEB}),
    ],
)
def test_the_parts_of_an_argument_are_told_apart(body: str, parts: dict[tuple[str, ...], frozenset[str]]) -> None:
    assert last_send(f"p = web('q')\nsend('bob', {body})").parts == parts


@pytest.mark.parametrize("code", (IN_ARGUMENTS | BENIGN).values())
def test_the_parts_of_an_argument_are_together_what_it_is(code: str) -> None:
    call = last_send(code)
    for name, sources in call.sources.items():
        assert frozenset[str]().union(*(part for path, part in call.parts.items() if path[0] == name)) == sources
