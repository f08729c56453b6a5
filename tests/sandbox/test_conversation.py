"""What a guest may say: batches of calls, whole files, one end; everything else is a verdict with its reason."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.sandbox import GuestCall, SandboxLimits
from wieldy.sandbox.conversation import Conversation, Violation
from wieldy.sandbox.texts import is_file_name

CALL = {"name": "f", "arguments": {}}
CALLS = {"op": "calls", "calls": [CALL], "more": False}
ERROR = {"op": "error", "type": "E", "message": "m", "line": 1, "traceback": "t"}
FILE = {"op": "artifact", "name": "a", "data": "eA==", "last": True}


def batch(*calls: Any, more: Any = False) -> Any:
    return {"op": "calls", "calls": list(calls), "more": more}


@pytest.mark.parametrize(
    ("frame", "because"),
    [
        ({}, "protocol"),
        ({"op": "shell"}, "protocol"),
        ({"op": ["calls"]}, "protocol"),
        ({"op": "call", "seq": 1, **CALL}, "protocol"),
        ({"op": "ready"}, "protocol"),
        (batch(), "protocol"),
        (batch(more=True), "protocol"),
        ({**CALLS, "calls": None}, "protocol"),
        ({**CALLS, "calls": CALL}, "protocol"),
        ({**CALLS, "more": None}, "protocol"),
        ({**CALLS, "more": 0}, "protocol"),
        ({"op": "calls", "calls": [CALL]}, "protocol"),
        (batch(1), "protocol"),
        (batch(None), "protocol"),
        (batch([]), "protocol"),
        (batch({}), "protocol"),
        (batch({"name": "f"}), "protocol"),
        (batch({**CALL, "name": None}), "protocol"),
        (batch({**CALL, "arguments": []}), "protocol"),
        (batch(CALL, {**CALL, "name": 1}), "protocol"),
        (batch(*[CALL] * 1001), "calls"),
        ({"op": "done", "repr": 1}, "protocol"),
        ({**ERROR, "type": 1}, "protocol"),
        ({**ERROR, "line": True}, "protocol"),
        ({**ERROR, "traceback": None}, "protocol"),
        ({**FILE, "data": "x"}, "protocol"),
        ({**FILE, "data": None}, "protocol"),
        ({**FILE, "data": "\u20ac"}, "protocol"),
        ({**FILE, "name": "../a"}, "files"),
        ({**FILE, "name": "/a"}, "files"),
        ({**FILE, "name": 5}, "files"),
    ],
)
def test_what_a_guest_never_says_ends_it(frame: Any, because: str) -> None:
    with pytest.raises(Violation) as verdict:
        Conversation(SandboxLimits()).take(frame)
    assert verdict.value.because == because


@pytest.mark.parametrize("end", [{"op": "done", "value": 1}, ERROR])
@pytest.mark.parametrize("more", [CALLS, FILE, ERROR, {"op": "done"}])
def test_after_the_end_nothing_may_come(end: Any, more: Any) -> None:
    conversation = Conversation(SandboxLimits())
    conversation.take(end)
    with pytest.raises(Violation, match="after the end"):
        conversation.take(more)


@given(st.integers(1, 5), st.lists(st.integers(1, 4), max_size=5))
def test_as_many_calls_are_taken_as_the_limit_says(limit: int, batches: list[int]) -> None:
    conversation = Conversation(SandboxLimits(calls=limit))
    made = 0
    for size in batches:
        if made + size > limit:
            with pytest.raises(Violation) as verdict:
                conversation.take(batch(*[CALL] * size))
            assert verdict.value.because == "calls"
            return
        conversation.take(batch(*[CALL] * size))
        numbers = range(made + 1, made + size + 1)
        assert conversation.waiting == tuple(GuestCall(seq=seq, name="f", arguments={}) for seq in numbers)
        conversation.answered()
        made += size
    assert conversation.calls == made


@given(st.lists(st.integers(0, 4 << 20), max_size=8), st.integers(0, 8))
def test_a_batch_is_held_to_a_size(sizes: list[int], pieces: int) -> None:
    conversation = Conversation(SandboxLimits())
    held = 0
    for number, size in enumerate(sizes, start=1):
        is_last = number % (pieces + 1) == 0
        if held + size > 16 << 20:
            with pytest.raises(Violation, match="calls"):
                conversation.take(batch(CALL, more=not is_last), size)
            return
        conversation.take(batch(CALL, more=not is_last), size)
        held += size
        if is_last:
            conversation.answered()
            held = 0


@given(st.lists(st.integers(1, 3), min_size=1, max_size=6))
def test_a_batch_may_come_in_pieces_and_waits_once_all_of_it_is_there(pieces: list[int]) -> None:
    conversation = Conversation(SandboxLimits())
    for place, size in enumerate(pieces, start=1):
        assert not conversation.waiting
        conversation.take(batch(*[CALL] * size, more=place < len(pieces)))
    assert [call.seq for call in conversation.waiting] == list(range(1, sum(pieces) + 1))
    conversation.answered()
    assert not conversation.waiting


@pytest.mark.parametrize("more", [FILE, ERROR, {"op": "done", "value": 1}])
def test_between_the_calls_of_a_batch_nothing_else_may_come(more: Any) -> None:
    conversation = Conversation(SandboxLimits())
    conversation.take(batch(CALL, more=True))
    with pytest.raises(Violation, match="between"):
        conversation.take(more)


@pytest.mark.parametrize("more", [CALLS, FILE, ERROR, {"op": "done", "value": 1}])
def test_before_calls_are_answered_nothing_may_come(more: Any) -> None:
    conversation = Conversation(SandboxLimits())
    conversation.take(CALLS)
    with pytest.raises(Violation, match="before"):
        conversation.take(more)


def test_a_file_may_come_in_pieces_and_only_whole_files_count() -> None:
    conversation = Conversation(SandboxLimits())
    conversation.take({**FILE, "last": False})
    assert conversation.artifacts == ()
    conversation.take(FILE)
    assert [(file.name, file.content) for file in conversation.artifacts] == [("a", b"xx")]
    for frame in (FILE, {**FILE, "last": False}):
        with pytest.raises(Violation, match="twice"):
            conversation.take(frame)


@given(st.lists(st.text(st.characters(exclude_characters="/"), min_size=1, max_size=300), unique=True, max_size=6))
def test_each_file_comes_out_or_is_told(names: list[str]) -> None:
    names = [name for name in names if name not in (".", "..")]
    conversation = Conversation(SandboxLimits())
    for name in names:
        conversation.take({**FILE, "name": name, "last": False})
        conversation.take({**FILE, "name": name})
    conversation.take({"op": "done", "value": 1})
    came = {file.name: file.content for file in conversation.artifacts}
    assert came == {name: b"xx" for name in names if is_file_name(name)}
    assert len(came) + len(conversation.remarks) == len(names)


def test_of_many_files_that_are_left_out_some_are_named_and_the_limit_holds() -> None:
    conversation = Conversation(SandboxLimits(files=30))
    for number in range(30):
        conversation.take({"op": "artifact", "name": f"{number}", "left_out": "no", "last": True})
    assert len(conversation.remarks) == 21
    assert conversation.remarks[-1] == "10 more files are left out."
    with pytest.raises(Violation) as verdict:
        conversation.take({**FILE, "name": "a\nb"})
    assert verdict.value.because == "files"


def test_pieces_of_two_files_may_not_be_mixed() -> None:
    conversation = Conversation(SandboxLimits())
    conversation.take({**FILE, "last": False})
    with pytest.raises(Violation, match="two files"):
        conversation.take({**FILE, "name": "b"})


@pytest.mark.parametrize("limits", [SandboxLimits(files=1), SandboxLimits(files_bytes=1)])
def test_more_files_or_bytes_than_the_limits_end_it(limits: SandboxLimits) -> None:
    conversation = Conversation(limits)
    conversation.take(FILE)
    with pytest.raises(Violation) as verdict:
        conversation.take({**FILE, "name": "b"})
    assert verdict.value.because == "files"


@given(st.text(), st.text(), st.text())
def test_texts_of_an_error_come_without_control_characters(kind: str, message: str, traceback: str) -> None:
    conversation = Conversation(SandboxLimits())
    texts = [text.encode("utf-8", "replace").decode() for text in (kind, message, traceback)]
    conversation.take({**ERROR, "type": texts[0], "message": texts[1], "traceback": texts[2]})
    assert conversation.error is not None
    shown = conversation.error.type + conversation.error.message + conversation.error.traceback
    assert "\x1b" not in shown
    assert "\0" not in shown
