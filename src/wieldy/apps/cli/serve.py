"""`wieldy serve`: a model as a server of the chat-completions protocol, whose tool calls are right."""

from __future__ import annotations

from typing import Annotated

import typer

from wieldy.apps.cli.options import JsonOption


def serve(  # noqa: PLR0913 - one parameter for each option of the command
    *,
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            metavar="M",
            help="local (if nothing is named), local:PATH.gguf, hf:NAME, openai:NAME, anthropic:NAME or "
            "http://HOST:PORT/v1#NAME.",
        ),
    ] = None,
    upstream: Annotated[
        str | None,
        typer.Option(
            "--upstream", metavar="URL[#NAME]", help="Stand in front of this OpenAI-compatible server instead."
        ),
    ] = None,
    upstream_key_env: Annotated[
        str | None,
        typer.Option(
            "--upstream-key-env", metavar="VARIABLE", help="The environment variable that holds that server's key."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="What clients call the model; its own name if left out."),
    ] = None,
    host: Annotated[
        str, typer.Option("--host", metavar="HOST", help="Where to listen; others than this machine need a key.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="N", help="The port; 0 for any that is free.")] = 8770,
    key_env: Annotated[
        str | None,
        typer.Option(
            "--key-env", metavar="VARIABLE", help="The environment variable that holds the key of those who may ask."
        ),
    ] = None,
    retries: Annotated[
        int,
        typer.Option(
            "--retries", metavar="N", min=0, help="How often the model is asked again if its reply is not right."
        ),
    ] = 1,
    chat_format: Annotated[
        str | None,
        typer.Option("--chat-format", metavar="NAME", help="How the model writes calls; found out if left out."),
    ] = None,
    no_constraint: Annotated[
        bool,
        typer.Option(
            "--no-constraint", metavar="", help="Do not hold the model while it writes; only check afterwards."
        ),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Serve a model over the OpenAI protocol: every tool call that leaves names a tool and fits its schema.

    A line on standard error tells of each request.
    """
    # The servers are imported here, because `wieldy --help` must not wait for them.
    from wieldy.apps.cli.serve_view import Asked, serve_chat  # noqa: PLC0415

    asked = Asked(
        model=model,
        upstream=upstream,
        upstream_key_env=upstream_key_env,
        name=name,
        host=host,
        port=port,
        key_env=key_env,
        retries=retries,
        chat_format=chat_format,
        is_constrained=not no_constraint,
    )
    serve_chat(asked, json=json)
