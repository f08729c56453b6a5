"""Answers that must be something, on the command line: read from a file, and in words.

Deliberately not here: reading answers (`wieldy.run.outputs`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from wieldy.apps.cli.facts import counted
from wieldy.apps.cli.formats_input import read_json
from wieldy.core.errors import UsageError
from wieldy.core.outputs import ChoiceOutput, Incomplete, JsonOutput, Output, PatternOutput
from wieldy.run.outputs import reader_of
from wieldy.run.records import output_from_json

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject
    from wieldy.run.state import RunState


def read_schema(place: str) -> Output:
    """What the JSON Schema in a file wants.

    Raises:
        UsageError: The file holds none.
    """
    value = read_json(place)
    if not isinstance(value, dict):
        raise UsageError(f"{place}: expected a JSON Schema, which is an object, found something else.")
    try:
        return reader_of(cast("JsonObject", value)).output
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from error


def wanted_of(state: RunState) -> Output | None:
    """What the answer of a recorded run must be; None for any text."""
    return None if state.output is None else output_from_json(state.output)


def value_of(state: RunState) -> object:
    """The answer of a recorded run as what it must be; None for any text, and for a run that is not over."""
    wanted = wanted_of(state)
    return (
        None
        if wanted is None or state.status != "finished"
        else reader_of(wanted).read(state.text, is_cut=state.is_cut)
    )


def in_short(state: RunState) -> str:
    """What the answer of a recorded run must be, and whether it is; empty for any text."""
    wanted = wanted_of(state)
    if wanted is None:
        return ""
    value = value_of(state)
    if isinstance(value, Incomplete):
        return f"{_named(wanted)}, which the answer is not"
    if not state.forced:
        return _named(wanted)
    return f"{_named(wanted)}; the token budget decided {', '.join(pointer or 'all' for pointer in state.forced)}"


def _named(wanted: Output) -> str:
    match wanted:
        case JsonOutput(name=name):
            return f"JSON that fits a schema ({name})"
        case ChoiceOutput(options=options):
            return f"one of {counted(len(options), 'option')}"
        case PatternOutput(pattern=pattern):
            return f"a text that matches {pattern}"
