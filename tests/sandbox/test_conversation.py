"""What a guest may say: numbered calls, whole files, one end; everything else is a verdict with its reason."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.sandbox import GuestCall, SandboxLimits
from wieldy.sandbox.conversation import Conversation, Violation

CALL = {"op": "call", "seq": 1, "name": "f", "arguments": {}}
ERROR = {"op": "error", "type": "E", "message": "m", "line": 1, "traceback": "t"}
FILE = {"op": "artifact", "name": "a", "data": "eA==", "last": True}


@pytest.mark.parametrize(
    ("frame", "because"),
    [
        ({}, "protocol"),
        ({"op": "shell"}, "protocol"),
        ({"op": ["call"]}, "protocol"),
        ({"op": "ready"}, "protocol"),
        ({**CALL, "seq": 2}, "protocol"),
        ({**CALL, "seq": 0}, "protocol"),
        ({**CALL, "seq": True}, "protocol"),
        ({**CALL, "seq": 1.0}, "protocol"),
        ({**CALL, "seq": "1"}, "protocol"),
        ({**CALL, "seq": 10**40}, "protocol"),
        ({**CALL, "name": None}, "protocol"),
        ({**CALL, "arguments": []}, "protocol"),
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
@pytest.mark.parametrize("more", [CALL, FILE, ERROR, {"op": "done"}])
def test_after_the_end_nothing_may_come(end: Any, more: Any) -> None:
    conversation = Conversation(SandboxLimits())
    conversation.take(end)
    with pytest.raises(Violation, match="after the end"):
        conversation.take(more)


@given(st.integers(1, 5), st.integers(0, 8))
def test_as_many_calls_are_taken_as_the_limit_says(limit: int, made: int) -> None:
    conversation = Conversation(SandboxLimits(calls=limit))
    for seq in range(1, made + 1):
        if seq > limit:
            with pytest.raises(Violation) as verdict:
                conversation.take({**CALL, "seq": seq})
            assert verdict.value.because == "calls"
            return
        assert conversation.take({**CALL, "seq": seq}) == GuestCall(seq=seq, name="f", arguments={})
    assert conversation.calls == made


@given(st.lists(st.integers(0, 4 << 20), max_size=8), st.integers(0, 8))
def test_what_waits_for_answers_is_held_to_a_size(sizes: list[int], answered: int) -> None:
    conversation = Conversation(SandboxLimits())
    held = 0
    for seq, size in enumerate(sizes, start=1):
        frame = {**CALL, "seq": seq}
        if held + size > 16 << 20:
            with pytest.raises(Violation, match="calls"):
                conversation.take(frame, size)
            return
        conversation.take(frame, size)
        if seq <= answered:
            conversation.answered(seq)
        else:
            held += size


@given(st.lists(st.sampled_from(["answered", "postponed"]), min_size=1, max_size=6))
def test_a_run_is_paused_when_every_open_call_waits_for_elsewhere(ends: list[str]) -> None:
    conversation = Conversation(SandboxLimits())
    for seq in range(1, len(ends) + 1):
        conversation.take({**CALL, "seq": seq})
    assert not conversation.is_paused
    for seq, end in enumerate(ends, start=1):
        getattr(conversation, end)(seq)
    assert conversation.is_paused is ("postponed" in ends)
    for seq in range(1, len(ends) + 1):
        conversation.answered(seq)
    assert not conversation.is_paused


def test_a_file_may_come_in_pieces_and_only_whole_files_count() -> None:
    conversation = Conversation(SandboxLimits())
    conversation.take({**FILE, "last": False})
    assert conversation.artifacts == ()
    conversation.take(FILE)
    assert [(file.name, file.content) for file in conversation.artifacts] == [("a", b"xx")]
    for frame in (FILE, {**FILE, "last": False}):
        with pytest.raises(Violation, match="twice"):
            conversation.take(frame)


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
