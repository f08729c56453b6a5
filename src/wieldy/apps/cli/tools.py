"""`wieldy tools`: what a service gives a model, before any model is asked."""

from __future__ import annotations

from typing import Annotated

import typer

from wieldy.apps.cli.options import (
    CredentialOption,
    JsonOption,
    McpOption,
    OnlyOption,
    OpenApiOption,
    ServerOption,
)


def tools(
    *,
    openapi: OpenApiOption = None,
    credential: CredentialOption = None,
    only: OnlyOption = None,
    server: ServerOption = None,
    curl: Annotated[
        bool, typer.Option("--curl", metavar="", help="With --openapi: an example of each as a command line of curl.")
    ] = False,
    mcp: McpOption = None,
    dialect: Annotated[
        str | None,
        typer.Option(
            "--dialect",
            metavar="NAME",
            help="Schemas as a provider gets them, and what it cannot express: openai-strict, azure-strict, anthropic, "
            "gemini, gemini-openapi, llama.cpp or xgrammar.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Show the tools of a service: names, what calls do, cost in tokens, and what is to be said about them.

    With --json also descriptions and schemas; with --dialect what a provider makes of these.
    """
    # What reaches services is imported here, because `wieldy --help` must not wait for it.
    from wieldy.apps.cli.described import described  # noqa: PLC0415
    from wieldy.core.errors import UsageError  # noqa: PLC0415

    service = described(openapi, credential, only, server)
    if (service is None) == (not mcp):
        raise UsageError("Name one kind of service: --openapi SPEC or --mcp CONFIG.")
    if dialect is not None:
        from wieldy.apps.cli.dialect_view import show_dialect  # noqa: PLC0415

        show_dialect(dialect, openapi=service, mcp=mcp or (), json=json)
    elif service is not None:
        from wieldy.apps.cli.described_view import show_described  # noqa: PLC0415

        show_described(service, json=json, curl=curl)
    else:
        from wieldy.apps.cli.tools_view import show_mcp  # noqa: PLC0415

        show_mcp(tuple(mcp or ()), json=json)
