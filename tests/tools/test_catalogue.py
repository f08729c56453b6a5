"""Tools as they are found by what is wanted of them."""

from typing import Literal, cast

from wieldy import ToolDefinition, tool
from wieldy.core.json import JsonObject
from wieldy.tools.catalogue import Catalogue, first_line


@tool(effect="unsafe", use_when="A customer wants the money back.")
def cancel(order: str, method: Literal["card", "bank"]) -> str:
    """Undo a purchase.

    Args:
        order: The order's number.
        method: Where the refund goes.
    """
    return f"{order} {method}"


@tool(effect="read")
def forecast(city: str) -> str:
    """Tomorrow's weather.

    It is a forecast and may be wrong.
    """
    return city


def names(catalogue: Catalogue, *queries: str) -> list[str]:
    return [found.name for found in catalogue.search(*queries)]


def test_a_tool_is_found_by_its_description_its_use_and_its_parameters() -> None:
    catalogue = Catalogue([cancel.definition, forecast.definition])
    assert names(catalogue, "undo a purchase")[0] == "cancel"
    assert names(catalogue, "the customer wants his money")[0] == "cancel"
    assert names(catalogue, "refund to a bank")[0] == "cancel"
    assert names(catalogue, "weather in a city")[0] == "forecast"


def test_tools_come_and_go() -> None:
    catalogue = Catalogue([cancel.definition])
    assert names(catalogue, "weather") == []
    catalogue.add(forecast.definition)
    assert names(catalogue, "weather") == ["forecast"]
    catalogue.remove("forecast", "never there")
    assert names(catalogue, "weather") == []
    assert len(catalogue) == 1


def test_the_first_line_says_what_a_tool_is() -> None:
    assert first_line(forecast.definition) == "Tomorrow's weather."


def test_a_tool_that_says_much_is_found_as_what_its_first_sentences_say() -> None:
    words = f"{'Notifications, limits, media types, previews, ' * 5}deployments and milestones may matter."
    parts = {f"part_{number}": {"type": "string", "description": words} for number in range(20)}
    schema = {"type": "object", "properties": {"issue": {"type": "string"}, **parts}}
    create = ToolDefinition(
        name="issues_create", description=f"Create an issue. {words}", input_schema=cast("JsonObject", schema)
    )
    react = ToolDefinition(
        name="reactions_create-for-issue", description="Create a reaction to an issue.", input_schema={"type": "object"}
    )
    assert names(Catalogue([react, create]), "create an issue")[0] == "issues_create"
    assert names(Catalogue([react, create]), "deployments and milestones") == ["issues_create"]
