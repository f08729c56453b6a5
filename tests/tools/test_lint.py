"""Lint says what a model would stumble over, and nothing about tools that are well described."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import pytest

from wieldy.core.context import Context
from wieldy.tools import Tool, Toolset, tool
from wieldy.tools.cost import token_cost
from wieldy.tools.lint import MAX_SET_TOKENS, MAX_TOOLS, Finding, lint
from wieldy.tools.lint_rules import MAX_NAME_CHARACTERS, MAX_TOOL_TOKENS, RULES


def found(*items: Any) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(finding.severity, finding.rule, finding.tools) for finding in lint(Toolset(items))]


def rules(*items: Any) -> set[str]:
    return {rule for _, rule, _ in found(*items)}


def good(name: str = "get_weather", **declared: Any) -> Tool:
    def function(city: str) -> str:
        """Tell the weather of one city right now, in Celsius.

        Args:
            city: The name of one city, such as "Rome".
        """
        return city

    return tool(**({"effect": "read"} | declared), name=name)(function)


def test_well_described_tools_give_no_findings() -> None:
    assert found(good()) == []
    assert found(good(description="获取一个城市的当前天气")) == []
    assert found() == []


def test_a_missing_description_is_an_error() -> None:
    @tool(effect="read")
    def get_weather() -> str:
        return ""

    assert found(get_weather) == [("error", "description-missing", ("get_weather",))]
    assert found(good(description="...")) == [("error", "description-missing", ("get_weather",))]


@pytest.mark.parametrize(
    "text",
    [
        "Weather.",
        "天气",
        "TODO",
        "TODO: write this down",
        "Does stuff with the weather.",
        "Processes the data for the user.",
        "A helper function.",
    ],
)
def test_vague_descriptions_are_warned_of(text: str) -> None:
    assert found(good(description=text)) == [("warning", "description-vague", ("get_weather",))]


def test_a_description_that_only_repeats_the_name_is_warned_of() -> None:
    assert found(good(description="Get the weather.")) == [("warning", "description-repeats-name", ("get_weather",))]


def test_undocumented_untyped_and_undeclared_is_warned_of() -> None:
    def look_up(key, table: str, ctx: Context) -> str:
        """Look up what a table says about something.

        Args:
            tabel: The table.
            ctx: The call.
        """
        return key

    assert found(look_up) == [
        ("warning", "parameter-undocumented", ("look_up",)),
        ("warning", "documented-unknown", ("look_up",)),
        ("warning", "parameter-untyped", ("look_up",)),
        ("warning", "effect-undeclared", ("look_up",)),
    ]
    messages = "\n".join(finding.message for finding in lint(Toolset([look_up])))
    assert "`key`, `table`" in messages
    assert "'tabel' (meant 'table'?)" in messages


@pytest.mark.parametrize(
    ("name", "effect", "expected"),
    [
        ("delete_order", "read", ("error", "effect-contradicts-name", ("delete_order",))),
        ("removeUser", "read", ("error", "effect-contradicts-name", ("removeUser",))),
        ("get_order", "unsafe", ("note", "effect-doubtful", ("get_order",))),
        ("refund_order", "keyed", ("warning", "keyed-without-context", ("refund_order",))),
        ("get_order", "read", None),
        ("delete_order", "unsafe", None),
        ("add_numbers", "read", None),
        ("order_status", "read", None),
    ],
)
def test_effects_are_held_against_names(name: str, effect: str, expected: Any) -> None:
    assert found(good(name, effect=effect)) == ([] if expected is None else [expected])


@dataclasses.dataclass
class Address:
    """Where somebody lives.

    Attributes:
        street: Street and number.
    """

    street: str
    town: str


def send(address: Address) -> None:
    """Send a parcel to somebody by the cheapest carrier.

    Args:
        address: Where it goes.
    """


def test_objects_need_an_example_and_words_for_what_is_inside() -> None:
    assert found(tool(effect="unsafe", name="ship_parcel")(send)) == [
        ("note", "property-undocumented", ("ship_parcel",)),
        ("note", "examples-missing", ("ship_parcel",)),
    ]
    shown = tool(effect="unsafe", name="ship_parcel", examples=[{"address": {"street": "Main 1", "town": "Oslo"}}])(
        send
    )
    assert rules(shown) == {"property-undocumented"}


def test_many_parameters_need_an_example() -> None:
    def book(a: int, b: int, c: int, d: int, e: int) -> None:
        """Book a table for some guests at a place.

        Args:
            a: Day.
            b: Month.
            c: Year.
            d: Hour.
            e: Guests.
        """

    assert found(tool(effect="unsafe")(book)) == [("note", "examples-missing", ("book",))]


def test_long_names_are_warned_of() -> None:
    assert rules(good("x" * MAX_NAME_CHARACTERS)) == set()
    assert rules(good("x" * (MAX_NAME_CHARACTERS + 1))) == {"name-long"}


def test_dear_tools_and_sets_are_warned_of() -> None:
    long = "Tell the weather. " * 150
    assert token_cost(good(description=long).definition) > MAX_TOOL_TOKENS
    assert rules(good(description=long)) == {"tool-cost"}
    many = [
        good(f"{word}_{word}", description=f"{word} {long}")
        for word in ("red", "blue", "green", "black", "white", "pink")
    ]
    (of_set,) = [finding for finding in lint(Toolset(many)) if finding.rule == "set-cost"]
    assert of_set.tools == ()
    assert f"more than {MAX_SET_TOKENS}" in of_set.message


def test_too_many_tools_are_warned_of() -> None:
    def many(count: int) -> list[Tool]:
        return [
            good(f"tool{chr(97 + index)}x", description=f"Word{chr(97 + index)} does its very own thing.")
            for index in range(count)
        ]

    assert "set-size" not in rules(*many(MAX_TOOLS))
    assert "set-size" in rules(*many(MAX_TOOLS + 1))


def test_tools_that_read_alike_are_warned_of_until_one_names_the_other() -> None:
    get = good("get_user", description="Get a user by the number that support gave them.")
    fetch = good("fetch_user", description="Fetch the user with this number from support.")
    assert found(get, fetch) == [("warning", "alike", ("get_user", "fetch_user"))]
    told_apart = good(
        "fetch_user", description="Fetch the user with this number from support.", avoid_when="Use get_user for staff."
    )
    assert found(get, told_apart) == []
    almost = good("fetch_user", description="Fetch the user with this number, unlike get_user_name, from support.")
    assert "alike" in rules(get, almost)


def test_the_same_description_twice_is_an_error() -> None:
    assert found(good("get_weather"), good("delete_weather", effect="unsafe")) == [
        ("error", "description-same", ("get_weather", "delete_weather")),
    ]


def forecast(city: str, days: int = 1) -> str:
    """Forecast how warm one city will be tomorrow.

    Args:
        city: The name of one city, such as "Rome".
        days: How many of them.
    """
    return city * days


def test_a_fallback_that_could_answer_is_nothing_to_talk_about() -> None:
    mirror = good("mirror_weather", description="Ask the second station; use get_weather first.")
    assert found(good(fallback="mirror_weather"), mirror) == []


def test_a_fallback_that_is_not_there_is_warned_of() -> None:
    weather = good(fallback="miror_weather")
    mirror = good("mirror_weather", description="Ask the second station; use get_weather first.")
    assert found(weather) == [("warning", "fallback-unknown", ("get_weather",))]
    [finding] = lint(Toolset([weather, mirror]))
    assert "(meant `mirror_weather`?)" in finding.message


def test_a_fallback_that_cannot_take_the_same_arguments_is_warned_of() -> None:
    def by_country(country: str, city: str) -> str:
        """Ask the second station of a whole country.

        Args:
            country: Its name.
            city: One of its cities.
        """
        return country + city

    wants_more = tool(by_country, effect="read")
    [finding] = lint(Toolset([good(fallback="by_country"), wants_more]))
    assert (finding.rule, finding.tools) == ("fallback-unfit", ("get_weather",))
    assert "it needs `country`" in finding.message
    knows_less = tool(forecast, effect="read", fallback="get_weather")
    [finding] = lint(Toolset([knows_less, good()]))
    assert "it does not know `days`" in finding.message


def test_a_fallback_that_changes_something_where_nothing_was_to_change_is_warned_of() -> None:
    order = good("order_weather", effect="unsafe", description="Buy a report of the climate.")
    assert found(good(fallback="order_weather"), order) == [("warning", "fallback-unfit", ("get_weather",))]


def test_a_fallback_of_a_tool_with_an_effect_is_hardly_ever_used_and_lint_says_so() -> None:
    mail = good("send_mail", effect="unsafe", fallback="send_letter", description="Write to the city's mayor at once.")
    letter = good("send_letter", effect="unsafe", description="Have paper carried there by a rider on horseback.")
    assert found(mail, letter) == [("note", "fallback-idle", ("send_mail",))]


def test_findings_are_in_the_order_of_tools_then_pairs_then_the_set() -> None:
    def first(x: int) -> int:
        return x

    def second(x: int) -> int:
        return x

    order = [finding.tools for finding in lint(Toolset([first, second]))]
    assert order == sorted(order)


def test_every_rule_has_its_own_name_and_every_message_names_its_tool() -> None:
    def bad(x, address: Address) -> None: ...

    assert len({rule.name for rule in RULES}) == len(RULES)
    findings = lint(Toolset([bad]))
    assert findings
    for finding in findings:
        assert isinstance(finding, Finding)
        assert "`bad`" in finding.message


def test_the_guide_lists_every_rule_with_its_severity() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "lint.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `([a-z-]+)` \| (error|warning|note) \|", page, flags=re.MULTILINE)
    of_sets = [
        ("description-same", "error"),
        ("alike", "warning"),
        ("fallback-unknown", "warning"),
        ("fallback-unfit", "warning"),
        ("set-cost", "warning"),
        ("set-size", "warning"),
    ]
    assert listed == [*((rule.name, rule.severity) for rule in RULES), *of_sets]


def test_a_longer_tool_costs_more_and_other_alphabets_count() -> None:
    short, long = good(description="Kurz gesagt."), good(description="Lang gesagt, mit vielen Worten mehr.")
    assert token_cost(short.definition) < token_cost(long.definition)
    assert token_cost(good(description="天气预报很好用").definition) > token_cost(
        good(description="weather").definition
    )
