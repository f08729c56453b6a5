"""Names of tools and of their parameters as Python identifiers, by fixed rules.

A character that cannot stand in an identifier becomes `_`; a name that begins with a digit, has nothing but `_`, or
begins with two of them or as our own names do, gets `tool` in front; one that means something in Python already
(`print`, `class`) gets `_` behind. Deliberately not here: what is done with them (`stubs`).
"""

from __future__ import annotations

import builtins
import keyword
import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from wieldy.core.errors import UsageError

PRELUDE_NAMES: Final = frozenset({"asyncio", "json", "ToolError", "call", "call_sync"})
"""What code finds in its namespace beside the tools."""

_RESERVED: Final = frozenset({*keyword.kwlist, *dir(builtins), *PRELUDE_NAMES})
_REFUSED_AS_PARAMETERS: Final = frozenset({*keyword.kwlist, "__debug__"})
_FOREIGN: Final = re.compile(r"\W")

INTERNAL: Final = "_wieldy"
"""How the names of our own code in the guest begin."""


def identifiers(tool_names: Iterable[str]) -> dict[str, str]:
    """The identifier by which code calls each tool, by the tool's name and in the same order.

    Raises:
        UsageError: Two tools would have the same one.
    """
    found: dict[str, str] = {}
    owners: dict[str, str] = {}
    for name in tool_names:
        identifier = tool_identifier(name)
        if identifier in owners:
            raise UsageError(
                f"Expected tools with different names in Python, found {owners[identifier]!r} and {name!r}, which "
                f"are both `{identifier}` there. Rename one: Toolset(...).renamed({{{name!r}: ...}})."
            )
        owners[identifier] = name
        found[name] = identifier
    return found


def tool_identifier(name: str) -> str:
    """The identifier by which code calls a tool of this name."""
    identifier = _FOREIGN.sub("_", name)
    if identifier[:1].isdecimal() or identifier.startswith(("__", INTERNAL)) or not identifier.strip("_"):
        identifier = f"tool{identifier}"
    return f"{identifier}_" if identifier in _RESERVED else identifier


def parameter_identifiers(names: Iterable[str]) -> dict[str, str]:
    """An identifier for each parameter of one tool, all different; names that are identifiers stay as they are."""
    names = tuple(names)
    found = {name: name for name in names if _is_good(name)}
    taken = set(found.values())
    for name in names:
        if name in found:
            continue
        wanted = _parameter_identifier(name)
        identifier, number = wanted, 1
        while identifier in taken:
            number += 1
            identifier = f"{wanted}_{number}"
        taken.add(identifier)
        found[name] = identifier
    return {name: found[name] for name in names}


def _parameter_identifier(name: str) -> str:
    # In this order: what is a letter may become several characters that are not.
    identifier = _FOREIGN.sub("_", unicodedata.normalize("NFKC", name))
    if not identifier.isidentifier() or identifier.startswith(INTERNAL):
        identifier = f"p_{identifier}"
    if not identifier.isidentifier():  # letters that may stand in no identifier at all
        identifier = "".join(character if character.isascii() else "_" for character in identifier)
    return f"{identifier}_" if identifier in _REFUSED_AS_PARAMETERS else identifier


def _is_good(name: str) -> bool:
    """Whether Python reads the name back as it is; its parser makes compatible characters one."""
    return (
        name.isidentifier()
        and name not in _REFUSED_AS_PARAMETERS
        and not name.startswith(INTERNAL)
        and unicodedata.normalize("NFKC", name) == name
    )
