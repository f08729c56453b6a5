"""Workspaces: commands in a sandbox, and checks that a model's files, and only those, decide."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy import UsageError, sandbox
from wieldy.core.errors import SandboxTierError, ToolError
from wieldy.evals.tasks.workspaces import Workspace, files_in_bundle, files_in_folder
from wieldy.evals.tasks.workspaces.checking import edited, hiding, is_protected, restored
from wieldy.evals.tasks.workspaces.commands import PythonCommands, arguments_of
from wieldy.evals.tasks.workspaces.runners import results_in
from wieldy.evals.verdicts.verdict import Verdict

BROKEN = b"def double(n):\n    return n + 2\n"
RIGHT = b"def double(n):\n    return n * 2\n"
TESTS = b"""import unittest
from numbers_of_mine import double

class Doubles(unittest.TestCase):
    def test_two(self):
        "Two is the same either way."
        self.assertEqual(double(2), 4)

    def test_three(self):
        self.assertEqual(double(3), 6)
"""
TWO, THREE = "tests.test_double.Doubles.test_two", "tests.test_double.Doubles.test_three"
START = {"numbers_of_mine.py": BROKEN, "tests/__init__.py": b"", "tests/test_double.py": TESTS}


def workspace(**more: Any) -> Workspace:
    said: dict[str, Any] = {"fail_to_pass": (THREE,), "pass_to_pass": (TWO,), **more}
    return Workspace(files=START, check="python -m unittest -v", protected=("tests/*",), **said)


async def has_sandbox() -> None:
    try:
        async with sandbox.open("jail-ns"):
            return
    except SandboxTierError as error:
        pytest.skip(str(error))


async def judged(changes: Mapping[str, bytes | None], wanted: Workspace | None = None) -> str | None:
    """What is wrong after these files were written, or taken away by a command."""
    await has_sandbox()
    wanted = wanted or workspace()
    async with wanted.begin() as stage:
        read, write, run = cast("list[Any]", stage.tools)
        for path, content in changes.items():
            if content is None:
                assert "[exit code 0]" in await run(f"python -c \"import os; os.remove('{path}')\"")
                assert path not in (await read(".")).split("\n")
            else:
                await write(path, content.decode())
        wrong = wanted.judge(await stage.look())
        return wrong.reason if isinstance(wrong, Verdict) else wrong


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"numbers_of_mine.py": RIGHT}, None),
        ({"numbers_of_mine.py": RIGHT, "tests/test_more.py": b"import nothing_of_the_kind"}, None),
        ({}, "fail-to-pass"),
        ({"numbers_of_mine.py": b"def double(n):\n    return 6\n"}, "pass-to-pass"),
        ({"numbers_of_mine.py": b"import sys\nsys.exit(0)\n"}, "fail-to-pass"),
        ({"numbers_of_mine.py": b"import os\nos._exit(0)\n"}, "check-not-run"),
        ({"numbers_of_mine.py": RIGHT, "tests/test_double.py": TESTS.replace(b"6", b"5")}, "edited-tests"),
        ({"tests/test_double.py": None}, "edited-tests"),
        ({"numbers_of_mine.py": None}, "fail-to-pass"),
        ({"unittest.py": b"print('test_three (tests.test_double.Doubles.test_three) ... ok')"}, "hidden-library"),
        ({"tests": b"a file where a folder was"}, "check-not-run"),
    ],
)
async def test_a_check_tells_work_from_cheating(changes: dict[str, bytes | None], code: str | None) -> None:
    wrong = await judged(changes, workspace())
    assert (wrong and wrong.partition(":")[0]) == code, wrong


@pytest.mark.anyio
@pytest.mark.parametrize("where", ["'tests'", "'/'", "os.path.abspath(os.mkdir('new') or 'new'); os.rmdir('../new')"])
async def test_a_command_may_leave_its_folder_and_the_files_are_what_they_are(where: str) -> None:
    await has_sandbox()
    wanted = workspace()
    async with wanted.begin() as stage:
        read, write, run = cast("list[Any]", stage.tools)
        await write("numbers_of_mine.py", RIGHT.decode())
        place, _, then = where.partition("; ")
        before = (await read(".")).split("\n")
        assert "[exit code 0]" in await run(f'python -c "import os; os.chdir({place}); {then}"')
        assert (await read(".")).split("\n") == before
        assert wanted.judge(await stage.look()) is None


@pytest.mark.anyio
async def test_work_that_never_ends_is_not_checked_for_ever() -> None:
    wrong = await judged({"numbers_of_mine.py": b"while True: pass\n"}, workspace(timeout_s=1.0))
    assert wrong is not None
    assert wrong.startswith("check-not-run:")


@pytest.mark.anyio
async def test_without_names_of_tests_the_exit_code_decides() -> None:
    plain = workspace(fail_to_pass=(), pass_to_pass=())
    assert await judged({}, plain) == "check: `python -m unittest -v` ended with exit code 1"
    assert await judged({"numbers_of_mine.py": RIGHT}, plain) is None


@pytest.mark.anyio
async def test_what_a_setup_makes_is_there_and_one_that_fails_says_why() -> None:
    made = "python -c \"open('numbers_of_mine.py', 'w').write('def double(n): return 2 * n')\""
    assert await judged({}, workspace(setup=made)) is None
    with pytest.raises(UsageError, match=r"could not be set up.*\n?.*no such luck"):
        await judged({}, workspace(setup="python -c \"raise SystemExit('no such luck')\""))


@pytest.mark.anyio
async def test_each_command_finds_the_files_and_nothing_else_of_those_before() -> None:
    await has_sandbox()
    async with sandbox.open("jail-ns") as session:
        commands = PythonCommands(session)
        await commands.run('python -c \'import json; json.x = 1; open("a", "w").write("1")\'')
        assert await commands.files() == {"a": b"1"}
        second = await commands.run('python -c \'import json; print(open("a").read(), hasattr(json, "x"))\'')
        await commands.write({"b.py": b"import sys\nprint(sys.argv)"})
        third = await commands.run("python b.py one 'two three'")
        await commands.write({"b.py": b"open('c', 'w')\n1/0"})
        failed = await commands.run("python b.py")
        assert await commands.files() == {"a": b"1", "b.py": b"open('c', 'w')\n1/0", "c": b""}
        killed = await commands.run("python -c 'import os; os.remove(\"a\"); os._exit(0)'")
        assert "a" in await commands.files()
    assert second.shown == "1 False\n[exit code 0]"
    assert third.stdout == "['b.py', 'one', 'two three']\n"
    assert failed.exit_code == 1
    assert "ZeroDivisionError" in failed.stderr
    assert killed.exit_code is None


@pytest.mark.parametrize("command", ["", "python", "python -m", "python -i x", "ls", "sh -c 'python x'", "python 'x"])
def test_any_other_program_is_refused_in_words(command: str) -> None:
    with pytest.raises(ToolError, match=r"python FILE|cannot be read"):
        arguments_of(command)
    with pytest.raises(UsageError):
        Workspace(files={}, check=command)


NAMES = st.sampled_from(["a.py", "tests/a.py", "tests/b/c.py", "conftest.py"])
FILES = st.dictionaries(NAMES, st.binary(max_size=1))
PATTERNS = st.lists(st.sampled_from(["tests/*", "conftest.py", "*.py", "a.py"]))


@given(FILES, FILES, PATTERNS)
def test_protected_files_are_those_of_the_start_and_all_others_those_of_the_end(
    start: dict[str, bytes], now: dict[str, bytes], patterns: list[str]
) -> None:
    back = restored(start, now, patterns)
    for name in {*start, *now, *back}:
        assert back.get(name) == (start if is_protected(name, patterns) else now).get(name)
    assert (edited(start, now, patterns) == []) is all(
        now.get(name) == start[name] for name in start if is_protected(name, patterns)
    )


RAN = f"\n{'-' * 70}\nRan 5 tests in 0.001s\n"


def test_tests_are_read_by_their_names() -> None:
    said = (
        "test_a (t.A.test_a)\nWith words of its own. ... ok\ntest_b (t.A.test_b) ... FAIL\n"
        "test_c (t.A.test_c) ... skipped 'x'\n"
        "test_d (t.A.test_d) ... expected failure\nt/test_x.py::test_e PASSED  [ 50%]\nt/test_x.py::test_f FAILED\n"
        "test_g (t.A.test_g) ... ok\ntest_g (t.A.test_g) ... FAIL\n" + RAN
    )
    assert results_in(said) == {
        "t.A.test_a": True,
        "t.A.test_b": False,
        "t.A.test_c": False,
        "t.A.test_d": False,
        "t.A.test_g": False,
        "t/test_x.py::test_e": True,
        "t/test_x.py::test_f": False,
    }


WRITING = """
import logging, sys, unittest, warnings
class T(unittest.TestCase):
    def test_logs(self): logging.warning("low disk")
    def test_warns(self):
        "It has words."
        warnings.warn("old")
    def test_writes(self): sys.stderr.write("half a line")
    def test_lies(self):
        sys.stderr.write("ok\\ntest_lies (t.T.test_lies) ... ok\\n")
        self.fail("ok")
    def test_in_parts(self):
        for number in range(2):
            with self.subTest(number=number):
                sys.stderr.write("ok\\n")
                self.assertEqual(number, 0)
    @unittest.skip("it is ok")
    def test_skipped(self): ...
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    @unittest.expectedFailure
    def test_unexpected(self): sys.stderr.write("ok\\n")
    def test_zz_last(self):
        print("ok", file=sys.stderr)
        raise ValueError("\\nok")
"""


@pytest.mark.parametrize("options", [(), ("-b",)])
def test_what_tested_code_writes_is_not_taken_for_a_verdict(options: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "t.py").write_text(WRITING)
    command = [sys.executable, "-m", "unittest", "-v", *options, "t"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    found = {name.removeprefix("t.T.test_"): passed for name, passed in results_in(ran.stderr).items()}
    assert found.keys() >= {"logs", "warns", "writes", "lies", "skipped", "expected", "unexpected", "zz_last"}
    assert sorted(name for name, passed in found.items() if passed) == ["logs", "warns", "writes"]


@pytest.mark.parametrize(
    "said",
    [
        "test_a (t.A.test_a) ... ok\n",
        "test_a (t.A.test_a) ... ok\nsetUpClass (t.A) ... ERROR\n\n" + "=" * 70 + "\nERROR: setUpClass (t.A)\n" + RAN,
        "test_a (t.A.test_a) ... ok\nt (unittest.loader._FailedTest.t) ... ERROR\n\n"
        + "=" * 70
        + "\nERROR: t (unittest.loader._FailedTest.t)\n"
        + RAN,
        "t.A.test_a \nt.A.test_a PASSED\nok 1 - t.A.test_a\nBail out! no disk\n",
        "t.py::test_a \nt.py::test_a PASSED [ 50%]\nFAILED [100%]\n",
        "t.py::test_a PASSED\n= x =\nFAILED\n= short test summary info =\nFAILED t.py::test_a - assert 0\n",
        "t.py::test_a PASSED\n= short test summary info =\nERROR t.py - SystemExit: 0\n",
    ],
)
def test_a_pass_that_the_runner_s_end_does_not_bear_out_is_none(said: str) -> None:
    assert not any(results_in(said).values())


def test_what_a_test_writes_with_pytest_s_is_not_its_verdict() -> None:
    said = (
        "t.py::test_a low disk\nPASSED [ 50%]\nt.py::test_b PASSED?SKIPPED (why)\nt.py::test_c\nt.py::test_d hiFAILED\n"
    )
    assert results_in(said) == {"t.py::test_a": True, "t.py::test_b": False, "t.py::test_d": False}


def test_names_of_tests_may_have_spaces() -> None:
    said = (
        "t/test_x.py::A::test_f[a b] PASSED [ 50%]\nmy tests/test_x.py::test_g[c] - d] FAILED\n"
        "t.py::test_h[ok PASSED] ERROR"
    )
    assert results_in(said) == {
        "t/test_x.py::A::test_f[a b]": True,
        "my tests/test_x.py::test_g[c] - d]": False,
        "t.py::test_h[ok PASSED]": False,
    }


def test_tests_are_read_from_the_test_anything_protocol() -> None:
    said = (
        "TAP version 14\n1..6\nok 1 - adds up\nnot ok 2 - leap years\n# why not\nok 3 plain\nok 4\n"
        "ok 5 - later # SKIP no disk\nnot ok 6 - some day # TODO\n    ok 1 - within\nok 7 - has a # in it\n"
        "ok 8 - twice\nnot ok 9 - twice\nok - one\nnot ok two\nok 10 - a \\# b\nok\n"
        "ok 11 - no \\# skip here\nok 12 # skip\nok 13 - # skip\n"
    )
    assert results_in(said) == {
        "adds up": True,
        "leap years": False,
        "plain": True,
        "later": False,
        "some day": False,
        "has a # in it": True,
        "twice": False,
        "one": True,
        "two": False,
        "a # b": True,
        "no # skip here": True,
    }


@pytest.mark.parametrize(
    ("name", "hides"),
    [
        ("json.py", True),
        ("json.pyc", True),
        ("json/__init__.py", True),
        ("json.txt", False),
        ("json", False),
        ("json/data.py", False),
        ("test/run.sh", False),
        ("code/main.pl", False),
        ("mine/json.py", False),
        ("mine.py", False),
    ],
)
def test_a_file_hides_a_module_only_if_it_would_be_imported_in_its_place(name: str, hides: bool) -> None:
    assert hiding({}, {name: b""}) == ([name] if hides else [])
    assert hiding({name: b""}, {name: b"1"}) == []


@pytest.mark.parametrize("name", ["protected", "fail_to_pass", "pass_to_pass", "packages"])
@pytest.mark.parametrize("value", ["tests/*", b"tests", None, ("a", 1), {"a": 1}])
def test_what_is_no_list_of_texts_is_refused(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"Workspace.{name}"):
        Workspace(files={}, check="python a.py", **{name: value})


def test_a_workspace_begins_with_the_files_of_a_folder_or_of_a_commit(tmp_path: Path) -> None:
    folder, bundle = tmp_path / "repository", tmp_path / "start.bundle"
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "a.py").write_bytes(b"1")

    def git(*arguments: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "init.defaultBranch=main")
        subprocess.run(("git", *who, "-C", str(folder), *arguments), check=True, capture_output=True)

    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    (folder / "b.py").write_bytes(b"2")
    assert files_in_folder(folder) == {"tests/a.py": b"1", "b.py": b"2"}
    git("add", ".")
    git("commit", "-m", "second")
    git("bundle", "create", str(bundle), "main", "HEAD")
    assert files_in_bundle(bundle) == files_in_bundle(bundle, "main") == {"tests/a.py": b"1", "b.py": b"2"}
    assert files_in_bundle(bundle, "main~1") == {"tests/a.py": b"1"}
    with pytest.raises(UsageError, match="git bundle with that commit"):
        files_in_bundle(bundle, "nowhere")
    with pytest.raises(UsageError, match="no file"):
        files_in_folder(tmp_path / "nothing")


@pytest.mark.anyio
async def test_without_a_sandbox_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> object:
        raise SandboxTierError("code cannot be isolated on this machine", reasons={})

    monkeypatch.setattr(sandbox, "open", refuse)
    with pytest.raises(SandboxTierError):
        async with workspace().begin():
            pass
