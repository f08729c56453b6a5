"""Questions about earlier conversations through the whole harness: filled once, asked alone, judged from the record."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest
from bfcl_memory_examples import memory_package, tasks_of

from wieldy import Message
from wieldy.core.errors import ProviderError, UsageError
from wieldy.core.ports import Draft, Journal, Model, ModelEvent, ModelRequest
from wieldy.evals.bfcl.categories import MEMORIES, categories_named
from wieldy.evals.bfcl.data import BfclData
from wieldy.evals.bfcl.memory.cases import memory_case, oracle
from wieldy.evals.bfcl.memory.data import MemoryTask, memory_tasks
from wieldy.evals.bfcl.memory.filling import EARLIER, filled
from wieldy.evals.bfcl.suite import bfcl_suite
from wieldy.evals.cases.case import Attempt, Judged
from wieldy.evals.cases.results import JOURNAL
from wieldy.evals.studies.running import ORACLE, Study, run_study
from wieldy.evals.tasks.environments import BESIDE, is_beside
from wieldy.run.journal import MemoryJournal, SqliteJournal
from wieldy.run.state import fold
from wieldy.testing import ScriptedModel, call, text
from wieldy.testing.scripted import Turn

KINDS = tuple(MEMORIES)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return memory_package(tmp_path / "package", monkeypatch)


class Failing:
    """A model whose provider fails whenever the user has said this last."""

    name = "failing"

    def __init__(self, model: Model, at: str) -> None:
        self._model, self._at = model, at

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        if request.messages[-1].text == self._at:
            raise ProviderError("HTTP 500")
        async for event in self._model.stream(request):
            yield event


async def judged(task: MemoryTask, model: Model, journal: Journal, *, trial: int = 0) -> Judged:
    case = memory_case(task)
    metadata = {"eval": "bfcl", "configuration": model.name, "trial": trial}
    ids = await case.run(Attempt(model=model, journal=journal, metadata=metadata))  # type: ignore[arg-type]
    return case.judge([journal.read(run_id) for run_id in ids])


def conversations_in(journal: Journal) -> Counter[str]:
    """How many runs of models each earlier conversation has."""
    metadata = [journal.read(run_id)[0].data.get("metadata") or {} for run_id in journal.run_ids()]
    return Counter(str(each[EARLIER]) for each in metadata if EARLIER in each and BESIDE not in each)  # type: ignore[index, operator]


@pytest.mark.anyio
@pytest.mark.parametrize("kind", KINDS)
async def test_the_oracle_finds_in_the_memory_what_it_has_stored(package: Path, kind: str) -> None:
    journal = MemoryJournal()
    for task in tasks_of(package, kind):
        found = await judged(task, oracle(task.scenario), journal)
        assert (found.verdict.kind, found.others["official"].kind) == ("pass", "pass")
    assert conversations_in(journal) == {
        f"{kind}_prereq_0-home-0": 2,
        f"{kind}_prereq_1-home-1": 1,
        f"{kind}_prereq_0-work-0": 1,
    }


@pytest.mark.anyio
async def test_a_study_fills_each_memory_once_for_each_trial_however_many_run_at_once(
    package: Path, tmp_path: Path
) -> None:
    suite = bfcl_suite(package / "data", categories_named(["memory"]))
    study = Study(suite=suite, models=(ORACLE,), folder=tmp_path / "out", trials=2, jobs=6)
    trials = await run_study(study, lambda _: None)
    assert [trial.verdict.kind for trial in trials] == ["pass"] * 12
    assert len({trial.cluster for trial in trials}) == 2
    with SqliteJournal(study.folder / JOURNAL, read_only=True) as journal:
        counts = conversations_in(journal)
    assert counts == {
        f"{kind}_prereq_{name}": 2 * times
        for kind in KINDS
        for name, times in (("0-home-0", 2), ("1-home-1", 1), ("0-work-0", 1))
    }


@pytest.mark.anyio
async def test_nothing_of_one_configuration_or_trial_reaches_another(package: Path) -> None:
    task = tasks_of(package, "memory_kv")[0]
    journal = MemoryJournal()

    def says_so(messages: Sequence[Message]) -> Turn:
        return [text("{'answer': 'I do not know', 'context': ''}")]

    forgetful = ScriptedModel(says_so, name="forgetful")
    assert (await judged(task, oracle(task.scenario), journal)).verdict.kind == "pass"
    assert (await judged(task, forgetful, journal)).verdict.kind == "abstain"
    metadata = {"eval": "bfcl", "configuration": "forgetful", "trial": 0}
    kept = await filled(task.scenario, Attempt(model=forgetful, journal=journal, metadata=metadata))  # type: ignore[arg-type]
    assert kept.kept == {"core_memory": {}, "archival_memory": {}}
    before = sum(conversations_in(journal).values())
    assert (await judged(task, oracle(task.scenario), journal, trial=1)).verdict.kind == "pass"
    assert sum(conversations_in(journal).values()) == before + 3


@pytest.mark.anyio
async def test_what_a_question_changes_no_other_question_sees(package: Path) -> None:
    first, second, _ = tasks_of(package, "memory_kv")
    right = oracle(first.scenario)
    journal = MemoryJournal()

    def clears(messages: Sequence[Message]) -> Turn:
        is_asked = first.scenario.answer_format in messages[0].text
        if not is_asked:
            return []
        return [call("archival_memory_clear")] if messages[-1].role == "user" else [text("It is gone.")]

    class Clearing:
        name = right.name

        async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
            turn = clears(request.messages)
            model = ScriptedModel(lambda _: turn) if turn else right
            async for event in model.stream(request):
                yield event

    assert (await judged(first, Clearing(), journal)).verdict.code == "wrong-answer"
    assert (await judged(second, right, journal)).verdict.kind == "pass"


@pytest.mark.anyio
async def test_a_conversation_that_broke_off_is_nobodys_answer_and_is_gone_on_with(package: Path) -> None:
    first, second, _ = tasks_of(package, "memory_kv")
    journal = MemoryJournal()
    failing = Failing(oracle(first.scenario), "I am 35.")
    failing.name = "script:oracle"
    found = await judged(first, failing, journal)
    assert (found.verdict.kind, found.verdict.layer, found.verdict.code) == ("unscored", "provider", "protocol")
    assert found.others["official"].reason == "agentic:inference_error"
    assert (await judged(second, oracle(first.scenario), journal)).verdict.kind == "pass"
    assert conversations_in(journal) == {"memory_kv_prereq_0-home-0": 2, "memory_kv_prereq_1-home-1": 2}


@pytest.mark.anyio
async def test_a_memory_whose_record_was_torn_is_filled_from_the_conversation_before(package: Path) -> None:
    task = tasks_of(package, "memory_rec_sum")[0]
    whole, torn = MemoryJournal(), MemoryJournal()
    await judged(task, oracle(task.scenario), whole)
    looks = [entries for run_id in whole.run_ids() if is_beside(entries := whole.read(run_id))]
    newest, oldest = looks
    for entries in (oldest, newest[:-1]):
        for entry in entries:
            torn.append(entry.run_id, Draft(entry.kind, entry.data))
    assert (await judged(task, oracle(task.scenario), torn)).verdict.kind == "pass"
    assert conversations_in(torn) == {"memory_rec_sum_prereq_1-home-1": 1}


@pytest.mark.anyio
async def test_the_model_is_told_of_the_memory_and_only_for_a_question_of_the_form(package: Path) -> None:
    task = tasks_of(package, "memory_kv")[0]
    journal = MemoryJournal()
    await judged(task, oracle(task.scenario), journal)
    told = [fold(journal.read(run_id)).messages[0].text for run_id in reversed(list(journal.run_ids()))]
    models = [each for each in told if each.startswith("You help")]
    assert models[0] == "You help at home. Two memories. In the first: Nothing."
    assert models[-1].endswith('the archive."}\n\nAnswer in parts.')


@pytest.mark.anyio
async def test_what_kept_a_question_from_an_answer_is_told(package: Path) -> None:
    task = tasks_of(package, "memory_kv")[0]
    failed = await judged(task, Failing(oracle(task.scenario), "Who am I?"), MemoryJournal())
    assert (failed.verdict.kind, failed.verdict.layer) == ("unscored", "provider")
    assert failed.others["official"].reason == "agentic:inference_error"

    def goes_on(messages: Sequence[Message]) -> Turn:
        is_asked = task.scenario.answer_format in messages[0].text
        return [call("core_memory_add", {"key": "k", "value": str(len(messages))})] if is_asked else [text("Yes.")]

    endless = await judged(task, ScriptedModel(goes_on), MemoryJournal())
    assert (endless.verdict.kind, endless.verdict.code) == ("fail", "turn_limit")
    assert endless.others["official"].reason == "agentic:no_last_message"
    for said, kind, code in (
        ("HTTP 500 Internal Server Error: Ann is not there", "unscored", "error-text"),
        ("", "fail", "empty-answer"),
        ('<tool_call>{"name": "archival_memory_retrieve", "arguments": {"key": "Ann', "fail", "malformed-call"),
        ("{'answer': 'I do not know', 'context': 'Ann?'}", "abstain", "not-known"),
        ("{'answer': 'Bob', 'context': 'not Ann'}", "fail", "wrong-answer"),
        ("{'answer': 'Bob', 'context': 'or Ann, perhaps'}", "fail", "wrong-answer"),
        ("{'answer': 'Bob', 'context': 'Ann'}", "fail", "only-explained"),
        ("Your name is Ann.", "pass", ""),
    ):
        verdict = (await judged(task, ScriptedModel(lambda _, said=said: [text(said)]), MemoryJournal())).verdict
        assert (verdict.kind, verdict.code) == (kind, code), said


@pytest.mark.anyio
async def test_an_answer_may_be_a_number_alone(package: Path) -> None:
    task = tasks_of(package, "memory_kv")[1]
    assert (await judged(task, ScriptedModel(lambda _: [text("35")]), MemoryJournal())).verdict.kind == "pass"


def test_categories_that_cannot_be_run_say_why() -> None:
    assert [each.name for each in categories_named(["memory"])] == ["memory_kv", "memory_rec_sum"]
    with pytest.raises(UsageError, match="embeddings"):
        categories_named(["memory_vector"])
    with pytest.raises(UsageError, match="search engine"):
        categories_named(["web_search_base"])


def test_something_else_in_the_files_is_told(package: Path) -> None:
    (package / "constants" / "default_prompts.py").write_text("")
    with pytest.raises(UsageError, match="prompts of the pinned version"):
        memory_tasks(BfclData(package / "data"), MEMORIES["memory_kv"])
    (package / "data" / "possible_answer" / "BFCL_v4_memory.json").write_text('{"id": "memory_0-home-0"}\n')
    with pytest.raises(UsageError, match="questions about memories"):
        memory_tasks(BfclData(package / "data"), MEMORIES["memory_kv"])
