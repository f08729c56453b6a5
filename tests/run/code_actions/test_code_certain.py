"""Code that surely fails is refused before it runs, and code that comes to its end never is."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import Field

from wieldy import CodeRules, Toolset, tool
from wieldy.agent.execute import Executed, execute
from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import ToolError
from wieldy.run.actions.code.checking import problems_of
from wieldy.run.actions.code.stubs import stubs_of
from wieldy.run.journal import MemoryJournal
from wieldy.sandbox import SandboxLimits
from wieldy.tools.from_schema import tool_from_schema

OUTPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "total": {"type": "integer"},
        "place": {"$ref": "#/$defs/place"},
        "items": {"type": "array", "items": {"type": "integer"}},
    },
    "required": ["total"],
    "additionalProperties": False,
    "$defs": {"place": {"type": "object", "properties": {"x": {"type": "number"}}, "additionalProperties": False}},
}
INPUT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"enum": ["Oslo", "Bergen"]},
        "least": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        "day": {"type": "string", "format": "date"},
    },
    "required": ["city"],
    "additionalProperties": False,
}


async def _total(arguments: Any, context: Any) -> object:
    del context
    if arguments.get("least") == 7:
        raise ToolError("There is nothing so large.")
    return {"total": 3, "place": {"x": 0.5}, "items": [1, 2]}


TOTAL = tool_from_schema(
    ToolDefinition(name="total", description="Sums up.", input_schema=INPUT, output_schema=OUTPUT),
    _total,
    origin="test:total",
    effect="read",
)


@tool(effect="read")
def price(
    item: str, kind: Literal["new", "used"] = "new", count: Annotated[int, Field(ge=1)] = 1, note: str | None = None
) -> dict[str, float]:
    """The price of an item."""
    return {"amount": len(item) * count * (0.5 if kind == "used" else 1.0)}


TOOLS = Toolset([TOTAL, price])
STUBS = stubs_of(TOOLS.definitions)


def told(code: str) -> list[str]:
    return [problem.text for problem in problems_of(code, STUBS, known=["earlier"])]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("await total('Paris')", '`total` refuses "Paris" for `city`'),
        ("x = await total(city='Paris')", '`total` refuses "Paris" for `city`'),
        ("total.sync('Oslo', least=-1)", "`total` refuses -1 for `least`"),
        ("await total('Oslo', tags=['a', 3])", "at `tags.1`"),
        ("await total('Oslo', tags=('a', 'b', 'c'))", "`total` refuses"),
        ("await price(3.5)", "`price` refuses 3.5 for `item`"),
        ("await price('a', count=0)", "`price` refuses 0 for `count`"),
        ("await price('a', kind='old')", "`price` refuses"),
        ("await price(None)", "`price` refuses null for `item`"),
        ("await asyncio.gather(price('a'), price('b', count=0))", "`price` refuses 0 for `count`"),
        ("for row in (await total('Paris')).items: pass", "refuses"),
        ("if (await price('a', count=0)): pass", "refuses"),
        ("print(f\"{await price('a', 'old')}\")", "refuses"),
        ("(await total('Oslo')).sum", "has no `sum`; it has total, place, items"),
        ("(await total('Oslo'))['totals']", "did you mean `total`?"),
        ("found = await total('Oslo')\nprint(found.sum)", "`found` has no `sum`"),
        ("(await total('Oslo')).place.y", "has no `y`; it has x"),
        ("total.sync('Oslo')['place']['y']", "has no `y`"),
        ("found = total.sync('Oslo')['place']\nfound.y", "`found` has no `y`"),
        ("call('total', {'city': 'Oslo'})['total']", "`call(...)` needs `await`"),
    ],
)
def test_what_surely_fails_is_refused(code: str, words: str) -> None:
    [text] = told(code)
    assert words in text


@pytest.mark.parametrize(
    "code",
    [
        "await total('Oslo', least='3')",
        "await total('Oslo', least=3.0)",
        "await total('Oslo', least=None)",
        "await total('Oslo', day='yesterday')",
        "await price('a', note=None, count='2')",
        "try:\n    await total('Paris')\nexcept ToolError:\n    pass",
        "if earlier:\n    await total('Paris')",
        "for city in []:\n    await total('Paris')",
        "async def f():\n    return (await total('Paris')).sum",
        "[await total('Paris') for x in []]",
        "earlier or await total('Paris')",
        "1 if True else await total('Paris')",
        "False and (await total('Oslo')).sum",
        "1 < 0 < await price('a', count=0)",
        "await asyncio.gather(price('b', count=0), return_exceptions=True)",
        "waiting = total('Paris')",
        "with __import__('contextlib').suppress(ToolError):\n    await total('Paris')",
        "def total(city):\n    return city\ntotal('Paris')",
        "found = await total('Oslo')\nfound.sum = 1\nfound.sum",
        "found = await total('Oslo')\nfound.update(sum=1)\nfound.sum",
        "found = await total('Oslo')\n(lambda x: x.update(sum=1))(found)\nfound.sum",
        "earlier.sum\nearlier = await total('Oslo')",
        "found = await total('Oslo')\nfound.place.y = 1\nfound.place.y",
        "found = await total('Oslo')\nfound['place']['y'] = 1\nfound.place.y",
        "found = await total('Oslo')\nfound.place.update(y=1)\nfound.place.y",
        "found = await total('Oslo')\nplace = found.place\nplace.y = 1\nfound.place.y",
        "(await total('Oslo')).place.y = 1",
        "found = await total('Oslo')\nfor found in [earlier]:\n    pass\nfound.sum",
        "found = await total('Oslo')\nimport os as found\nfound.sum",
        "(await total('Oslo')).get('sum')",
        "(await total('Oslo'))['items'][0]",
        "(await price('a')).anything",
        "(await total('Oslo')).keys",
        "exec('async def total(x): pass')\nawait total('Paris')",
        "waiting = price('a')\nwaiting.close()",
        "call('total', {'city': 'Oslo'}).cancel()",
        "await total(**{'city': 'Paris'})",
        "await total(*['Paris'])",
    ],
)
def test_what_may_come_to_its_end_is_not_refused(code: str) -> None:
    assert told(code) == []


def test_long_and_deep_code_is_read_in_time() -> None:
    parts = ".total" * 900
    sums = " + ".join(["(await total('Oslo')).total"] * 900)
    names = "\n".join(f"name_{number} = await total('Oslo')\nname_{number}.total" for number in range(1200))
    for code in (f"(await total('Oslo')){parts}", sums, names, "\n".join(["await total('Oslo')"] * 4000)):
        assert told(code) == []


# The law: programs are made of the stubs, with literals that fit and others, looked into rightly and wrongly, in places
# that are reached and others.

LITERALS: dict[str, list[str]] = {
    "city": ["'Oslo'", "'Bergen'", "'Paris'", "3", "None"],
    "least": ["0", "7", "-1", "'2'", "2.0", "2.5", "None", "True", "'x'"],
    "tags": ["[]", "['a']", "('a', 'b')", "['a', 'b', 'c']", "[1]", "'[\"a\"]'", "None", "{'a': 1}"],
    "day": ["'2026-01-02'", "'never'", "5"],
    "item": ["'a'", "''", "3.5", "['a']", "None"],
    "kind": ["'new'", "'old'", "None", "['used']"],
    "count": ["1", "0", "'3'", "1.0", "True"],
    "note": ["None", "'n'", "4"],
}
TOTAL_NAMES, PRICE_NAMES = ("least", "tags", "day"), ("kind", "count", "note")


@st.composite
def arguments_of(draw: st.DrawFn) -> tuple[str, str]:
    name, needed, others = draw(st.sampled_from([("total", "city", TOTAL_NAMES), ("price", "item", PRICE_NAMES)]))
    given = [draw(st.sampled_from(LITERALS[needed]))]
    more = draw(st.lists(st.sampled_from(others), max_size=2, unique=True))
    given += [f"{each}={draw(st.sampled_from(LITERALS[each]))}" for each in more]
    return name, ", ".join(given)


@st.composite
def calls(draw: st.DrawFn) -> str:
    name, given = draw(arguments_of())
    return draw(
        st.sampled_from(
            [f"(await {name}({given}))", f"{name}.sync({given})", f"(await asyncio.gather({name}({given})))[0]"]
        )
    )


PARTS = st.sampled_from(
    ["", "", ".total", "['total']", ".sum", "['sum']", ".place.x", ".place.y", "['items'][0]", ".amount", ".get('sum')"]
)
READS = st.tuples(calls(), PARTS).map("".join)
EXPRESSIONS = st.one_of(
    READS,
    READS.map("print({})".format),
    READS.map("[{}]".format),
    READS.map("True or {}".format),
    READS.map("False and {}".format),
    READS.map("{} if 0 else 1".format),
    READS.map("[{} for _ in []]".format),
    READS.map("1 < 0 < {}".format),
)


def indented(text: str) -> str:
    return "    " + text.replace("\n", "\n    ")


LOOKS = st.sampled_from(
    [
        "x.total",
        "x.sum",
        "x['sum']",
        "x.place.y",
        "x.place.y = 1",
        "x.update(sum=2)",
        "x.sum = 2",
        "x = {'sum': 1}",
        "print(x)",
    ]
)
ASSIGNED = st.tuples(READS, st.lists(LOOKS, min_size=1, max_size=3)).map(
    lambda two: "\n".join([f"x = {two[0]}", *two[1]])
)
STATEMENTS = st.one_of(EXPRESSIONS, ASSIGNED)
BLOCKS = st.one_of(
    STATEMENTS,
    STATEMENTS.map(lambda text: f"try:\n{indented(text)}\nexcept Exception:\n    pass"),
    STATEMENTS.map(lambda text: f"if False:\n{indented(text)}"),
    STATEMENTS.map(lambda text: f"for _ in []:\n{indented(text)}"),
    STATEMENTS.map(lambda text: f"async def f():\n{indented(text)}"),
)
PROGRAMS = st.lists(BLOCKS, min_size=1, max_size=3).map("\n".join)


async def outcome(code: str) -> Executed:
    rules = CodeRules(limits=SandboxLimits(wall_s=60, cpu_s=20))
    return await execute(code, TOOLS, rules, journal=MemoryJournal())


@pytest.mark.usefixtures("sandboxed")
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(st.lists(PROGRAMS, min_size=4, max_size=4))
def test_code_that_comes_to_its_end_is_never_refused(programs: list[str]) -> None:
    refused = [code for code in programs if problems_of(code, STUBS)]
    for code in refused[:1]:
        executed = anyio.run(outcome, code)
        assert executed.ended is not None
        assert executed.ended.status == "error", code
