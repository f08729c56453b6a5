"""With what trials are run: the models of a study, opened once and shared, and a journal.

Law: a trial is a function of what the models and tools say; whichever process runs it, and beside which others.
Deliberately not here: which trials are run (`study`), and where their results go (`running`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from wieldy.agent.parts import resolved
from wieldy.core.errors import SandboxTierError, UsageError
from wieldy.evals.cases.case import Attempt
from wieldy.evals.cases.configurations import SCRIPT, Configuration
from wieldy.evals.cases.deployments import deployment_of
from wieldy.evals.cases.recorded import entries_of
from wieldy.evals.cases.results import Trial
from wieldy.evals.studies.judges import Opinion, judge_deployment, opinion
from wieldy.evals.tasks.environments import MissingProgramError, is_beside
from wieldy.evals.tasks.measures import behaviour_of, measured
from wieldy.evals.verdicts.evidence import with_evidence
from wieldy.evals.verdicts.verdict import Verdict, unscored
from wieldy.run.state import fold

if TYPE_CHECKING:
    from types import TracebackType

    from wieldy.core.json import JsonObject
    from wieldy.core.ports import Entry, Journal, Model
    from wieldy.evals.studies.study import Job, Study


class Deployments(NamedTuple):
    """What answers, by the names of configurations, and who judges."""

    configurations: dict[str, JsonObject]
    judges: dict[str, JsonObject]


class Workbench:
    """The models of a study, open while it is entered.

    Raises:
        UsageError: A configuration cannot be had as named.
    """

    def __init__(self, study: Study) -> None:
        self._study = study
        self._models = _models(study.compared)
        self._opened = AsyncExitStack()

    async def __aenter__(self) -> Self:
        for model in (*self._models.values(), *(judge.model for judge in self._study.judges)):
            if isinstance(model, AbstractAsyncContextManager):
                await self._opened.enter_async_context(model)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._opened.__aexit__(kind, error, trace)

    async def deployments(self, left: Iterable[Job]) -> Deployments:
        """What answers. A model is asked, and loaded, only if one of these jobs needs it.

        Raises:
            ModelNotAvailableError: A model that is needed cannot be had.
        """
        needed = {_key_of(job.configuration): self._models.get(_key_of(job.configuration)) for job in left}
        study = self._study
        return Deployments(
            {
                each.name: await deployment_of(each, needed.get(_key_of(each)), policy=study.policy_name(each))
                for each in study.compared
            },
            {judge.name: await judge_deployment(judge) for judge in study.judges} if needed else {},
        )

    async def run(self, job: Job, journal: Journal) -> Trial:
        """The trial, run and judged.

        Raises:
            JournalError: It could not be recorded.
        """
        return await _run(self._study, job, self._models.get(_key_of(job.configuration)), journal)


def _key_of(configuration: Configuration) -> tuple[object, ...]:
    """Configurations that are alike in this share one model, so that weights are loaded once."""
    return configuration.model, configuration.format, configuration.constraint


def _models(configurations: Sequence[Configuration]) -> dict[tuple[object, ...], Model]:
    models = dict[tuple[object, ...], "Model"]()
    for each in configurations:
        if each.is_script:
            continue
        if _key_of(each) not in models:
            models[_key_of(each)] = resolved(each.model, chat_format=each.format, constrained=each.constraint)
        each.held(models[_key_of(each)])  # says what cannot be
    return models


async def _run(study: Study, job: Job, model: Model | None, journal: Journal) -> Trial:
    case, configuration = job.case, job.configuration
    metadata: JsonObject = {
        "eval": study.suite.name,
        "task": case.id,
        "configuration": configuration.name,
        "trial": job.trial,
    }
    try:
        ids = await case.run(
            Attempt(
                model=configuration.held(model or case.scripts[configuration.model.removeprefix(SCRIPT)]()),
                journal=journal,
                metadata=metadata,
                configuration=configuration,
                policy=study.policy_of(configuration),
            )
        )
    except SandboxTierError as error:
        return trial_of(study, job, verdict=unscored("environment", f"no-sandbox: {error}"))
    except MissingProgramError as error:
        return trial_of(study, job, verdict=unscored("environment", f"no-program: {error}"))
    except UsageError as error:  # one task that cannot be run says nothing of the others
        return trial_of(study, job, verdict=unscored("task", f"cannot-begin: {error}"))
    runs = [journal.read(run_id) for run_id in ids]
    shown = [entries_of(journal, run_id) for run_id in ids] if configuration.actions == "code" else runs
    own = [entries for entries in runs if not is_beside(entries)]
    judged, told = case.judge(shown), Opinion()
    if case.criterion is not None and judged.verdict.kind == "pass":
        told = await opinion(study.judges, case.criterion, own, journal=journal, metadata=metadata)
    evidence: list[Sequence[Entry]] = [[] if is_beside(entries) else entries for entries in runs]
    states = [fold(entries) for entries in own]
    costs = [state.usage.cost_usd for state in states]
    known = [cost for cost in costs if cost is not None]
    return trial_of(
        study,
        job,
        runs=tuple(ids),
        verdict=with_evidence(told.verdict or judged.verdict, evidence),
        others={name: with_evidence(each, evidence) for name, each in {**judged.others, **told.others}.items()},
        judges=told.runs,
        stop_reason=states[-1].stop_reason,
        input_tokens=sum(state.usage.input_tokens for state in states),
        output_tokens=sum(state.usage.output_tokens for state in states),
        requests=sum(state.usage.requests for state in states),
        calls=sum(len(state.calls) for state in states),
        cost_usd=sum(known) if len(known) == len(costs) else None,
        duration_s=sum(max(0.0, entries[-1].time - entries[0].time) for entries in own),
        time=min((entries[0].time for entries in own), default=0.0),
        measures={**measured(shown), **judged.measures},
        behaviour=behaviour_of(shown),
    )


def trial_of(
    study: Study,
    job: Job,
    *,
    verdict: Verdict,
    others: dict[str, Verdict] | None = None,
    runs: tuple[str, ...] = (),
    **became: Any,
) -> Trial:
    """What became of a job: its verdict, and what was used for it."""
    case = job.case
    return Trial(
        suite=study.suite.name,
        task=case.id,
        category=case.category,
        cluster=case.cluster,
        digest=case.digest,
        configuration=job.configuration.name,
        trial=job.trial,
        runs=runs,
        verdict=verdict,
        others=others or {},
        axes=dict(case.axes),
        **became,
    )
