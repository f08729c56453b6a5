"""How programs say what an answer must be: a Python type, a JSON Schema, options, or a compiled regular expression.

Options that are texts are answered as they are, without quotes; so are the values of an `Enum` and of a `Literal`. What
is no choice and no pattern is JSON. Deliberately not here: reading answers (`readers`).
"""

from __future__ import annotations

import re
import typing
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, EnumMeta
from typing import Any, Final, Literal, TypeAlias, cast

from wieldy.core.errors import UsageError
from wieldy.core.json import JsonObject, canonical_json
from wieldy.core.outputs import ChoiceOutput, JsonOutput, Output, PatternOutput
from wieldy.run.outputs.readers import ChoiceReader, JsonReader, OutputReader, PatternReader
from wieldy.schema import CompiledSchema, example
from wieldy.schema.from_types import PYTHON_FORMATS, value_type

OutputSpec: TypeAlias = Any
"""A Pydantic model, a dataclass, a TypedDict or any other type that JSON can carry (`list[Invoice]`, `Literal`, an
`Enum`); a JSON Schema as a dictionary; a list of options; a compiled regular expression. A type checker has no name for
all of them."""

_NAME_CHARACTERS: Final = 64
_SCALARS: Final = (str, int, float, bool, type(None))


def reader_of(spec: OutputSpec) -> OutputReader:
    """What is meant, ready to read answers.

    Raises:
        UsageError: It is none of these, or no answer could ever fit it.
    """
    if isinstance(spec, re.Pattern):
        return _pattern(cast("re.Pattern[Any]", spec))
    if isinstance(spec, list | tuple):
        return _choice(cast("Sequence[object]", spec))
    if isinstance(spec, JsonOutput | ChoiceOutput | PatternOutput):
        return _of_output(spec)
    if isinstance(spec, Mapping):
        return _schema(dict(cast("Mapping[str, Any]", spec)))
    if isinstance(spec, str | bytes | int | float) or spec is None:
        raise UsageError(
            f"Expected an output as a type, a JSON Schema, a list of options or a compiled regular expression, found "
            f"{spec!r:.200}."
        )
    return _named_options(spec) or _type(spec)


def _of_output(output: Output) -> OutputReader:
    match output:
        case JsonOutput():
            return JsonReader(output=output, schema=_possible(CompiledSchema(output.schema)))
        case ChoiceOutput():
            return _choice(output.options)
        case PatternOutput():
            return _pattern(_compiled(output.pattern))


def _schema(schema: JsonObject) -> JsonReader:
    compiled = _possible(CompiledSchema(schema))
    return JsonReader(output=JsonOutput(schema=schema, name=_name(schema.get("title"))), schema=compiled)


def _type(annotation: Any) -> JsonReader:
    adapter, schema = value_type(annotation)
    compiled = _possible(CompiledSchema(schema, formats=PYTHON_FORMATS))
    output = JsonOutput(schema=schema, name=_name(getattr(annotation, "__name__", None)))
    return JsonReader(output=output, schema=compiled, adapter=adapter)


def _possible(schema: CompiledSchema) -> CompiledSchema:
    """The schema, if a value may fit it.

    Raises:
        UsageError: It is certain that none does.
    """
    # What a schema means is worked out by the room of constraints, which a program without outputs does not need.
    from wieldy.grammar.lowering.lowered import NOTHING_FITS, lowered  # noqa: PLC0415

    for entry in lowered(schema.document).refused:
        # Constraints may be narrower than the validator, so that an example tells that it is the constraint's fault.
        if entry.reason == NOTHING_FITS and example(schema) is None:
            raise UsageError(
                f"Expected an output that some answer fits, found a schema that none does: `{entry.keyword}` at "
                f"{entry.pointer} leaves nothing."
            )
    return schema


def _named_options(annotation: Any) -> ChoiceReader | None:
    """The choice that an `Enum` or a `Literal` is; None for all else, and where only JSON tells its values apart."""
    if isinstance(annotation, EnumMeta):
        members = list(cast("Iterable[Enum]", annotation))
        values = {_option(member.value): member for member in members}
        count = len(members)
    elif typing.get_origin(annotation) is Literal:
        said = typing.get_args(annotation)
        values = {_option(value): value for value in said}
        count = len(said)
    else:
        return None
    if not count:
        raise UsageError(f"Expected an output that some answer fits, found {annotation!r:.200}, which has no members.")
    if not _are_distinct(values, count):
        return None
    return ChoiceReader(output=ChoiceOutput(options=tuple(cast("Iterable[str]", values))), values=cast("Any", values))


def _choice(options: Sequence[object]) -> ChoiceReader:
    values = {_option(option): option for option in options}
    if None in values:
        odd = values[None]
        raise UsageError(f"Expected options that are text, numbers, true, false or null, found {odd!r:.200}.")
    if not options or not _are_distinct(values, len(options)):
        raise UsageError(
            f"Expected at least one option, none of them empty and no two written alike (white space around them does "
            f"not count), found {list(options)!r:.200}."
        )
    texts = cast("dict[str, object]", values)
    return ChoiceReader(output=ChoiceOutput(options=tuple(texts)), values=texts)


def _are_distinct(options: Iterable[str | None], count: int) -> bool:
    """Whether so many values are texts that can be told apart, also where white space around them is lost."""
    texts = {option.strip() for option in options if option is not None}
    return len(texts) == count and "" not in texts


def _option(value: object) -> str | None:
    """How a value is written as an option; None for one that cannot be.

    Raises:
        UsageError: It holds half a character.
    """
    if isinstance(value, Enum):
        return _option(value.value)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return None
    if isinstance(value, str):
        return _whole(str.__str__(value))
    return canonical_json(value) if type(value) in _SCALARS else None


def _whole(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"Expected text, found half a character in it, which no answer can hold: {text!a}.") from None
    return text


def _pattern(pattern: re.Pattern[Any]) -> PatternReader:
    if not isinstance(pattern.pattern, str):
        raise UsageError(f"Expected a regular expression over text, found one over bytes: {pattern.pattern!r:.200}.")
    _whole(pattern.pattern)
    flags = re.RegexFlag(pattern.flags & ~re.UNICODE)
    if flags:
        raise UsageError(
            f"Expected a regular expression without flags, found {flags!r}: a model can only be held to what is "
            "written in the expression. Write out what is meant, for example [aA] for a letter of either case."
        )
    return PatternReader(output=PatternOutput(pattern=pattern.pattern), pattern=pattern)


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        raise UsageError(f"Expected a regular expression, found {pattern!r:.200} ({error}).") from error


def _name(name: object) -> str:
    """A name that every protocol takes."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")[:_NAME_CHARACTERS] if isinstance(name, str) else ""
    return plain or "answer"
