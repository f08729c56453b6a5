"""`wieldy gateway` as a process, met by the SDK's client, before a server over HTTP that writes down all it hears."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from gateway_world import World, described
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

pytestmark = pytest.mark.anyio

SERVICE_KEY = "service-canary-5d1c8e"
CALLER_KEY = "caller-canary-0a77f2-anna"
OTHER = "header-canary-91bb3d"
BOUND_S = 60


def wieldy(world: World, *words: str, rc: int | None = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*world.command, *words],
        capture_output=True,
        text=True,
        check=False,
        env={name: value for name, value in os.environ.items() if not name.startswith("PYTHON")} | world.environment,
        cwd=world.folder,
        timeout=BOUND_S,
    )
    assert rc is None or done.returncode == rc, done.stdout + done.stderr
    return done


class Running:
    """The process.

    Attributes:
        said: Everything that it has written, once it has ended.
    """

    def __init__(self, world: World, file: Path) -> None:
        self._log = (world.folder / "gateway.log").open("w")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "wieldy.apps.cli.main", "gateway", str(file), "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=os.environ | world.environment,
        )
        assert self._process.stdout is not None
        self.first = self._process.stdout.readline()
        self.told = json.loads(self.first)
        self.said = ""

    def end(self) -> None:
        if self.said:
            return
        self._process.terminate()
        rest, _ = self._process.communicate(timeout=BOUND_S)
        self._log.close()
        self.said = self.first + rest + Path(self._log.name).read_text()


@asynccontextmanager
async def client(url: str, **headers: str) -> AsyncGenerator[Client]:
    async with (
        httpx2.AsyncClient(headers=headers, timeout=BOUND_S) as http,
        Client(streamable_http_client(url, http_client=http)) as connected,
    ):
        yield connected


def text_of(result: Any) -> str:
    return "".join(block.text for block in result.content if block.type == "text")


async def test_keys_go_as_far_as_they_have_to_and_no_further(world: World) -> None:
    upstream = world.upstream("one", described("echo"), described("headers"), http=True)
    world.environment |= {"SERVICE_KEY": SERVICE_KEY, "ANNA": CALLER_KEY}
    server = {
        "url": f"http://127.0.0.1:{upstream.port}/mcp",
        "headers": {"Authorization": "Bearer ${SERVICE_KEY}", "X-Service": {"env": "SERVICE_KEY"}},
    }
    file = world.write(
        mcpServers={"one": server},
        principals={"anna": {"key": {"env": "ANNA"}}},
        journal="calls.db",
    )
    before = wieldy(world, "gateway", "pins", str(file), rc=1)
    assert "one__echo: new" in before.stdout
    gateway = Running(world, file)
    try:
        assert (gateway.told["tools"], gateway.told["blocked"]) == (0, ["one__echo", "one__headers"])
        wieldy(world, "gateway", "pins", str(file), "--accept", "one__*")  # while it runs
        headers = {"Authorization": f"Bearer {CALLER_KEY}", "X-Api-Key": OTHER, "Cookie": f"session={OTHER}"}
        async with client(gateway.told["mcp"], **headers) as connected:
            assert [tool.name for tool in (await connected.list_tools()).tools] == ["one__echo", "one__headers"]
            assert text_of(await connected.call_tool("one__echo", {"text": "x"})) == 'echo {"text": "x"}'
            shown = text_of(await connected.call_tool("one__headers", {}))
        async with httpx2.AsyncClient(headers=headers, timeout=BOUND_S) as http:
            rest = gateway.told["openapi"].removesuffix("/openapi.json")
            answer = await http.post(f"{rest}/tools/one__echo", json={"text": "y"})
            assert answer.text == 'echo {"text": "y"}'
            document = (await http.get(gateway.told["openapi"])).json()
            schema = json.dumps(document["components"]["schemas"]["one__echo"])
            assert schema == json.dumps(described("echo")["inputSchema"])
            assert (await http.get(gateway.told["openapi"], headers={"Host": "evil.example"})).status_code == 400
        async with httpx2.AsyncClient(timeout=BOUND_S) as http:
            for method, path in (("GET", "/openapi.json"), ("POST", "/tools/one__echo"), ("POST", "/mcp")):
                refused = await http.request(method, rest + path, headers={"Authorization": "Bearer guessed-guessed"})
                assert refused.status_code == 401
    finally:
        gateway.end()
    heard = upstream.heard.read_text()
    assert f"Bearer {SERVICE_KEY}" in heard  # it was added on the way
    record = b"".join(path.read_bytes() for path in world.folder.glob("calls.db*"))
    pins = world.folder.joinpath("gateway.pins.json").read_text()
    assert record
    for canary in (CALLER_KEY, OTHER):
        assert canary not in heard
    for canary in (SERVICE_KEY, CALLER_KEY, OTHER):
        assert canary not in shown + gateway.said + pins + before.stdout + before.stderr
        assert canary.encode() not in record


async def test_a_person_approves_in_another_terminal(world: World, tmp_path: Path) -> None:
    (tmp_path / "fn.py").write_text(
        "from wieldy import tool\n\n@tool(effect='unsafe')\ndef pay(amount: int) -> str:\n"
        "    '''Pay.'''\n    return f'paid {amount}'\n"
    )
    file = world.write(
        functions={"fn": {"file": "fn.py", "pinned": False}},
        policy={"rules": [{"decision": "ask", "reason": "money", "tools": "fn__pay"}]},
        approvals={"wait_s": BOUND_S},
        journal="calls.db",
    )
    gateway = Running(world, file)
    found: list[str] = []
    try:
        async with client(gateway.told["mcp"], Authorization="Bearer bob-bob-bob-bob-bob") as connected:

            async def pay() -> None:
                found.append(text_of(await connected.call_tool("fn__pay", {"amount": 5})))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(pay)
                waiting: list[Any] = []
                with anyio.fail_after(BOUND_S):
                    while not waiting:
                        listed = await anyio.to_thread.run_sync(
                            lambda: wieldy(world, "approve", "last", "--journal", "calls.db", "--json", rc=None)
                        )
                        waiting = json.loads(listed.stdout).get("waiting", []) if listed.returncode == 0 else []
                await anyio.to_thread.run_sync(
                    lambda: wieldy(world, "approve", "last", waiting[0]["call_id"], "--journal", "calls.db")
                )
    finally:
        gateway.end()
    assert found == ["paid 5"]
    (run,) = [json.loads(line) for line in wieldy(world, "runs", "--journal", "calls.db", "--json").stdout.splitlines()]
    assert run["status"] == "finished"
    wieldy(world, "verify", "--journal", "calls.db")


@pytest.mark.parametrize("place", ["calls.db", "a folder/calls.db"])
async def test_the_command_that_a_caller_is_told_gives_consent(world: World, place: str) -> None:
    (world.folder / "fn.py").write_text(
        "from wieldy import tool\n\n@tool(effect='unsafe')\ndef pay(amount: int) -> str:\n"
        "    '''Pay.'''\n    return f'paid {amount}'\n"
    )
    (world.folder / place).parent.mkdir(exist_ok=True)
    file = world.write(
        functions={"fn": {"file": "fn.py", "pinned": False}},
        policy={"rules": [{"decision": "ask", "reason": "money", "tools": "fn__pay"}]},
        approvals={"wait_s": 0},
        journal=place,
    )
    gateway = Running(world, file)
    try:
        async with client(gateway.told["mcp"], Authorization="Bearer bob-bob-bob-bob-bob") as connected:
            asked = text_of(await connected.call_tool("fn__pay", {"amount": 5}))
            program, *words = shlex.split(asked.split("`")[3])
            assert program == "wieldy"
            await anyio.to_thread.run_sync(lambda: wieldy(world, *words))
            assert text_of(await connected.call_tool("fn__pay", {"amount": 5})) == "paid 5"
    finally:
        gateway.end()


def test_prompts_are_shown_and_accepted_as_tools_are(world: World) -> None:
    program = Path(__file__).parent / "asking_program.py"
    with subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            url = f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
            file = world.write(mcpServers={"one": {"url": url}})
            shown = wieldy(world, "gateway", "pins", str(file), rc=1).stdout
            assert "one__prompt__welcome: new" in shown
            assert "Welcome somebody." in shown
            wieldy(world, "gateway", "pins", str(file), "--accept", "*")
        finally:
            process.terminate()


def test_a_change_is_shown_line_by_line_with_what_nobody_would_see(world: World) -> None:
    one = world.upstream("one", described("echo"), described("gone"))
    file = world.write(mcpServers={"one": one.command})
    wieldy(world, "gateway", "pins", str(file), "--accept", "*")
    assert "2 accepted" in wieldy(world, "gateway", "pins", str(file)).stdout
    one.says(described("echo", "The tool echo.\U000e0041"))
    changed = wieldy(world, "gateway", "pins", str(file), rc=1)
    assert "one__echo: changed" in changed.stdout
    assert "\\udb40\\udc41" in changed.stdout
    assert "gone was accepted and is not there any more" in changed.stdout
    told = json.loads(wieldy(world, "gateway", "pins", str(file), "--json", rc=1).stdout)
    (tool,) = told["tools"]
    assert tool["state"] == "changed"
    assert tool["accepted"]["description"] == "The tool echo."
    assert "which fit none" in wieldy(world, "gateway", "pins", str(file), "--accept", "two__*", rc=2).stderr


def test_what_holds_a_credential_is_not_said_to_be_accepted(world: World) -> None:
    world.environment["CANARY"] = SERVICE_KEY
    one = world.upstream("one", described("echo"), described("says", f"With {SERVICE_KEY}."))
    file = world.write(mcpServers={"one": one.command | {"env": {"CANARY_TOKEN": {"env": "CANARY"}}}})
    accepted = wieldy(world, "gateway", "pins", str(file), "--accept", "*", rc=1)
    assert "one__echo: accepted now" in accepted.stdout
    assert "one__says: secret" in accepted.stdout
    assert "1 accepted now, 1 secret" in accepted.stdout
    assert "Not accepted: one__says. In what is said of them a credential of this gateway stands" in accepted.stderr
    told = json.loads(wieldy(world, "gateway", "pins", str(file), "--accept", "one__says", "--json", rc=1).stdout)
    assert [each["state"] for each in told["tools"]] == ["accepted", "secret"]
    gateway = Running(world, file)
    gateway.end()
    assert gateway.told["blocked"] == ["one__says"]
    assert "nobody has accepted" not in gateway.said
    assert "1 tool cannot be called: one__says. In what is said of them a credential" in gateway.said
    assert SERVICE_KEY not in accepted.stdout + accepted.stderr + gateway.said


def test_of_two_definitions_of_one_tool_one_is_accepted_and_that_is_said(world: World) -> None:
    one, two = world.upstream("one", described("echo")), world.upstream("two", described("echo", "Another."))
    own = {"bob": {"args": two.command["args"]}}
    file = world.write(mcpServers={"one": one.command | {"session": "principal", "as": own}})
    accepted = wieldy(world, "gateway", "pins", str(file), "--accept", "*", rc=1)
    assert "1 changed, 1 accepted now" in accepted.stdout
    assert "Not accepted for everybody: one__echo." in accepted.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gateway"], "Missing argument"),
        (["gateway", "a", "b"], "Expected one configuration"),
        (["gateway", "missing.json"], "cannot be read"),
        (["gateway", "missing.json", "--accept", "x"], "belongs to"),
    ],
)
def test_wrong_usage_is_said_and_ends_with_2(world: World, words: list[str], said: str) -> None:
    done = wieldy(world, *words, rc=2)
    assert said in done.stderr
    assert "Traceback" not in done.stderr


async def test_it_ends_when_it_is_asked_to_and_leaves_no_server_behind(world: World) -> None:
    one = world.upstream("one", described("pid"))
    file = world.write(mcpServers={"one": one.command | {"pinned": False}}, journal="calls.db")
    gateway = Running(world, file)
    try:
        async with client(gateway.told["mcp"], Authorization="Bearer anna-anna-anna-anna") as connected:
            pid = int(text_of(await connected.call_tool("one__pid", {})))
            os.kill(pid, 0)  # it runs
            async with connected.listen(tools_list_changed=True):  # a request that stays open
                await anyio.to_thread.run_sync(gateway.end)
    finally:
        gateway.end()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert "Traceback" not in gateway.said
