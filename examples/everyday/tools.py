"""Three everyday tools over small data in this folder: weather, a calculator and a search in notes.

Try them: wieldy run "How many degrees warmer is it in Cairo than in Oslo?" --tools examples/everyday/tools.py
"""

from __future__ import annotations

import ast
import json
import math
import operator
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wieldy import ToolError, tool

FOLDER = Path(__file__).parent
THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


@dataclass(frozen=True)
class Weather:
    """The weather of one city at this moment."""

    city: str
    condition: str
    temperature_c: int
    wind_kmh: int
    humidity_percent: int


@tool(
    effect="read",
    use_when="the current weather, temperature, wind or humidity of a city is needed",
    examples=[{"city": "Rome"}],
)
def get_weather(city: str) -> Weather:
    """Get the current weather of one city: condition, temperature in Celsius, wind and humidity.

    Args:
        city: The name of one city, such as "Rome".
    """
    cities = json.loads((FOLDER / "weather.json").read_text(encoding="utf-8"))
    wanted = city.partition(",")[0].strip().casefold()
    name = next((known for known in cities if known.casefold() == wanted), None)
    if name is None:
        raise ToolError(f"No weather is known for {city!r}. Known cities: {', '.join(cities)}.")
    return Weather(city=name, **cities[name])


@tool(
    effect="read",
    use_when="numbers have to be added, multiplied, compared in size, converted or taken a percentage of",
    examples=[{"expression": "12% of 250"}, {"expression": "(19.99 * 2 + 5) / 3"}],
)
def calculate(expression: str) -> str:
    """Work out one arithmetic expression of plain numbers exactly.

    Args:
        expression: Numbers with + - * / ** and brackets, "12% of 250", sqrt(), round(x, digits), min(), max(), abs().
    """
    if re.search(r"\b(min|max|round)\b", expression) and THOUSANDS.search(expression):
        raise ToolError(f"Unclear commas in {expression!r}. Write 1000 for 1,000, and a space after other commas.")
    text = THOUSANDS.sub("", expression)
    text = re.sub(r"(\d+(?:\.\d+)?)\s*%", r"(\1/100)", text)
    text = re.sub(r"\bof\b", "*", text).replace("×", "*").replace("÷", "/").replace("^", "**").rstrip("= ")
    try:
        return _written(_evaluate(ast.parse(text.strip(), mode="eval").body))
    except (SyntaxError, ValueError, TypeError, ZeroDivisionError, OverflowError, RecursionError) as error:
        raise ToolError(f"Cannot work out {expression!r}: {error}. Write one such as 12.5 * (3 + 4).") from None


@tool(
    effect="read",
    use_when="the answer is something that the user may have noted: home, family, travel, car, kitchen, sport, work",
    examples=[{"query": "dentist appointment"}],
)
def search_notes(query: str) -> list[str]:
    """Search the user's own notes and return the passages that fit best.

    Args:
        query: A few words that the note probably contains.
    """
    passages = [
        f"{file.stem}: {paragraph.strip()}"
        for file in sorted((FOLDER / "notes").glob("*.md"))
        for paragraph in file.read_text(encoding="utf-8").split("\n\n")[1:]
    ]
    spread = Counter(word for passage in passages for word in _words(passage))
    wanted = _words(query)

    def score(passage: str) -> float:
        return sum(math.log(1 + len(passages) / spread[word]) for word in wanted & _words(passage))

    best = sorted((passage for passage in passages if score(passage) > 0), key=score, reverse=True)
    if not best:
        raise ToolError(f"No note contains any of the words in {query!r}. Try other words.")
    return best[:2]


_COMMON = frozenset(
    re.findall(
        r"\w+",
        "a an and are at do does for from have how i in is it its me much my of on our the to we what when where "
        "which who will with",
    )
)


def _words(text: str) -> frozenset[str]:
    words = (word.removesuffix("s") for word in re.findall(r"[a-z0-9]+", text.casefold()))
    return frozenset(word for word in words if word not in _COMMON)


def _written(value: complex) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, complex) or not math.isfinite(value):
        raise ValueError("the result is no number, or too large")
    if 0 < abs(value) < 1e-9:
        return str(value)
    return f"{round(value, 10) + 0.0:.10f}".rstrip("0").rstrip(".")


_OPERATORS: dict[type, Callable[..., float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_FUNCTIONS: dict[str, Callable[..., float]] = {"sqrt": math.sqrt, "round": round, "min": min, "max": max, "abs": abs}


def _evaluate(node: ast.AST) -> float:
    match node:
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            return value
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            base, exponent = _evaluate(left), _evaluate(right)
            if abs(exponent) > 1000 or abs(base) > 1e12:
                raise ValueError("that power is too large")
            return base**exponent
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_evaluate(left), _evaluate(right))
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
            return _OPERATORS[type(op)](_evaluate(operand))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*map(_evaluate, arguments))
        case _:
            raise ValueError(f"{ast.unparse(node)!r} is not a number")
