"""Rules are read from dictionaries, and what is wrong in one is said with its place."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.core.errors import UsageError
from wieldy.run.policy import Allow, Ask, Deny, Rule, Rules, above, missing

TOML = """
default = { decision = "deny", reason = "only what is listed is allowed" }

[[rules]]
decision = "allow"
effects = "read"

[[rules]]
decision = "ask"
reason = "a person looks at large refunds"
expires_after_s = 3600
tools = ["refund", "pay_*"]
where = { amount = { any_of = [{ above = 50 }, { missing = true }] } }
"""


def test_rules_are_read_from_a_file() -> None:
    assert Rules.from_dict(tomllib.loads(TOML)) == Rules(
        [
            Rule(Allow(), effects="read"),
            Rule(
                Ask("a person looks at large refunds", expires_after_s=3600),
                tools=["refund", "pay_*"],
                where={"amount": above(50) | missing()},
            ),
        ],
        default=Deny("only what is listed is allowed"),
    )


@pytest.mark.parametrize(
    ("default", "decision"),
    [("allow", Allow()), ("deny", Deny()), ("ask", Ask()), ({"decision": "ask", "reason": "why"}, Ask("why"))],
)
def test_the_default_may_be_one_word(default: Any, decision: Any) -> None:
    assert Rules.from_dict({"default": default}) == Rules([], default=decision)


def test_what_is_left_out_allows() -> None:
    assert Rules.from_dict({}) == Rules([])


def test_only_what_a_rule_names_is_written() -> None:
    assert Rules([Rule(Deny("no"), tools="refund", tainted=False)]).to_dict() == {
        "default": {"decision": "allow"},
        "rules": [{"decision": "deny", "reason": "no", "tools": ["refund"], "tainted": False}],
    }


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([], "expected a dictionary with 'rules', 'default'"),
        ({"rule": []}, "'rule' is not known. Did you mean 'rules'"),
        ({5: []}, "5 is not known. Expected 'rules', 'default'"),
        ({"rules": {"a": 1}}, "rules: expected a list"),
        ({"rules": "deny"}, "rules: expected a list"),
        ({"rules": None}, "rules: expected a list"),
        ({"rules": [5]}, r"rules\[0\]: expected a dictionary"),
        ({"rules": [{}]}, r"rules\[0\]: expected the decision 'allow', 'deny' or 'ask', found None"),
        ({"rules": [{"decision": "allow"}, {"decision": "no"}]}, r"rules\[1\]: expected the decision.*found 'no'"),
        ({"rules": [{"decision": ["ask"]}]}, r"rules\[0\]: expected the decision"),
        ({"rules": [{"decision": "ask", "tool": "x"}]}, r"rules\[0\]: 'tool' is not known. Did you mean 'tools'"),
        ({"rules": [{"decision": "allow", "reason": "x"}]}, r"expected no 'reason' beside the decision 'allow'"),
        ({"rules": [{"decision": "deny", "expires_after_s": 5}]}, r"expected no 'expires_after_s' beside"),
        ({"rules": [{"decision": "deny", "reason": None}]}, r"rules\[0\]: Deny: expected the reason as text"),
        ({"rules": [{"decision": "ask", "expires_after_s": -1}]}, r"rules\[0\]: Ask: expected expires_after_s"),
        (
            {"rules": [{"decision": "deny", "where": {"amount": {"any_of": [{"above": "5"}]}}}]},
            r"rules\[0\]: where: 'amount': 'any_of': 'above': expected a number such as 100, found '5'",
        ),
        ({"default": "maybe"}, "default: expected the decision"),
        ({"default": {"decison": "ask"}}, "default: 'decison' is not known. Did you mean 'decision'"),
        ({"default": None}, "default: expected a dictionary"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(data: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        Rules.from_dict(data)


def test_conditions_of_endless_depth_are_refused() -> None:
    deep: Any = {"above": 1}
    for _ in range(100_000):
        deep = {"not": deep}
    with pytest.raises(UsageError, match="a few levels"):
        Rules.from_dict({"rules": [{"decision": "deny", "where": {"amount": deep}}]})
    circle: Any = {}
    circle["not"] = circle
    with pytest.raises(UsageError, match="a few levels"):
        Rules.from_dict({"rules": [{"decision": "deny", "where": {"amount": circle}}]})


keys = st.sampled_from(
    ["rules", "default", "decision", "reason", "tools", "where", "amount", "above", "not", "any_of", "equals", "quoted"]
)
data = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["ask", "allow", "deny", "(", "a.b", ""]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@settings(deadline=None)
@given(data | st.fixed_dictionaries({"rules": st.lists(st.dictionaries(keys, data), max_size=2)}))
def test_nothing_that_json_can_say_is_more_than_a_usage_error(given_data: Any) -> None:
    try:
        rules = Rules.from_dict(given_data)
    except UsageError:
        return
    assert Rules.from_dict(rules.to_dict()) == rules
