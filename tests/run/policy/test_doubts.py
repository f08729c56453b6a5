"""Rules that protect nobody are found; rules that do are left alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.calls import ToolCall
from wieldy.core.principals import Principal
from wieldy.run.policy import (
    Allow,
    Ask,
    Deny,
    Proposal,
    Rule,
    Rules,
    above,
    contains,
    doubts,
    equals,
    every,
    fields,
    matches,
    missing,
    one_of,
    some,
    unreachable,
)
from wieldy.tools import Tool, tool


@dataclass
class Line:
    article: str
    price: float


@tool(effect="keyed")
def refund(order: str, amount: float | None = None, lines: list[Line] | None = None) -> str:
    """Refund an order."""
    return f"{order}{amount}{lines}"


@tool(effect="read")
def find_order(order: str, extra: dict[str, Any] | None = None) -> str:
    """Find an order."""
    return f"{order}{extra}"


TOOLS = (refund, find_order)


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ({}, {"tools": "refund"}),
        ({"tools": "refund"}, {"tools": "refund", "effects": "keyed"}),
        ({"tools": "ref*"}, {"tools": "refund"}),
        ({"tools": "*"}, {"tools": "ref*"}),
        ({"tools": "shop_*"}, {"tools": "shop_order_*"}),
        ({"tools": ["a", "b*"]}, {"tools": ["b1", "a"]}),
        ({"effects": ["keyed", "unsafe"]}, {"effects": "unsafe"}),
        ({"where": {"amount": above(5)}}, {"where": {"order": "1", "amount": above(5)}}),
        ({"tainted": True}, {"tainted": True, "quoted": True}),
        ({"tools": "w?pe"}, {"tools": "wipe"}),
    ],
)
def test_a_rule_after_one_that_takes_all_its_calls_is_unreachable(earlier: Any, later: Any) -> None:
    assert unreachable(Rules([Rule(Ask(), **earlier), Rule(Deny(), **later)])) == (1,)
    assert unreachable(Rules([Rule(Deny(), **later), Rule(Ask(), **earlier)])) == ((1,) if earlier == later else ())


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ({"tools": "refund"}, {}),
        ({"tools": "shop_?"}, {"tools": "shop_*"}),
        ({"tools": "[*]"}, {"tools": "*"}),
        ({"tools": "a*"}, {"tools": "*a"}),
        ({"effects": "keyed"}, {"effects": ["keyed", "read"]}),
        ({"where": {"amount": above(5)}}, {"where": {"amount": above(6)}}),
        ({"where": {"amount": equals(1)}}, {"where": {"amount": equals(True)}}),
        ({"tainted": True}, {"tainted": False}),
        ({"tainted": False}, {}),
    ],
)
def test_a_rule_that_may_still_decide_is_not_called_unreachable(earlier: Any, later: Any) -> None:
    assert unreachable(Rules([Rule(Ask(), **earlier), Rule(Deny(), **later)])) == ()


patterns = st.sampled_from(["refund", "find_order", "*", "re*", "*d", "r?fund", "[a-f]*", "*_*", "re*d", "find_*"])
rules = st.builds(
    lambda given_: Rule(Deny(), **given_),
    st.fixed_dictionaries(
        {},
        optional={
            "tools": st.lists(patterns, min_size=1, max_size=2),
            "effects": st.sampled_from(["read", "keyed", ("read", "keyed")]),
            "where": st.sampled_from([{"order": "17"}, {"amount": above(5)}, {"order": "17", "amount": above(5)}]),
            "principals": st.sampled_from(["anna", "a*", "*"]),
            "tainted": st.booleans(),
        },
    ),
)
proposals = st.builds(
    lambda which, arguments, is_tainted, principal: Proposal(
        run_id="r",
        call=ToolCall(id="c", name=which.name, arguments=arguments),
        tool=which,
        is_tainted=is_tainted,
        principal=principal,
    ),
    st.sampled_from(TOOLS),
    st.sampled_from([{"order": "17"}, {"order": "17", "amount": 7}, {"amount": 7}, {}]),
    st.booleans(),
    st.sampled_from([None, Principal(name="anna"), Principal(name="bob")]),
)


@settings(deadline=None, max_examples=300)
@given(st.lists(rules, min_size=2, max_size=5), proposals)
def test_an_unreachable_rule_never_decides(several: list[Rule], proposal: Proposal) -> None:
    policy = Rules(several)
    deciding = policy.rule_for(proposal)
    for index in unreachable(policy):
        assert policy.rules[index] is not deciding


def doubt(rule: Rule, *tools: Tool) -> str:
    return " ".join(doubts(Rules([rule]), tools or TOOLS))


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (Rule(Deny(), tools="refnd"), "rules[0]: no tool is called 'refnd'; did you mean 'refund'?"),
        (Rule(Deny(), tools="shop_*"), "rules[0]: no tool is called 'shop_*'."),
        (Rule(Deny(), effects="unsafe"), "rules[0]: it suits none of the tools."),
        (
            Rule(Deny(), tools="refund", where={"ammount": above(5)}),
            "rules[0]: `refund`: no argument is called 'ammount'; did you mean 'amount'?",
        ),
        (
            Rule(Deny(), where={"lines.0.prize": above(5)}),
            None,
        ),
        (
            Rule(Deny(), tools="refund", where={"lines.0.prize": above(5)}),
            "rules[0]: `refund`: no argument is called 'lines.0.prize'; did you mean 'price'?",
        ),
        (
            Rule(Deny(), where={"order": 17}),
            "rules[0]: `refund`, `find_order`: 'order' is never as {'equals': 17} says, because its type is string.",
        ),
        (
            Rule(Deny(), tools="refund", where={"lines": matches("x")}),
            "rules[0]: `refund`: 'lines' is never as {'matches': 'x'} says, because its type is array or null.",
        ),
        (
            Rule(Deny(), tools="refund", where={"amount": one_of("5", "6")}),
            "rules[0]: `refund`: 'amount' is never as {'one_of': ['5', '6']} says, because its type is integer or null "
            "or number.",
        ),
    ],
)
def test_what_has_no_effect_with_these_tools_is_said(rule: Rule, sentence: str | None) -> None:
    if sentence is None:  # `find_order` has no `lines`, and `refund` has no `prize`: each says so
        assert "no argument is called" in doubt(rule)
    else:
        assert doubts(Rules([rule]), TOOLS) == (sentence,)


@pytest.mark.parametrize(
    "rule",
    [
        Rule(Allow()),
        Rule(Deny(), tools=["refund", "find_*"]),
        Rule(Deny(), where={"amount": above(5)}),
        Rule(Deny(), where={"amount": 5}),
        Rule(Deny(), where={"amount": above(5) | missing()}),
        Rule(Deny(), where={"amount": None}),
        Rule(Deny(), where={"order": contains("x"), "lines": some(fields({"price": above(5)}))}),
        Rule(Deny(), where={"lines.0.price": 5.5, "lines": every(fields({"article": "mug"}))}),
        Rule(Deny(), where={"extra.anything.at.all": 5}),
        Rule(Deny(), where={"order": one_of("a", None)}),
        Rule(Deny(), tainted=True, quoted="order", principals="nobody", holds="a:b"),
    ],
)
def test_rules_that_may_have_an_effect_are_left_alone(rule: Rule) -> None:
    assert doubts(Rules([rule]), TOOLS) == ()


def test_a_rule_that_comes_too_late_is_named() -> None:
    found = doubts(Rules([Rule(Ask()), Rule(Deny(), tools="refund")]), TOOLS)
    assert found == ("rules[1] never decides: an earlier rule matches all its calls.",)


def test_arguments_of_which_the_schema_says_nothing_raise_no_doubt() -> None:
    open_schema: Any = {"type": "object", "additionalProperties": True, "properties": {"a": {"type": "string"}}}
    loose = Tool(
        definition=type(refund.definition)(name="loose", description="", input_schema=open_schema),
        function=refund.function,
        signature=refund.signature,
        schema=refund.schema,
    )
    assert doubts(Rules([Rule(Deny(), where={"b": 5})]), [loose]) == ()


def test_without_tools_every_name_is_doubtful() -> None:
    assert doubts(Rules([Rule(Deny(), tools="refund"), Rule(Deny(), effects="read")]), []) == (
        "rules[0]: no tool is called 'refund'.",
        "rules[1]: it suits none of the tools.",
    )
