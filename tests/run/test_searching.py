"""Runs whose model has to search for its tools."""

from __future__ import annotations

import pytest

from wieldy import Agent, Limits, MemoryJournal, Principal, Tool, ToolSearch, UsageError, tool
from wieldy.testing import ScriptedModel, call, text

NOUNS = [
    "invoice",
    "customer",
    "warehouse",
    "shipment",
    "refund",
    "ticket",
    "calendar",
    "contract",
    "payroll",
    "survey",
]


def many() -> list[Tool]:
    """Tools that would cost much in every request."""

    def made(verb: str, noun: str) -> Tool:
        def code(number: str) -> str:
            return f"{verb} {noun} {number}"

        return tool(name=f"{verb}_{noun}", description=f"To {verb} a {noun} of the company.", effect="read")(code)

    return [made(verb, noun) for verb in ("read", "list", "export", "archive", "translate") for noun in NOUNS]


def offered(model: ScriptedModel) -> list[list[str]]:
    """The names of the tools in each request."""
    return [[each.name for each in request.tools] for request in model.requests]


def test_the_model_is_shown_what_it_finds_and_may_call_it() -> None:
    model = ScriptedModel(
        [
            [call("search_tools", {"queries": ["export an invoice"]})],
            [call("export_invoice", {"number": "17"})],
            [text("done")],
        ]
    )
    result = Agent(model, tools=many(), search=ToolSearch(above_tokens=500, limit=2)).run_sync("Export invoice 17")
    assert offered(model)[0] == ["search_tools"]
    assert offered(model)[1][:2] == ["search_tools", "export_invoice"]
    assert len(offered(model)[1]) == 3
    assert offered(model)[2] == offered(model)[1]
    assert [each.result.content for each in result.messages if each.result][1] == "export invoice 17"


def test_what_is_found_later_stands_behind_what_was_shown() -> None:
    model = ScriptedModel(
        [
            [call("search_tools", {"queries": ["export an invoice"]})],
            [call("search_tools", {"queries": ["archive a contract"]})],
            [call("search_tools", {"queries": ["export_invoice"]})],
            [text("done")],
        ]
    )
    Agent(model, tools=many(), search=ToolSearch(above_tokens=500, limit=1)).run_sync("?")
    assert offered(model) == [
        ["search_tools"],
        ["search_tools", "export_invoice"],
        ["search_tools", "export_invoice", "archive_contract"],
        ["search_tools", "export_invoice", "archive_contract"],
    ]


def test_a_few_tools_are_all_shown() -> None:
    model = ScriptedModel([[text("done")]])
    Agent(model, tools=many()[:3], search=ToolSearch()).run_sync("?")
    assert offered(model) == [["read_invoice", "read_customer", "read_warehouse"]]


def test_some_tools_are_always_shown_and_not_searched_for() -> None:
    model = ScriptedModel([[call("search_tools", {"queries": ["read_invoice", "read_ticket"]})], [text("done")]])
    search = ToolSearch(above_tokens=0, always=("read_invoice",), limit=1)
    Agent(model, tools=many(), search=search).run_sync("?")
    assert offered(model) == [["read_invoice", "search_tools"], ["read_invoice", "search_tools", "read_ticket"]]


def test_a_tool_that_was_not_found_cannot_be_called() -> None:
    model = ScriptedModel([[call("export_invoice", {"number": "17"})], [text("done")]])
    result = Agent(model, tools=many(), search=ToolSearch(above_tokens=500)).run_sync("?")
    (answer,) = [each.result for each in result.messages if each.result]
    assert answer.is_error
    assert "search_tools" in answer.content


def test_where_nothing_fits_that_is_said() -> None:
    model = ScriptedModel([[call("search_tools", {"queries": ["qqq zzz"]})], [text("done")]])
    result = Agent(model, tools=many(), search=ToolSearch(above_tokens=500)).run_sync("?")
    (answer,) = [each.result for each in result.messages if each.result]
    assert "No tool fits" in answer.content
    assert offered(model)[1] == ["search_tools"]


def test_what_somebody_may_not_call_is_not_found() -> None:
    @tool(effect="read", permission="payroll")
    def show_salary(employee: str) -> str:
        """The salary of an employee."""
        return employee

    for principal, is_found in ((None, False), (Principal(name="ann", permissions={"payroll"}), True)):
        model = ScriptedModel(
            [[call("search_tools", {"queries": ["show_salary", "salary of employee"]})], [text("done")]]
        )
        Agent(model, tools=[*many(), show_salary], search=ToolSearch(above_tokens=0), principal=principal).run_sync("?")
        assert ("show_salary" in offered(model)[1]) is is_found


def test_a_run_that_goes_on_elsewhere_has_what_was_found() -> None:
    journal = MemoryJournal()
    search = ToolSearch(above_tokens=500, limit=1)
    first = ScriptedModel([[call("search_tools", {"queries": ["export an invoice"]})]])
    agent = Agent(first, tools=many(), search=search, journal=journal, limits=Limits(turns=5))
    with pytest.raises(UsageError):  # the script has no second turn
        agent.run_sync("Export invoice 17")
    (run_id,) = journal.run_ids()
    second = ScriptedModel([[call("export_invoice", {"number": "17"})], [text("done")]])
    result = Agent(second, tools=many(), search=search, journal=journal).resume_sync(run_id)
    assert offered(second)[0] == ["search_tools", "export_invoice"]
    assert result.text == "done"


@pytest.mark.parametrize(
    ("search", "said"),
    [
        (ToolSearch(above_tokens=0, always=("nobody",)), "nobody"),
        (ToolSearch(above_tokens=0, always=("x", "y")), "'x'"),
    ],
)
def test_tools_that_are_not_there_cannot_always_be_shown(search: ToolSearch, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Agent(ScriptedModel([[text("done")]]), tools=many(), search=search).run_sync("?")


def test_the_name_of_the_search_is_taken() -> None:
    @tool(effect="read")
    def search_tools(words: str) -> str:
        """Find."""
        return words

    with pytest.raises(UsageError, match="search_tools"):
        Agent(ScriptedModel([[text("a")]]), tools=[search_tools], search=ToolSearch(above_tokens=0)).run_sync("?")


@pytest.mark.parametrize("wrong", [{"above_tokens": -1}, {"limit": 0}, {"limit": True}, {"always": "send"}])
def test_wrong_rules_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        ToolSearch(**wrong)  # pyright: ignore[reportArgumentType]
