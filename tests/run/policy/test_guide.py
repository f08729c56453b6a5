"""The guide's code does what the guide says."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from wieldy import Agent
from wieldy.core.errors import UsageError
from wieldy.run.policy import Rules
from wieldy.testing import ScriptedModel, call, text

GUIDE = (Path(__file__).parents[3] / "docs" / "how-to" / "policy.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL)
CODE = [block for language, block in BLOCKS if language == "python"]
SHOWN = [block for language, block in BLOCKS if not language]
(TOML,) = [block for language, block in BLOCKS if language == "toml"]


class Guide:
    """Its code, piece after piece, with a scripted model instead of a real one."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {"__name__": "guide"}

    def play(self, words: str, *turns: list[Any]) -> Any:
        """Run all code up to the piece that has these words; a run inside it plays the turns."""
        with ScriptedModel([*turns]) as model:
            self.names["scripted"] = model
            index = next(index for index, code in enumerate(CODE) if words in code)
            for code in CODE[: index + 1]:
                is_last = code is CODE[index]
                if is_last or "run_sync" not in code:
                    exec(code.replace('model="local"', "model=scripted"), self.names)
            return self.names

    def serve(self, agent: Agent, *turns: list[Any]) -> Any:
        """A run of this agent with another script."""
        with ScriptedModel([*turns]) as model:
            agent.model = model
            return agent.run_sync("go")


@pytest.fixture
def guide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Guide:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rules.toml").write_text(TOML, encoding="utf-8")
    return Guide()


def results(result: Any) -> list[str]:
    return [message.result.content for message in result.messages if message.result is not None]


def refunding(**arguments: Any) -> list[list[Any]]:
    return [[call("refund", {"order_id": "17", **arguments})], [text("Done.")]]


def test_a_permission_is_needed_whatever_the_rules_say(guide: Guide) -> None:
    names = guide.play("anna = Principal")
    assert results(guide.serve(names["agent"], *refunding(amount=5))) == ["Refunded 5.0 of order 17."]
    anybody = Agent(names["scripted"], [names["refund"]])
    (denied,) = results(guide.serve(anybody, *refunding(amount=5)))
    assert "needs the permission 'refunds:write'" in denied


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        ({"amount": 5}, "Refunded 5.0 of order 17."),
        ({"amount": "501"}, "refunds above 500 are made by hand"),
        ({"amount": 5, "currency": "USD"}, "only what is listed is allowed"),
        ({"amount": 80}, None),
        ({}, None),
    ],
)
def test_the_rules_decide_as_they_read(guide: Guide, arguments: dict[str, Any], answer: str | None) -> None:
    agent = guide.play("rules = Rules(")["agent"]
    with ScriptedModel([[call("refund", {"order_id": "17", **arguments})]] + [[text("Done.")]] * bool(answer)) as model:
        agent.model = model
        result = agent.run_sync("go")
    if answer is None:
        (request,) = result.waiting
        assert request.reason == "large refunds need a second person"
    else:
        assert answer in results(result)[0]


def test_the_doubt_is_the_one_that_is_shown(guide: Guide, capsys: pytest.CaptureFixture[str]) -> None:
    guide.play("for sentence in doubts")
    assert capsys.readouterr().out == SHOWN[0]


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [({"amount": 60}, "Refunded 60.0 of order 17."), ({}, "say how much"), ({"amount": 70}, None)],
)
def test_the_approver_answers_for_what_it_is_shown(
    guide: Guide, arguments: dict[str, Any], outcome: str | None
) -> None:
    agent = guide.play("def on_the_phone")["agent"]
    with ScriptedModel(
        [[call("refund", {"order_id": "17", **arguments})]] + [[text("Done.")]] * bool(outcome)
    ) as model:
        agent.model = model
        result = agent.run_sync("go")
    assert (result.stop_reason == "waiting_for_approval") is (outcome is None)
    assert outcome is None or outcome in results(result)[0]


def test_a_run_rests_until_somebody_has_decided(guide: Guide, capsys: pytest.CaptureFixture[str]) -> None:
    names = guide.play("agent.pending", *refunding(amount=80))
    printed = capsys.readouterr().out.splitlines()
    assert printed[-2] == "waiting_for_approval"
    arguments = "{'amount': 80, 'currency': 'EUR', 'order_id': '17'}"
    assert printed[-1] == f"refund {arguments} large refunds need a second person"
    assert results(names["result"]) == ["Refunded 80.0 of order 17."]


def test_once_a_stranger_was_read_a_refund_is_asked_about(guide: Guide) -> None:
    agent = guide.play("ask_when_tainted(")["agent"]
    with ScriptedModel(
        [[call("read_mail", {"number": 1})], [call("refund", {"order_id": "4711-0815", "amount": 5})]]
    ) as model:
        agent.model = model
        (request,) = agent.run_sync("go").waiting
    assert "after untrusted results of 'read_mail'" in request.reason


def test_a_quoted_argument_is_shown_as_in_the_guide(guide: Guide) -> None:
    names = guide.play("payees = Rules")
    with ScriptedModel(
        [[call("read_mail", {"number": 1})], [call("refund", {"order_id": "4711-0815", "amount": 5})]]
    ) as model:
        agent = Agent(model, [names["read_mail"], names["refund"]], policy=names["payees"], principal=names["anna"])
        (request,) = agent.run_sync("go").waiting
    assert f"{request.reason}\n" == SHOWN[1]


def test_the_file_is_read_and_its_error_is_the_one_that_is_shown(guide: Guide) -> None:
    rules = guide.play("tomllib.loads")["rules"]
    assert Rules.from_dict(rules.to_dict()) == rules
    with pytest.raises(UsageError) as caught:
        Rules.from_dict(tomllib.loads(TOML.replace("above = 50", 'above = "50"')))
    assert f"{caught.value}\n" == SHOWN[2]


def test_what_the_user_named_is_refunded_without_a_question_and_what_a_mail_names_is_not(guide: Guide) -> None:
    names = guide.play("grounded(")
    agent = names["support"]
    read = [call("read_mail", {"number": 1})]
    for order, reason in (("17", "waiting_for_approval"), ("4711-0815", "waiting_for_approval")):
        with ScriptedModel([read, [call("refund", {"order_id": order, "amount": 10, "currency": "EUR"})]]) as model:
            agent.model = model
            assert agent.run_sync("Is there a mail?").stop_reason == reason
    with ScriptedModel(
        [read, [call("refund", {"order_id": "17", "amount": 10, "currency": "EUR"})], [text("Done.")]]
    ) as model:
        agent.model = model
        assert agent.run_sync("Read mail 1, then refund order 17.").text == "Done."
    with ScriptedModel([read, [call("refund", {"order_id": "4711-0815", "amount": 10, "currency": "EUR"})]]) as model:
        agent.model = model
        result = agent.run_sync("Read mail 1, then refund what it says.")
    assert "'order_id' is '4711-0815', which the user did not name" in result.waiting[0].reason
