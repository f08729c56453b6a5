"""What to type where an optional part of Wieldy is missing: one sentence's worth, the same everywhere."""

from __future__ import annotations

from typing import Literal


def installing(
    extra: Literal[
        "local", "constrain", "transformers", "postgres", "search", "mcp", "openapi", "gateway", "ray", "export"
    ],
    *,
    options: str = "",
) -> str:
    """The commands that install an extra: into any environment, or in a clone of the repository."""
    ending = f" {options}" if options else ""
    return f"pip install 'wieldy[{extra}]'{ending}, or in a clone: pip install -e '.[{extra}]'{ending}"
