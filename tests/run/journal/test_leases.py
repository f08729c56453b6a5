"""Of all who ask for the lease of a run at once, one gets it; a lease whose holder is dead is free."""

import gc
import os
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.errors import JournalError, RunBusyError
from wieldy.core.ports import Draft, Journal
from wieldy.run.journal import SqliteJournal, open_journal
from wieldy.run.journal.leases import LEASE_S, RENEW_AFTER_S, Claim, is_void
from wieldy.run.journal.processes import Process, this_process

HERE = Process(host="here", place="boot pid", pid=10, started="100")
ELSEWHERE = replace(HERE, host="there", place="another boot")


def claim(process: Process, *, renewed: float = 0.0) -> Claim:
    return Claim(run_id="r", token="t", process=process, since=0.0, renewed=renewed)


def void(
    process: Process, *, now: float = 0.0, renewed: float = 0.0, is_held: bool = False, is_alive: bool = False
) -> bool:
    return is_void(
        claim(process, renewed=renewed), here=HERE, now=now, is_held=lambda _: is_held, is_alive=lambda _: is_alive
    )


@given(now=st.floats(0, 1e9))
def test_in_the_same_place_only_the_life_of_the_holder_counts(now: float) -> None:
    neighbour = replace(HERE, pid=11)
    assert void(neighbour, now=now, is_alive=False)
    assert not void(neighbour, now=now, is_alive=True)


@given(now=st.floats(0, 1e9), is_alive=st.booleans())
def test_a_claim_of_this_process_counts_as_long_as_its_lease_is_held(now: float, is_alive: bool) -> None:
    assert void(HERE, now=now, is_held=False, is_alive=is_alive)
    assert not void(HERE, now=now, is_held=True, is_alive=is_alive)


@pytest.mark.parametrize("process", [ELSEWHERE, replace(HERE, place="", pid=11)])
@pytest.mark.parametrize("is_alive", [True, False])
def test_elsewhere_a_claim_counts_until_it_was_not_renewed_for_long(process: Process, is_alive: bool) -> None:
    assert not void(process, now=1000 + LEASE_S, renewed=1000, is_alive=is_alive)
    assert void(process, now=1001 + LEASE_S, renewed=1000, is_alive=is_alive)
    assert not void(process, now=1000, renewed=5000, is_alive=is_alive)


def test_two_renewals_may_fail_before_the_lease_is_free_elsewhere() -> None:
    assert 2 * RENEW_AFTER_S < LEASE_S


# One process


def test_a_lease_is_held_once_until_it_is_released(journal: Journal) -> None:
    lease = journal.lease("r")
    words = rf"process {os.getpid()} on .*, since [0-9: -]+ UTC"
    with pytest.raises(RunBusyError, match=f"Run r is being worked on by {words}") as refused:
        journal.lease("r")
    assert refused.value.holder == journal.holder("r")
    lease.renew()
    lease.release()
    lease.release()
    assert journal.holder("r") is None
    journal.lease("r").release()


def test_leases_of_different_runs_have_nothing_to_do_with_one_another(journal: Journal) -> None:
    one, other = journal.lease("r1"), journal.lease("r2")
    one.release()
    assert journal.holder("r1") is None
    assert journal.holder("r2") is not None
    other.release()


def test_a_lease_that_is_released_cannot_be_renewed_nor_take_away_the_next_one(journal: Journal) -> None:
    first = journal.lease("r")
    first.release()
    second = journal.lease("r")
    with pytest.raises(RunBusyError, match="not held here any more"):
        first.renew()
    first.release()
    assert journal.holder("r") is not None
    second.renew()
    second.release()


def test_a_lease_that_nobody_refers_to_any_more_is_free(journal: Journal) -> None:
    left_behind = journal.lease("r")
    assert journal.holder("r") is not None
    del left_behind
    gc.collect()
    assert journal.holder("r") is None
    journal.lease("r").release()


def test_who_holds_no_lease_may_append_all_the_same(journal: Journal) -> None:
    lease = journal.lease("r")
    journal.append("r", Draft("approval", {}))
    assert len(journal.read("r")) == 1
    lease.release()


def test_a_second_opening_of_the_journal_sees_the_lease(stored: str) -> None:
    with open_journal(stored) as one, open_journal(stored) as other, open_journal(stored, read_only=True) as reader:
        lease = one.lease("r")
        assert other.holder("r") == reader.holder("r") == one.holder("r") is not None
        with pytest.raises(RunBusyError):
            other.lease("r")
        lease.release()
        other.lease("r").release()


def test_a_lease_whose_journal_is_gone_is_released_without_a_word_and_is_free(tmp_path: Path) -> None:
    with SqliteJournal(tmp_path / "j.db") as journal:
        lease = journal.lease("r")
        (tmp_path / "j.db").rename(tmp_path / "elsewhere.db")
        lease.release()
    with SqliteJournal(tmp_path / "elsewhere.db") as journal:
        assert journal.holder("r") is None
        journal.lease("r").release()


# Several processes

RACER = """
import json, sys
from wieldy.core.errors import JournalError, RunBusyError
from wieldy.run.journal import open_journal
journal, lease = open_journal(sys.argv[1]), None
print("0", flush=True)
for line in sys.stdin:
    order, run_id = line.split()
    if order == "release":
        lease.release()
        answer = None
    else:
        try:
            lease = journal.lease(run_id)
            answer = None
        except RunBusyError as error:
            answer = error.holder
    print(json.dumps(answer), flush=True)
"""

Start = Callable[..., Any]


def test_of_processes_that_ask_at_once_exactly_one_gets_the_lease(stored: str, start: Start) -> None:
    racers = [start(RACER, stored) for _ in range(3)]
    for racer in racers:
        racer.answer()
    for number in range(15):
        for racer in racers:
            racer.tell(f"take run-{number}")
        answers = [racer.answer() for racer in racers]
        [winner] = [racer for racer, answer in zip(racers, answers, strict=True) if answer is None]
        assert all(f"process {winner.pid} on " in answer for answer in answers if answer is not None)


@pytest.fixture
def holding(stored: str, start: Start) -> Iterator[Any]:
    """Another process that holds the lease of run `r`."""
    peer = start(RACER, stored)
    peer.answer()
    peer.tell("take r")
    assert peer.answer() is None
    return peer


def test_a_lease_is_free_when_another_process_releases_it(stored: str, holding: Any) -> None:
    with open_journal(stored) as journal:
        with pytest.raises(RunBusyError, match=f"process {holding.pid} on "):
            journal.lease("r")
        holding.tell("release r")
        holding.answer()
        journal.lease("r").release()


def test_a_lease_is_free_at_once_when_its_holder_is_killed(stored: str, holding: Any) -> None:
    with open_journal(stored) as journal:
        assert journal.holder("r") is not None
        holding.kill()
        assert journal.holder("r") is None
        lease = journal.lease("r")
        assert f"process {os.getpid()} on " in str(journal.holder("r"))
        lease.release()


FORKED = """
import os, sys
from wieldy.core.errors import JournalError, RunBusyError
from wieldy.core.ports import Draft
from wieldy.run.journal import open_journal
journal = open_journal(sys.argv[1])
journal.append("r", Draft("k", {}))
lease = journal.lease("r")
child = os.fork()
if child == 0:
    for use in (lambda: journal.append("r", Draft("k", {})), lambda: journal.read("r"), lambda: journal.lease("s")):
        try:
            use()
        except JournalError as error:
            assert "cannot be used in one forked from it" in str(error), error
        else:
            raise AssertionError(use)
    try:
        lease.renew()
    except RunBusyError:
        pass
    lease.release()
    journal.close()
    with open_journal(sys.argv[1]) as own:
        own.append("r", Draft("of the child", {}))
        assert f"process {os.getppid()} on" in own.holder("r"), own.holder("r")
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
lease.renew()
assert f"process {os.getpid()} on" in journal.holder("r")
journal.append("r", Draft("k", {}))
lease.release()
assert len(journal.read("r")) == 3
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_takes_nothing_from_its_parent_and_opens_its_own(stored: str, python: Start) -> None:
    finished = python(FORKED, stored)
    assert finished.stderr == ""
    assert finished.returncode == 0


def test_a_claim_from_another_machine_is_respected_until_it_has_run_out(tmp_path: Path) -> None:
    from wieldy.run.journal.sqlite_claims import put_claim
    from wieldy.run.journal.sqlite_file import connect

    now = 1000.0
    with SqliteJournal(tmp_path / "j.db", clock=lambda: now) as journal:
        connection = connect(tmp_path / "j.db", read_only=False)
        there = replace(this_process(), host="there", place="another boot")
        put_claim(connection, replace(claim(there), since=now, renewed=now))
        connection.close()
        now += LEASE_S
        with pytest.raises(RunBusyError, match="on there, since 1970-01-01 00:16:40 UTC"):
            journal.lease("r")
        now += 1
        assert journal.holder("r") is None
        journal.lease("r").release()


@pytest.mark.parametrize(("column", "value"), [("pid", "abc"), ("renewed", "x"), ("token", b"1"), ("since", "never")])
def test_a_claim_that_is_damaged_is_none(tmp_path: Path, column: str, value: object) -> None:
    with SqliteJournal(tmp_path / "j.db") as journal:
        lease = journal.lease("r")
        connection = sqlite3.connect(tmp_path / "j.db")
        connection.execute(f"UPDATE leases SET {column} = ?", (value,))
        connection.commit()
        connection.close()
        assert journal.holder("r") is None
        journal.lease("r").release()
        lease.release()


def test_what_could_not_be_given_back_is_given_back_with_a_later_lease(tmp_path: Path) -> None:
    class Unreachable(SqliteJournal):
        """As where a disk is full, for some time."""

        is_reachable = False

        def drop_claim(self, claim: Claim) -> None:
            if not self.is_reachable:
                raise JournalError("the disk is full")
            super().drop_claim(claim)

    def claims() -> list[str]:
        connection = sqlite3.connect(tmp_path / "j.db")
        found = [row[0] for row in connection.execute("SELECT run_id FROM leases ORDER BY run_id")]
        connection.close()
        return found

    with Unreachable(tmp_path / "j.db") as journal:
        for run_id in ("r1", "r2"):
            journal.lease(run_id).release()
        assert claims() == ["r1", "r2"]  # for other processes, this one is still at work on them
        journal.is_reachable = True
        journal.lease("r3").release()
        assert claims() == []
