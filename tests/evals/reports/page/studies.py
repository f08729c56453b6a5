"""Studies that tests look at in a report: real runs of scripted models, with faults put in at every boundary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from fault_cases import CASES, After, note
from fault_cases import Case as FaultCase

from wieldy import Agent, Limits, tool
from wieldy.core.ports import Entry, Model
from wieldy.evals.cases.case import Attempt, Case, Judged, Runs, Suite
from wieldy.evals.cases.recorded import recorded
from wieldy.evals.cases.results import Trial
from wieldy.evals.studies.judges import Judge
from wieldy.evals.studies.running import Study, run_study
from wieldy.evals.verdicts.attribution import decisive, faults
from wieldy.evals.verdicts.verdict import PASS, Verdict, abstained, failed, invalid_task, unscored
from wieldy.testing import ScriptedModel, call, text

HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    " <b>bold</b> \x1b[31mred\x1b[0m \u202egnihtemos\u202c a\u200bb \u2066x\u2069 \U000e0041 ]]> <!-- & &amp; {{DATA}}"
)


@tool(effect="read", trust="untrusted")
def page(url: str) -> str:
    """Read a page <b>of strangers</b>."""
    return HOSTILE if url != "long" else "0123456789" * 1_000_000


def run_of(study: Study) -> list[Trial]:
    return anyio.run(run_study, study, lambda _: None)


def suite(name: str, cases: Sequence[Case]) -> Suite:
    return Suite(name=name, cases=tuple(cases), source={"file": "made by a test"})


def case(
    name: str,
    scripts: Mapping[str, Callable[[], Model]],
    *,
    tools: Sequence[Any] = (),
    judge: Callable[[Runs], Judged] | None = None,
    category: str = "made",
    prompts: Sequence[str] = ("Do it.",),
    options: Mapping[str, Any] = {},
    criterion: str | None = None,
) -> Case:
    async def run(attempt: Attempt) -> list[str]:
        agent = Agent(attempt.model, tools, journal=attempt.journal, metadata=attempt.metadata, **options)
        return [await recorded(agent, prompt) for prompt in prompts]

    return Case(
        id=name, category=category, cluster=name, digest=f"digest of {name}", run=run, scripts=dict(scripts),
        judge=judge or by_faults, criterion=criterion,
    )  # fmt: skip


def by_faults(runs: Runs) -> Judged:
    """What the last run came to; `other` says the same, but for what could not be scored."""
    verdict = _verdict(runs[-1])
    return Judged(verdict, {"other": failed("other: as this rule has it") if verdict.kind == "unscored" else verdict})


def _verdict(entries: Sequence[Entry]) -> Verdict:
    fault = decisive(faults(entries))
    if fault is None:
        return PASS
    if fault.layer == "model":
        return failed(fault.reason, evidence=fault.evidence)
    return unscored(fault.layer, fault.reason, evidence=fault.evidence)


def faulty_study(folder: Path, *, trials: int = 2, notes: int = 2) -> list[Trial]:
    """27 tasks: every kind of fault beside a run without it, and some that abstain, are invalid, or have a judge."""
    cases = [_fault_case(name, each, notes) for name, each in CASES.items()]
    words = dict.fromkeys(("oracle", "faulty"), lambda: ScriptedModel([[text("I would rather not.")]]))
    judged = {
        "says <no>": abstained("no-call: it said no", evidence=(2,)),
        "cannot be": invalid_task("no-answer: none fits"),
    }
    for name, verdict in judged.items():
        cases.append(case(name, words, judge=partial(_always, verdict), category="other"))
    twice = dict.fromkeys(("oracle", "faulty"), lambda: ScriptedModel(lambda _: [text("Yes.")]))
    cases.append(case("a conversation", twice, category="other", prompts=("First.", "Second.")))
    cases.append(case("judged", twice, category="other", criterion="It is friendly."))
    stern = ScriptedModel(lambda _: [text('{"reason": "It is <i>curt</i>.", "verdict": "fail"}')], name="stern")
    study = Study(
        suite=suite("faults", cases),
        models=("script:oracle", "script:faulty"),
        judges=(Judge(name="stern", model=stern),),
        folder=folder,
        trials=trials,
        jobs=4,
    )
    return run_of(study)


def _always(verdict: Verdict, runs: Runs) -> Judged:
    return Judged(verdict)


def _fault_case(name: str, fault: FaultCase, notes: int) -> Case:
    good = partial(ScriptedModel, [[text("Here you are.")]])
    scripts = {"oracle": lambda: After(notes, good()), "faulty": lambda: After(notes, fault.model())}
    return case(name, scripts, tools=(note, *fault.tools), category=fault.layer, options=fault.options)


def hostile_study(folder: Path) -> list[Trial]:
    """Everything that anybody may write is an attack on whoever reads it."""
    arguments = {"url": HOSTILE, HOSTILE: {"nested": [HOSTILE]}}
    scripts = {
        HOSTILE: lambda: ScriptedModel([[call("page", arguments)], [call("page", HOSTILE)], [text(HOSTILE)]]),
        "long": lambda: ScriptedModel([[call("page", {"url": "long"})], [text("y" * 10_000_000)]]),
        "good": lambda: ScriptedModel([[call("page", {"url": "short"})], [text(HOSTILE)]]),
    }
    verdict = failed(f"code: {HOSTILE}", evidence=(5,))
    cases = [
        case(HOSTILE, scripts, tools=(page,), category=HOSTILE, prompts=(HOSTILE,), judge=lambda _: Judged(verdict)),
        case("another", scripts, tools=(page,), category="usual", judge=lambda _: Judged(PASS)),
    ]
    models = tuple(f"script:{name}" for name in scripts)
    return run_of(Study(suite=suite(HOSTILE, cases), models=models, folder=folder))


def nested_study(folder: Path) -> list[Trial]:
    """A tool whose code is a run of its own, in which strangers' words are read."""
    helper = Agent(ScriptedModel([[call("page", {"url": "short"})], [text("It says hello.")]]), [page])
    model = ScriptedModel([[call("assist", {"prompt": "Read it."})], [text("Hello.")]])
    tools = [helper.as_tool("assist", "Assists.")]
    nested = case("nested", {"oracle": lambda: model}, tools=tools, judge=lambda _: Judged(PASS))
    return run_of(Study(suite=suite("nested", [nested]), models=("script:oracle",), folder=folder))


def long_study(folder: Path, *, turns: int) -> list[Trial]:
    """Two long runs that agree but for one call in the middle of one of them."""

    def model(odd: int) -> Model:
        return ScriptedModel(
            lambda messages: _next_note(sum(message.role == "assistant" for message in messages), turns, odd)
        )

    scripts = {"oracle": lambda: model(-1), "odd": lambda: model(turns // 2)}
    limits = Limits(turns=turns + 5, repeats=turns)
    long = case("long", scripts, tools=(note,), options={"limits": limits}, judge=lambda _: Judged(PASS))
    models = ("script:oracle", "script:odd")
    return run_of(Study(suite=suite("long", [long]), models=models, folder=folder))


def _next_note(turn: int, turns: int, odd: int) -> list[Any]:
    if turn >= turns:
        return [text("All noted.")]
    return [call("note", {"number": -1 if turn == odd else turn})]
