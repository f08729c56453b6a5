"""What breaks connections, one row each: tasks, order, deaths, garbage, time-outs, sizes, and what is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from wieldy import RunError, UsageError
from wieldy.connect import mcp
from wieldy.connect.mcp.client.toolset import McpToolset

pytestmark = pytest.mark.anyio


def one(command: Any, **more: Any) -> McpToolset:
    """A trusted server of the name `s`."""
    entry = {"command": command[0], "args": command[1:]} if isinstance(command, list) else {"url": command}
    return mcp({"mcpServers": {"s": {**entry, "trusted": True, **more}}})


async def until(condition: Any) -> None:
    """Bounded: what is waited for comes, or the test fails."""
    with anyio.fail_after(30):
        while not condition():
            await asyncio.sleep(0)
            await anyio.to_thread.run_sync(lambda: None)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def is_listed(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def has_ended(child: int) -> bool:
    """Whether a child of ours has ended, with all its threads."""
    try:
        return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


async def pid_of(toolset: McpToolset, call: Any) -> tuple[int, int]:
    result = await call(toolset, "s__spawn")
    server, child = map(int, result.content.split())
    return server, child


# Tasks and order


async def test_a_set_is_entered_in_one_task_and_left_in_another(servers: Any, era: str, call: Any) -> None:
    toolset = one(servers.command("--era", era))
    entered, left = anyio.Event(), anyio.Event()

    async def enter() -> None:
        await toolset.__aenter__()
        entered.set()
        await left.wait()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(enter)
        await entered.wait()
        assert (await call(toolset, "s__echo", text="hi")).content == "hi"
        await toolset.__aexit__(None, None, None)
        left.set()


async def test_two_sets_are_closed_in_the_order_in_which_they_were_opened(servers: Any, era: str, call: Any) -> None:
    first, second = (mcp(servers.command("--era", era), trusted=True) for _ in range(2))
    await first.__aenter__()
    await second.__aenter__()
    await first.__aexit__(None, None, None)
    assert (await call(second, "echo", text="still here")).content == "still here"
    await second.__aexit__(None, None, None)


async def test_nothing_runs_before_a_set_is_entered_and_nothing_after_it_was_left(servers: Any, call: Any) -> None:
    toolset = one([sys.executable, "-c", "import sys; sys.exit(3)"])
    assert toolset.tools == ()
    toolset = one(servers.command())
    async with toolset:
        echo = toolset.get("s__echo")
    assert echo is not None
    assert toolset.get("s__echo") is echo  # what is known is still known
    with pytest.raises(UsageError, match="open"):
        await toolset.resources()


def test_each_event_loop_has_connections_of_its_own(servers: Any, call: Any) -> None:
    toolset = one(servers.command())

    async def ask() -> str:
        async with toolset:
            return (await call(toolset, "s__echo", text="hi")).content

    assert [asyncio.run(ask()) for _ in range(2)] == ["hi", "hi"]


# Deaths


async def test_a_server_that_dies_under_a_reading_call_is_started_again_and_asked_again(
    servers: Any, era: str, call: Any
) -> None:
    async with one(servers.command("--era", era)) as toolset:
        result = await call(toolset, "s__die_once")
        assert (result.content, result.is_error) == ("alive", False)
    assert servers.effects() == ["tried", "tried"]


async def test_so_it_is_under_a_call_that_may_be_repeated(servers: Any, era: str, call: Any) -> None:
    async with one(servers.command("--era", era)) as toolset:
        assert (await call(toolset, "s__die_repeat")).content == "alive"


async def test_under_any_other_call_nobody_knows_what_happened_and_nothing_is_repeated(
    servers: Any, era: str, call: Any
) -> None:
    async with one(servers.command("--era", era)) as toolset:
        result = await call(toolset, "s__die_unsafe")
        assert result.is_error
        assert "outcome unknown" in result.content
        assert "SIGKILL" in result.content
        assert "the disk is full" in result.content
        assert (await call(toolset, "s__echo", text="back")).content == "back"
    assert servers.effects() == ["died"]


async def test_a_server_that_is_killed_between_two_calls_is_not_missed(servers: Any, era: str, call: Any) -> None:
    async with one(servers.command("--era", era)) as toolset:
        pid, _ = await pid_of(toolset, call)
        os.kill(pid, signal.SIGKILL)
        await until(lambda: has_ended(pid))
        # No effect is in doubt: the server was dead before it was asked.
        result = await call(toolset, "s__count")
        assert (result.content, result.is_error) == ("1", False)


async def test_a_server_that_dies_again_and_again_is_left_alone(servers: Any, call: Any) -> None:
    async with one(servers.command()) as toolset:
        for _ in range(3):
            result = await call(toolset, "s__die_read")
        assert result.is_error
        assert "is not started again for" in result.content
        assert "the disk is full" in result.content
        deaths = servers.effects().count("died")
        assert deaths == 5
        assert "is not started again" in (await call(toolset, "s__echo")).content
        assert servers.effects().count("died") == deaths


@pytest.mark.parametrize("era", ["legacy", "modern"])
async def test_an_http_server_that_was_started_anew_is_found_again(servers: Any, era: str, call: Any) -> None:
    server = servers.http("--era", era)
    async with one(server.url) as toolset:
        assert (await call(toolset, "s__echo", text="one")).content == "one"
        server.kill()
        gone = await call(toolset, "s__count")
        assert gone.is_error
        assert "was not run" in gone.content
        servers.http("--era", era, port=server.port)
        # The new one knows no session of the old one, so nothing was done that would be repeated.
        assert (await call(toolset, "s__count")).content == "1"


async def test_a_server_that_dies_under_an_http_request_leaves_doubt(servers: Any, era: str, call: Any) -> None:
    server = servers.http("--era", era)
    async with one(server.url) as toolset:
        result = await call(toolset, "s__die_unsafe")
        assert result.is_error
        assert "outcome unknown" in result.content


# Starts


async def test_a_server_that_cannot_be_started_says_why(tmp_path: Path) -> None:
    for command, kind, said in (
        (["no-such-program-7"], UsageError, "no-such-program-7"),
        ([sys.executable, "-c", "import sys; sys.exit('no such licence')"], RunError, "no such licence"),
        ("http://127.0.0.1:9/mcp", RunError, "cannot be reached"),
    ):
        with pytest.raises(kind, match=said) as raised:
            async with one(command):
                pytest.fail("it was opened")
        assert "'s'" in str(raised.value)


async def test_a_folder_that_is_not_there_is_said() -> None:
    with pytest.raises(UsageError, match="/no/such/folder"):
        async with one([sys.executable], cwd="/no/such/folder"):
            pytest.fail("it was opened")


# Noise, time, numbers


async def test_garbage_on_standard_output_is_passed_over(servers: Any, era: str, call: Any) -> None:
    async with one(servers.command("--era", era)) as toolset:
        assert (await call(toolset, "s__garbage")).content == "after garbage"
        assert (await call(toolset, "s__echo", text="next")).content == "next"


@pytest.mark.parametrize("how", ["stdio", "http"])
async def test_a_call_that_takes_too_long_is_cancelled_on_the_server_and_the_next_one_is_answered(
    servers: Any, era: str, how: str, call: Any
) -> None:
    target = servers.command("--era", era) if how == "stdio" else servers.http("--era", era).url
    async with one(target, timeout_s=2) as toolset:
        result = await call(toolset, "s__wait", seconds=600)
        assert result.is_error
        assert "no answer within 2 s" in result.content
        await until(lambda: servers.effects() == ["began", "cancelled"])
        assert (await call(toolset, "s__echo", text="next")).content == "next"


@pytest.mark.parametrize("how", ["stdio", "http"])
async def test_calls_of_one_connection_are_under_way_together(servers: Any, era: str, how: str, call: Any) -> None:
    target = servers.command("--era", era) if how == "stdio" else servers.http("--era", era).url
    async with one(target, timeout_s=60) as toolset:
        results: list[str] = []

        async def meet() -> None:
            results.append((await call(toolset, "s__meet", number=10)).content)

        async with anyio.create_task_group() as tasks:
            for _ in range(10):
                tasks.start_soon(meet)
        assert results == ["10 have met"] * 10


async def test_no_more_calls_than_allowed_are_under_way(servers: Any, call: Any) -> None:
    async with one(servers.command(), at_once=2, timeout_s=60) as toolset, anyio.create_task_group() as tasks:
        for _ in range(2):
            tasks.start_soon(lambda: call(toolset, "s__wait", seconds=600))
        await until(lambda: servers.effects() == ["began", "began"])
        with anyio.move_on_after(0.3) as waited:
            await call(toolset, "s__count")
        assert waited.cancelled_caught
        assert servers.effects() == ["began", "began"]
        tasks.cancel_scope.cancel()


# Sizes


@pytest.mark.parametrize(("how", "size"), [("stdio", 20_000_000), ("http", 2_000_000), ("http", 20_000_000)])
async def test_large_results_arrive_and_are_read_by_pages(
    servers: Any, era: str, how: str, size: int, call: Any
) -> None:
    target = servers.command("--era", era) if how == "stdio" else servers.http("--era", era).url
    async with one(target) as toolset:
        result = await call(toolset, "s__big", size=size)
        assert not result.is_error
        assert result.handle is not None
        assert f"of {size} are left out" in result.content
        assert len(result.content) < 100_000


# What is left behind


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("options", [[], ["--stubborn"]])
async def test_closing_leaves_no_process_behind(servers: Any, call: Any, options: list[str]) -> None:
    async with one(servers.command(*options)) as toolset:
        processes = await pid_of(toolset, call)
        assert all(map(is_alive, processes))
    server, child = processes
    assert not is_listed(server)  # not even as a zombie
    await until(lambda: not is_alive(child))


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel of Linux ends the server")
async def test_a_server_ends_with_the_program_however_that_dies(servers: Any, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import anyio, sys\n"
        "from wieldy import Context\n"
        "from wieldy.connect import mcp\n"
        "async def main():\n"
        "    toolset = mcp(sys.argv[1:])\n"
        "    async with toolset:\n"
        "        context = Context(run_id='r', call_id='c', tool_name='spawn', idempotency_key='k')\n"
        "        result = await toolset.get('spawn').function({}, context)\n"
        "        print(result.text, flush=True)\n"
        "        await anyio.sleep_forever()\n"
        "anyio.run(main)\n"
    )
    process = subprocess.Popen(  # noqa: ASYNC220 - it must not be one of this event loop's
        [sys.executable, str(program), *servers.command("--stubborn")], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        server = int((await anyio.to_thread.run_sync(process.stdout.readline)).split()[0])
        assert is_alive(server)
        process.kill()
    finally:
        process.kill()
        process.communicate()
    await until(lambda: not is_alive(server))
