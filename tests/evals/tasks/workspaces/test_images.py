"""Workspaces with an image: any command line, in a container that reaches nothing, and a check in a fresh one."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import pytest

from wieldy import UsageError
from wieldy.core.errors import SandboxTierError, ToolError
from wieldy.evals.cases.case import Suite
from wieldy.evals.cases.results import Trial
from wieldy.evals.reports.report_lines import report_lines
from wieldy.evals.reports.reporting import report_rows
from wieldy.evals.studies.running import Study, run_study
from wieldy.evals.tasks.datasets import suite_from
from wieldy.evals.tasks.task import Task
from wieldy.evals.tasks.task_cases import case_of
from wieldy.evals.tasks.workspaces import Workspace

EXAMPLE = Path(__file__).parents[4] / "examples" / "evals" / "commands.jsonl"
START = {"work.sh": b"#!/bin/sh\necho done > result\n", "tests/check.sh": b'test "$(cat result)" = done\n'}
MOST_S = 60.0


def nothing(progress: object) -> None:
    del progress


def workspace(image: str, **more: Any) -> Workspace:
    said: dict[str, Any] = {"check": "sh tests/check.sh", "protected": ("tests/*",), "timeout_s": MOST_S, **more}
    return Workspace(files=START, image=image, **said)


async def ran(folder: Path, suite: Suite, *scripts: str) -> list[Trial]:
    return await run_study(
        Study(suite=suite, models=tuple(f"script:{name}" for name in scripts), folder=folder), nothing
    )


@pytest.mark.anyio
async def test_the_example_is_right_for_an_oracle_and_tells_a_cheat(image: str, tmp_path: Path) -> None:
    del image
    trials = await ran(tmp_path, suite_from(EXAMPLE), "oracle", "cheat")
    assert [trial.verdict.code or trial.verdict.kind for trial in trials] == ["pass", "pass", *["edited-tests"] * 2]
    assert trials[0].measures["tests_passed"] == 3


@pytest.mark.anyio
async def test_a_command_line_works_on_the_files_and_what_it_leaves_is_checked_elsewhere(image: str) -> None:
    wanted = workspace(image)
    async with wanted.begin() as stage:
        read, write, run = cast("list[Any]", stage.tools)
        assert wanted.judge(await stage.look()) == "check: `sh tests/check.sh` ended with exit code 1"
        assert await run("./work.sh && cat result; pwd") == "done\n/workspace\n[exit code 0]"
        assert (await read(".")).split("\n") == ["result", "tests/check.sh", "work.sh"]
        assert wanted.judge(await stage.look()) is None
        await write("more/a file.txt", "one\n")
        assert await run("cat more/*.txt; cat nowhere 2>/dev/null; exit 9") == "one\n[exit code 9]"
        assert await read("more/a file.txt") == "one\n"
        with pytest.raises(ToolError, match="no file 'gone'"):
            await read("gone")
        for name in ("/etc/passwd", "../up", "a/../../b"):
            with pytest.raises(ToolError, match="no relative path"):
                await write(name, "x")
        with pytest.raises(ToolError, match="could not be put"):
            await write("work.sh/below", "a folder where a file is")
        assert await run("echo kept") == "kept\n[exit code 0]"
        await run("echo changed > tests/check.sh")
        assert wanted.judge(await stage.look()).reason == "edited-tests: tests/check.sh must stay as they were"  # type: ignore[union-attr]


@pytest.mark.anyio
async def test_a_command_reaches_nothing_but_its_files_and_goes_beyond_no_limit(image: str) -> None:
    async with workspace(image, timeout_s=15.0).begin() as stage:
        read, _, run = cast("list[Any]", stage.tools)
        assert "[exit code 0]" not in await run("echo x > /etc/x")
        assert (await run("awk '$2 != \"00000000\" { exit } END { print NR }' /proc/net/route")) == "1\n[exit code 0]"
        assert "uid 65532" in await run(
            'awk \'/^Uid:/ { print "uid", $2 } /^CapEff:/ { print "cap", $2 }\' /proc/self/status'
        )
        assert "cap 0000000000000000" in await run("awk '/^CapEff:/ { print \"cap\", $2 }' /proc/self/status")
        await run("echo first > kept; perl -e 'symlink q(kept), q(link); chmod 0640, q(kept)'")
        look = "cat kept; perl -e 'print readlink q(link); printf qq( %o\\n), 07777 & (stat q(kept))[2]'"
        assert await run(look) == "first\nkept 640\n[exit code 0]"
        for command, because in (
            ("rm kept; perl -e '$x = q(x) x 1000000; print $x while 1'", "output_bytes|wall_s"),
            ("echo second > kept; rm link; perl -e 'while (1) { last unless defined fork } sleep 600'", "wall_s"),
        ):
            shown = await run(command)
            assert any(f"[killed: {each}]" in shown for each in because.split("|")), shown
            assert await run(look) == "first\nkept 640\n[exit code 0]"  # files, links and modes are as they were
        assert "link" not in (await read(".")).split("\n")
        assert await run("cat kept; perl -e 'kill 9, -1'") == "first\n[exit code 137]"
        assert await run(look) == "first\nkept 640\n[exit code 0]"


@pytest.mark.anyio
async def test_what_a_setup_makes_is_there_and_one_that_fails_says_why(image: str) -> None:
    wanted = workspace(image, setup="echo done > result")
    async with wanted.begin() as stage:
        assert wanted.judge(await stage.look()) is None
    with pytest.raises(UsageError, match=r"could not be set up.*\n?.*no such luck"):
        async with workspace(image, setup="echo no such luck >&2; exit 3").begin():
            pass


KILLED = """
import os, signal, sys, anyio
from wieldy.evals.tasks.workspaces import Workspace

async def main():
    async with Workspace(files={}, check="true", image=sys.argv[1]).begin() as stage:
        await stage.tools[2]("sleep 600 >/dev/null 2>&1 &")
        os.kill(os.getpid(), signal.SIGKILL)

anyio.run(main)
"""


def containers() -> set[str]:
    """All that there are, those of other tests included."""
    listed = subprocess.run(["podman", "ps", "--all", "--quiet"], capture_output=True, text=True, check=True)
    return set(listed.stdout.split())


def test_a_container_ends_with_the_program_that_is_killed(image: str) -> None:
    before = containers()
    done = subprocess.run([sys.executable, "-c", KILLED, image], timeout=200, check=False)
    assert done.returncode == -signal.SIGKILL
    left = containers() - before
    for _ in range(300):  # each asks the engine, which takes its time
        if not left:
            break
        left = containers() - before
    assert left == set()


@pytest.mark.anyio
async def test_where_no_engine_has_the_image_the_trial_is_unscored_and_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SandboxTierError, match="need podman or docker"):
        async with workspace("localhost/none-of-this-name").begin():
            pass
    task = Task(id="a", prompt="Do it.", environment=workspace("localhost/none-of-this-name"), scripts={"oracle": ()})
    suite = Suite(name="images", cases=(case_of(task),), source={})
    (trial,) = await ran(tmp_path, suite, "oracle")
    assert (trial.verdict.kind, trial.verdict.layer, trial.verdict.code) == ("unscored", "environment", "no-sandbox")
    assert trial.verdict.reason[:100] in "\n".join(report_lines(report_rows([trial])))


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"image": ""}, "name of an image"),
        ({"image": "--privileged"}, "name of an image"),
        ({"image": "x", "packages": ("numpy",)}, "which has its own"),
        ({"image": "x", "check": " "}, "command line in `check`"),
        ({"image": "x", "setup": ""}, "command line in `setup`"),
    ],
)
def test_a_workspace_with_an_image_that_cannot_be_is_refused(said: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        workspace(**said)


def test_another_image_is_another_workspace() -> None:
    assert len({workspace(name).identity for name in ("a", "b")}) == 2
