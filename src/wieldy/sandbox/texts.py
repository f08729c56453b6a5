"""What code printed, as text that does nothing to a terminal or a page, and file names that name no other place."""

from __future__ import annotations

import re
from mimetypes import MimeTypes
from typing import Final

from wieldy.core.escape_sequences import without_sequences

_NOT_EVERYWHERE: Final = re.compile(r'[\x00-\x1f\x7f-\x9f\\:*?"<>|\ud800-\udfff]')
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NAME_CHARACTERS: Final = 255
_PATH_CHARACTERS: Final = 1000


def printed(content: bytes) -> str:
    """The text without escape sequences and control characters, of which line ends and tabs are kept."""
    if not content:
        return ""
    text = content.decode("utf-8", "replace").replace("\r\n", "\n")
    return _CONTROLS.sub("", without_sequences(text))


def leads_elsewhere(name: str) -> bool:
    """Whether the name is none of a file beneath where it stands."""
    return any(part in ("", ".", "..") for part in name.split("/"))


def is_file_name(name: str) -> bool:
    """Whether the name is a relative path that leads nowhere else, on any system, and can be shown."""
    if not name or leads_elsewhere(name) or len(name) > _PATH_CHARACTERS or _NOT_EVERYWHERE.search(name):
        return False
    return all(len(part) <= _NAME_CHARACTERS for part in name.split("/"))


def shown_name(name: str) -> str:
    """Any name, in quotes and with what cannot be shown spelled out."""
    short = name if len(name) <= _NAME_CHARACTERS else f"{name[:_NAME_CHARACTERS]}..."
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in f'"{short}"')


def media_type_of(name: str) -> str:
    """By the ending of the name, from the table that comes with Python, not the machine's."""
    media_type, encoding = MimeTypes(filenames=()).guess_type(name.lower())
    return media_type if media_type and not encoding else "application/octet-stream"
