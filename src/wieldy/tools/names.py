"""The names that tools may have: what every provider takes."""

from __future__ import annotations

import re

from wieldy.core.errors import UsageError

MAX_NAME_LENGTH = 64
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
