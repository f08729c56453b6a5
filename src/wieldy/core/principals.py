"""On whose behalf a run acts, and what that person or service may have done for them."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who a run acts for.

    Attributes:
        name: For people and for the record.
        permissions: What they may have done, by name; `orders:*` stands for everything that begins with `orders:`, and
            `*` for everything.
    """

    name: str
    permissions: frozenset[str] = field(default_factory=frozenset[str])

    def may(self, permission: str) -> bool:
        """Whether the permission is held."""
        return any(
            held == permission or (held.endswith("*") and permission.startswith(held[:-1]))
            for held in self.permissions
        )
