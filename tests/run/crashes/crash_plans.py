"""What the model of a trial does: plans, and the script that follows one as a function of the messages alone.

Whatever happens to its process, the model goes on from what it reads. A stubborn one asks once more for what it was
told is of unknown outcome. Deliberately not here: what must come of it (`crash_checks`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from crash_tools import NAMES

from wieldy.core.calls import ToolCall, ToolResult
from wieldy.core.messages import Message
from wieldy.run.actions.code.levels import Level
from wieldy.sandbox import probe
from wieldy.testing import call, text

Item = tuple[str, str]
"""A tool and the operation that it is asked for."""

UNKNOWN, LATE = "outcome unknown", "gave no answer within"
STEP, AGAIN = "Step", "Again"
DOUBTFUL = "Of one it could not be told whether it was."
"""What a model says in its answer of a step of unknown outcome."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a model does, turn by turn.

    Attributes:
        turns: Calls of each turn; a tool named after a plan in `helpers` is a run of it, whose prompt is the operation
            and stands in its operations where they say `{prompt}`.
        finish: Whether it ends by the control action, instead of by answering.
        is_stubborn: Whether it asks again for what may have happened, also for what a helper could not tell.
        is_frank: Whether it says in its answer that a step is of unknown outcome.
        grant: What people answer when they are asked.
        asked: Tools that a person must consent to.
        consent: Whether people are asked on the spot, or the run rests until they have answered.
        helpers: Plans of nested runs, by the name of their tool.
        limit: After how many turns the run must come to an end; calls of a later one are not run.
        by_code: Whether it writes code that makes the calls of a turn at once, and keeps what they brought.
        taint: The level at which the code runs.
    """

    name: str
    turns: tuple[tuple[Item, ...], ...]
    finish: bool = False
    is_stubborn: bool = False
    is_frank: bool = False
    grant: bool = True
    asked: frozenset[str] = frozenset()
    consent: Literal["later", "at once"] = "later"
    helpers: dict[str, Plan] = field(default_factory=dict)
    limit: int | None = None
    by_code: bool = False
    taint: Level = "run"

    def turn(self, messages: Sequence[Message]) -> list[Any]:
        """What the model says next."""
        replies = [message for message in messages if message.role == "assistant"]
        if self.is_stubborn and replies and replies[-1].text.startswith(STEP):
            again = _unknown_calls(messages, replies[-1])
            if again:
                return [text(f"{AGAIN} {replies[-1].text}"), *(call(each.name, each.arguments) for each in again)]
        done = sum(reply.text.startswith(STEP) for reply in replies)
        if done < len(self.turns):
            prompt = messages[0].text
            if self.by_code:
                code = _code_of(self.turns[done], is_first=done == 0)
                return [text(f"{STEP} {done + 1}"), call("python", {"code": code})]
            calls = (call(name, _arguments(name, _filled(operation, prompt))) for name, operation in self.turns[done])
            return [text(f"{STEP} {done + 1}"), *calls]
        answer = f"All {done} steps of {self.name} were taken."
        if self.is_frank and any(message.result is not None and is_open(message.result) for message in messages):
            answer = f"{answer} {DOUBTFUL}"
        return [call("finish", {"answer": answer})] if self.finish else [text(answer)]


_ASKING = f"""
import asyncio
async def ask(tool, operation):
    try:
        return await tool(operation)
    except ToolError as error:
        return {DOUBTFUL!r} if error.kind in ("unknown", "timeout") else f"{{error.kind}}: {{error}}"
brought = []
"""


def _code_of(turn: Sequence[Item], *, is_first: bool) -> str:
    """Makes the calls of a turn at once; later ones go on with the names of the first."""
    calls = ", ".join(f"ask({name}, {operation!r})" for name, operation in turn)
    return f"{_ASKING if is_first else ''}brought.append(await asyncio.gather({calls}))\nbrought"


def _arguments(name: str, operation: str) -> dict[str, str]:
    if name.startswith("helper"):
        return {"prompt": operation}
    return {} if name == "meet" else {"operation": operation}


def is_open(result: ToolResult) -> bool:
    """Whether the model was told that the call may have taken effect or not."""
    return result.is_error and (UNKNOWN in result.content or LATE in result.content)


def _unknown_calls(messages: Sequence[Message], reply: Message) -> list[ToolCall]:
    told = {
        message.result.tool_call_id
        for message in messages
        if message.result is not None and (is_open(message.result) or DOUBTFUL in message.result.content)
    }
    return [each for each in reply.calls if isinstance(each, ToolCall) and each.id in told]


def plans_of_one_class(effect: str, *, is_async: bool) -> Plan:
    """Parallel calls, retries, and calls that depend on earlier ones, all of one class."""
    name = NAMES[effect] + "_async" * is_async
    # What takes effect without an answer may be tried again only where that is harmless.
    lost = "lost" if effect in ("read", "idempotent", "keyed") else "plain"
    return Plan(
        name=f"{effect}{' async' * is_async}",
        turns=(
            ((name, "one"), (name, "flaky two"), (name, "three")),
            ((name, f"{lost} four"), (name, "five"), (name, "five")) if effect != "unsafe" else ((name, "four"),),
            ((name, "six"), (name, "one")) if effect == "read" else ((name, "six"),),
        ),
    )


EVERYTHING = Plan(
    name="everything",
    turns=(
        (("look", "a"), ("put_async", "b"), ("pay", "lost c"), ("book_async", "d"), ("send", "e"), ("pay_async", "f")),
        (("send_alone", "g"), ("pay", "flaky h"), ("book", "flaky i")),
        (("helper", "do it"), ("send_async", "j"), ("look_async", "lost k")),
        (("send", "l"), ("pay_async", "m")),
    ),
    finish=True,
    asked=frozenset({"send_alone"}),
    consent="at once",
    helpers={
        "helper": Plan(
            name="helper",
            turns=((("pay", "helper a"), ("send", "helper b")), (("book", "helper c"),)),
        )
    },
)

STUBBORN = Plan(
    name="stubborn and allowed",
    turns=((("send", "a"), ("pay", "b"), ("send_async", "c")), (("send_alone", "d"),)),
    is_stubborn=True,
)

REFUSED = Plan(
    name="stubborn and refused",
    turns=((("send", "a"), ("look_async", "b")), (("send_alone", "c"),)),
    is_stubborn=True,
    grant=False,
)

CONSENT = Plan(
    name="consent at once",
    turns=((("send", "a"), ("pay", "b"), ("look", "c")), (("pay_async", "d"), ("send_alone", "e"))),
    asked=frozenset({"send", "pay", "pay_async", "send_alone"}),
    consent="at once",
)

CONSENT_LATER = Plan(
    name="consent later",
    turns=((("look", "a"), ("send", "b"), ("pay", "c"), ("put", "d")), (("send_alone", "e"), ("pay_async", "f"))),
    asked=frozenset({"send", "pay", "send_alone"}),
    finish=True,
)

NESTED = Plan(
    name="nested",
    turns=((("helper_one", "first"), ("helper_two", "second")), (("pay", "a"),), (("helper_one", "third"),)),
    helpers={
        "helper_one": Plan(
            name="helper one",
            turns=((("pay_async", "one a {prompt}"), ("book", "one b {prompt}")), (("send", "one c {prompt}"),)),
            finish=True,
        ),
        "helper_two": Plan(
            name="helper two",
            turns=((("send_alone", "two a"), ("look", "two b")),),
            asked=frozenset({"send_alone"}),
        ),
    },
)

ASKED_AGAIN = Plan(
    name="helpers asked again",
    turns=((("helper", "a"),), (("helper", "b"), ("pay", "c"))),
    helpers={
        "helper": Plan(
            name="helper", turns=((("send", "sent {prompt}"),), (("look", "seen {prompt}"),)), is_frank=True
        ),
    },
    is_stubborn=True,
)

ELSEWHERE = Plan(
    name="fallback",
    turns=(
        (("pay_elsewhere", "shut a"), ("book_elsewhere", "shut b"), ("pay_elsewhere", "c")),
        (("pay_elsewhere", "flaky d"), ("book_elsewhere", "flaky e"), ("book_elsewhere", "f")),
    ),
)

LIMITED = Plan(
    name="turn limit",
    turns=((("pay", "a"), ("send", "b")), (("book", "c"),), (("pay", "d"), ("send", "e"))),
    limit=2,
)

IMPATIENT = Plan(
    name="time-outs",
    turns=((("pay_briefly", "slow a"), ("look", "b")), (("send_briefly", "slow c"), ("pay", "d")), (("look", "e"),)),
    is_stubborn=True,
)

CODE = Plan(
    name="code",
    turns=(
        (("look", "a"), ("pay", "lost b"), ("send", "c"), ("book_async", "d")),
        (("send_alone", "e"), ("pay_async", "f")),
        (("put", "g"), ("send_async", "h")),
    ),
    asked=frozenset({"send_alone"}),
    by_code=True,
)

TRACKED = replace(CODE, name="tracked code", taint="tracked")

PLANS = (
    *(plans_of_one_class(effect, is_async=is_async) for effect in NAMES for is_async in (False, True)),
    EVERYTHING,
    STUBBORN,
    REFUSED,
    CONSENT,
    CONSENT_LATER,
    NESTED,
    ASKED_AGAIN,
    ELSEWHERE,
    LIMITED,
    IMPATIENT,
    *([CODE, TRACKED] if any(tier.works for tier in probe()) else []),
)

MEETING = Plan(name="meeting", turns=((("pay", "a"),), (("meet", ""), ("send", "b"), ("pay", "c"))))

BY_NAME = {plan.name: plan for plan in (*PLANS, MEETING)}


def effects_of(plan: Plan, prompt: str = "") -> Counter[str]:
    """How often each operation takes effect if nothing goes wrong, nested runs included."""
    effects: Counter[str] = Counter()
    for name, operation in (item for turn in plan.turns[: plan.limit] for item in turn):
        if name in plan.helpers:
            effects += effects_of(plan.helpers[name], operation)
        elif not name.startswith(("look", "meet")):
            effects[_filled(operation, prompt)] += 1
    return effects


def _filled(operation: str, prompt: str) -> str:
    return operation.replace("{prompt}", prompt)
