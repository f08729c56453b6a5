"""Images and files, as messages and results carry them: by URL, where `data:` URLs hold the bytes themselves.

Deliberately not here: looking into images and files, fetching what a URL points to, and which kinds a model takes.
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Final, Self, cast
from urllib.parse import unquote_to_bytes

from wieldy.core.errors import UsageError

if TYPE_CHECKING:
    import os

_BEGINNINGS: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
)

# A table of our own, because the system's differs from machine to machine.
_ENDINGS: Final = {
    ".css": "text/css",
    ".csv": "text/csv",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".gif": "image/gif",
    ".htm": "text/html",
    ".html": "text/html",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".js": "text/javascript",
    ".json": "application/json",
    ".md": "text/markdown",
    ".mp3": "audio/mpeg",
    ".mp4": "video/mp4",
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".py": "text/x-python",
    ".svg": "image/svg+xml",
    ".tsv": "text/tab-separated-values",
    ".txt": "text/plain",
    ".wav": "audio/wav",
    ".webp": "image/webp",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".xml": "application/xml",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
    ".zip": "application/zip",
}
_TEXT_TYPES: Final = ("application/json", "application/xml", "application/yaml")
_COMMON_IMAGES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")
UNKNOWN_MEDIA_TYPE: Final = "application/octet-stream"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ImagePart:
    """An image by URL; `data:` URLs carry the bytes themselves."""

    url: str

    def __repr__(self) -> str:
        return f"ImagePart(url={shortened(self.url)!r})"

    @classmethod
    def from_bytes(cls, data: bytes, *, media_type: str | None = None) -> Self:
        """The image that these bytes are; PNG, JPEG, GIF and WebP are recognised.

        Raises:
            UsageError: They are of another kind, and `media_type` does not say which.
        """
        found = media_type or media_type_of(_checked(data))
        if found is None or not found.startswith("image/"):
            raise UsageError(
                "Expected the bytes of a PNG, JPEG, GIF or WebP image, or media_type='image/...', "
                f"found {found or f'{len(data)} bytes of another kind'}."
            )
        return cls(url=data_url(data, media_type=found))

    @classmethod
    def from_path(cls, path: str | os.PathLike[str], *, media_type: str | None = None) -> Self:
        """The image in a file.

        Raises:
            OSError: The file cannot be read.
            UsageError: It does not hold an image.
        """
        data = Path(path).read_bytes()
        return cls.from_bytes(data, media_type=media_type or media_type_of(data) or media_type_of_name(Path(path).name))

    @property
    def media_type(self) -> str | None:
        """What a `data:` URL says it is; None for other URLs."""
        return media_type_in(self.url)

    @property
    def is_common(self) -> bool:
        """Whether models that take images take this one: PNG, JPEG, GIF or WebP in base64, or by its address."""
        if self.url.startswith(("https://", "http://")):
            return True
        return self.media_type in _COMMON_IMAGES and is_base64(self.url)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class FilePart:
    """A file by URL; `data:` URLs carry the bytes themselves.

    Attributes:
        name: As people know it, without folders.
        media_type: Such as `application/pdf`.
    """

    name: str
    media_type: str
    url: str

    def __repr__(self) -> str:
        return f"FilePart(name={self.name!r}, media_type={self.media_type!r}, url={shortened(self.url)!r})"

    @classmethod
    def from_bytes(cls, data: bytes, *, name: str, media_type: str | None = None) -> Self:
        """The file that these bytes are; where `media_type` is left out, the name's ending and the bytes say it."""
        found = media_type or media_type_of_name(name) or media_type_of(_checked(data)) or UNKNOWN_MEDIA_TYPE
        return cls(name=PurePath(name).name or "file", media_type=found, url=data_url(data, media_type=found))

    @classmethod
    def from_path(cls, path: str | os.PathLike[str], *, name: str | None = None, media_type: str | None = None) -> Self:
        """The file as it is now.

        Raises:
            OSError: It cannot be read.
        """
        return cls.from_bytes(Path(path).read_bytes(), name=name or Path(path).name, media_type=media_type)

    @property
    def plain_text(self) -> str | None:
        """The words of a file of text; None for any other file, and for one that is elsewhere."""
        kind = self.media_type.partition(";")[0].strip().lower()
        if not kind.startswith("text/") and kind not in _TEXT_TYPES and not kind.endswith(("+json", "+xml")):
            return None
        data = read_data_url(self.url)
        try:
            return None if data is None else data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None


def media_type_of(data: bytes) -> str | None:
    """What bytes are by their beginning: an image of a common kind or a PDF; None for anything else."""
    beginning = bytes(data[:16])
    if beginning[:4] == b"RIFF" and beginning[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for magic, kind in _BEGINNINGS if beginning.startswith(magic)), None)


def media_type_of_name(name: str) -> str | None:
    """What a file is by the ending of its name; None where that says nothing."""
    return _ENDINGS.get(PurePath(name).suffix.lower())


def data_url(data: bytes, *, media_type: str) -> str:
    """The bytes as a URL."""
    return f"data:{media_type};base64,{base64.b64encode(_checked(data)).decode('ascii')}"


def read_data_url(url: str) -> bytes | None:
    """The bytes that a `data:` URL carries; None for other URLs and for what cannot be read."""
    head, comma, payload = url.partition(",")
    if not comma or not head.lower().startswith("data:"):
        return None
    raw = unquote_to_bytes(payload)
    if not head.lower().endswith(";base64"):
        return raw
    try:
        return base64.b64decode(raw, validate=True)
    except (binascii.Error, ValueError):
        return None


def is_base64(url: str) -> bool:
    """Whether this is a `data:` URL that carries something in base64, spelt as all wires take it."""
    head, comma, payload = url.partition(",")
    return bool(comma and payload) and head.startswith("data:") and head.endswith(";base64")


def shortened(url: str) -> str:
    """The URL for people: not more than its beginning."""
    return url if len(url) <= 100 else f"{url[:60]}… ({len(url)} characters)"


def media_type_in(url: str) -> str | None:
    """What a `data:` URL says that it carries; None for other URLs."""
    head, comma, _ = url[:200].partition(",")
    if not comma or not head.lower().startswith("data:"):
        return None
    return head[5:].partition(";")[0].strip().lower() or "text/plain"


def _checked(data: object) -> bytes:
    # A path or a text in place of bytes is a likely mistake.
    if isinstance(data, bytes | bytearray | memoryview):
        return bytes(cast("bytes", data))
    raise UsageError(f"Expected bytes, found {type(data).__name__}. Use from_path(...) for a file.")
