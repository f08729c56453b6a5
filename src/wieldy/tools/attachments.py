"""Images and files in what a tool returned: taken out of it, with words that name them left in their places.

Law: a value without images and files is returned as it is, the same object. Deliberately not here: limits on their
size (`run`), and what a model can look at (`connect`).
"""

from __future__ import annotations

import dataclasses
import io
from typing import Any, Final, TypeAlias, cast

from pydantic import BaseModel

from wieldy.core.media import FilePart, ImagePart, data_url, media_type_of, shortened

Attachment: TypeAlias = ImagePart | FilePart

_PLAIN: Final = frozenset((str, int, float, bool, type(None)))
_CONTAINERS: Final = frozenset((dict, list, tuple))


def take_attachments(value: object) -> tuple[object, tuple[Attachment, ...]]:
    """The value with words in place of its images and files, and these.

    Cost: linear in the number of values in lists, tuples, dictionaries, dataclasses and pydantic models.
    """
    if type(value) in _PLAIN or not _has_attachments(value):
        return value, ()
    found: list[Attachment] = []
    return _without(value, found, frozenset()), tuple(found)


def size_bytes(part: Attachment) -> int:
    """How many bytes a `data:` URL carries, about where it is not base64; 0 for others."""
    comma = part.url.find(",") if part.url[:5].lower() == "data:" else -1
    if comma < 0:
        return 0
    payload = len(part.url) - comma - 1
    if not part.url[:comma].lower().endswith(";base64"):
        return payload
    return payload * 3 // 4 - part.url[-2:].count("=")


def human_size(size: int) -> str:
    """The size for people and models."""
    for factor, unit in ((1_000_000, "MB"), (1_000, "kB")):
        if size >= factor:
            return f"{size / factor:.3g} {unit}"
    return f"{size} bytes"


def _has_attachments(value: object) -> bool:
    waiting: list[object] = [value]
    seen: set[int] = set()
    while waiting:
        item = waiting.pop()
        kind = type(item)
        if kind in _PLAIN or id(item) in seen:
            continue
        if kind not in _CONTAINERS and _is_attachment(item):
            return True
        seen.add(id(item))
        members = _members(item)
        if members is not None:
            waiting += members.values() if isinstance(members, dict) else members
    return False


def _members(value: object) -> dict[object, object] | list[object] | tuple[object, ...] | None:
    """What the value holds, where it is of a kind that is looked into."""
    if isinstance(value, dict | list | tuple):
        return cast("dict[object, object] | list[object] | tuple[object, ...]", value)
    if isinstance(value, BaseModel):
        return cast("dict[object, object]", value.__dict__)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    return None


def _without(value: object, found: list[Attachment], above: frozenset[int]) -> object:
    if type(value) in _PLAIN:
        return value
    part = _attachment_of(value) if _is_attachment(value) else None
    if part is not None:
        found.append(part)
        return _words(part, number=len(found))
    members = _members(value)
    if members is None:
        return value
    if id(value) in above:
        raise ValueError("it contains itself")
    above |= {id(value)}
    if isinstance(members, dict):
        return {name: _without(member, found, above) for name, member in members.items()}
    return [_without(member, found, above) for member in members]


def _is_attachment(value: object) -> bool:
    if isinstance(value, ImagePart | FilePart):
        return True
    if type(value) in {bytes, bytearray}:
        return media_type_of(cast("bytes", value)) is not None
    kind = cast("type[Any]", type(value))
    return callable(getattr(kind, "_repr_png_", None)) or _is_figure(value)


def _is_figure(value: object) -> bool:
    return type(value).__module__ == "matplotlib.figure" and hasattr(value, "savefig")


def _attachment_of(value: Any) -> Attachment | None:
    if isinstance(value, ImagePart | FilePart):
        return value
    if isinstance(value, bytes | bytearray):
        return _from_bytes(bytes(value))
    if _is_figure(value):
        picture = io.BytesIO()
        value.savefig(picture, format="png")
        return ImagePart.from_bytes(picture.getvalue())
    # How objects that can be drawn say so to notebooks; images of PIL do.
    picture = value._repr_png_()
    return _from_bytes(picture) if isinstance(picture, bytes) else None


def _from_bytes(data: bytes) -> Attachment | None:
    media_type = media_type_of(data)
    if media_type is None:
        return None
    if media_type.startswith("image/"):
        return ImagePart(url=data_url(data, media_type=media_type))
    return FilePart.from_bytes(data, name=f"file.{media_type.rpartition('/')[2]}", media_type=media_type)


def _words(part: Attachment, *, number: int) -> str:
    """What stands in the text for the part; all of it where it is text."""
    where = human_size(size_bytes(part)) if part.url[:5].lower() == "data:" else shortened(part.url)
    if isinstance(part, ImagePart):
        kind = f"{part.media_type}, " if part.media_type else ""
        return f"[image {number}: {kind}{where}]"
    name = f"[file {number}: {_one_line(part.name)}, {_one_line(part.media_type)}, {where}]"
    return name if part.plain_text is None else f"{name}\n{part.plain_text}"


def _one_line(text: str) -> str:
    return " ".join(text.split())[:200]
