"""tau2: conversations on a small domain of the benchmark's shape, and, where its wheel is, on the real ones."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import Enum
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from platformdirs import user_cache_path

from wieldy import UsageError
from wieldy.core.ports import Model
from wieldy.evals.cases.case import Attempt, Case, Judged
from wieldy.evals.tasks.measures import behaviour_of, measured
from wieldy.evals.tau2.judging import gold_failures
from wieldy.evals.tau2.package import DOMAINS, WHEEL_NAME, domain_of, load_domain
from wieldy.evals.tau2.suite import case_of, tau2_suite
from wieldy.run.journal import MemoryJournal
from wieldy.testing import ScriptedModel, call, text


class Kind(Enum):
    READ = "read"
    WRITE = "write"


class Kit:
    """Tools on a database: what the benchmark's own kits have of it."""

    def __init__(self, db: dict[str, str], **tools: Any) -> None:
        self.db = db
        self.tools = tools

    def tool_type(self, name: str) -> Kind:
        return Kind.READ if name.startswith("get") else Kind.WRITE


class Telephones:
    """An environment of the benchmark's shape: the agent has lines, the customer a telephone."""

    def __init__(self, db: dict[str, str] | None = None, user_db: dict[str, str] | None = None) -> None:
        lines, phone = db or {"L1": "suspended"}, user_db or {"power": "off"}

        def resume_line(line_id: str) -> str:
            """Resume a line."""
            if line_id not in lines:
                raise ValueError(f"There is no line {line_id}")
            lines[line_id] = "active"
            return "resumed"

        def get_line(line_id: str) -> str:
            """How a line is."""
            return lines[line_id]

        def switch_on() -> str:
            """Switch the telephone on."""
            phone["power"] = "on"
            return "on"

        self.tools = Kit(lines, resume_line=resume_line, get_line=get_line)
        self.user_tools = Kit(phone, switch_on=switch_on)

    def set_state(self, data: Any, actions: Any, history: Any) -> None:
        for name in actions or ():
            self.user_tools.tools[name]()

    def get_response(self, made: Any) -> Any:
        kit = self.tools if made.requestor == "assistant" else self.user_tools
        try:
            return SimpleNamespace(content=kit.tools[made.name](**made.arguments), error=False)
        except Exception as error:
            return SimpleNamespace(content=f"Error: {error}", error=True)

    def get_policy(self) -> str:
        return "Resume lines on request."

    def get_db_hash(self) -> str:
        return sha256(json.dumps(self.tools.db).encode()).hexdigest()

    def get_user_db_hash(self) -> str:
        return sha256(json.dumps(self.user_tools.db).encode()).hexdigest()

    def run_env_assertion(self, assertion: Any, *, raise_assertion_error: bool) -> bool:
        del raise_assertion_error
        return self.user_tools.db["power"] == assertion.arguments["power"]


@dataclass
class Criteria:
    actions: list[Any] | None
    env_assertions: list[Any] | None = None
    communicate_info: list[str] = field(default_factory=list[str])
    nl_assertions: list[str] | None = None
    reward_basis: list[Any] = field(
        default_factory=lambda: [SimpleNamespace(value="DB"), SimpleNamespace(value="COMMUNICATE")]
    )


def action(name: str, requestor: str = "assistant", **arguments: str) -> Any:
    return SimpleNamespace(name=name, requestor=requestor, arguments=arguments, compare_args=None)


@dataclass
class TaskLike:
    evaluation_criteria: Criteria
    id: str = "t"
    initial_state: Any = None
    user_scenario: str = "Your line does not work."

    def model_dump_json(self) -> str:
        return repr(self)


DOMAIN = domain_of(
    "telephones",
    module=SimpleNamespace(get_environment=Telephones),
    messages=SimpleNamespace(ToolCall=SimpleNamespace),
    guidelines="Play the customer.",
)
RESUME, SWITCH = action("resume_line", line_id="L1"), action("switch_on", "user")


def task(*actions: Any, **more: Any) -> TaskLike:
    return TaskLike(Criteria(list(actions), **more))


async def ran(case: Case, model: Model | None = None) -> tuple[Judged, list[Any]]:
    journal = MemoryJournal()
    ids = await case.run(Attempt(model=model or case.scripts["oracle"](), journal=journal, metadata={}))
    runs = [journal.read(run_id) for run_id in ids]
    found = case.judge(runs)
    assert case.judge(runs) == found
    return found, runs


BASIS = {name: SimpleNamespace(value=name) for name in ("DB", "ENV_ASSERTION", "ACTION", "COMMUNICATE")}
POWER = SimpleNamespace(func_name="assert_power", arguments={"power": "on"})
NOTHING = SimpleNamespace(func_name="assert_power", arguments={})  # the benchmark's function raises


@pytest.mark.anyio
@pytest.mark.parametrize(
    "wanted",
    [
        task(RESUME),
        task(RESUME, SWITCH, action("get_line", line_id="L1")),
        task(SWITCH, RESUME, SWITCH, communicate_info=["1200", "all is well"]),
        task(SWITCH, env_assertions=[POWER], reward_basis=[BASIS["ENV_ASSERTION"], BASIS["ACTION"]]),
        task(),
    ],
)
async def test_an_oracle_and_its_customer_take_turns_until_all_is_done(wanted: TaskLike) -> None:
    found, runs = await ran(case_of(DOMAIN, wanted))
    assert found.verdict.kind == "pass", found
    assert len(runs) % 2 == 1  # the customer has the first word and the last
    started = measured(runs).get("calls_started", 0)
    assert started == sum(each.requestor == "assistant" for each in wanted.evaluation_criteria.actions)
    assert behaviour_of(runs) == behaviour_of((await ran(case_of(DOMAIN, wanted)))[1])


DONE = [text("That is done.")]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("wanted", "turns", "code"),
    [
        (task(RESUME), [DONE], "database"),
        (task(RESUME), [[call("resume_line", {"line_id": "L2"})], DONE], "database"),
        (task(RESUME, communicate_info=["1200"]), [[call("resume_line", {"line_id": "L1"})], DONE], "not-told"),
        (
            task(RESUME, communicate_info=["1200"]),
            [[call("resume_line", {"line_id": "L1"})], [text("It is 1,200.")]],
            "",
        ),
        (task(RESUME, reward_basis=[BASIS["ACTION"]]), [[call("get_line", {"line_id": "L1"})], DONE], "missing-call"),
        (task(env_assertions=[POWER], reward_basis=[BASIS["ENV_ASSERTION"]]), [DONE], "assertion"),
        (task(env_assertions=[NOTHING], reward_basis=[BASIS["ENV_ASSERTION"]]), [DONE], "assertion"),
        (task(SWITCH, reward_basis=[BASIS["ACTION"]]), [[call("switch_on")], DONE], ""),
        (task(RESUME, reward_basis=[BASIS["ACTION"]]), [[call("resume_line")], DONE], ""),
        (TaskLike(Criteria(None)), [[call("resume_line", {"line_id": "L1"})], DONE], ""),
        (task(RESUME), [[call("get_line", {"line_id": "L1"})]] * 50, "repeated_call"),
    ],
)
async def test_the_benchmarks_rule_decides(wanted: TaskLike, turns: list[Any], code: str) -> None:
    found, _ = await ran(case_of(DOMAIN, wanted), ScriptedModel(lambda messages: turns[_asked(messages)]))
    assert (found.verdict.code, found.verdict.kind) == (code, "fail" if code else "pass")


def _asked(messages: Any) -> int:
    return min(sum(message.role == "assistant" for message in messages), 49)


@pytest.mark.anyio
async def test_a_task_whose_own_calls_fail_says_so() -> None:
    wanted = task(RESUME, action("resume_line", line_id="L9"))
    assert gold_failures(DOMAIN, wanted) == ["resume_line: There is no line L9"]
    found, _ = await ran(case_of(DOMAIN, wanted))
    assert (found.verdict.kind, found.measures) == ("pass", {"gold_calls_failed": 1.0})
    assert (await ran(case_of(DOMAIN, task(RESUME))))[0].measures == {}


@pytest.mark.anyio
async def test_a_customer_who_never_ends_is_no_pass_and_one_who_breaks_is_not_the_models() -> None:
    endless = ScriptedModel(lambda _: [text("And then?")])
    found, runs = await ran(case_of(DOMAIN, task(), lambda _: endless), ScriptedModel(lambda _: DONE))
    assert (found.verdict.code, len(runs)) == ("no-end", 120)
    broken = ScriptedModel(lambda _: [call("switch_on")])
    found, _ = await ran(case_of(DOMAIN, task(), lambda _: broken), ScriptedModel(lambda _: DONE))
    assert (found.verdict.kind, found.verdict.layer) == ("unscored", "user simulator")


@pytest.mark.anyio
async def test_assertions_in_words_are_for_judges_and_the_benchmarks_own_verdict_stands_beside() -> None:
    wanted = TaskLike(Criteria([RESUME], nl_assertions=["The agent is kind.", "It asks for nothing."]))
    plain, whole = case_of(DOMAIN, wanted), case_of(DOMAIN, wanted, assertions=True)
    assert plain.criterion is None
    assert whole.criterion is not None
    assert whole.criterion.endswith("1. The agent is kind.\n2. It asks for nothing.")
    assert plain.digest != whole.digest
    assert (await ran(plain))[0].others == {}
    found, _ = await ran(whole)
    assert found.others == {"benchmark": found.verdict}
    assert case_of(DOMAIN, task(RESUME), assertions=True).criterion is None


def test_another_wheel_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="found none"):
        load_domain(tmp_path / WHEEL_NAME, "airline")
    (tmp_path / WHEEL_NAME).write_bytes(b"PK")
    with pytest.raises(UsageError, match="pinned checksum"):
        load_domain(tmp_path / WHEEL_NAME, "airline")
    with pytest.raises(UsageError, match="airline, retail, telecom, mock"):
        load_domain(tmp_path / WHEEL_NAME, "banking")


@pytest.mark.anyio
@pytest.mark.parametrize("domain", DOMAINS[:3])
async def test_the_real_domains(domain: str) -> None:
    wheel = user_cache_path("wieldy", appauthor=False) / "benchmarks" / WHEEL_NAME
    if not wheel.is_file():
        pytest.skip(f"tau2's wheel is not here: {wheel}")
    for case in tau2_suite(wheel, [domain], limit=2).cases:
        assert (await ran(case))[0].verdict.kind == "pass"
