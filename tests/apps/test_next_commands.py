from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.apps.cli.next_commands import NextCommands, without_password


def test_commands_name_the_journal_if_it_is_not_the_usual_one() -> None:
    assert NextCommands(journal=None).resume("r1") == "wieldy resume r1"
    assert NextCommands(journal="my runs.db").approve("r1", "c1") == "wieldy approve r1 c1 --journal 'my runs.db'"


@given(st.text(min_size=1), st.text(min_size=1))
def test_a_shell_reads_the_words_of_a_command_as_they_were_meant(run_id: str, call_id: str) -> None:
    assert shlex.split(NextCommands(journal=None).deny(run_id, call_id)) == ["wieldy", "deny", run_id, call_id]


@pytest.mark.parametrize(
    ("journal", "shown"),
    [
        ("runs.db", "runs.db"),
        ("postgresql://host/db", "postgresql://host/db"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("postgresql://me:secret@host:5432/db?sslmode=require", "postgresql://me@host:5432/db?sslmode=require"),
        ("postgresql://me:se@cret@host/db", "postgresql://me@host/db"),
        ("postgresql://host/db?user=me&password=secret", "postgresql://host/db?user=me"),
        ("postgresql://me:secret@[host/db", "postgresql://..."),
        ("C:\\runs:x@y.db", "C:\\runs:x@y.db"),
    ],
)
def test_a_password_is_not_shown(journal: str, shown: str) -> None:
    assert without_password(journal) == shown
