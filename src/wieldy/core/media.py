"""Images and files, as messages and results carry them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ImagePart:
    """An image by URL; `data:` URLs carry the bytes themselves."""

    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """A file by URL; `data:` URLs carry the bytes themselves.

    Attributes:
        name: As people know it, without folders.
        media_type: Such as `application/pdf`.
    """

    name: str
    media_type: str
    url: str
