"""`wieldy eval`: how well a model and this harness solve tasks."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from wieldy.apps.cli.options import BaselineOption, JsonOption, StoreOption
from wieldy.apps.cli.run import Strategy

Name: TypeAlias = Annotated[
    str | None,
    typer.Argument(metavar="NAME", help="bfcl, agentdojo, tau2, or a file of tasks: FILE.jsonl, FILE.py."),
]
ModelsOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--model", "-m", metavar="M", help="As for `run`, or script:oracle; may be given several times."),
]
LimitOption: TypeAlias = Annotated[
    int | None, typer.Option("--limit", "-n", metavar="N", min=1, help="Only the first N tasks of each category.")
]
CategoriesOption: TypeAlias = Annotated[
    str,
    typer.Option("--categories", metavar="C,...", help="Of the benchmark: names, or all, simple, attacked, ..."),
]
TrialsOption: TypeAlias = Annotated[int, typer.Option("--trials", metavar="K", min=1, help="Trials of each task.")]
JobsOption: TypeAlias = Annotated[int, typer.Option("--jobs", "-j", metavar="J", min=1, help="Runs at once.")]
ProcessesOption: TypeAlias = Annotated[
    int, typer.Option("--processes", metavar="N", min=1, help="Processes, each with its own models and J runs.")
]
RayOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--ray", metavar="ADDRESS", help="Run the N processes on a Ray cluster: auto, or its address."),
]
StrategyOption: TypeAlias = Annotated[
    Strategy | None, typer.Option("--strategy", help="Short for --grid strategy=...: how the models are led.")
]
GridOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        metavar="SETTING=V,...",
        help="Compare settings, such as strategy=native,guided or constraint=on,off; several times for all "
        "combinations.",
    ),
]
AblateOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--ablate", metavar="WHAT,...", help="Also without each: tools, constraint, parallel, or a tool."),
]
VariantsOption: TypeAlias = Annotated[
    bool, typer.Option("--variants", metavar="", help="Each task of a file also in other words and formats.")
]
ScaleOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--scale", metavar="N,...", help="Each task of a file with so many tools, padded with BFCL's."),
]
JudgesOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--judge", metavar="M", help="A model that judges what rules cannot; several are a panel."),
]
JudgeSeedOption: TypeAlias = Annotated[int | None, typer.Option("--judge-seed", metavar="N", help="Sent to judges.")]
UserOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--user", metavar="M", help="A model that plays tau2's customers; a script if left out."),
]
FolderOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--out", metavar="FOLDER", help="Where results are kept; evals/NAME here if left out."),
]
DataOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--data", metavar="PLACE", help="The wheel or folder of BFCL or tau2, or AgentDojo's folder."),
]
RerunOption: TypeAlias = Annotated[
    bool, typer.Option("--rerun-unscored", metavar="", help="Run trials again that could not be scored.")
]
ChangeOption: TypeAlias = Annotated[
    bool, typer.Option("--yes", "-y", metavar="", help="Let tools of FILE.py change something; denied otherwise.")
]
TemplateOption: TypeAlias = Annotated[
    Path | None, typer.Option("--template", metavar="FILE", help="Write a set of tasks to start from, and end.")
]


def evaluate(  # noqa: PLR0913 - one parameter for each option of the command
    context: typer.Context,
    name: Name = None,
    *,
    model: ModelsOption = None,
    limit: LimitOption = None,
    categories: CategoriesOption = "all",
    trials: TrialsOption = 1,
    jobs: JobsOption = 4,
    processes: ProcessesOption = 1,
    ray: RayOption = None,
    strategy: StrategyOption = None,
    grid: GridOption = None,
    ablate: AblateOption = None,
    variants: VariantsOption = False,
    scale: ScaleOption = None,
    judge: JudgesOption = None,
    judge_seed: JudgeSeedOption = None,
    user: UserOption = None,
    baseline: BaselineOption = None,
    store: StoreOption = None,
    out: FolderOption = None,
    data: DataOption = None,
    rerun_unscored: RerunOption = False,
    yes: ChangeOption = False,
    template: TemplateOption = None,
    json: JsonOption = False,
) -> None:
    """Run tasks with a model and judge what it did; what is in the folder already is not run again.

    With --json one object per trial as it comes, then the rows of the report.
    """
    # The agent and its rooms are imported here, because `wieldy --help` must not wait for them.
    from wieldy.apps.cli.eval_options import check_study_options, check_template_alone, given_in  # noqa: PLC0415
    from wieldy.apps.cli.eval_running import Wanted, evaluate_tasks, write_template  # noqa: PLC0415
    from wieldy.apps.cli.next_commands import command_line  # noqa: PLC0415

    given = given_in(context)
    if template is not None:
        check_template_alone(given)
        write_template(template)
        return
    wanted = Wanted(
        name=check_study_options(given, name),
        models=tuple(dict.fromkeys(model or ["local"])),
        limit=limit,
        categories=_listed(categories),
        trials=trials,
        jobs=jobs,
        processes=processes,
        ray=ray,
        grid=(*(grid or ()), *(() if strategy is None else (f"strategy={strategy.value}",))),
        ablate=_listed(ablate),
        variants=variants,
        scale=_listed(scale),
        judges=tuple(judge or ()),
        baseline=baseline,
        store=store,
        judge_seed=judge_seed,
        user=user,
        folder=out,
        data=data,
        reruns_unscored=rerun_unscored,
        begun_by=command_line(sys.argv),
        lets_change=yes,
    )
    raise typer.Exit(evaluate_tasks(wanted, json=json))


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())
