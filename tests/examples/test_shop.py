"""The shop of the examples: real data, real tools, a scripted model."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from wieldy import Agent, Limits, careful
from wieldy.core.calls import ToolResult
from wieldy.core.errors import ArgumentsError
from wieldy.core.events import RunResult
from wieldy.testing import ScriptedModel, call, text
from wieldy.tools import Toolset
from wieldy.tools.lint import lint

FOLDER = Path(__file__).parents[2] / "examples" / "shop"


@pytest.fixture(scope="module")
def shop() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("shop", FOLDER / "shop.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        del sys.modules[spec.name]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return Path(shutil.copyfile(FOLDER / "shop.json", tmp_path / "shop.json"))


def refunds(data: Path, order_id: str) -> list[int]:
    return [refund["cents"] for refund in json.loads(data.read_text())["orders"][order_id]["refunds"]]


def results(result: RunResult) -> list[ToolResult]:
    return [message.result for message in result.messages if message.result is not None]


def serve(
    shop: ModuleType, data: Path, turns: list[list[object]], *, answer: bool = True
) -> tuple[RunResult, list[str]]:
    """A run over the shop; a person answers every question with `answer`. Returns the questions too."""
    questions: list[str] = []

    def ask(question: str) -> bool:
        questions.append(question)
        return answer

    with ScriptedModel(turns) as model:
        agent = Agent(
            model,
            shop.tools_of(shop.Shop(data)),
            policy=careful(),
            approver=shop.confirmed_by(ask),
            limits=Limits(turns=5),
        )
        return agent.run_sync("What the customer wants."), questions


def test_a_confirmed_refund_happens_once_and_changes_the_order(shop: ModuleType, data: Path) -> None:
    turns = [
        [call("find_order", {"order_id": "17"})],
        [call("refund", {"order_id": "17"})],
        [text("You got $54.90 back.")],
    ]
    result, questions = serve(shop, data, turns)
    assert result.text == "You got $54.90 back."
    assert questions == ["refund(amount=None, order_id='17')?"]  # what is left out is shown as it will be used
    assert refunds(data, "17") == [5490]
    found, refunded = results(result)
    assert found.structured_content["status"] == "delivered"
    assert refunded.structured_content == {"order_id": "17", "refunded": 54.9, "left_to_refund": 0.0}


def test_a_refund_that_nobody_confirms_does_not_happen_and_the_model_is_told(shop: ModuleType, data: Path) -> None:
    result, questions = serve(shop, data, [[call("refund", {"order_id": "17"})], [text("No.")]], answer=False)
    (denied,) = results(result)
    assert (denied.is_error, denied.layer) == (True, "policy")
    assert "said no" in denied.content
    assert len(questions) == 1
    assert data.read_text() == (FOLDER / "shop.json").read_text()


def test_reading_asks_nobody(shop: ModuleType, data: Path) -> None:
    turns = [
        [call("list_orders", {"customer": "lindqvist"}), call("check_stock", {"article": "Mugs"})],
        [text("Two orders; 41 mugs.")],
    ]
    result, questions = serve(shop, data, turns)
    orders, stock = results(result)
    assert [order["order_id"] for order in json.loads(orders.content)] == ["11", "14"]
    assert json.loads(stock.content) == {"name": "mug", "price": 12.0, "in_stock": 41}
    assert questions == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"order_id": "99"}, "There is no order '99'"),
        ({"order_id": "13"}, "Order 13 is cancelled"),
        ({"order_id": "17", "amount": 60}, "at most 54.90 dollars"),
        ({"order_id": "17", "amount": 0}, "above 0"),
        ({"order_id": "17", "amount": -5}, "above 0"),
    ],
)
def test_a_refund_that_cannot_be_is_refused_with_what_to_do(
    shop: ModuleType, data: Path, arguments: dict[str, object], words: str
) -> None:
    result, _ = serve(shop, data, [[call("refund", arguments)], [text("Sorry.")]])
    (refused,) = results(result)
    assert refused.is_error
    assert words in refused.content
    assert data.read_text() == (FOLDER / "shop.json").read_text()


def test_many_refunds_of_one_turn_lose_no_cent(shop: ModuleType, data: Path) -> None:
    turns = [
        [call("refund", {"order_id": order_id, "amount": 1.25}) for order_id in ("11", "12", "17") for _ in range(5)],
        [call("list_orders", {}), call("refund", {"order_id": "11"})],
        [text("Done.")],
    ]
    result, questions = serve(shop, data, turns)
    assert len(questions) == 16
    assert refunds(data, "12") == refunds(data, "17") == [125] * 5
    assert sum(refunds(data, "11")) == 3450 + 3 * 650
    assert not any(answer.is_error for answer in results(result))


def test_the_same_refund_under_the_same_key_gives_the_money_back_once(shop: ModuleType, data: Path) -> None:
    with shop.Shop(data).changing() as orders:
        receipts = [shop._refund(orders, "17", amount=20.0, key="k") for _ in range(3)]
    assert len(set(receipts)) == 1
    assert refunds(data, "17") == [2000]


def test_what_is_raised_in_a_change_leaves_the_data_as_it_was(shop: ModuleType, data: Path) -> None:
    def fail_half_way() -> None:
        with shop.Shop(data).changing() as orders:
            orders["orders"].clear()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_half_way()
    assert data.read_text() == (FOLDER / "shop.json").read_text()


def test_the_tools_have_nothing_that_lint_objects_to(shop: ModuleType, data: Path) -> None:
    findings = lint(Toolset(shop.tools_of(shop.Shop(data))))
    assert [finding for finding in findings if finding.severity != "note"] == []


def test_the_model_is_not_shown_the_context(shop: ModuleType, data: Path) -> None:
    refund = shop.tools_of(shop.Shop(data))[-1]
    assert set(refund.definition.input_schema["properties"]) == {"order_id", "amount"}
    with pytest.raises(ArgumentsError):
        refund.validate({"order_id": "17", "ctx": {}})


def test_a_shop_without_a_file_begins_with_the_examples_data_and_keeps_changes_in_its_own(
    shop: ModuleType, tmp_path: Path
) -> None:
    untouched = (FOLDER / "shop.json").read_text(encoding="utf-8")
    mine = tmp_path / "my-shop.json"
    script = [[call("find_order", {"order_id": "17"})], [call("refund", {"order_id": "17"})], [text("Done.")]]

    result, _ = serve(shop, mine, script)

    assert [each.is_error for each in results(result)] == [False, False]
    assert refunds(mine, "17")
    assert (FOLDER / "shop.json").read_text(encoding="utf-8") == untouched


def test_the_program_says_what_is_wrong_with_a_model_that_is_not_there(data: Path) -> None:
    command = [
        sys.executable,
        str(FOLDER),
        "Where is order 14?",
        "--model",
        "http://127.0.0.1:9/v1#none",
        "--data",
        str(data),
    ]
    finished = subprocess.run(
        command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False
    )
    assert finished.returncode == 1
    assert "127.0.0.1:9" in finished.stderr
    assert "Traceback" not in finished.stderr
