"""What the commands about chat formats are given: files and standard input as messages, tools, templates and text.

Whatever stands in a file, a `UsageError` says what was expected and what was found.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TypeVar, cast

from wieldy.apps.cli.failures import note
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message, messages_from
from wieldy.formats.reading.tool_index import ToolIndex, ToolLike
from wieldy.formats.templates.template import ChatTemplate

T = TypeVar("T")

STANDARD_INPUT = "-"
MAX_BYTES = 64 * 1024 * 1024
"""The longest file or input that is read."""
MAX_TEMPLATE_BYTES = 16 * 1024 * 1024
"""The longest template or tokenizer file that is read; the header of a model file has its own limits."""
TEMPLATE_FILES = ("chat_template.jinja", "tokenizer_config.json", "chat_template.json")
"""Where a model's folder has its template, the first that is there."""


def refuse_two_readers(first: str, second: str | None) -> None:
    """Nothing, unless both are standard input, which can be read only once.

    Raises:
        UsageError: They are.
    """
    if first == second == STANDARD_INPUT:
        raise UsageError(
            "Expected standard input (-) to be used once, found it used twice. Give one of them as a file."
        )


def read_messages(place: str) -> tuple[Message, ...]:
    """The conversation in a JSON file.

    Raises:
        UsageError: It is none.
    """
    value = read_json(place)
    if not isinstance(value, str | list):
        raise UsageError(f"{_named(place)}: expected a JSON list of messages or one string, found {_kind(value)}.")
    return _with_place(place, lambda: messages_from(cast("str | list[Any]", value)))


def read_tools(place: str | None) -> Sequence[ToolLike]:
    """The tools in a JSON or Python file; none for None.

    Raises:
        UsageError: There are none in it.
    """
    if place is None:
        return ()
    if place.endswith(".py"):
        # Loading tools imports pydantic, which only tools written in Python need.
        from wieldy.apps.cli.tools_file import load_tools  # noqa: PLC0415

        return load_tools([Path(place)]).tools
    value = read_json(place)
    if not isinstance(value, list):
        raise UsageError(f"{_named(place)}: expected a JSON list of OpenAI-style tools, found {_kind(value)}.")
    return _with_place(place, lambda: ToolIndex(cast("list[Any]", value)).definitions)


def read_reply() -> str:
    """The reply on standard input; bytes that are no UTF-8 become U+FFFD, and that is told."""
    data = _read(STANDARD_INPUT, limit_bytes=MAX_BYTES)
    text = data.decode("utf-8", "replace")
    if "\ufffd" in text and text.encode("utf-8") != data:
        note("Some bytes of standard input were not UTF-8; each such stretch was read as U+FFFD.")
    return text


def read_template(place: str) -> ChatTemplate:
    """The chat template in a Jinja file, a tokenizer's file, a model file or a model's folder.

    Raises:
        UsageError: There is none in it.
        ModelNotAvailableError: A model file cannot be read or holds none.
    """
    path = Path(place)
    if path.is_dir():
        found = next((path / name for name in TEMPLATE_FILES if (path / name).is_file()), None)
        if found is None:
            raise UsageError(f"{place}: expected a folder with one of {', '.join(TEMPLATE_FILES)}, found none of them.")
        return read_template(str(found))
    if place != STANDARD_INPUT and _is_model_file(path):
        # Reading weights needs the model room, which templates alone do not.
        from wieldy.connect.models.chat_template import template_in  # noqa: PLC0415
        from wieldy.connect.models.gguf import read_metadata  # noqa: PLC0415

        held = template_in(read_metadata(path))
        return _with_place(
            place, lambda: ChatTemplate(held.text, tokens=held.tokens, control_tokens=held.control_tokens)
        )
    text = _decoded(place, _read(place, limit_bytes=MAX_TEMPLATE_BYTES))
    if not text.strip():
        raise UsageError(f"{_named(place)}: expected a chat template, found nothing.")
    settings = _settings(place, text)
    if settings is None:
        return _with_place(place, lambda: ChatTemplate(text))
    source = settings.get("chat_template")
    if source is None:
        raise UsageError(
            f"{place}: expected a 'chat_template' in the tokenizer's settings, found none. "
            "It may stand in a file of its own, chat_template.jinja."
        )
    return _with_place(place, lambda: ChatTemplate(source, tokens=_named_tokens(settings)))


def _is_model_file(path: Path) -> bool:
    if path.suffix.lower() == ".gguf":
        return True
    if not path.is_file():  # from a pipe, nothing can be read twice
        return False
    try:
        with path.open("rb") as file:
            return file.read(4) == b"GGUF"
    except OSError:
        return False  # told where it is read


def _settings(place: str, text: str) -> Mapping[str, Any] | None:
    """The tokenizer's settings, if the text is any; a template that happens to be JSON is none."""
    try:
        value: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        if place.endswith(".json"):
            raise UsageError(f"{place}: expected JSON, found something else ({error}).") from error
        return None
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else None


def _named_tokens(settings: Mapping[str, Any]) -> dict[str, str]:
    tokens: dict[str, str] = {}
    for name in ("bos_token", "eos_token"):
        match settings.get(name):
            case str(text) | {"content": str(text)}:
                tokens[name] = text
            case _:
                pass
    return tokens


def read_json(place: str) -> object:
    """The JSON in a file.

    Raises:
        UsageError: There is none in it.
    """
    text = _decoded(place, _read(place, limit_bytes=MAX_BYTES))
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise UsageError(f"{_named(place)}: expected JSON, found brackets nested too deeply to be read.") from error
    except ValueError as error:
        raise UsageError(f"{_named(place)}: expected JSON, found something else: {error}.") from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON value")


def _read(place: str, *, limit_bytes: int) -> bytes:
    try:
        if place == STANDARD_INPUT:
            data = _limited(sys.stdin.buffer if sys.stdin else None, limit_bytes)
        else:
            with Path(place).open("rb") as file:
                data = _limited(file, limit_bytes)
    except (OSError, ValueError) as error:  # a null character in a path is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{_named(place)}: the file cannot be read: {reason}.") from error
    if len(data) > limit_bytes:
        raise UsageError(f"{_named(place)}: expected at most {limit_bytes // 2**20} MiB, found more.")
    return data


def _limited(file: BinaryIO | None, limit_bytes: int) -> bytes:
    return file.read(limit_bytes + 1) if file else b""


def _decoded(place: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{_named(place)}: expected text in UTF-8, found other bytes at {error.start}.") from error


def _with_place(place: str, read: Callable[[], T]) -> T:
    try:
        return read()
    except UsageError as error:
        raise UsageError(f"{_named(place)}: {error}") from error


def _named(place: str) -> str:
    return "standard input" if place == STANDARD_INPUT else place


def _kind(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "a string"
        case dict():
            return "an object"
        case list():
            return "a list"
        case _:
            return "a number"
