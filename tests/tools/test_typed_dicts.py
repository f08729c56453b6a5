"""Standard typed dictionaries can be used wherever a type can stand."""

from __future__ import annotations

import sys
from typing import Annotated, Any, NotRequired, Optional, Required, TypedDict, Union

import pytest

from wieldy.core.errors import ArgumentsError, ToolSignatureError
from wieldy.tools import tool


class Inner(TypedDict):
    x: int


class Outer(TypedDict, total=False):
    """What is outside.

    Attributes:
        inner: What is inside.
    """

    inner: Required[Inner]
    note: str


class More(Outer):
    count: int
    maybe: NotRequired[list[Inner]]


class Selfish(TypedDict):
    more: list[Selfish]


def plain(value: Outer) -> None: ...
def in_list(value: list[Outer]) -> None: ...
def in_optional(value: Optional[Outer] = None) -> None: ...  # noqa: UP045 - what people write
def in_union(value: Outer | int) -> None: ...
def in_old_union(value: Union[int, Outer]) -> None: ...  # noqa: UP007 - what people write
def in_annotated(value: Annotated[Outer, "a note"]) -> None: ...
def in_dictionary(value: dict[str, Outer]) -> None: ...


@pytest.mark.parametrize(
    ("function", "good", "bad"),
    [
        (plain, {"inner": {"x": "1"}}, {"note": "a"}),
        (in_list, [{"inner": {"x": 1}, "note": "a"}], [{"inner": {}}]),
        (in_optional, {"inner": {"x": 1}}, {"inner": {"x": 1}, "more": 1}),
        (in_union, {"inner": {"x": 1}}, {"inner": 1}),
        (in_old_union, {"inner": {"x": 1}}, "a"),
        (in_annotated, {"inner": {"x": 1}}, {}),
        (in_dictionary, {"a": {"inner": {"x": 1}}}, {"a": {}}),
    ],
)
def test_they_are_found_wherever_they_stand(function: Any, good: Any, bad: Any) -> None:
    made = tool(function)
    made.validate({"value": good})
    with pytest.raises(ArgumentsError):
        made.validate({"value": bad})


def test_what_is_required_is_inherited() -> None:
    @tool
    def take(value: More) -> None: ...

    assert take.definition.input_schema["properties"]["value"]["required"] == ["inner", "count"]


def test_documentation_is_kept() -> None:
    schema = tool(plain).definition.input_schema["properties"]["value"]
    assert schema["description"] == "What is outside."
    assert schema["properties"]["inner"]["description"] == "What is inside."


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="pydantic takes them from Python 3.12 on")
def test_one_that_contains_itself_is_refused_in_words() -> None:
    def take(value: Selfish) -> None: ...

    with pytest.raises(ToolSignatureError, match=r"'value'.*TypedDict"):
        tool(take)
