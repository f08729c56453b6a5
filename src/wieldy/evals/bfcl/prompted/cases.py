"""A task in one form of prompt as a case of a study: its calls are read from the model's text.

The forms are variants of a task, so the report says how far apart their rates are. Deliberately not here: which calls
are right (`bfcl.official`, `bfcl.strict`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from wieldy.core.json import digest
from wieldy.core.limits import Limits
from wieldy.evals.bfcl.answers import right_calls
from wieldy.evals.bfcl.decoding import DecodingError
from wieldy.evals.bfcl.prompted.reading import read_strictly
from wieldy.evals.bfcl.prompted.texts import check_text
from wieldy.evals.bfcl.prompted.writing import write
from wieldy.evals.bfcl.running import MOST_OUTPUT_TOKENS
from wieldy.evals.bfcl.scoring import FirstReply, first_reply, strict_verdict
from wieldy.evals.cases.case import VARIANT, Case, Judged, Runs
from wieldy.evals.cases.recorded import recorded
from wieldy.evals.verdicts.verdict import PASS, Verdict, failed
from wieldy.testing import ScriptedModel, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wieldy.core.ports import Entry, Model
    from wieldy.evals.bfcl.prompted.data import PromptedTask
    from wieldy.evals.cases.case import Attempt


def prompted_case(prompted: PromptedTask) -> Case:
    """Asked in text, judged by both rules, and answered by an oracle."""
    task = prompted.task
    return Case(
        id=prompted.id,
        category=prompted.category.name,
        cluster=digest("functions", sorted(function["name"] for function in task.functions)),
        digest=digest(prompted.messages, task.functions, task.answers, prompted.form.name),
        run=partial(_run, prompted),
        judge=partial(_judge, prompted),
        scripts={"oracle": partial(oracle, prompted)},
        tools=frozenset(),
        axes={VARIANT: prompted.form.name},
    )


async def _run(prompted: PromptedTask, attempt: Attempt) -> list[str]:
    agent = attempt.agent([], limits=Limits(turns=1, output_tokens=MOST_OUTPUT_TOKENS))
    return [await recorded(agent, [{"role": role, "content": said} for role, said in prompted.messages])]


def _judge(prompted: PromptedTask, runs: Runs) -> Judged:
    reply = first_reply(prompted.task, runs[-1])
    official_one = official_verdict(prompted, reply)
    return Judged(_strict_verdict(prompted, reply, runs[-1]), {"official": official_one})


def official_verdict(prompted: PromptedTask, reply: FirstReply) -> Verdict:
    """As the leaderboard would have it."""
    error = check_text(prompted.task, reply.text, prompted.form)
    return PASS if error is None else failed(error, evidence=reply.evidence)


def _strict_verdict(prompted: PromptedTask, reply: FirstReply, entries: Sequence[Entry]) -> Verdict:
    if reply.calls or reply.broken:
        return failed("malformed-call: calls are to stand in the text, and none were offered", evidence=reply.evidence)
    try:
        calls = tuple(read_strictly(reply.text, prompted.form))
    except DecodingError:
        calls = ()  # then it is looked at what else the text is
    return strict_verdict(prompted.task, entries, reply=replace(reply, calls=calls))


def oracle(prompted: PromptedTask) -> Model:
    """A model that writes a listed answer in the form that is asked for."""
    said = write(right_calls(prompted.task), prompted.form)
    return ScriptedModel(lambda _: [text(said)], name="script:oracle")
