"""`wieldy formats`: the chat formats, and what one of them writes and reads.

Deliberately not here: the formats themselves (`wieldy.formats`), reading files (`formats_input`), printing
(`formats_view`).
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from wieldy.apps.cli.failures import JsonCommand
from wieldy.apps.cli.json_lines import JsonLines, print_json
from wieldy.apps.cli.options import JsonOption
from wieldy.apps.cli.terminal import out

# What the commands need of `wieldy.formats` is imported when they run, so that `wieldy --help` does not wait for it.

NameArgument: TypeAlias = Annotated[str, typer.Argument(metavar="NAME", help="A format of `wieldy formats list`.")]
ToolsOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--tools",
        metavar="F",
        help="The tools on offer: a JSON list of OpenAI-style tools (- for standard input), or a Python file.",
    ),
]

app = typer.Typer(
    help="Chat formats: how model families write tool calls.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("list", cls=JsonCommand)
def list_formats(*, json: JsonOption = False) -> None:
    """List the formats and the models that write them."""
    from wieldy.apps.cli.formats_view import show_list  # noqa: PLC0415
    from wieldy.formats import get, names  # noqa: PLC0415

    formats = [get(name) for name in names()]
    if json:
        print_json({"formats": [{"name": format_.name, "models": format_.models} for format_ in formats]})
    else:
        show_list(out(), formats)


@app.command(cls=JsonCommand)
def show(
    name: NameArgument,
    *,
    grammar: Annotated[bool, typer.Option("--grammar", help="Also print the grammar for one tool.")] = False,
    json: JsonOption = False,
) -> None:
    """Show what a format looks like, and what its wire does not carry."""
    from wieldy.apps.cli.formats_probes import portrait_of  # noqa: PLC0415
    from wieldy.apps.cli.formats_view import portrait_to_json, show_portrait  # noqa: PLC0415
    from wieldy.formats import get  # noqa: PLC0415

    portrait = portrait_of(get(name))
    if json:
        print_json(portrait_to_json(portrait))
    else:
        show_portrait(out(), portrait, with_grammar=grammar)


@app.command(cls=JsonCommand)
def detect(
    template: Annotated[
        str,
        typer.Argument(
            metavar="TEMPLATE",
            help="A chat template (.jinja, - for standard input), tokenizer_config.json, a .gguf file, or a folder.",
        ),
    ],
    *,
    json: JsonOption = False,
) -> None:
    """Find the format that a model's chat template writes.

    Ends with 1 if no known format reads what it writes or if it takes too much time or memory, with 2 if the file is no
    template.
    """
    from wieldy.apps.cli.formats_detection import find_format  # noqa: PLC0415

    name = find_format(template)
    if json:
        print_json({"name": name})
    else:
        out().write(f"{name}\n")


@app.command(cls=JsonCommand)
def render(
    name: NameArgument,
    *,
    messages: Annotated[
        str,
        typer.Option(
            "--messages",
            metavar="F",
            help="The conversation: a JSON list of OpenAI-style messages, or one JSON string (- for standard input).",
        ),
    ],
    tools: ToolsOption = None,
    generation_prompt: Annotated[
        bool | None,
        typer.Option(
            "--generation-prompt/--no-generation-prompt",
            help="Whether to go on to where the assistant speaks next; by default unless it spoke last.",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write a conversation as the format has it; on a pipe exactly so, without a line break at the end."""
    from wieldy.apps.cli.formats_input import read_messages, read_tools, refuse_two_readers  # noqa: PLC0415
    from wieldy.apps.cli.formats_view import show_rendering  # noqa: PLC0415
    from wieldy.formats import get  # noqa: PLC0415

    refuse_two_readers(messages, tools)
    format_ = get(name)
    if json:
        with JsonLines() as lines:
            text = format_.render(read_messages(messages), read_tools(tools), generation_prompt=generation_prompt)
            lines.write({"format": format_.name, "text": text})
    else:
        text = format_.render(read_messages(messages), read_tools(tools), generation_prompt=generation_prompt)
        show_rendering(out(), text)


@app.command(cls=JsonCommand)
def parse(
    name: NameArgument,
    *,
    tools: ToolsOption = None,
    split: Annotated[
        int | None,
        typer.Option(
            "--split", metavar="K", min=1, help="Feed the text in pieces of K characters; the same comes out."
        ),
    ] = None,
    prompt: Annotated[
        str | None,
        typer.Option("--prompt", metavar="TEXT", help="What the model was given, or its end; it may open reasoning."),
    ] = None,
    events: Annotated[
        bool, typer.Option("--events", metavar="", help="Write the events instead, one JSON object per line.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Read a model's reply from standard input: reasoning, text, calls, and what was not as the format says.

    A call that cannot be read is part of the answer: it is told, and the command ends with 0.
    """
    from wieldy.apps.cli.formats_input import read_reply, read_tools, refuse_two_readers  # noqa: PLC0415
    from wieldy.apps.cli.formats_json import event_to_json, reply_to_json  # noqa: PLC0415
    from wieldy.apps.cli.formats_reading import ReplyText  # noqa: PLC0415
    from wieldy.apps.cli.formats_view import show_reply  # noqa: PLC0415
    from wieldy.formats import get  # noqa: PLC0415

    refuse_two_readers("-", tools)
    format_ = get(name)
    if not json and not events:
        offered = read_tools(tools)
        reading = ReplyText(format_, read_reply(), tools=offered, prompt=prompt, split=split)
        show_reply(out(), reading.reply())
        return
    with JsonLines() as lines:
        offered = read_tools(tools)
        reading = ReplyText(format_, read_reply(), tools=offered, prompt=prompt, split=split)
        if events:
            for event in reading.events():
                lines.write(event_to_json(event))
        else:
            lines.write(reply_to_json(reading.reply()) | {"reply_start": reading.start})
