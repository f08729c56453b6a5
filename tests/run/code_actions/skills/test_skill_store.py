"""Skills in a folder: what is there stays there, whoever writes, whoever dies, and whatever things are called."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from wieldy.agent.skills import why_not
from wieldy.core.errors import SkillError, UsageError
from wieldy.core.json import canonical_json, digest
from wieldy.run.actions.code.skills.skill import (
    MAX_FILE_BYTES,
    Example,
    RecordedCall,
    Skill,
    skill_from_text,
    skill_to_text,
    tool_record,
)
from wieldy.run.actions.code.skills.store import SkillStore
from wieldy.run.actions.code.stubs import stubs_of
from wieldy.tools import tool


@tool(effect="read")
def rows(city: str) -> list[int]:
    """Rows."""
    return [len(city)]


def a_skill(name: str = "total", *, value: Any = 3, source: str = "def total() -> int: ...") -> Skill:
    call = RecordedCall(name="rows", arguments={"city": "Oslo"}, value=[1, 2])
    failed = RecordedCall(name="rows", arguments={"city": ""}, failure="tool", message="No such city.")
    example = Example(arguments={"city": "Oslo"}, calls=(call, failed), value=value, run_id="r", started=1.5)
    return Skill(
        name=name,
        source=source,
        tools=(tool_record(rows.definition),),
        example=example,
        check="result > 0",
        origin="r c",
    )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(JSON, st.text(max_size=30))
def test_a_skill_is_read_back_as_it_was_written(value: Any, source: str) -> None:
    skill = a_skill(value=value, source=source)
    assert skill_from_text(skill_to_text(skill)) == skill


@given(st.integers(0, 10_000), st.characters(codec="utf-8"))
def test_a_text_in_which_anything_was_changed_is_refused(place: int, character: str) -> None:
    text = skill_to_text(a_skill())
    place %= len(text)
    changed = text[:place] + character + text[place + 1 :]
    if changed == text:
        return
    try:
        found = skill_from_text(changed)
    except SkillError:
        return
    assert json.loads(changed) == json.loads(text)
    assert found == a_skill()


def places_in(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from places_in(part, (*path, key))


PLACES = list(places_in(json.loads(skill_to_text(a_skill()))["skill"]))


@given(st.sampled_from(PLACES), JSON)
def test_whatever_a_file_holds_it_is_read_or_refused(path: tuple[Any, ...], value: Any) -> None:
    kept = json.loads(skill_to_text(a_skill()))["skill"]
    part = kept
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    text = canonical_json({"format": 1, "digest": digest(kept), "skill": kept})
    try:
        skill = skill_from_text(text)
    except SkillError:
        return
    assert why_not(skill, {}) is not None  # it calls a tool that is not there, or is no function
    assert stubs_of(each.shown for each in skill.tools).text is not None


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", "null", "1", '{"format": 2}', '{"format": 1, "digest": "x", "skill": {}}', "[" * 100_000]
)
def test_what_is_no_skill_is_refused(text: str) -> None:
    with pytest.raises(SkillError):
        skill_from_text(text)


def test_values_that_no_file_takes_are_refused() -> None:
    for value in (float("nan"), "\ud800", {1: 2}, object()):
        with pytest.raises((SkillError, TypeError)):
            skill_to_text(a_skill(value=value))
    with pytest.raises(SkillError, match="may take"):
        skill_to_text(a_skill(value="x" * MAX_FILE_BYTES))


def test_versions_are_counted_and_kept(tmp_path: Path) -> None:
    store = SkillStore(tmp_path / "new" / "skills")
    assert store.kept().skills == ()
    assert not store.folder.exists()
    first, second = store.add(a_skill(value=1)), store.add(a_skill(value=2))
    store.add(a_skill("other"))
    assert (first.title, second.title) == ("total@1", "total@2")
    assert [skill.title for skill in store.kept().skills] == ["other@1", "total@1", "total@2"]
    assert [skill.title for skill in store.kept().newest] == ["other@1", "total@2"]
    assert store.get("total") == second
    assert store.get("total", 1) == first
    assert store.remove("total", 1) == (1,)
    assert store.add(a_skill()).version == 3
    assert store.remove("total") == (2, 3)
    with pytest.raises(SkillError, match="there is other@1"):
        store.get("total")
    with pytest.raises(SkillError, match="no skill total@7"):
        store.remove("total", 7)


def test_a_tenth_version_is_newer_than_a_ninth(tmp_path: Path) -> None:
    store = SkillStore(tmp_path)
    for _ in range(10):
        store.add(a_skill())
    assert store.get("total").version == 10


@pytest.mark.parametrize(
    "name", ["", "../x", "/etc/x", "a/b", "a.b", "A", "1a", "a\n", "a\0", "é", "_a", "a" * 61, "con\\x", "..", "a-b"]
)
def test_no_name_leaves_the_folder(tmp_path: Path, name: str) -> None:
    store = SkillStore(tmp_path / "skills")
    store.add(a_skill())
    before = sorted(tmp_path.rglob("*"))
    for attempt in (lambda: store.add(a_skill(name)), lambda: store.get(name), lambda: store.remove(name)):
        with pytest.raises(SkillError):
            attempt()
    assert sorted(tmp_path.rglob("*")) == before


def test_a_damaged_file_is_told_of_and_harms_no_other(tmp_path: Path) -> None:
    store = SkillStore(tmp_path)
    good = store.add(a_skill())
    newer = store.add(a_skill())
    path = tmp_path / "total.2.json"
    text = path.read_text()
    for content in (b"", text[:100].encode(), b"\xff", text.replace("result", "RESULT").encode(), text.encode() * 99):
        path.write_bytes(content[: MAX_FILE_BYTES + 10])
        kept = store.kept()
        assert kept.skills == (good,)
        assert [damaged.path for damaged in kept.damaged] == [path]
        assert kept.damaged[0].reason
        assert store.get("total") == good
        with pytest.raises(SkillError, match="cannot be used"):
            store.get("total", 2)
        assert store.add(newer).version == 3
        assert store.remove("total", 3) == (3,)
    path.write_text(text)
    assert store.kept().skills == (good, newer)


def test_only_files_of_the_folder_are_skills(tmp_path: Path) -> None:
    outside = SkillStore(tmp_path / "outside")
    outside.add(a_skill())
    store = SkillStore(tmp_path / "skills")
    store.add(a_skill("mine"))
    (store.folder / "total.1.json").symlink_to(outside.folder / "total.1.json")
    (store.folder / "total.2.json").mkdir()
    (store.folder / "notes.txt").write_text("hello")
    (store.folder / ".total.abc").write_text("left by a writer that died")
    (store.folder / "total.3.json").write_text((outside.folder / "total.1.json").read_text())
    kept = store.kept()
    assert [skill.title for skill in kept.skills] == ["mine@1"]
    assert sorted(damaged.path.name for damaged in kept.damaged) == [f"total.{n}.json" for n in (1, 2, 3)]


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="expected a folder"):
        SkillStore(tmp_path / "file")


WRITER = """
import sys, time
sys.path.insert(0, {tests!r})
from test_skill_store import a_skill
from wieldy.run.actions.code.skills.store import SkillStore
store = SkillStore({folder!r})
print("ready", flush=True)
sys.stdin.readline()
for number in range({count}):
    store.add(a_skill(value=[{writer}, number]))
"""


@contextmanager
def a_writer(folder: Path, *, writer: int, count: int) -> Iterator[subprocess.Popen[str]]:
    code = WRITER.format(tests=str(Path(__file__).parent), folder=str(folder), writer=writer, count=count)
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as it:
        try:
            assert it.stdout is not None
            assert it.stdout.readline() == "ready\n"
            yield it
        finally:
            it.kill()


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def test_two_writers_do_not_lose_one_another_s_versions(tmp_path: Path) -> None:
    with a_writer(tmp_path, writer=0, count=20) as one, a_writer(tmp_path, writer=1, count=20) as other:
        go(one)
        go(other)
        assert one.wait(timeout=100) == 0
        assert other.wait(timeout=100) == 0
    kept = SkillStore(tmp_path).kept()
    assert kept.damaged == ()
    assert [skill.version for skill in kept.skills] == list(range(1, 41))
    assert sorted(skill.example.value for skill in kept.skills) == [[w, n] for w in range(2) for n in range(20)]


def test_a_writer_that_is_killed_leaves_whole_versions_only(tmp_path: Path) -> None:
    store = SkillStore(tmp_path)
    store.add(a_skill(value="before"))
    for _ in range(3):
        there = len(store.kept().skills)
        with a_writer(tmp_path, writer=1, count=100_000) as process:
            go(process)
            while len(store.kept().skills) < there + 5:
                assert process.poll() is None
            process.kill()
        kept = store.kept()
        assert kept.damaged == ()
        assert [skill.version for skill in kept.skills] == list(range(1, len(kept.skills) + 1))
        assert store.get("total", 1) == replace(a_skill(value="before"), version=1)
        assert store.add(a_skill()).version == len(kept.skills) + 1


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    store = SkillStore(tmp_path)
    before = store.add(a_skill())
    code = WRITER.format(tests=str(Path(__file__).parent), folder=str(tmp_path), writer=1, count=1)
    code = f"import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n{code}".replace(
        'print("ready"', 'resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\nprint("ready"'
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input="\n", capture_output=True, text=True, timeout=100, check=False
    )
    assert "OSError" in done.stderr
    assert store.kept().skills == (before,)
    assert store.kept().damaged == ()
    assert [path.name for path in tmp_path.iterdir()] == ["total.1.json"]
