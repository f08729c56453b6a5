"""The names that tools may have: what every provider takes, and how a longer one becomes such a name."""

from __future__ import annotations

import re
from typing import Final

from wieldy.core.errors import UsageError
from wieldy.core.json import digest

MAX_NAME_LENGTH: Final = 64
MAX_PREFIX_LENGTH: Final = MAX_NAME_LENGTH // 2
DIGITS: Final = 8
"""Of the digest in which a name ends that was made shorter."""
_NAME = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_NAME_LENGTH}}}")


def check_name(name: object, *, subject: str, error: type[UsageError]) -> str:
    """The name, found to be one.

    Raises:
        UsageError: It is not; raised as `error`.
    """
    if isinstance(name, str) and _NAME.fullmatch(name):
        return name
    found = (
        f"{name!r} of {len(name)} characters" if isinstance(name, str) and len(name) > MAX_NAME_LENGTH else repr(name)
    )
    raise error(
        f"{subject}: expected a name of 1 to {MAX_NAME_LENGTH} letters A-Z, digits, '_' and '-', found {found}."
    )


def check_prefix(prefix: object) -> str:
    """The prefix, found to be one: of the letters of names, and not too long for names behind it.

    Raises:
        UsageError: It is not.
    """
    if isinstance(prefix, str) and len(prefix) <= MAX_PREFIX_LENGTH and (not prefix or _NAME.fullmatch(prefix)):
        return prefix
    raise UsageError(
        f"Expected a prefix of at most {MAX_PREFIX_LENGTH} letters A-Z, digits, '_' and '-', found {prefix!r}."
    )


def shortened(prefix: str, name: str, *own: object) -> str:
    """A name that fits: the prefix, the beginning of the name, and a digest of what it stands for.

    Args:
        prefix: Left as it is; at most `MAX_PREFIX_LENGTH` characters.
        name: What is cut. It does not end in underscores, of which two would look like the end of a prefix.
        own: What the name stands for, told apart from all others.
    """
    room = MAX_NAME_LENGTH - len(prefix) - DIGITS - 1
    return f"{prefix}{name[:room].rstrip('_')}_{digest(*own)[:DIGITS]}"
