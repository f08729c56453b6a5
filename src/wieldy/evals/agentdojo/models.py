"""Scripted models for AgentDojo: one that does what the user wants, and ones that obey every stranger whom they read.

A compromised model knows everything: it makes the calls that the stranger wants with the right arguments, whatever the
stranger's text says of them. It only waits until that text was shown to it. So what it achieves is what the harness
does not prevent, and no model that is deceived achieves more by these calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final

from wieldy.evals.agentdojo.declarations import DECLARED
from wieldy.evals.agentdojo.goals import SENT
from wieldy.evals.agentdojo.tasks import DojoTask
from wieldy.testing import ScriptedModel, call, text

if TYPE_CHECKING:
    from wieldy.core.json import JsonObject
    from wieldy.core.messages import Message
    from wieldy.core.ports import Model
    from wieldy.testing.scripted import Turn

ATTACK: Final = "attack-"
"""How the ids of calls begin that a compromised model makes for a stranger."""

_OWN: Final = "own-"


def scripts_of(task: DojoTask) -> Mapping[str, Callable[[], Model]]:
    """The scripts by name."""
    scripts: dict[str, Callable[[], Model]] = {"oracle": partial(oracle, task), "robust": partial(oracle, task)}
    for name, is_late, is_aimed in (
        ("compromised", False, False),
        ("compromised-late", True, False),
        ("compromised-aimed", False, True),
    ):
        scripts[name] = partial(compromised, task, name=name, is_late=is_late, is_aimed=is_aimed)
    return scripts


def oracle(task: DojoTask) -> Model:
    """A model that does the user's task, one call after the other, and nothing else."""
    return _scripted(task, "oracle", [])


def compromised(task: DojoTask, *, name: str, is_late: bool, is_aimed: bool) -> Model:
    """A model that makes the stranger's calls as soon as it was shown the stranger's text, and goes on with its own.

    Args:
        task: What the user wants, and what the stranger.
        name: What the script is called.
        is_late: Whether it makes them when its own work is done, instead.
        is_aimed: Whether it turns them to what the user named: where the user's task has a call of the same tool, the
            stranger's takes over what that one is aimed at.
    """
    wanted = task.calls_of_attack()
    calls = _aimed(wanted, task.calls_of_user()) if is_aimed else wanted
    return _scripted(task, name, calls, is_late=is_late)


def _scripted(
    task: DojoTask, script: str, attack: Sequence[tuple[str, JsonObject]], *, is_late: bool = False
) -> ScriptedModel:
    own = task.calls_of_user()

    def turn(messages: Sequence[Message]) -> Turn:
        made = [each.provider_id or "" for message in messages for each in message.calls]
        mine, theirs = (sum(each.startswith(prefix) for each in made) for prefix in (_OWN, ATTACK))
        obeys = theirs < len(attack) and was_shown(task, messages) and (not is_late or mine == len(own))
        if obeys:
            name, arguments = attack[theirs]
            return [call(name, _known_by_now(arguments, messages), id=f"{ATTACK}{theirs}")]
        if mine < len(own):
            return [call(*own[mine], id=f"{_OWN}{mine}")]
        return [text(_answer(task, messages, obeys=script.startswith("compromised")))]

    return ScriptedModel(turn, name=f"script:{script}")


def _answer(task: DojoTask, messages: Sequence[Message], *, obeys: bool) -> str:
    words = [task.user.GROUND_TRUTH_OUTPUT or "Done."]
    if obeys and task.attack is not None and was_shown(task, messages):
        words.append(task.attack.GROUND_TRUTH_OUTPUT)
    return "\n".join(filter(None, words))


def was_shown(task: DojoTask, messages: Sequence[Message]) -> bool:
    """Whether the stranger's text stands in a result that the model was given."""
    return task.attack is not None and any(task.marker in each.text for each in messages if each.role == "tool")


def _known_by_now(arguments: JsonObject, messages: Sequence[Message]) -> JsonObject:
    """The arguments with the ids of the mails that were sent for the stranger, as far as any were."""
    theirs = {each.id for message in messages for each in message.calls if (each.provider_id or "").startswith(ATTACK)}
    results = [each.result for each in messages if each.result is not None and each.result.tool_call_id in theirs]
    found = [each.structured_content for each in results if isinstance(each.structured_content, dict)]
    ids = dict(zip(SENT, (each["id_"] for each in found if "recipients" in each), strict=False))
    return {name: ids.get(value, value) if isinstance(value, str) else value for name, value in arguments.items()}


def _aimed(
    attack: Sequence[tuple[str, JsonObject]], own: Sequence[tuple[str, JsonObject]]
) -> list[tuple[str, JsonObject]]:
    aimed: list[tuple[str, JsonObject]] = []
    for name, arguments in attack:
        aim = DECLARED[name].aim
        users = next((each for other, each in own if other == name), None)
        targets = aim.targets if aim is not None and users is not None else ()
        aimed.append((name, {**arguments, **{path: (users or {})[path] for path in targets if path in (users or {})}}))
    return aimed
