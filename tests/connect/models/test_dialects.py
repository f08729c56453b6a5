"""What becomes of tools in the dialects of providers."""

from __future__ import annotations

from typing import Any

import pytest

from wieldy import ToolDefinition, Toolset, UsageError, tool
from wieldy.connect.models.dialects import NAMES, report


def of(schema: dict[str, Any], dialect: str) -> Any:
    (found,) = report([ToolDefinition(name="t", description="", input_schema=schema)], dialect).tools
    return found


def with_part(part: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": part}, "required": ["a"], "additionalProperties": False, **more}


def said(entries: Any) -> list[tuple[str, str]]:
    return [(entry.pointer, entry.keyword) for entry in entries]


@pytest.mark.parametrize("dialect", NAMES)
def test_every_keyword_is_kept_or_its_fate_is_told(dialect: str) -> None:
    found = of(with_part({"type": "string", "minLength": 2, "format": "date"}), dialect)
    kept, lost = set(found.kept), set(said(found.lost))
    assert not kept & lost
    for keyword in ("minLength", "format"):
        assert ("#/properties/a", keyword) in kept | lost | set(said(found.rewritten))
    assert ("#", "required") in kept | set(said(found.rewritten))


def test_a_toolset_is_reported_tool_by_tool() -> None:
    @tool(effect="read")
    def fits(a: int) -> int:
        """Fits."""
        return a

    @tool(effect="read")
    def free(a: dict[str, int]) -> int:
        """Takes a map."""
        return len(a)

    found = report(Toolset([fits, free]), "anthropic")
    assert [each.tool for each in found.whole] == ["fits"]
    assert [each.tool for each in found.without_form] == ["free"]
    assert found.tools[1].schema is None
    assert found.tools[1].kept == ()


def test_a_dialect_that_is_none_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'anthropic'"):
        report([], "antropic")


# Gemini's JSON Schema


def test_a_map_and_items_by_their_places_are_written() -> None:
    schema = of(with_part({"type": "object", "additionalProperties": {"type": "integer"}}), "gemini").schema
    assert schema["properties"]["a"]["additionalProperties"] == {"type": "integer"}
    pair = of(with_part({"type": "array", "prefixItems": [{"type": "string"}], "items": False}), "gemini")
    assert pair.schema["properties"]["a"] == {"type": "array", "prefixItems": [{"type": "string"}], "maxItems": 1}
    assert of(with_part({"type": "array", "prefixItems": [{"type": "string"}], "minItems": 2}), "gemini").refused


def test_a_schema_may_contain_itself_only_where_it_may_end() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#/$defs/T"}}, "additionalProperties": False}
    may_end = with_part({"$ref": "#/$defs/T"}, **{"$defs": {"T": tree}})
    assert of(may_end, "gemini").schema["$defs"]["T"]["properties"]["next"] == {"$ref": "#/$defs/T"}
    never = with_part({"$ref": "#/$defs/T"}, **{"$defs": {"T": {**tree, "required": ["next"]}}})
    (refusal,) = of(never, "gemini").refused
    assert "may be left out" in refusal.reason
    through_a_list = {**tree, "properties": {"next": {"type": "array", "items": {"$ref": "#/$defs/T"}}}}
    through_a_list["required"] = ["next"]
    assert of(with_part({"$ref": "#/$defs/T"}, **{"$defs": {"T": through_a_list}}), "gemini").refused


def test_values_that_cannot_be_listed_are_told_by_their_type() -> None:
    found = of(with_part({"enum": ["x", 3, None, True]}), "gemini")
    assert found.schema["properties"]["a"]["anyOf"] == [
        {"type": "string", "enum": ["x"]},
        {"type": "integer", "enum": [3]},
        {"type": "null"},
        {"type": "boolean"},
    ]
    assert said(found.lost) == [("#/properties/a", "enum")]
    assert of(with_part({"enum": [True, False, None]}), "gemini").lost == ()


def test_what_a_listed_value_kept_to_is_told_where_its_type_stands_for_it() -> None:
    found = of(with_part({"enum": [1, 5], "minimum": 1, "multipleOf": 2}), "gemini-openapi")
    assert found.refused  # 1 and 5 are no multiples of 2
    found = of(with_part({"enum": [2, 4], "minimum": 1, "multipleOf": 2}), "gemini-openapi")
    assert found.schema["properties"]["a"]["minimum"] == 1
    assert {keyword for _, keyword in said(found.lost)} == {"enum", "multipleOf", "additionalProperties"}


# Gemini's Schema


def test_null_is_a_flag_and_alternatives_stand_alone() -> None:
    schema = of(with_part({"type": ["string", "null"], "description": "A name."}), "gemini-openapi").schema
    assert schema["properties"]["a"] == {"type": "STRING", "description": "A name.", "nullable": True}
    either = {
        "anyOf": [{"type": "string"}, {"anyOf": [{"type": "integer"}, {"type": "null"}]}],
        "description": "Either.",
    }
    assert of(with_part(either), "gemini-openapi").schema["properties"]["a"] == {
        "anyOf": [
            {"type": "STRING", "description": "Either.", "nullable": True},
            {"type": "INTEGER", "description": "Either."},
        ]
    }
    assert of(with_part({"type": "null"}), "gemini-openapi").schema["properties"]["a"] == {"type": "NULL"}


def test_what_a_reference_leads_to_stands_in_its_place() -> None:
    place = {"type": "object", "properties": {"city": {"enum": ["Oslo", "Bergen"]}}, "additionalProperties": False}
    schema = of(with_part({"$ref": "#/$defs/P"}, **{"$defs": {"P": place}}), "gemini-openapi").schema
    assert "$defs" not in schema
    city = schema["properties"]["a"]["properties"]["city"]
    assert city == {"type": "STRING", "format": "enum", "enum": ["Oslo", "Bergen"]}


def test_a_schema_that_grows_without_end_when_it_is_unfolded_is_refused() -> None:
    definitions: dict[str, Any] = {"D0": {"type": "string"}}
    for number in range(1, 30):
        one = {"$ref": f"#/$defs/D{number - 1}"}
        definitions[f"D{number}"] = {"type": "object", "properties": {"a": one, "b": one}}
    found = of(with_part({"$ref": "#/$defs/D29"}, **{"$defs": definitions}), "gemini-openapi")
    assert "10,000 parts" in found.refused[0].reason
    assert of(with_part({"$ref": "#/$defs/D29"}, **{"$defs": definitions}), "gemini").schema is not None
