"""`wieldy export`: runs and trials as data to train on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from wieldy.apps.cli.options import JsonOption

Folders: TypeAlias = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FOLDER...", help="Where `wieldy eval` kept its results: with verdicts, rewards and groups."
    ),
]
JournalOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--journal", metavar="DB", help="Runs of a journal, which nobody has judged: a file, or postgresql://..."
    ),
]
OutOption: TypeAlias = Annotated[Path, typer.Option("--out", metavar="FILE", help="A new file.")]
ToOption: TypeAlias = Annotated[
    str,
    typer.Option("--to", metavar="VIEW", help="rows, sft, trl, prime-rl, openrlhf, verl (parquet), grpo or art."),
]
WhereOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--where", metavar="KEY=A,B", help="Which are wanted; verdict=pass for what is learned by imitation."),
]
RewardOption: TypeAlias = Annotated[
    float | None, typer.Option("--min-reward", metavar="R", help="Only what has at least this reward.")
]
IncludeOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--include", metavar="REASON", help="What is otherwise left out, such as `truncated`; several times."),
]
DedupeOption: TypeAlias = Annotated[bool, typer.Option("--dedupe", metavar="", help="Leave out exact repeats.")]
SplitOption: TypeAlias = Annotated[
    float, typer.Option("--split", metavar="SHARE", help="How much of all tasks is for training, as 0.9.")
]
PartOption: TypeAlias = Annotated[
    str | None, typer.Option("--part", metavar="SPLIT", help="Write `train` or `test` only.")
]
AdvantageOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--advantage", metavar="TRAINER", help="Compute advantages as `trl` or `art` does; null otherwise."),
]
ArgumentsOption: TypeAlias = Annotated[
    str,
    typer.Option("--arguments", metavar="FORM", help="`object`, or `text` for readers that want one type per column."),
]
FormatOption: TypeAlias = Annotated[
    str | None, typer.Option("--format", metavar="NAME", help="The chat format in which tokens are written.")
]
TokenizerOption: TypeAlias = Annotated[
    Path | None, typer.Option("--tokenizer", metavar="FILE", help="A model's tokenizer.json: write tokens, too.")
]
LicenseOption: TypeAlias = Annotated[
    str | None, typer.Option("--license", metavar="TEXT", help="Under which license the rows are.")
]
RedactOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--redact", metavar="REGEX", help="What the file must not hold; may be given several times."),
]


def export(  # noqa: PLR0913 - one parameter for each option of the command
    folders: Folders = None,
    *,
    out: OutOption,
    to: ToOption = "rows",
    journal: JournalOption = None,
    where: WhereOption = None,
    min_reward: RewardOption = None,
    include: IncludeOption = None,
    dedupe: DedupeOption = False,
    split: SplitOption = 1.0,
    part: PartOption = None,
    advantage: AdvantageOption = None,
    arguments: ArgumentsOption = "object",
    format: FormatOption = None,  # noqa: A002 - the option's name
    tokenizer: TokenizerOption = None,
    license: LicenseOption = None,  # noqa: A002 - the option's name
    redact: RedactOption = None,
    json: JsonOption = False,
) -> None:
    """Write runs and trials as training data, and say what was left out and why.

    Only what the model itself wrote is ever marked to be learned from. With --json one object of counts.
    """
    # What rows are made of is imported here, because `wieldy --help` must not wait for it.
    from wieldy.apps.cli.exporting import Asked, export_rows  # noqa: PLC0415

    asked = Asked(
        folders=folders or [],
        journal=journal,
        out=out,
        to=to,
        where=where or [],
        min_reward=min_reward,
        include=include or [],
        dedupe=dedupe,
        split=split,
        part=part,
        advantage=advantage,
        arguments=arguments,
        format=format,
        tokenizer=tokenizer,
        license=license,
        redact=redact or [],
    )
    export_rows(asked, json=json)
