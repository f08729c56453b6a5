"""What becomes of every keyword, as `docs/reference/json-schema-constraints.md` shows it.

The page is written anew by `python tests/grammar/check/test_keyword_table.py`. What it says is tested here: values that
fit and values that do not, and random walks under each mask, judged by another validator than the one that Wieldy uses.
"""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
from keyword_cases import CASES, Case

from wieldy.grammar import Enforcement, Matcher, Tokenizer
from wieldy.grammar.check.masked import masked_part
from wieldy.grammar.check.walks import Walker
from wieldy.grammar.compiled import compiled
from wieldy.grammar.shape import Json, Rules

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "json-schema-constraints.md"
BYTES = Tokenizer.of_bytes()
WALKS = 12
every_case = pytest.mark.parametrize("case", CASES, ids=[case.title for case in CASES])


def _is_multiple(_: Any, step: float, value: Any, schema: Any) -> Any:
    """`multipleOf` of the numbers as they are written; the validator's own divides floats."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and (Fraction(str(value)) / Fraction(str(step))).denominator != 1:
        yield jsonschema.ValidationError(f"{value} is no multiple of {step}")


INDEPENDENT: Any = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"multipleOf": _is_multiple})


class Judge:
    """Two validators that know nothing of each other; a value fits if both say so."""

    def __init__(self, schema: Any) -> None:
        text = json.dumps(schema)
        kind = INDEPENDENT
        if '"additionalItems"' in text or '"dependencies"' in text:
            kind = jsonschema.Draft7Validator
        elif '"exclusiveMinimum": true' in text:
            kind = jsonschema.Draft4Validator
        self._validators: list[Any] = [kind(schema, format_checker=kind.FORMAT_CHECKER)]
        if kind is INDEPENDENT:
            self._validators.append(jsonschema_rs.Draft202012Validator(schema, validate_formats=True, offline=True))

    def is_valid(self, value: Any) -> bool:
        return all(validator.is_valid(value) for validator in self._validators)


def grammar_of(case: Case) -> Any:
    return compiled(Rules(start=Json(case.schema)))


@every_case
def test_values_that_fit_pass_and_those_that_do_not_are_refused_by_whom_the_report_says(case: Case) -> None:
    grammar = grammar_of(case)

    def accepts(value: Any) -> bool:
        matcher = Matcher(grammar, BYTES)
        return matcher.accept_text(json.dumps(value, ensure_ascii=False)) and matcher.is_accepting

    whole, masked = Judge(case.schema), Judge(masked_part(case.schema, grammar.enforcement))
    for value in case.fits:
        assert whole.is_valid(value), value
        assert accepts(value), value
    for value in case.fails:
        assert not whole.is_valid(value), value
        assert masked.is_valid(value) or not accepts(value), value
    if all(entry.by == "mask" for entry in grammar.enforcement):
        assert not any(map(accepts, case.fails))
    for value in case.limited:
        assert whole.is_valid(value), value
        assert not accepts(value), value
        assert any(entry.reason for entry in grammar.enforcement), "what is refused needs a reason"


@every_case
def test_every_walk_under_the_mask_is_json_and_fits_what_the_mask_enforces(case: Case) -> None:
    grammar = grammar_of(case)
    masked = Judge(masked_part(case.schema, grammar.enforcement))
    walker = Walker(BYTES, seed=len(case.title))
    for _ in range(WALKS):
        text = walker.walk(grammar)
        assert text is not None, "the walk did not end"
        assert masked.is_valid(value_of(text.decode())), text


def value_of(text: str) -> Any:
    """The value of a text; a number that no float holds counts as a large one."""

    def number(written: str) -> float:
        return value if math.isfinite(value := float(written)) else sys.float_info.max

    return json.loads(text, parse_float=number)


def test_the_page_shows_the_table() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), f"write it anew: python {Path(__file__).name}"


HEAD = """# JSON Schema under a mask

What becomes of each keyword of JSON Schema where a mask holds a model to it: enforced while it writes, or left to the
validator that checks what was written. This page is written by `python tests/grammar/check/test_keyword_table.py` from
the cases that the tests walk under, so it cannot be out of date. How to ask the same about a schema of your own:
[constraints](../how-to/constraints.md#what-is-enforced-where). Why it is so:
[decision 13](../decisions/0013-schemas-are-lowered.md).

"mask" means: nothing else can be written. A text in brackets is what the mask refuses although the schema allows it.
Everywhere members come in the order of the schema, whole numbers are written without a fraction, and characters are
written as they are wherever JSON needs no escape; that is not repeated in each row.
"""


def page() -> str:
    lines = [HEAD]
    groups = dict.fromkeys(case.group for case in CASES)
    for group in groups:
        lines += [f"## {group}\n", "| case | schema | mask | validator |", "|---|---|---|---|"]
        lines += [row(case) for case in CASES if case.group == group]
        lines.append("")
    lines += [f"{len(CASES)} cases.", ""]
    return "\n".join(lines)


def row(case: Case) -> str:
    enforcement = grammar_of(case).enforcement
    cells = [case.title, f"`{shortened(case.schema)}`", masked_cell(enforcement), left_cell(enforcement)]
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def shortened(schema: Any) -> str:
    text = json.dumps(schema, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}..."


EVERYWHERE = ("members in the order", "whole numbers without", "characters as they are")


def masked_cell(enforcement: tuple[Enforcement, ...]) -> str:
    keywords = [entry for entry in enforcement if entry.by == "mask"]
    said = dict.fromkeys(f"`{entry.keyword}`" for entry in keywords)
    reasons = dict.fromkeys(
        entry.reason for entry in keywords if entry.reason and not entry.reason.startswith(EVERYWHERE)
    )
    return ", ".join(said) + "".join(f" ({reason})" for reason in reasons)


def left_cell(enforcement: tuple[Enforcement, ...]) -> str:
    found = [entry for entry in enforcement if entry.by != "mask" and "above it is left" not in entry.reason]
    return "; ".join(dict.fromkeys(f"`{entry.keyword}`: {entry.reason.rstrip('.')}" for entry in found))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
