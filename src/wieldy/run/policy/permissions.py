"""What a tool requires of the principal: asked before the policy, and no rule can allow what it refuses.

Deliberately not here: who the principal is and what they hold (`core.principals`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wieldy.run.policy.decisions import Deny

if TYPE_CHECKING:
    from wieldy.core.principals import Principal
    from wieldy.tools import Tool


def permitted(tool: Tool, principal: Principal | None) -> Deny | None:
    """None if the tool requires no permission, or one that the principal holds; otherwise why it must not run."""
    if tool.permission is None:
        return None
    if principal is None:
        return Deny(f"it needs the permission {tool.permission!r}, and nobody was named on whose behalf this run acts")
    if principal.may(tool.permission):
        return None
    return Deny(
        f"it needs the permission {tool.permission!r}, which the one on whose behalf this run acts does not have"
    )
