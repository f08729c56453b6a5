"""The prompt says what an answer must be, once."""

from __future__ import annotations

from wieldy.connect.models.telling import told
from wieldy.core.messages import Message
from wieldy.core.outputs import ChoiceOutput, in_words

CHOICE = ChoiceOutput(options=("red", "green"))
WORDS = in_words(CHOICE)


def test_the_words_stand_at_the_end_of_the_system_message() -> None:
    first, user = told([Message.system("Be brief."), Message.user("x")], CHOICE)
    assert first == Message.system(f"Be brief.\n\n{WORDS}")
    assert user == Message.user("x")


def test_without_a_system_message_they_are_one() -> None:
    assert list(told([Message.user("x")], CHOICE)) == [Message.system(WORDS), Message.user("x")]
    assert list(told([], CHOICE)) == [Message.system(WORDS)]


def test_what_is_said_already_is_not_said_again() -> None:
    messages = told([Message.user("x")], CHOICE)
    assert told(messages, CHOICE) is messages
