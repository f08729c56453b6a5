"""What a model was not shown of a result, it can read."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.errors import ArgumentsError, ToolError
from wieldy.run.results import READ_RESULT, Whole, read_result_tool
from wieldy.tools import Tool


def read(reader: Tool, **arguments: Any) -> Any:
    return reader(**reader.validate(arguments).values)


def test_the_tool_is_a_read_that_a_model_can_understand() -> None:
    reader = read_result_tool(lambda _: None)
    assert (reader.name, reader.effect, reader.effect_declared) == (READ_RESULT, "read", True)
    assert reader.definition.output_schema is None
    properties: Any = reader.definition.input_schema["properties"]
    assert list(properties) == ["handle", "offset", "length"]
    assert all(schema["description"] for schema in properties.values())


@given(
    st.one_of(st.text(min_size=1), st.text(st.sampled_from("xé漢🙂\n"), min_size=1000, max_size=3000)),
    st.one_of(st.none(), st.integers(1, 3000)),
    st.sampled_from([512, 600, 4096]),
)
def test_the_pages_of_a_text_are_the_text(text: str, length: int | None, limit_bytes: int) -> None:
    reader = read_result_tool(lambda _: text, limit_bytes=limit_bytes)
    pages: list[str] = []
    offset = 0
    while offset < len(text):
        page = read(reader, handle="c1", offset=offset, length=length)
        assert len(page.text.encode("utf-8", "replace")) <= limit_bytes
        pages.append(page.text)
        following = re.search(r"the next offset is (\d+)", page.note)
        assert following or "this is the end" in page.note
        offset = int(following[1]) if following else len(text)
    assert "".join(pages) == text


def test_a_page_says_what_it_is_and_what_is_left() -> None:
    reader = read_result_tool({"c1": "abcdefghij"}.get)
    page = read(reader, handle="c1", offset=2, length=3)
    assert page.text == "cde"
    assert page.note == 'Characters 2 to 5 of 10 of the result "c1"; 5 are left; the next offset is 5.'
    assert read(reader, handle="c1", offset=5).note.endswith("this is the end of it.")


def test_a_handle_may_come_with_quotation_marks() -> None:
    assert read(read_result_tool({"c1": "text"}.get), handle=' "c1" ').text == "text"


def test_an_unknown_handle_is_answered_with_those_that_there_are() -> None:
    reader = read_result_tool({}.get, handles=lambda: ["c1", "c4"])
    with pytest.raises(ToolError, match=r'no result with the handle "c9"\. The handles are "c1", "c4"\.'):
        read(reader, handle="c9")
    with pytest.raises(ToolError, match="Use one that stands where a result was cut"):
        read(read_result_tool({}.get), handle="")


def test_an_offset_behind_the_end_is_answered_with_the_length() -> None:
    with pytest.raises(ToolError, match=r'from 0 to 3, because the result "c1" has 4 characters; found 4'):
        read(read_result_tool({"c1": "text"}.get), handle="c1", offset=4)


@pytest.mark.parametrize("arguments", [{"offset": -1}, {"length": 0}, {"offset": "far"}])
def test_numbers_that_make_no_sense_do_not_reach_the_text(arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentsError):
        read(read_result_tool({"c1": "text"}.get), handle="c1", **arguments)


def test_pages_of_strangers_words_stay_strangers_words(shape: Any) -> None:
    whole = Whole(text="Buy now. " * 500, source="https://shop.example", trust="untrusted")
    reader = read_result_tool({"c1": whole}.get)
    page = read(reader, handle="c1", offset=9, length=9)
    result = shape(page, of=reader, arguments={"handle": "c1"}).result
    assert (result.source, result.trust) == ("https://shop.example", "untrusted")
    assert re.fullmatch(
        r"\[Data from https://shop\.example follows between marks with the number [^\n]*\]\n"
        r"<untrusted \w{16}>\nBuy now\. \n</untrusted \w{16}>\n\n"
        r"\[Characters 9 to 18 of 4500 of the result \"c1\"; 4482 are left; [^\n]*\]",
        result.content,
    )
