"""What a tool returned: as the text that a model reads, as JSON, and as images and files.

Law: any Python value becomes some text; nothing raises, and what cannot be shown is said in words. Text is shown as it
is, everything that has a JSON form as JSON. Deliberately not here: cutting long results, hiding secrets, and setting
the words of strangers apart (`run`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Awaitable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, cast, get_args

from pydantic import TypeAdapter
from pydantic_core import PydanticSerializationError, to_jsonable_python

from wieldy.core.calls import Trust
from wieldy.core.foreign import plain, text_of, type_name
from wieldy.core.influence import Sources
from wieldy.core.json import JsonValue
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.record import Record
from wieldy.tools.attachments import Attachment, take_attachments

_strict_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode

_ALWAYS_SHOWN = frozenset((str, int, float, bool, type(None), list, dict, tuple))

NOTHING = "The tool ran and returned no value."


class Presented(Record, frozen=True, kw_only=True):
    """What a tool returned, ready for a model; a tool that returns one decides itself how its result is shown.

    Attributes:
        text: For the model; it names the parts.
        structured: The same as JSON, where there is more to it than text.
        parts: Images and files.
        source: Whose words these are, where the tool knows better than by its own name.
        trust: Whether strangers may have shaped them, where that differs from what the tool declares.
        tainted_by: The untrusted sources that had a part in them, where it is untrusted and they have other names.
        note: A remark of the tool itself, shown below the text and apart from it.
        is_error: Whether it tells of a failure of what the model wanted; raising says so too, but brings no parts.
    """

    text: str
    structured: JsonValue = None
    parts: tuple[Attachment, ...] = ()
    source: str | None = None
    trust: Trust | None = None
    tainted_by: Sources = ()
    note: str | None = None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Sourced:
    """A tool returns this to say whose words its result is, where its own name says too little.

    Attributes:
        value: The result, as it would be returned otherwise.
        source: For people and for the model: an address, the name of a file or of a sender.
        trust: Whether strangers may have shaped it; as the tool declares if left out.
    """

    value: object
    source: str
    trust: Trust | None = None


def present(value: object, adapter: TypeAdapter[Any] | None) -> Presented:
    """The text for the model, and the same as JSON where the value has a JSON form that its text does not already show.

    Args:
        value: What the tool returned.
        adapter: Writes values of the type that the tool says it returns; None if it does not say.
    """
    try:
        return _presented(value, adapter)
    except BaseException as error:  # the value's own code runs here: serializers, properties, `__str__`
        said = (text_of(error) or "").strip().partition("\n")[0]
        reason = whole_characters(said) or type_name(error)
        words = f"The tool ran, but the {type_name(value)} that it returned cannot be shown ({reason})."
        return Presented(text=whole_characters(words))


def _presented(value: object, adapter: TypeAdapter[Any] | None) -> Presented:
    if isinstance(value, Presented):
        return _checked(value)
    if isinstance(value, Sourced):
        return _checked(replace(present(value.value, adapter), source=value.source, trust=value.trust))
    if value is None:
        return Presented(text=NOTHING if adapter is None else "null", trust="trusted")  # nobody's words
    if isinstance(value, str) and not isinstance(value, Enum):
        text = whole_characters(plain(value))
        return Presented(text=text, structured=None if adapter is None else text)
    shown, parts = take_attachments(value)
    return _with_parts(shown, tuple(map(_part, parts))) if parts else _plainly(value, adapter)


def _checked(presented: Presented) -> Presented:
    """The same, of what it says that it holds; a tool may have filled it with anything.

    Raises:
        TypeError: It holds something else.
    """
    trust: object = presented.trust
    if trust is not None and (type(trust) is not str or trust not in get_args(Trust)):
        raise TypeError(f"its trust should be one of {get_args(Trust)}, and is {trust!r:.80}")
    structured = presented.structured
    return Presented(
        text=_words_in(presented.text),
        structured=None if structured is None else _plainly(structured, None).structured,
        parts=tuple(map(_part, presented.parts)) if presented.parts else (),
        source=None if presented.source is None else _words_in(presented.source),
        trust=presented.trust,
        tainted_by=tuple(map(_words_in, presented.tainted_by)),
        note=None if presented.note is None else _words_in(presented.note),
        is_error=presented.is_error is True,
    )


def _part(part: object) -> Attachment:
    if isinstance(part, ImagePart):
        return ImagePart(url=_words_in(part.url))
    if isinstance(part, FilePart):
        return FilePart(url=_words_in(part.url), name=_words_in(part.name), media_type=_words_in(part.media_type))
    raise TypeError(f"its parts should be images and files, and one is a {type_name(part)}")


def _words_in(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(f"it should hold text where it holds a {type_name(text)}")
    return whole_characters(plain(text))


def _with_parts(value: object, parts: tuple[Attachment, ...]) -> Presented:
    lines = cast("list[object]", value if isinstance(value, list) else [value])
    texts = [line for line in lines if isinstance(line, str)]
    if len(texts) == len(lines):
        return Presented(text=whole_characters("\n".join(texts)), parts=parts)
    return replace(_plainly(lines if isinstance(value, list) else value, None), parts=parts)


def _plainly(value: object, adapter: TypeAdapter[Any] | None) -> Presented:
    unshowable = _unshowable(value)
    if unshowable is not None:
        return Presented(text=unshowable)
    try:
        structured = _as_json(value, adapter)
    except ValueError as error:
        return _only_as_text(value, error)
    try:
        text = _strict_json(structured)
        text.encode()
    except ValueError:
        structured = _mended(structured)
        text = _strict_json(structured)
    return Presented(text=structured if isinstance(structured, str) else text, structured=structured)


def _only_as_text(value: object, error: ValueError) -> Presented:
    """What is nested too deeply for data that is passed on, as text; else the error is raised."""
    try:
        return Presented(text=whole_characters(_strict_json(value)))
    except (ValueError, TypeError, RecursionError):
        raise error from None


def _unshowable(value: Any) -> str | None:
    """The words for what is not meant to be read; text in bytes is."""
    if type(value) in _ALWAYS_SHOWN:
        return None
    content = _bytes(value)
    if content is not None:
        try:
            return content.decode()
        except UnicodeDecodeError:
            return f"The tool returned {len(content)} bytes that are not text."
    name = type(value).__name__
    if isinstance(value, Iterator | Awaitable):
        # Not run through: it may never end, and reading it is work that belongs into the tool.
        return f"The tool ran, but returned a {name} instead of a result; it has to return a list or a value."
    return None


def _bytes(value: Any) -> bytes | None:
    return bytes(value) if type(value) in {bytes, bytearray, memoryview} else None


def _as_json(value: object, adapter: TypeAdapter[Any] | None) -> JsonValue:
    if adapter is not None:
        try:
            # What `dump_python` does, without its detour.
            return adapter.serializer.to_python(value, mode="json", warnings="error")
        except (PydanticSerializationError, UnicodeDecodeError):
            pass  # it returned something else than it says; that is shown as what it is
    try:
        return to_jsonable_python(value, fallback=_described)
    except UnicodeDecodeError:
        return to_jsonable_python(value, fallback=_described, bytes_mode="base64")


def _described(value: Any) -> object:
    """The nearest thing with a JSON form: a plain list or number, else its own words, else its type."""
    plain = getattr(value, "tolist", None)  # numpy's arrays and numbers, and what imitates them
    if callable(plain):
        return plain()
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {value}"
    content = _bytes(value)
    if content is not None:
        return f"{len(content)} bytes"
    # The default text holds an address, which says nothing and differs from run to run.
    return str(value) if type(value).__str__ is not object.__str__ else f"a {type(value).__qualname__} object"


def _mended(value: JsonValue) -> JsonValue:
    match value:
        case str():
            return whole_characters(value)
        case float() if not math.isfinite(value):
            return str(value)
        case list():
            return [_mended(item) for item in value]
        case dict():
            return {whole_characters(name): _mended(item) for name, item in value.items()}
        case _:
            return value


def whole_characters(text: str) -> str:
    """The text without halves of surrogate pairs, which no encoding has."""
    if text.isascii():
        return text
    # By way of UTF-16, so that two halves that belong together become one character.
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
