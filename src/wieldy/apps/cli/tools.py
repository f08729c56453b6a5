"""`wieldy tools`: what a service gives a model, before any model is asked."""

from __future__ import annotations

from wieldy.apps.cli.options import JsonOption, McpOption


def tools(*, mcp: McpOption = None, json: JsonOption = False) -> None:
    """Show the tools of a service: names, what calls do, cost in tokens, and what is to be said about them.

    With --json also descriptions and schemas.
    """
    # What reaches services is imported here, because `wieldy --help` must not wait for it.
    from wieldy.apps.cli.tools_view import show_mcp  # noqa: PLC0415
    from wieldy.core.errors import UsageError  # noqa: PLC0415

    if not mcp:
        raise UsageError("Name a service: --mcp CONFIG.")
    show_mcp(tuple(mcp), json=json)
