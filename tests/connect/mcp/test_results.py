"""Results as servers send them, as a model reads them: nothing is lost, nothing is said twice."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from wieldy import FilePart, ImagePart
from wieldy.connect.mcp.client.results import presented, presented_contents, presented_messages
from wieldy.schema import CompiledSchema

NUMBER = CompiledSchema({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})


def text(*words: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": word} for word in words]


def test_text_is_shown_as_it_is() -> None:
    shown = presented({"content": text("one", "two")})
    assert (shown.text, shown.structured, shown.is_error, shown.note) == ("one\ntwo", None, False, None)


def test_an_error_is_one() -> None:
    assert presented({"content": text("no"), "isError": True}).is_error


def test_images_audio_and_files_are_parts_and_the_text_names_them() -> None:
    shown = presented(
        {
            "content": [
                {"type": "image", "data": "iVBORw==", "mimeType": "image/png"},
                {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
                {"type": "resource", "resource": {"uri": "f:///a/b.bin", "blob": "AAAA"}},
                {"type": "resource", "resource": {"uri": "f:///p", "blob": "iVBORw==", "mimeType": "image/png"}},
            ]
        }
    )
    assert [type(part) for part in shown.parts] == [ImagePart, FilePart, FilePart, ImagePart]
    assert shown.text.splitlines() == [
        "[image 1: image/png, 4 bytes]",
        "[file 2: audio.wav, audio/wav, 4 bytes]",
        "[file 3: b.bin, application/octet-stream, 3 bytes]",
        "[image 4: image/png, 4 bytes]",
    ]


def test_links_and_embedded_text_say_where_they_are_from() -> None:
    shown = presented(
        {
            "content": [
                {"type": "resource", "resource": {"uri": "f:///a", "text": "inside"}},
                {"type": "resource_link", "uri": "f:///c", "name": "c", "description": "a table"},
            ]
        }
    )
    assert shown.text == "[resource f:///a]\ninside\n[link to the resource f:///c: c; a table]"


def test_what_is_not_known_is_shown_as_it_came() -> None:
    for odd in ({"type": "hologram", "x": 1}, {"type": "text"}, {"type": "image", "data": 7}, 5, None, ["a"]):
        assert json.loads(presented({"content": [odd]}).text) == odd
    assert presented({"content": "plain"}).text == "plain"


values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(values.filter(lambda value: value is not None), st.booleans(), st.integers(0, 2))
def test_data_is_shown_once_and_kept_whole(data: Any, wrapped: bool, indent: int) -> None:
    structured = {"result": data} if wrapped else data
    said = presented({"content": text(json.dumps(data, indent=indent)), "structuredContent": structured})
    assert said.structured == structured
    assert said.text == json.dumps(data, indent=indent)
    silent = presented({"content": [], "structuredContent": structured})
    assert json.loads(silent.text) == silent.structured == structured
    other = presented({"content": text("in words:"), "structuredContent": structured})
    assert other.text.startswith("in words:")
    assert data == "in words:" or json.loads(other.text.removeprefix("in words:")) == structured


def test_data_that_is_not_what_was_promised_is_kept_and_said() -> None:
    wrong = presented({"content": text("7"), "structuredContent": {"n": "7"}}, output=NUMBER)
    assert wrong.structured == {"n": "7"}
    assert wrong.note is not None
    assert "`n`" in wrong.note
    missing = presented({"content": text("7")}, output=NUMBER)
    assert missing.text == "7"
    assert missing.note is not None
    assert presented({"structuredContent": {"n": 7}}, output=NUMBER).note is None
    assert presented({"content": text("no"), "isError": True}, output=NUMBER).note is None


@given(st.dictionaries(st.sampled_from(["content", "structuredContent", "isError", "x"]), values, max_size=4))
def test_whatever_a_server_sends_becomes_some_text(result: dict[str, Any]) -> None:
    assert presented(result, output=NUMBER).text
    assert presented_messages(result).text
    assert presented_contents(result.get("content")).text
