"""A journal in PostgreSQL: what the server guards, and what happens when it, or the way to it, fails."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from breaking_proxy import Moment, breaking_proxy

from wieldy.core.errors import JournalConflictError, JournalError, RunBusyError
from wieldy.core.ports import Draft
from wieldy.run.journal import PostgresJournal, SqliteJournal, is_url, open_journal, verify


def run_sql(url: str, *statements: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE wieldy_entries SET kind = 'forged'",
        "DELETE FROM wieldy_entries",
        "TRUNCATE wieldy_entries",
        "INSERT INTO wieldy_entries (run_id, sequence, kind, time, data, digest, append_id) "
        "VALUES ('r', 5, 'forged', 1, '{}', '', gen_random_uuid())",
    ],
)
def test_the_server_refuses_to_change_remove_or_skip_an_entry(postgres_url: str, statement: str) -> None:
    with PostgresJournal(postgres_url) as journal:
        journal.append("r", Draft("k", {}))
        with pytest.raises(psycopg.Error, match="append-only"):
            run_sql(postgres_url, statement)
        assert [entry.kind for entry in journal.read("r")] == ["k"]


MOMENTS: tuple[Moment, ...] = ("never sent", "carried out", "carried out late")


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("length", [1, None])
def test_an_append_whose_connection_breaks_is_written_exactly_once(
    postgres_url: str, moment: Moment, length: int | None
) -> None:
    with breaking_proxy(postgres_url) as proxy, PostgresJournal(proxy.url) as journal:
        journal.append("r", Draft("k", {}))
        proxy.break_at(b"here it breaks", moment)
        entries = journal.append("r", Draft("k", {"text": "here it breaks"}), Draft("end", {}), length=length)
        assert proxy.broken == 1
        journal.append("r", Draft("k", {}), length=3)
        assert list(journal.read("r"))[1:3] == list(entries)
        assert [entry.sequence for entry in journal.read("r")] == [0, 1, 2, 3]
        verify(journal.read("r"))


@pytest.mark.parametrize("moment", MOMENTS)
def test_the_first_append_of_a_run_survives_a_break_too(postgres_url: str, moment: Moment) -> None:
    with breaking_proxy(postgres_url) as proxy, PostgresJournal(proxy.url) as journal:
        proxy.break_at(b"here it breaks", moment)
        entries = journal.append("r", Draft("k", {"text": "here it breaks"}), length=0)
        assert proxy.broken == 1
        assert list(journal.read("r")) == list(entries)


def test_an_append_that_broke_and_was_overtaken_is_a_conflict(postgres_url: str) -> None:
    with breaking_proxy(postgres_url) as proxy, PostgresJournal(proxy.url) as journal:
        journal.append("r", Draft("k", {}))
        with PostgresJournal(postgres_url) as other:
            other.append("r", Draft("of another", {}))
        proxy.break_at(b"here it breaks", "never sent")
        with pytest.raises(JournalConflictError, match="has 2 entries, expected 1"):
            journal.append("r", Draft("k", {"text": "here it breaks"}), length=1)
        assert [entry.kind for entry in journal.read("r")] == ["k", "of another"]


@pytest.mark.parametrize("moment", MOMENTS[:2])
def test_a_lease_whose_connection_breaks_is_held_once(postgres_url: str, moment: Moment) -> None:
    with breaking_proxy(postgres_url) as proxy, PostgresJournal(proxy.url) as journal:
        proxy.break_at(b"INSERT INTO wieldy_leases", moment)
        lease = journal.lease("r")
        assert proxy.broken == 1
        with pytest.raises(RunBusyError):
            journal.lease("r")
        lease.renew()
        lease.release()
        assert journal.holder("r") is None


def test_reading_renewing_and_releasing_go_on_with_a_new_connection(postgres_url: str) -> None:
    with PostgresJournal(postgres_url) as journal:
        journal.append("r", Draft("k", {}))
        lease = journal.lease("r")

        def cut() -> None:
            run_sql(
                postgres_url,
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'wieldy'",
            )

        cut()
        assert len(journal.read("r")) == 1
        assert journal.holder("r") is not None
        lease.renew()
        cut()
        assert list(journal.run_ids()) == ["r"]
        lease.release()
        assert journal.holder("r") is None


def test_a_server_that_restarts_is_used_again_and_one_that_is_gone_is_reported(
    postgres: Any, postgres_url: str
) -> None:
    with PostgresJournal(postgres_url) as journal:
        journal.append("r", Draft("k", {}))
        lease = journal.lease("r")
        postgres.stop()
        try:
            with pytest.raises(JournalError, match=r"cannot be reached.*not known whether"):
                journal.append("r", Draft("k", {}))
            with pytest.raises(JournalError, match="cannot be reached"):
                journal.read("r")
            with pytest.raises(JournalError, match="cannot be reached"):
                PostgresJournal(postgres_url)
            lease.release()
        finally:
            postgres.start()
        assert journal.holder("r") is None
        journal.append("r", Draft("k", {}), length=1)
        verify(journal.read("r"))


def test_threads_that_append_to_runs_of_their_own_while_connections_break_lose_nothing(postgres_url: str) -> None:
    runs, each = [f"r{number}" for number in range(4)], 25
    with breaking_proxy(postgres_url) as proxy, PostgresJournal(proxy.url) as journal:

        def write(run_id: str) -> None:
            for number in range(each):
                journal.append(run_id, Draft("k", {"text": f"{run_id}-{number}."}), length=number)

        proxy.break_at(b"r1-11.", "carried out")
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(write, runs))
        assert proxy.broken == 1
        for run_id in runs:
            assert len(journal.read(run_id)) == each
            verify(journal.read(run_id))


def test_openings_at_the_same_time_make_the_tables_once(postgres_url: str) -> None:
    barrier = threading.Barrier(4, timeout=30)

    def open_and_append(number: int) -> None:
        barrier.wait()
        with PostgresJournal(postgres_url) as journal:
            journal.append(f"r{number}", Draft("k", {}))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(open_and_append, range(4)))
    with PostgresJournal(postgres_url, read_only=True) as journal:
        assert sorted(journal.run_ids()) == ["r0", "r1", "r2", "r3"]


def test_reading_only_makes_no_tables_and_writes_nothing(postgres_url: str) -> None:
    with pytest.raises(JournalError, match="There is no journal at postgresql://wieldy@127"):
        PostgresJournal(postgres_url, read_only=True)
    PostgresJournal(postgres_url).close()
    with PostgresJournal(postgres_url, read_only=True) as journal:
        with pytest.raises(JournalError, match="reading only"):
            journal.append("r", Draft("k", {}))
        with pytest.raises(JournalError, match="reading only"):
            journal.lease("r")
        assert journal.head() is None


def test_a_newer_format_is_refused_and_left_alone(postgres_url: str) -> None:
    PostgresJournal(postgres_url).close()
    run_sql(postgres_url, "UPDATE wieldy_journal SET format = 9")
    for read_only in (True, False):
        with pytest.raises(JournalError, match=r"has format 9.*Upgrade Wieldy"):
            PostgresJournal(postgres_url, read_only=read_only)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("postgresql://127.0.0.1:1/x", "cannot be reached"),
        ("postgresql://u:geheim@127.0.0.1:99999/x", "cannot be reached"),
        ("postgresql://u:ge@heim@127.0.0.1:1/x", "cannot be reached"),
        ("postgresql://u:geheim@127.0.0.1:1/x?nonsense=1", "none that PostgreSQL's client understands"),
        ("postgresql://u:geheim%ZZ@127.0.0.1:1/x", "none that PostgreSQL's client understands"),
    ],
)
def test_a_url_that_leads_nowhere_is_reported_without_its_password(url: str, words: str) -> None:
    with pytest.raises(JournalError, match=words) as refused:
        open_journal(url)
    assert "geheim" not in str(refused.value)


def test_what_the_server_refuses_is_said_in_words_that_help(postgres: Any, postgres_url: str) -> None:
    for url, words in [
        (postgres.url.rpartition("/")[0] + "/nowhere", 'database "nowhere" does not exist'),
        (postgres.url.replace("@", "x@"), "password authentication failed"),
    ]:
        with pytest.raises(JournalError, match=words):
            PostgresJournal(url)
    PostgresJournal(postgres_url).close()
    run_sql(postgres_url, "CREATE ROLE guest LOGIN PASSWORD 'guest'")
    guest = postgres_url.replace(postgres_url.partition("//")[2].partition("@")[0], "guest:guest")
    with pytest.raises(JournalError, match="has no schema for its tables"):
        PostgresJournal(guest)
    schema = postgres_url.rpartition("%3D")[2]
    run_sql(postgres_url, f"GRANT USAGE ON SCHEMA {schema} TO guest")
    with pytest.raises(JournalError, match="does not let this user do that"):
        PostgresJournal(guest)
    run_sql(postgres_url, f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO guest")
    with PostgresJournal(guest) as journal:
        assert list(journal.run_ids()) == []
        with pytest.raises(JournalError, match="does not let this user do that"):
            journal.append("r", Draft("k", {}))


def test_a_closed_journal_says_so_and_may_be_closed_twice(postgres_url: str) -> None:
    journal = PostgresJournal(postgres_url)
    journal.close()
    journal.close()
    for use in (lambda: journal.append("r", Draft("k", {})), lambda: journal.read("r")):
        with pytest.raises(JournalError, match="is closed"):
            use()


def test_what_is_large_is_kept_whole(postgres_url: str) -> None:
    with PostgresJournal(postgres_url) as journal:
        [entry] = journal.append("r", Draft("k", {"text": "🙂" * 2_000_000}))
        assert list(journal.read("r")) == [entry]


WITHOUT_PSYCOPG = """
import sys
sys.modules["psycopg"] = None
from wieldy.core.errors import JournalError
from wieldy.run.journal import open_journal
try:
    open_journal("postgresql://127.0.0.1:1/x")
except JournalError as error:
    print(error)
"""


def test_a_missing_client_library_is_named_with_what_to_type(python: Callable[..., Any]) -> None:
    finished = python(WITHOUT_PSYCOPG)
    assert finished.stderr == ""
    assert "pip install 'wieldy[postgres]'" in finished.stdout


def test_a_name_is_a_url_or_a_path(tmp_path: Any) -> None:
    assert is_url("postgresql://h/d")
    assert is_url("postgres://h/d")
    assert not is_url("runs.db")
    assert not is_url(tmp_path / "postgresql:")
    with open_journal(tmp_path / "j.db", durability="machine") as journal:
        assert isinstance(journal, SqliteJournal)
        assert journal.durability == "machine"
    with open_journal(os.fspath(tmp_path / "j.db"), read_only=True) as journal:
        assert journal.head() is None


@pytest.mark.parametrize("name", ["mysql://host/database", "sqlite:///runs.db"])
def test_the_url_of_something_else_is_refused_and_makes_no_file(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(JournalError, match="a file or a PostgreSQL database"):
        open_journal(name)
    assert not list(tmp_path.iterdir())
