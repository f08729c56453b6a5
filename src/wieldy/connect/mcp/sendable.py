"""What can be handed to a program that is started, or sent to a server: why a text cannot, before it is tried.

The texts themselves are not repeated: there may be secrets in them. Pure.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import urlsplit

_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
"""What the name of a header is made of (RFC 9110, section 5.6.2)."""

_HEADER_VALUE: Final = re.compile(r"[\t\x20-\x7e]*")
_NOT_IN_URL: Final = re.compile(r"[\x00-\x20\x7f]")


def why_no_argument(text: str) -> str:
    """Why no program can be given this text; empty if one can."""
    return "expected a text without the character 0, found one with it" if "\0" in text else ""


def why_no_variable(name: str) -> str:
    """Why no environment can have a variable of this name; empty if one can."""
    return (
        "" if name and "=" not in name and "\0" not in name else "expected the name of a variable, found another text"
    )


def why_no_header(name: str, value: str) -> str:
    """Why a request cannot have this header; empty if one can."""
    if not _TOKEN.fullmatch(name):
        return "expected the name of a header, of letters, digits and -, found another text"
    if not _HEADER_VALUE.fullmatch(value):
        return "expected a value of ASCII characters in one line, found others in it"
    return ""


def why_no_url(url: str) -> str:
    """Why this is no address of a server; empty if it is one."""
    expected = "expected a URL that begins with http:// or https://"
    if _NOT_IN_URL.search(url):
        return f"{expected} and holds no spaces and control characters, found one that does"
    try:
        parts = urlsplit(url)
        is_one = parts.scheme.lower() in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of the port, or of the brackets
        return f"{expected}, found one whose host or port cannot be read"
    return "" if is_one else f"{expected}, found another text"
