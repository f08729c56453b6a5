"""The short text that tells a model what is wrong with its arguments and what would be right.

It names for each violation the place, what was found and what would fit, and ends with one valid example of the whole.
Pure wording: the violations come from `compiled` or from a tool's own Python types.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from wieldy.core.json import JsonValue, canonical_json
from wieldy.schema.violations import Violation, render_path

MAX_VIOLATIONS = 8
"""Violations that are spelled out; a model that reads these mends the rest on its next try."""
MAX_SHOWN_CHARACTERS = 80
"""Of an offending value; the model knows what it wrote, it only has to recognise it."""


def explain(violations: Sequence[Violation], *, subject: str, example: JsonValue = None) -> str:
    """What is wrong and what would fit, for a model.

    Args:
        violations: At least one.
        subject: What does not fit, as the start of a sentence: "The arguments of `refund`".
        example: A valid value of the whole; None where there is none to show.
    """
    lines = [f"{subject} do not fit:"]
    lines += [f"- {_line(violation)}" for violation in violations[:MAX_VIOLATIONS]]
    if len(violations) > MAX_VIOLATIONS:
        lines.append(f"- and {len(violations) - MAX_VIOLATIONS} more")
    if example is not None:
        text = json.dumps(example, ensure_ascii=False, separators=(",", ":"))
        lines.append(f"Example of arguments that fit: {text}")
    return "\n".join(lines)


def shown(value: object) -> str:
    """A value as JSON, cut to what is needed to recognise it."""
    try:
        text = canonical_json(value)
    except (ValueError, TypeError, RecursionError):
        text = type(value).__name__
    if len(text) <= MAX_SHOWN_CHARACTERS:
        return text
    return f"{text[:MAX_SHOWN_CHARACTERS]}... ({len(text)} characters)"


def _line(violation: Violation) -> str:
    place = f"`{render_path(violation.path)}`" if violation.path else "the whole"
    if violation.keyword == "required":
        return f"{place} is missing: expected {violation.expected}."
    if violation.keyword == "additionalProperties":
        hint = f"did you mean `{violation.nearest}`?" if violation.nearest else f"expected {violation.expected}."
        return f"{place} is not known: {hint}"
    # What is no JSON has no JSON form: its finder has already put it into words.
    found = violation.found if violation.keyword == "json" else shown(violation.found)
    if violation.reason is not None:
        return f"{place}: {violation.reason}; found {found}."
    return f"{place}: expected {violation.expected}, found {found}."
