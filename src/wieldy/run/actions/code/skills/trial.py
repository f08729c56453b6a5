"""A skill's function run with its example, answered from the record: it makes no call, so it has no effect.

Law: what passes here does the same whenever it is tried again: its chance and its clock are those of the example.
Deliberately not here: calls that are made (`agent.skills`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import TypeAdapter

from wieldy.core.errors import SkillCheckError, SkillError
from wieldy.core.json import JsonValue, canonical_json
from wieldy.run.actions.code.ended import Ended, ended_by
from wieldy.run.actions.code.names import INTERNAL
from wieldy.run.actions.code.prelude import prelude_of
from wieldy.run.actions.code.replay import Action
from wieldy.run.actions.code.report import why_ended
from wieldy.run.actions.code.skills.declaring import nothing, tool_of
from wieldy.run.actions.code.skills.functions import (
    RESULT,
    Function,
    check_code,
    check_source,
    function_in,
    looks_at_nothing,
)
from wieldy.run.actions.code.stubs import Stubs, stubs_of
from wieldy.sandbox import Failure, Reply
from wieldy.schema import CompiledSchema, explain
from wieldy.schema.from_types import output_schema

if TYPE_CHECKING:
    from wieldy.run.actions.code.interpreter import Interpreter
    from wieldy.run.actions.code.skills.skill import RecordedCall, Skill
    from wieldy.sandbox import GuestCall, SandboxLimits

_MOST_SHOWN: Final = 300
_ITSELF: Final = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a function brought.

    Attributes:
        value: That it returned.
        used: The recorded calls that it asked for, in order.
        unused: Those that it did not ask for.
    """

    value: JsonValue
    used: tuple[RecordedCall, ...]
    unused: tuple[RecordedCall, ...]


async def check_skill(skill: Skill, interpreter: Interpreter, limits: SandboxLimits) -> None:
    """The skill's example brings what is recorded, by the calls that are recorded, and its check holds.

    Raises:
        SkillError: Something differs; the text says what (`SkillCheckError`), or the function cannot be run.
        SandboxError: No code can be run any more.
    """
    example = skill.example
    trial = await tried(skill, interpreter, limits, pool=example.calls)
    if trial.unused:
        raise SkillCheckError(
            f"The example of `{skill.name}` made {_calls(trial.unused)}, and the function does not make that call."
        )
    if (found := first_difference(example.value, trial.value)) is not None:
        where, expected, instead = found
        raise SkillCheckError(
            f"The example of `{skill.name}` brought {expected}{f' at {where}' if where else ''}, and the function "
            f"returns {instead}."
        )
    await check_value(skill.name, skill.check, trial.value, interpreter, limits)


async def tried(
    skill: Skill, interpreter: Interpreter, limits: SandboxLimits, *, pool: Iterable[RecordedCall]
) -> Trial:
    """What the function brings with the example's arguments, answered from these calls, each at most once.

    Raises:
        SkillError: It cannot work.
        SkillCheckError: It asks for a call that is not among them, does not come to its end, or returns something else
            than its annotation says.
        SandboxError: No code can be run any more.
    """
    stubs = stubs_of(tool.shown for tool in skill.tools)
    function = function_in(skill.source)
    if function.name != skill.name:
        raise SkillError(
            f"Expected the function of the skill {skill.name!r} to have its name, found `{function.name}`."
        )
    check_source(skill.source, stubs)
    function.check_arguments(skill.example.arguments)
    tool_of(skill, function, nothing)
    code = function.called(skill.source, skill.example.arguments)
    record = _Record(pool)
    ended = await _run(code, interpreter, prelude=prelude_of(stubs), skill=skill, record=record)
    if ended.status != "done":
        raise SkillCheckError(f"`{skill.name}` did not come to its end with the example: {_why(ended, limits)}")
    if ended.value_repr is not None:
        found = ended.value_repr[:_MOST_SHOWN]
        raise SkillCheckError(f"Expected `{skill.name}` to return what JSON has, found {found}.")
    _check_returned(function, ended.value)
    return Trial(value=ended.value, used=tuple(record.used), unused=tuple(record.unused))


def _check_returned(function: Function, value: JsonValue) -> None:
    schema = output_schema(TypeAdapter(function.signature.return_annotation))
    wrong = () if schema is None else CompiledSchema(schema).violations(value)
    if wrong:
        raise SkillCheckError(explain(wrong, subject=f"What `{function.name}` returned, and the type that it says,"))


async def check_value(name: str, check: str, value: JsonValue, interpreter: Interpreter, limits: SandboxLimits) -> None:
    """The check holds for the value.

    Raises:
        SkillCheckError: It does not.
        SkillError: It is none, or holds without looking at the value.
        SandboxError: No code can be run any more.
    """
    code = check_code(check)
    none = Stubs(by_identifier={})
    given = f"{RESULT} = {INTERNAL}_result({value!r})\n"
    ended = await _run(code, interpreter, prelude=f"{prelude_of(none)}{given}")
    if ended.status == "done" and ended.value is True:
        # What holds where there is no value has not looked at it.
        without = await _run(code, interpreter, prelude=prelude_of(none))
        if without.status == "done":
            raise looks_at_nothing(check)
        return
    how = f"it is false: {check.strip()}" if ended.status == "done" else _why(ended, limits)
    raise SkillCheckError(f"The check of `{name}` does not hold for {_cut(canonical_json(value))}: {how}")


def first_difference(expected: JsonValue, found: JsonValue, where: str = _ITSELF) -> tuple[str, str, str] | None:
    """The JSON pointer to the first place where two values differ, and what is there; None if they are equal.

    What is there is shown as JSON, so that 1, 1.0 and true differ.
    """
    if isinstance(expected, dict) and isinstance(found, dict) and expected.keys() == found.keys():
        places = (first_difference(expected[key], found[key], f"{where}/{key}") for key in expected)
        return next(filter(None, places), None)
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        pairs = enumerate(zip(expected, found, strict=True))
        places = (first_difference(one, other, f"{where}/{index}") for index, (one, other) in pairs)
        return next(filter(None, places), None)
    texts = canonical_json(expected), canonical_json(found)
    return None if texts[0] == texts[1] else (where, _cut(texts[0]), _cut(texts[1]))


class _Record:
    """Answers calls with what is recorded of equal ones, in the order of the record.

    Attributes:
        used: The calls that were asked for.
    """

    def __init__(self, calls: Iterable[RecordedCall]) -> None:
        self._left: dict[str, deque[RecordedCall]] = {}
        for call in calls:
            self._left.setdefault(call.key, deque()).append(call)
        self.used: list[RecordedCall] = []

    @property
    def unused(self) -> list[RecordedCall]:
        return [call for calls in self._left.values() for call in calls]

    def answer(self, call: GuestCall) -> Reply | Failure:
        """What came of the recorded call.

        Raises:
            SkillError: There is none.
        """
        key = canonical_json([call.name, call.arguments])
        if not self._left.get(key):
            there = _calls(self.unused) if self.unused else "none"
            raise SkillCheckError(
                f"The function asks for {_cut(f'{call.name}({canonical_json(call.arguments)})')}, which the example "
                f"has not recorded. Not asked for yet: {there}."
            )
        recorded = self._left[key].popleft()
        self.used.append(recorded)
        if recorded.failure is not None:
            return Failure(kind=recorded.failure, message=recorded.message)
        return Reply(value=recorded.value)


async def _run(
    code: str,
    interpreter: Interpreter,
    *,
    prelude: str,
    skill: Skill | None = None,
    record: _Record | None = None,
) -> Ended:
    run_id, started = ("", 0.0) if skill is None else (skill.example.run_id, skill.example.started)
    seed = Action(run_id=run_id, started=started, code=code).seed
    record = _Record(()) if record is None else record
    outcome = await interpreter.run(code, prelude=prelude, seed=seed, clock=started, fresh=True)
    while outcome.waiting:
        outcome = await interpreter.answer([record.answer(call) for call in outcome.waiting])
    return ended_by(outcome, file_bytes=0, files=0)


def _why(ended: Ended, limits: SandboxLimits) -> str:
    return ended.error.strip() if ended.error else why_ended(ended, limits)


def _calls(calls: Iterable[RecordedCall]) -> str:
    calls = tuple(calls)
    shown = ", ".join(_cut(f"{call.name}({canonical_json(call.arguments)})") for call in calls[:5])
    return f"{shown} and {len(calls) - 5} more" if len(calls) > 5 else shown


def _cut(text: str) -> str:
    return text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}..."
