"""What a server answered to a call, a question for a resource or a prompt, as a result for a model.

Law: nothing that a server sent is lost: what is not known is shown as JSON, and data that stands in the text already is
not shown twice. Pure. Deliberately not here: cutting what is long, and setting the words of strangers apart
(`run.results`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

from wieldy.core.json import JsonObject, JsonValue
from wieldy.core.media import FilePart, ImagePart
from wieldy.schema import explain
from wieldy.tools.attachments import Attachment, human_size, size_bytes
from wieldy.tools.present import NOTHING, Presented

if TYPE_CHECKING:
    from wieldy.schema import CompiledSchema

_MOST_OF_A_VIOLATION: Final = 600


def presented(result: JsonObject, *, output: CompiledSchema | None = None) -> Presented:
    """The result of a call.

    Args:
        result: As the server sent it.
        output: What its data must be, if the tool says so.
    """
    reading = _Reading()
    for block in _blocks(result.get("content")):
        reading.take(block)
    data = result.get("structuredContent")
    is_error = result.get("isError") is True
    if data is not None and not reading.says(data):
        reading.texts.append(_written(data))
    return Presented(
        text="\n".join(reading.texts) or NOTHING,
        structured=data,
        parts=tuple(reading.parts),
        note=None if is_error or output is None else _misfit(data, output),
        is_error=is_error,
    )


def blocks(result: JsonObject) -> list[JsonValue]:
    """The content of the result of a call for a client: as the server sent it, and what no client knows as text."""
    return [
        block if _is_known(block) else {"type": "text", "text": _written(block)}
        for block in _blocks(result.get("content"))
    ]


def presented_contents(contents: JsonValue) -> Presented:
    """What a resource holds: the parts of the answer to `resources/read`."""
    reading = _Reading()
    for item in _blocks(contents):
        reading.take({"type": "resource", "resource": item})
    return Presented(text="\n".join(reading.texts) or NOTHING, parts=tuple(reading.parts))


def presented_messages(result: JsonObject) -> Presented:
    """A prompt that was filled in: who says what."""
    reading = _Reading()
    for message in _blocks(result.get("messages")):
        known = cast("JsonObject", message) if isinstance(message, dict) else {}
        reading.texts.append(f"{known.get('role', 'user')}:")
        reading.take(known.get("content", message))
    return Presented(text="\n".join(reading.texts) or NOTHING, parts=tuple(reading.parts))


@dataclass(slots=True)
class _Reading:
    """What was read so far, in order."""

    texts: list[str] = field(default_factory=list[str])
    parts: list[Attachment] = field(default_factory=list[Attachment])

    def take(self, block: JsonValue) -> None:
        match block:
            case {"type": "text", "text": str(text)}:
                self.texts.append(text)
            case {"type": "image", "data": str(data), "mimeType": str(kind)}:
                self._attach(ImagePart(url=f"data:{kind};base64,{data}"), kind)
            case {"type": "audio", "data": str(data), "mimeType": str(kind)}:
                self._attach_file(f"audio.{kind.rpartition('/')[2]}", kind, data)
            case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)}}:
                self.texts.append(f"[resource {uri}]\n{text}")
            case {"type": "resource", "resource": {"uri": str(uri), "blob": str(data), **more}}:
                kind = more.get("mimeType")
                self._attach_blob(uri, kind if isinstance(kind, str) else "application/octet-stream", data)
            case {"type": "resource_link", "uri": str(uri), **more}:
                self.texts.append(_link(uri, more))
            case str():
                self.texts.append(block)
            case _:
                self.texts.append(_written(block))

    def says(self, data: JsonValue) -> bool:
        """Whether the text holds this data already, in one block or one block for each item."""
        if not self.texts:
            return False
        # A server may have to put what is no object into one.
        inner = data["result"] if isinstance(data, dict) and set(data) == {"result"} else data
        read = [_read(text) for text in self.texts]
        shown = read[0] if len(read) == 1 else read
        return shown in (data, inner) or "\n".join(self.texts) == inner

    def _attach_blob(self, uri: str, kind: str, data: str) -> None:
        if kind.startswith("image/"):
            self._attach(ImagePart(url=f"data:{kind};base64,{data}"), kind)
        else:
            self._attach_file(uri.rpartition("/")[2] or uri, kind, data)

    def _attach_file(self, name: str, kind: str, data: str) -> None:
        self._attach(FilePart(name=name, media_type=kind, url=f"data:{kind};base64,{data}"), f"{name}, {kind}")

    def _attach(self, part: Attachment, what: str) -> None:
        self.parts.append(part)
        word = "image" if isinstance(part, ImagePart) else "file"
        self.texts.append(f"[{word} {len(self.parts)}: {what}, {human_size(size_bytes(part))}]")


def _is_known(block: JsonValue) -> bool:
    match block:
        case (
            {"type": "text", "text": str()}
            | {"type": "image" | "audio", "data": str(), "mimeType": str()}
            | {"type": "resource", "resource": {"uri": str(), "text": str()} | {"uri": str(), "blob": str()}}
            | {"type": "resource_link", "uri": str(), "name": str()}
        ):
            return True
        case _:
            return False


def _read(text: str) -> object:
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):
        return text


def _blocks(value: JsonValue) -> list[JsonValue]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _written(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


def _link(uri: str, more: JsonObject) -> str:
    said = [str(more[name]) for name in ("title", "name", "mimeType", "description") if isinstance(more.get(name), str)]
    return f"[link to the resource {uri}" + (f": {'; '.join(said)}]" if said else "]")


def _misfit(data: JsonValue, output: CompiledSchema) -> str | None:
    if data is None:
        return "The tool promises data with its result and sent none; what it sent is shown."
    violations = output.violations(data)
    if not violations:
        return None
    why = explain(violations, subject="The data of this result")
    return f"The result is not what the tool promises, and is shown as it came. {why[:_MOST_OF_A_VIOLATION]}"


def is_longer(value: JsonValue, most: int) -> bool:
    """Whether the texts of a value have more characters together than this, names included."""
    return characters_left(value, most) < 0


def characters_left(value: JsonValue, most: int) -> int:
    """What is left of so many characters after the texts of a value; below 0 where they are not enough."""
    left, rest = most, [value]
    while rest and left >= 0:
        match rest.pop():
            case str(text):
                left -= len(text)
            case dict(entries):
                rest += [*entries, *entries.values()]
            case list(items):
                rest += items
            case _:
                left -= 1
    return left
