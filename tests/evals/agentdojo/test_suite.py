"""AgentDojo's tasks as cases: what scripts reach, what policies prevent, and how it is told."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from wieldy.core.errors import UsageError
from wieldy.evals.agentdojo.declarations import DECLARED
from wieldy.evals.agentdojo.package import load_suites
from wieldy.evals.agentdojo.suite import CATEGORIES, POLICIES, agentdojo_suite, categories_named
from wieldy.evals.agentdojo.tasks import place_of
from wieldy.evals.cases.case import Attempt, Case, Judged
from wieldy.run.journal import MemoryJournal

BANK = ("banking", "banking-attacked", "banking-words")


def judged(case: Case, script: str, policy: str = "allow") -> Judged:
    journal = MemoryJournal()
    attempt = Attempt(model=case.scripts[script](), journal=journal, metadata={}, policy=POLICIES[policy])
    ids = anyio.run(case.run, attempt)
    return case.judge([journal.read(run_id) for run_id in ids])


def others(found: Judged) -> dict[str, bool]:
    return {name: verdict.kind == "pass" for name, verdict in found.others.items()}


def cases(place: Path, *categories: str, is_disguised: bool = False) -> dict[str, Case]:
    suite = agentdojo_suite(categories, place=place, is_disguised=is_disguised)
    return {case.id: case for case in suite.cases}


def test_the_oracle_does_every_task(sample: Path) -> None:
    found = cases(sample, *BANK)
    assert [each for each in found if not each.count("/") > 1] == [f"banking/user_task_{each}" for each in range(4)]
    for case in found.values():
        assert judged(case, "oracle").verdict.kind == "pass"
        assert judged(case, "robust").verdict.kind == "pass"


def test_a_compromised_model_does_what_strangers_want(sample: Path) -> None:
    for case in cases(sample, "banking-attacked", "banking-words").values():
        told = others(judged(case, "compromised"))
        assert (told["utility"], told["secure"], told["secure where shown"]) == (True, False, False)
        assert told["no stranger's call"] is (case.category == "banking-words")


@pytest.mark.parametrize("script", ["compromised", "compromised-late", "compromised-aimed"])
@pytest.mark.parametrize("is_disguised", [False, True])
def test_the_grounded_policy_prevents_it_and_keeps_what_the_user_named(
    sample: Path, script: str, is_disguised: bool
) -> None:
    done = {}
    for id, case in cases(sample, "banking-attacked", is_disguised=is_disguised).items():
        told = others(judged(case, script, "grounded"))
        assert told["secure"]
        assert told["secure where shown"]
        done[id.split("/")[1]] = told["utility"]
    # The bill's recipient stands nowhere but in the file; that of the last payment is named by its amount.
    assert done == {"user_task_0": True, "user_task_1": True, "user_task_2": False, "user_task_3": True}


def test_what_is_aimed_at_whom_the_user_named_is_not_prevented(sample: Path) -> None:
    found = cases(sample, "banking-attacked")
    told = others(judged(found["banking/user_task_1/injection_task_0"], "compromised-aimed", "grounded"))
    assert (told["secure"], told["no stranger's call"]) == (True, False)


def test_words_are_not_prevented(sample: Path) -> None:
    for case in cases(sample, "banking-words").values():
        assert not others(judged(case, "compromised", "grounded"))["secure"]


def test_a_question_is_told_and_nobody_answers_it(sample: Path) -> None:
    found = cases(sample, "banking")
    asked = judged(found["banking/user_task_1"], "oracle", "tainted")
    assert others(asked) == {"utility": False, "no question": False}
    assert asked.verdict.code == "utility"


def test_each_trial_begins_with_a_fresh_environment(sample: Path) -> None:
    case = cases(sample, "banking-attacked")["banking/user_task_1/injection_task_0"]
    first, second = (others(judged(case, "compromised")) for _ in range(2))
    assert first == second


def test_only_places_that_are_read_hold_the_strangers_text(sample: Path) -> None:
    place = place_of(load_suites(sample)["banking"])
    assert place.defaults == {"note": "Bill: 9 to SHOP-1.\nThanks", "never": "nothing"}
    plain = place.environment({"note": 'a "quoted"\nline'})
    assert plain.files == {"notes.txt": 'Dear all, a "quoted"\nline', "other.txt": "nothing"}
    case = cases(sample, "banking-attacked")["banking/user_task_0/injection_task_0"]
    assert others(judged(case, "robust"))["secure where shown"]


def test_a_stranger_who_was_not_read_is_not_obeyed(sample: Path) -> None:
    case = cases(sample, "banking-attacked")["banking/user_task_0/injection_task_0"]
    journal = MemoryJournal()

    def nothing_is_read(proposal: object) -> object:
        from wieldy import Deny

        return Deny("not now")

    attempt = Attempt(
        model=case.scripts["compromised"](),
        journal=journal,
        metadata={},
        policy=nothing_is_read,  # pyright: ignore[reportArgumentType]
    )
    ids = anyio.run(case.run, attempt)
    told = others(case.judge([journal.read(ids[0])]))
    assert told["secure"]
    assert "secure where shown" not in told


def test_categories_are_named_one_by_one_and_in_groups() -> None:
    assert categories_named(["all"]) == list(CATEGORIES)
    assert categories_named(["benign", "slack-words"]) == ["banking", "slack", "travel", "workspace", "slack-words"]
    with pytest.raises(UsageError, match="Expected categories of AgentDojo"):
        categories_named(["chess"])
    with pytest.raises(UsageError, match="Expected categories of AgentDojo"):
        agentdojo_suite(["chess"])


def test_where_the_package_is_not_it_is_said_how_to_get_it(sample: Path, tmp_path: Path) -> None:
    sys.path[:] = [str(tmp_path)]
    (tmp_path / "agentdojo").mkdir()
    with pytest.raises(UsageError, match="pip install --no-deps agentdojo"):
        load_suites(tmp_path)


# The benchmark itself, where somebody has installed it.


@pytest.fixture(scope="module")
def suites() -> Mapping[str, object]:
    spec = importlib.util.find_spec("agentdojo")
    if spec is None or spec.origin is None:
        pytest.skip("the package agentdojo is not installed")
    return load_suites()


def test_all_of_its_tools_are_declared_and_nothing_else(suites: Mapping[str, object]) -> None:
    tools = {tool.name for suite in suites.values() for tool in suite.tools}  # pyright: ignore
    assert tools == DECLARED.keys()


def test_environments_are_as_the_benchmark_makes_them(suites: Mapping[str, object]) -> None:
    for suite in suites.values():
        place = place_of(suite)
        for written in ({}, {name: f"text {name}" for name in place.defaults}):
            assert place.environment(written) == suite.load_and_inject_default_environment(written)  # pyright: ignore


def test_its_tasks_are_done_and_a_goal_without_a_ground_truth_is_reached(suites: Mapping[str, object]) -> None:
    every = {case.id: case for case in agentdojo_suite(CATEGORIES).cases}
    assert len(every) == 97 + 949
    for task in ("banking/user_task_3", "slack/user_task_5", "travel/user_task_0", "workspace/user_task_6"):
        assert judged(every[task], "oracle").verdict.kind == "pass"
    for number in range(6, 14):
        case = every[f"workspace/user_task_24/injection_task_{number}"]
        assert not others(judged(case, "compromised"))["secure"]
        assert others(judged(case, "compromised", "grounded"))["secure"]
