"""The everyday tools: what they find, what they refuse, and a run over all three."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy import Agent, Tool, ToolError, Toolset
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools.lint import lint

FILE = Path(__file__).parents[2] / "examples" / "everyday" / "tools.py"


@pytest.fixture(scope="module")
def everyday() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("everyday_tools", FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[spec.name]


def run(tool: Tool, **arguments: object) -> object:
    """What the tool returns, as a model's call would have it."""
    return tool.bind(tool.validate(arguments).values, None)()  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 3 * 4", "14"),
        ("(2 + 3) * 4", "20"),
        ("10 / 4", "2.5"),
        ("-3 ** 2", "-9"),
        ("2^10", "1024"),
        ("3 × 4 ÷ 2 =", "6"),
        ("12% of 250", "30"),
        ("200 * 15%", "30"),
        ("7.5 % of 1,340", "100.5"),
        ("1,340 * 2", "2680"),
        ("1,234,567 + 1", "1234568"),
        ("0.1 + 0.2", "0.3"),
        ("sqrt(16) + abs(-2)", "6"),
        ("round(2.567, 1)", "2.6"),
        ("max(1, 200, 3) - min(4, 5)", "196"),
        ("1e-20", "1e-20"),
        ("1 - 1.00000000000000001", "0"),
        ("2 ** 100", "1267650600228229401496703205376"),
        ("0 * -1.0", "0"),
    ],
)
def test_arithmetic_is_worked_out(everyday: ModuleType, expression: str, value: str) -> None:
    assert run(everyday.calculate, expression=expression) == value


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "  ",
        "1 +",
        "1 / 0",
        "sqrt(-1)",
        "(-8) ** 0.5",
        "price * 2",
        "__import__('os').system('true')",
        "(1).__class__",
        "abs.__globals__",
        "'x' * 9",
        "[1] * 9",
        "True + 1",
        "5 if 1 else 2",
        "lambda: 1",
        "pow(2, 3)",
        "round(number=1)",
        "max(*[1])",
        "1j * 1j",
        "9 ** 999 ** 999",
        "10 ** 1001",
        "999999999999 ** 1000",
        "(10 ** 900) ** 2",
        "1e400",
        "1e308 * 10",
        "1,23",
        "12,5 + 1",
        "min(1,200,3)",
        "max(1,200)",
        "\x00",
        "½",
        "(" * 300 + "1" + ")" * 300,
        "1" * 5000,
    ],
)
def test_what_is_no_arithmetic_or_too_much_is_refused_in_words(everyday: ModuleType, expression: str) -> None:
    with pytest.raises(ToolError, match=r"Cannot work out|Unclear commas"):
        run(everyday.calculate, expression=expression)


@given(expression=st.text(st.sampled_from("0123456789.,+-*/%^() eofabs"), max_size=20))
def test_every_expression_is_worked_out_or_refused(everyday: ModuleType, expression: str) -> None:
    try:
        value = run(everyday.calculate, expression=expression)
    except ToolError:
        return
    assert isinstance(value, str)
    float(value)


@pytest.mark.parametrize("city", ["Oslo", "oslo", " OSLO ", "Oslo, Norway"])
def test_the_weather_of_a_known_city_is_found_however_it_is_written(everyday: ModuleType, city: str) -> None:
    found = run(everyday.get_weather, city=city)
    assert found == everyday.Weather(city="Oslo", condition="snow", temperature_c=-4, wind_kmh=6, humidity_percent=86)


@pytest.mark.parametrize("city", ["Atlantis", "", "Oslo Paris", "🙂"])
def test_an_unknown_city_is_an_error_that_names_the_known_ones(everyday: ModuleType, city: str) -> None:
    with pytest.raises(ToolError, match=r"No weather is known for .*Known cities: Amsterdam, .*Toronto"):
        run(everyday.get_weather, city=city)


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("rent", "1,340 euros"),
        ("sister", "Toronto"),
        ("WIFI password", "bluekettle42"),
        ("Where does Uncle Tomas work?", "baker"),
        ("trip budget", "2,600 euros"),
    ],
)
def test_the_note_that_fits_best_comes_first(everyday: ModuleType, query: str, words: str) -> None:
    found = run(everyday.search_notes, query=query)
    assert isinstance(found, list)
    assert words in found[0]
    assert len(found) <= 2


@pytest.mark.parametrize("query", ["", "the and of", "zebra", "🙂", "'; DROP TABLE"])
def test_a_search_that_finds_nothing_says_so(everyday: ModuleType, query: str) -> None:
    with pytest.raises(ToolError, match="Try other words"):
        run(everyday.search_notes, query=query)


def test_the_tools_have_no_flaws_that_lint_knows(everyday: ModuleType) -> None:
    assert [finding for finding in lint(Toolset(tools(everyday))) if finding.severity != "note"] == []


def tools(everyday: ModuleType) -> list[Tool]:
    return [everyday.get_weather, everyday.calculate, everyday.search_notes]


def test_a_run_over_all_three_tools(everyday: ModuleType) -> None:
    turns = [
        [call("search_notes", {"query": "summer trip"})],
        [call("get_weather", {"city": "Lisbon"}), call("get_weather", {"city": "Lissabon"})],
        [call("calculate", {"expression": "15 * 9/5 + 32"})],
        [text("Your trip goes to Lisbon, where it is 59 F.")],
    ]
    with ScriptedModel(turns) as model:
        result = Agent(model, tools(everyday)).run_sync("How warm is it where my trip goes, in Fahrenheit?")
    assert result.text == "Your trip goes to Lisbon, where it is 59 F."
    found = [message.result for message in result.messages if message.result]
    assert "Lisbon" in found[0].content
    assert found[1].structured_content == {
        "city": "Lisbon",
        "condition": "heavy rain",
        "temperature_c": 15,
        "wind_kmh": 34,
        "humidity_percent": 91,
    }
    assert found[2].is_error
    assert "Known cities" in found[2].content
    assert found[3].content == "59"
