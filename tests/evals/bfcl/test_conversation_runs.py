"""Conversations through the whole harness: carried out, recorded, and judged from the record alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence

import pytest
from conversation_examples import conversation, read, row, service_code, written_package

from wieldy import Message, Usage
from wieldy.core.errors import ProviderError
from wieldy.core.ports import Entry, Model, ModelEvent, ModelReply, ModelRequest
from wieldy.evals.bfcl.categories import categories_named
from wieldy.evals.bfcl.conversations.cases import conversation_case, oracle
from wieldy.evals.bfcl.conversations.data import BfclConversation
from wieldy.evals.bfcl.conversations.running import MOST_REPLIES, run_conversation
from wieldy.evals.bfcl.conversations.scoring import FORCE_TERMINATED, INFERENCE_ERROR, official_verdict, strict_verdict
from wieldy.evals.bfcl.conversations.services import ServiceCode
from wieldy.evals.bfcl.suite import bfcl_suite
from wieldy.evals.cases.case import Attempt
from wieldy.evals.studies.running import ORACLE, Study, run_study
from wieldy.run.journal import MemoryJournal
from wieldy.run.state import fold
from wieldy.testing import ScriptedModel, call, text

Script = Callable[[int, Sequence[Message]], list[object]]
"""What the model says in a turn, counted from 0, after these messages of it."""


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> ServiceCode:
    return service_code(tmp_path_factory.mktemp("package"))


def saying(script: Script) -> ScriptedModel:
    def turn(messages: Sequence[Message]) -> list[object]:
        starts = [at for at, message in enumerate(messages) if message.role == "user"]
        return script(len(starts) - 1, messages[starts[-1] + 1 :])

    return ScriptedModel(turn)  # type: ignore[arg-type]


def making(*turns: list[object]) -> ScriptedModel:
    """Makes these calls, each turn at once, and answers in words."""
    return saying(lambda turn, said: turns[turn] if not said and turns[turn] else [text("That is all.")])


class Failing:
    """A model whose provider fails when it is asked for the given time, counted from 0."""

    name = "failing"

    def __init__(self, model: Model, at: int) -> None:
        self._model, self._left = model, at

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        if self._left == 0:
            raise ProviderError("HTTP 500")
            yield ModelReply(message=request.messages[0], usage=Usage())
        self._left -= 1
        async for event in self._model.stream(request):
            yield event


async def runs_of(one: BfclConversation, model: Model) -> list[Sequence[Entry]]:
    journal = MemoryJournal()
    ids = await run_conversation(one, Attempt(model=model, journal=journal, metadata={}))
    return [journal.read(run_id) for run_id in ids]


async def verdicts(one: BfclConversation, model: Model) -> tuple[tuple[str, str, int], tuple[str, str, int]]:
    """Kind, code and run of the official verdict and of ours."""
    runs = await runs_of(one, model)
    official, strict = official_verdict(one, runs), strict_verdict(one, runs)
    return (official.kind, official.reason, official.run), (strict.kind, strict.code, strict.run)


PASSED = ("pass", "", 0)


@pytest.mark.anyio
async def test_the_oracle_passes_and_every_turn_is_a_run(code: ServiceCode) -> None:
    one = conversation(code, ("add('a', 2)", "tag('a', 'x')"), (), ("show('a')", "close('a')"))
    runs = await runs_of(one, oracle(one))
    assert (official_verdict(one, runs).kind, strict_verdict(one, runs).kind) == ("pass", "pass")
    states = [fold(entries) for entries in runs]
    assert [len(state.calls) for state in states] == [2, 0, 2]
    assert [message.text for message in states[2].messages if message.role == "user"] == [
        f"Please do the work of turn {at}." for at in range(3)
    ]
    assert '{"ticket": {"urgency": 2, "tags": ["x"]}' in states[2].messages[-3].text


@pytest.mark.anyio
async def test_a_trial_tells_nothing_to_the_next(code: ServiceCode) -> None:
    one = conversation(code, ("add('a')", "tag('a', 'x')"), ("names()", "show('a')"))
    case = conversation_case(one)
    for model in (making([call("add", {"name": "b"})], []), case.scripts["oracle"](), making([], [])) * 2:
        journal = MemoryJournal()
        ids = await case.run(Attempt(model=model, journal=journal, metadata={}))
        judged = case.judge([journal.read(run_id) for run_id in ids])
        expected = "pass" if model.name == "script:oracle" else "fail"
        assert judged.others["official"].kind == expected
        assert (judged.verdict.kind == "pass") == (expected == "pass")


@pytest.mark.anyio
async def test_functions_come_when_it_is_their_turn(code: ServiceCode) -> None:
    one = conversation(code, (), ("close('a')",), missing={1: "close"}, scenario=_WITH_A)
    early = saying(lambda turn, said: [call("close", {"name": "a"})] if not said else [text("Hm.")])
    runs = await runs_of(one, early)
    offered = [{tool["name"] for tool in entries[0].data["tools"]} for entries in runs]  # type: ignore[index, union-attr]
    assert "close" not in offered[0]
    assert "close" in offered[1]
    first, second = (fold(entries).calls[0] for entries in runs)
    assert first.result is not None
    assert first.result.is_error
    assert second.result is not None
    assert second.result.content == '{"closed": "a"}'
    assert (await verdicts(one, early)) == (PASSED, ("fail", "needless-call", 0))
    assert (await verdicts(one, oracle(one))) == (PASSED, PASSED)


_WITH_A = {"TicketAPI": {"tickets": {"a": {"urgency": 1, "tags": []}}}}


@pytest.mark.anyio
async def test_calls_that_cannot_be_carried_out_reach_the_model_as_errors_and_change_nothing(code: ServiceCode) -> None:
    one = conversation(code, ("add('a')", "show('a')"))
    wrong: list[object] = [
        call("no_such", {}),
        call("add", {"name": "b", "urgency": "very"}),
        call("add", '{"name": '),
        call("show", {"name": "b"}),
    ]

    def script(turn: int, said: Sequence[Message]) -> list[object]:
        if not said:
            return wrong
        right: list[object] = [call("add", {"name": "a"}), call("show", {"name": "a"})]
        return right if len(said) == len(wrong) + 1 else [text("There it is.")]

    (entries,) = await runs_of(one, saying(script))
    results = [message.result for message in fold(entries).messages if message.result is not None]
    assert [result.is_error for result in results] == [True] * 4 + [False] * 2
    assert "Error during execution: 'b'" in results[3].content
    assert await verdicts(one, saying(script)) == (PASSED, PASSED)


@pytest.mark.anyio
async def test_arguments_count_as_they_were_carried_out(code: ServiceCode) -> None:
    one = conversation(code, ("add('a', 2)",))
    assert await verdicts(one, making([call("add", {"name": "a", "urgency": "2"})])) == (PASSED, PASSED)


@pytest.mark.anyio
async def test_the_run_and_the_reason_of_a_failure_are_told(code: ServiceCode) -> None:
    one = conversation(code, ("add('a')",), ("names()",))
    add: list[object] = [call("add", {"name": "a"})]
    assert await verdicts(one, making(add, [call("here", {})])) == (
        ("fail", "multi_turn:execution_response_mismatch", 1),
        ("fail", "not-found-out", 1),
    )
    assert await verdicts(one, making([call("add", {"name": "b"})], [call("names", {})])) == (
        ("fail", "multi_turn:instance_state_mismatch", 0),
        ("fail", "wrong-state", 0),
    )
    assert await verdicts(one, making(add, [])) == (
        ("fail", "multi_turn:empty_turn_model_response", 1),
        ("abstain", "no-call", 1),
    )


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("words", "kind", "code_of_it"),
    [
        ("I cannot close it: there is no such function.", "pass", ""),
        ("", "fail", "empty-answer"),
        ("HTTP 500 Internal Server Error", "unscored", "error-text"),
        ('<tool_call>{"name": "close"', "fail", "malformed-call"),
    ],
)
async def test_where_nothing_can_be_done_only_an_answer_in_words_is_right(
    code: ServiceCode, words: str, kind: str, code_of_it: str
) -> None:
    one = conversation(code, ("add('a')",), ())
    model = saying(lambda turn, said: [text(words)] if turn else _add_a(said))
    official, strict = await verdicts(one, model)
    assert official == PASSED
    assert strict == (kind, code_of_it, 0 if kind == "pass" else 1)


def _add_a(said: Sequence[Message]) -> list[object]:
    return [text("It is added.")] if said else [call("add", {"name": "a"})]


@pytest.mark.anyio
@pytest.mark.parametrize(("at", "run"), [(0, 0), (1, 0), (2, 1), (3, 1)])
async def test_what_a_provider_did_is_not_put_down_to_the_model(code: ServiceCode, at: int, run: int) -> None:
    one = conversation(code, ("add('a')",), ("names()",), ())
    official, strict = await verdicts(one, Failing(oracle(one), at))
    assert official == ("fail", INFERENCE_ERROR, run)
    assert (strict[0], strict[2]) == ("unscored", run)


@pytest.mark.anyio
async def test_a_turn_without_end_ends_the_conversation(code: ServiceCode) -> None:
    one = conversation(code, ("add('a')",), ("names()",))

    def script(turn: int, said: Sequence[Message]) -> list[object]:
        return (
            [call("add", {"name": "a"})] if sum(each.role == "assistant" for each in said) < limit else [text("Done.")]
        )

    limit = MOST_REPLIES - 1
    assert len(await runs_of(one, saying(script))) == 2
    limit = MOST_REPLIES
    runs = await runs_of(one, saying(script))
    assert len(runs) == 1
    assert fold(runs[0]).stop_reason == "turn_limit"
    official, strict = await verdicts(one, saying(script))
    assert official == ("fail", FORCE_TERMINATED, 0)
    assert (strict[0], strict[2]) == ("fail", 0)


@pytest.mark.anyio
async def test_long_results_are_shown_whole(code: ServiceCode) -> None:
    one = conversation(code, ("add('a')", "show('a')"), id="multi_turn_long_context_0")
    (entries,) = await runs_of(one, oracle(one))
    assert len(fold(entries).messages[-2].text) > 40_000
    assert await verdicts(one, oracle(one)) == (PASSED, PASSED)


@pytest.mark.anyio
async def test_a_task_that_does_not_offer_its_right_calls_is_invalid(code: ServiceCode) -> None:
    one = conversation(code, ("add(name=1)",))
    assert (await verdicts(one, oracle(one)))[1][0] == "invalid-task"


@pytest.mark.anyio
async def test_a_study_of_conversations_repeats_and_resumes(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path_factory.mktemp("study")
    rows = [
        row("multi_turn_base_0", ["add('a')", "tag('a', 'x')"], ["show('a')"]),
        row("multi_turn_base_1", [], ["add('a')"]),
    ]
    suite = bfcl_suite(written_package(folder, monkeypatch, rows), categories_named(["multi_turn_base"]))
    study = Study(suite=suite, models=(ORACLE,), folder=folder / "out", trials=3, jobs=2)
    trials = await run_study(study, lambda _: None)
    assert [trial.verdict.kind for trial in trials] == ["pass"] * 6
    assert [trial.others["official"].kind for trial in trials] == ["pass"] * 6
    assert [len(trial.runs) for trial in trials] == [2] * 6
    assert len({trial.cluster for trial in trials}) == 2
    assert await run_study(study, lambda _: None) == trials
    assert len(read(folder / "bfcl_eval" / "data")) == 2
