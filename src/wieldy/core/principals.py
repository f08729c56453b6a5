"""On whose behalf a run acts, and what that person or service may have done for them.

Deliberately not here: who they are (the program has found out before it starts a run) and which tool needs which
permission (`tools`, `run.policy`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import cast

from wieldy.core.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who a run acts for.

    Attributes:
        name: For people and for the record.
        permissions: What they may have done, by name; `orders:*` stands for everything that begins with `orders:`, and
            `*` for everything. Capitals count.

    Raises:
        UsageError: The name is empty, or something is no permission.
    """

    name: str
    permissions: AbstractSet[str] = field(default_factory=frozenset[str])

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
            raise UsageError(f"Principal: expected a name, such as 'anna', found {self.name!r}.")
        object.__setattr__(self, "permissions", _checked(self.permissions, name=self.name))

    def may(self, permission: str) -> bool:
        """Whether the permission is held."""
        return any(
            held == permission or (held.endswith("*") and permission.startswith(held[:-1])) for held in self.permissions
        )


def _checked(permissions: object, *, name: str) -> frozenset[str]:
    # A text would be taken for a set of letters, in which a `*` means everything, and a dictionary for its keys, also
    # where it says False.
    if isinstance(permissions, str | bytes | Mapping) or not isinstance(permissions, Collection):
        raise UsageError(
            f"Principal {name!r}: expected permissions as a set, such as {{'orders:read'}}, found {permissions!r}."
        )
    for permission in cast("Iterable[object]", permissions):
        if not isinstance(permission, str) or not permission.strip() or permission != permission.strip():
            raise UsageError(
                f"Principal {name!r}: expected permissions as text without spaces around it, such as 'orders:read', "
                f"found {permission!r}."
            )
        if "*" in permission[:-1]:
            raise UsageError(
                f"Principal {name!r}: expected '*' at the end of a permission only, as in 'orders:*', "
                f"found {permission!r}."
            )
    return frozenset(cast("Collection[str]", permissions))
