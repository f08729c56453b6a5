"""Tasks of one's own: what a model is asked, what it acts on, and what is right.

What is right can be said at four levels: which tools and with which arguments (`calls`), by which way (`milestones`,
`minefields`), and what is reached (`answer`, `environment`, `check`). Deliberately not here: judging (`judging`),
reading tasks from a file (`datasets`), running many (`running`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias, get_args

from wieldy.core.errors import UsageError
from wieldy.core.history.checking import says_something
from wieldy.core.messages import messages_from
from wieldy.evals.tasks.expected import ExpectedCall, Order
from wieldy.evals.tasks.outcomes import CallMade, Outcome
from wieldy.evals.tasks.trajectory import Condition, check_order
from wieldy.evals.verdicts.equality import layout_free
from wieldy.tools import tools_from

if TYPE_CHECKING:
    from wieldy.agent.agent import Prompt
    from wieldy.evals.tasks.environments import Environment
    from wieldy.evals.verdicts.verdict import Verdict
    from wieldy.tools import Tool, Toolset

__all__ = ["CallMade", "Check", "Condition", "ExpectedCall", "Outcome", "Task", "tool_names"]

Check: TypeAlias = "Callable[[Outcome], Verdict | bool | str | None]"
"""True or None: as it should be; False or a sentence: not so; a `Verdict` for anything else."""

_POLICY: Final = "The policy that you have to keep to:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task.

    Attributes:
        id: Unique within the data set.
        prompt: What the model is asked, or a conversation.
        tools: What it may call, beside the tools of the environment.
        calls: What has to be called; none for an empty tuple, anything for None.
        order: Whether calls must come in the order in which they are listed.
        extra_calls: Whether further calls are all right.
        milestones: Conditions that must hold, each after those that it names.
        minefields: Conditions that must not hold: a call that meets one fails the task.
        answer: Texts that the answer must contain; case and layout do not count, and 40 is not in 140.
        environment: What it acts on, looked at in the end: a `World`, a `Workspace`, a `Site`.
        check: A function of yours that looks at the outcome, the end state among it.
        judge: A criterion that no rule decides, for models to judge what has met all the rest (`--judge`).
        refuse: True: it must not be done, and no call may change anything; False: it must be done, by calls that do.
        unknown: Parameters, as `TOOL.PARAMETER`, whose values nothing says: a call that gives one has made it up.
        policy: A written policy, shown behind the instructions.
        tool_errors: Whether a tool that fails belongs to the task, so that the model has to cope with it.
        instructions: The system message.
        kind: What kind of task it is; results are sliced by it.
        cluster: Tasks of one cluster are alike and not counted as independent; a task's own id if left out.
        axes: How it differs from others of its cluster, by name: `variant`, `tools`, `cue`.
        variants: The same prompt in other words, for a study of what the words do.
        scripts: Calls of scripted models, one a turn, by the model's name; `oracle` if `calls` do not say the way.
    """

    id: str
    prompt: Prompt
    tools: Sequence[Tool | Toolset | Callable[..., object]] = ()
    calls: tuple[ExpectedCall, ...] | None = None
    order: Order = "any"
    extra_calls: bool = False
    milestones: tuple[Condition, ...] = ()
    minefields: tuple[Condition, ...] = ()
    answer: tuple[str, ...] = ()
    environment: Environment | None = None
    check: Check | None = None
    judge: str | None = None
    refuse: bool | None = None
    unknown: tuple[str, ...] = ()
    policy: str | None = None
    tool_errors: bool = False
    instructions: str | None = None
    kind: str = "task"
    cluster: str | None = None
    axes: Mapping[str, str] = field(default_factory=dict[str, str])
    variants: tuple[Prompt, ...] = ()
    scripts: Mapping[str, tuple[ExpectedCall, ...]] = field(default_factory=dict[str, "tuple[ExpectedCall, ...]"])

    def __post_init__(self) -> None:
        for name in (self.id, self.kind, self.cluster or "", *(text for axis in self.axes.items() for text in axis)):
            _check_characters(name)
        for prompt in (self.prompt, *self.variants):
            _check_prompt(self.id, prompt)
        _check_kinds(self)
        check_order(self.milestones)
        wants = self.calls, self.check, self.judge, self.environment, self.refuse
        if all(each is None for each in wants) and not (
            self.answer or self.milestones or self.minefields or self.unknown
        ):
            raise UsageError(
                f"The task {self.id!r} can only be passed: expected `calls`, `answer`, `milestones`, `minefields`, "
                "`environment`, `refuse`, `unknown` or `check`, found none of them."
            )
        for name in self.unknown:
            if not all(name.partition(".")):
                raise UsageError(f"The task {self.id!r}: expected TOOL.PARAMETER in `unknown`, found {name!r}.")

    @property
    def system(self) -> str | None:
        """The system message: the instructions, and the policy behind them."""
        if self.policy is None:
            return self.instructions
        return "\n\n".join(part for part in (self.instructions, f"{_POLICY}\n{self.policy}") if part)


def _check_characters(name: str) -> None:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise UsageError(f"Expected characters in the names of a task, found half of one in {name!a}.") from None


def _check_prompt(task: str, prompt: Prompt) -> None:
    messages = messages_from(prompt)  # says what is wrong with it
    asked = [message for message in messages if message.role == "user"]
    if not asked or not all(map(says_something, asked)):
        raise UsageError(f"The task {task!r}: expected a prompt that says something, found {prompt!r:.80}.")


def _check_kinds(task: Task) -> None:
    """What would silently mean something else is refused: a text where there are several, words for true and false."""
    for name in ("calls", "milestones", "minefields", "answer", "unknown", "variants"):
        if isinstance(getattr(task, name), str):
            raise UsageError(f"The task {task.id!r}: expected several in `{name}`, found {getattr(task, name)!r:.80}.")
    told: list[tuple[str, object]] = [(name, getattr(task, name)) for name in ("extra_calls", "tool_errors")]
    optional = [("refuse", task.refuse)]
    optional += [("is_error", condition.is_error) for condition in (*task.milestones, *task.minefields)]
    told += [(name, value) for name, value in optional if value is not None]
    for name, value in told:
        if not isinstance(value, bool):
            raise UsageError(f"The task {task.id!r}: expected `{name}` to be true or false, found {value!r:.80}.")
    if task.order not in get_args(Order):
        names = ", ".join(get_args(Order))
        raise UsageError(f"The task {task.id!r}: expected `order` to be one of {names}, found {task.order!r:.80}.")
    if task.judge is not None and not task.judge.strip():
        raise UsageError(f"The task {task.id!r}: expected a criterion in `judge`, found {task.judge!r}.")
    if not all(layout_free(each) for each in task.answer):
        raise UsageError(f"The task {task.id!r}: expected texts in `answer`, found one that every answer contains.")


def tool_names(task: Task) -> frozenset[str]:
    """Names of the task's tools; none where a toolset knows its tools only once it is open."""
    try:
        return frozenset(each.name for each in tools_from(task.tools).tools)
    except UsageError:
        return frozenset()
