"""What is wrong with code before any of it runs."""

import subprocess
import sys

import pytest

from wieldy.run.actions.code.checking import names_left, problems_of, refusal
from wieldy.run.actions.code.stubs import stubs_of
from wieldy.tools import tool


@tool(effect="read")
def get_price(item: str, country: str, quantity: int = 1) -> float:
    """The price."""
    raise NotImplementedError


STUBS = stubs_of([get_price.definition])
SIGNATURE = "async def get_price(item: str, country: str, quantity: int = 1) -> float"


def told(code: str, *known: str) -> list[tuple[int, str]]:
    return [(problem.line, problem.text) for problem in problems_of(code, STUBS, known=known)]


@pytest.mark.parametrize(
    "code",
    [
        "await get_price('a', 'NO')",
        "get_price.sync('a', country='NO')",
        "import asyncio\nawait asyncio.gather(*(get_price('a', c) for c in ('NO', 'SE')))",
        "tasks = [get_price('a', c) for c in 'xy']\nawait asyncio.gather(*tasks)",
        "task = get_price('a', 'NO')\nprint(await task)",
        "arguments = {'item': 'a'}\nawait get_price(**arguments)",
        "def f(x):\n    global total\n    total = x\nf(3)\ntotal",
        "from math import *\nsqrt(4)",
        "[y for x in [[1]] for y in x]",
        "class A:\n    n = 1\n    def f(self):\n        return A.n\nA().f()",
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    print(error)",
        "match [1]:\n    case [x, *rest]:\n        print(x, rest)",
        "def get_price(x):\n    return x\nget_price(1).real",
        "async def both():\n    return await get_price('a', 'NO')\nawait both()",
        "if (n := 3) > 2:\n    print(n)",
        "print('\\d')",
        "import os.path as p, json as j\np, j",
        "async for x in y: print(x)",
        "f = lambda a, *b, **c: (a, b, c)\nf(1)",
    ],
)
def test_code_that_may_work_passes(code: str) -> None:
    assert told(code, "y") == []


def test_what_is_no_python_is_refused_with_its_line() -> None:
    assert told("x = 1\ny = (") == [(2, "'(' was never closed: `y = (`")]
    [(line, text)] = told("return 1")
    assert line == 1
    assert "the value of the last line" in text
    assert told("x = '\0'") != []
    assert told("x = '\ud800'") != []
    assert told("class A:\n    yield 1") == [(2, "`yield` outside a function")]


def test_a_name_that_nobody_knows_is_refused_with_the_nearest_one() -> None:
    [(line, text)] = told("prices = [1]\nsum(price)")
    assert line == 2
    assert "`price` is not known" in text
    assert "`prices`" in text
    assert told("await get_prices('a', 'NO')")[0][1].endswith("did you mean `get_price`?")
    assert told("def f():\n    return later\nf()") != []
    assert told("def f():\n    return later\nf()", "later") == []


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("await get_price('a')", "`get_price` lacks `country`"),
        ("await get_price('a', 'NO', 1, 2)", "`get_price` takes 3 arguments, found 4"),
        ("await get_price('a', land='NO')", "`get_price` has no parameter `land`"),
        ("await get_price('a', 'NO', item='b')", "`get_price` is given `item` twice"),
        ("get_price.sync()", "`get_price` lacks `item`, `country`"),
    ],
)
def test_a_call_that_cannot_fit_is_refused_with_the_right_signature(code: str, problem: str) -> None:
    [(line, text)] = told(f"\n{code}")
    assert line == 2
    assert text.startswith(problem)
    assert text.endswith(f"expected `{SIGNATURE}`")


@pytest.mark.parametrize(
    "code",
    [
        "get_price('a', 'NO')",
        "get_price('a', 'NO').amount",
        "x = get_price('a', 'NO')\nx + 1",
        "x = get_price('a', 'NO')\nprint(f'{x}')",
        "for x in get_price('a', 'NO'): pass",
        "get_price('a', 'NO') * 2",
    ],
)
def test_a_call_that_nobody_waits_for_is_refused(code: str) -> None:
    [(line, text)] = told(code)
    assert line == 1
    assert "needs `await`" in text
    assert SIGNATURE in text


def test_the_names_that_code_leaves_are_known() -> None:
    imports = "import os.path\nfrom json import loads as l\n"
    code = imports + "x, (y, *z) = 1, (2, 3)\ndef f(a): b = a\nclass C: pass\nfor i in []: pass"
    assert names_left(code) == {"os", "l", "x", "y", "z", "f", "C", "i"}


@pytest.mark.parametrize("code", ["from math import *", "exec('y = 1')", "globals()['y'] = 1", "x = ("])
def test_where_names_may_have_been_left_that_nobody_sees_none_is_refused(code: str) -> None:
    assert told("y", *names_left("x = 1")) != []
    assert told("y", *names_left(code)) == []


def test_what_another_python_may_read_is_not_refused() -> None:
    assert problems_of("x = (", STUBS, is_of_this_python=False) == ()
    assert problems_of("y", STUBS, is_of_this_python=False) != ()


def test_code_that_binds_names_by_itself_is_not_refused() -> None:
    assert told("exec('y = 1')\ny") == []


def test_all_problems_are_told_but_not_without_end() -> None:
    text = refusal(problems_of("\n".join(f"unknown_{n}" for n in range(20)), STUBS))
    assert "line 1: the name `unknown_0`" in text
    assert "and 12 more" in text


def test_code_that_is_made_to_break_its_reader_is_refused_and_the_host_lives() -> None:
    hostile = [
        "'(' * 5000",
        "'x' + '.a' * 30000",
        "'x' + '+x' * 30000",
        "'-' * 60000 + '1'",
        "'if 1:\\n' + ''.join(' ' * n + 'if 1:\\n' for n in range(1, 300))",
        "'lambda: ' * 9000 + '1'",
        "'[' * 150 + ']' * 150",
        "'x' * 200000",
        "'f(' * 190 + ')' * 190",
        "'not ' * 20000 + 'x'",
        "'1' + ' if 1 else 1' * 8000",
        "'9' * 5000",
    ]
    code = (
        "from wieldy.run.actions.code.checking import names_left, problems_of\n"
        "from wieldy.run.actions.code.stubs import Stubs\n"
        "stubs = Stubs(by_identifier={})\n"
        f"for code in [{', '.join(hostile)}]:\n    problems_of(code, stubs), names_left(code)\n"
        "print('alive')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    assert done.stdout.strip() == "alive", done.stderr[-2000:]
