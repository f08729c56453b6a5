"""The file of what was accepted: written by many at once, and broken while a gateway runs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from gateway_world import KEYS, accept_all, described, principal

from wieldy.gateway.application import gateway_application
from wieldy.gateway.pins import Definition, Pins

ACCEPTING = """
import sys
from pathlib import Path
from wieldy.gateway.pins import Definition, Pins

sys.stdin.read()  # until all are here
for at in range(25):
    name = f"{sys.argv[2]} {at}"
    Pins(Path(sys.argv[1])).accept([Definition(source="s", original=name, said={"name": name})])
"""


def test_what_several_accept_at_once_is_accepted(tmp_path: Path) -> None:
    file = tmp_path / "pins.json"
    command = [sys.executable, "-c", ACCEPTING, str(file)]
    processes = [subprocess.Popen([*command, name], stdin=subprocess.PIPE) for name in ("a", "b", "c")]
    for each in processes:
        assert each.stdin is not None
        each.stdin.close()
    assert [each.wait(timeout=300) for each in processes] == [0, 0, 0]
    names = {f"{name} {at}" for name in "abc" for at in range(25)}
    assert set(json.loads(file.read_text())["sources"]["s"]["tools"]) == names


def test_where_it_cannot_be_read_nothing_is_accepted_and_that_is_said_once(tmp_path: Path) -> None:
    file, told = tmp_path / "pins.json", list[str]()
    pins = Pins(file, tell=told.append)
    definition = Definition(source="s", original="a", said={"name": "a"})
    pins.accept([definition])
    whole = file.read_text()
    for broken in ("", "{", '{"version": 1, "sources": {"s": 3}}', whole.replace('"a"', '"b"', 1)):
        told.clear()
        file.write_text(broken)
        pins.look()
        pins.look()
        assert pins.state_of(definition) == "unreadable"
        assert len(told) == 1
        assert "expected the file that `wieldy gateway pins` writes" in told[0]
        file.write_text(whole)
        pins.look()
        assert pins.state_of(definition) == "accepted"
        assert told[1:] == [f"{file}: it can be read again."]


@pytest.mark.anyio
async def test_a_gateway_whose_file_is_broken_answers_in_words_and_calls_nothing(world: Any, call: Any) -> None:
    one, two = world.upstream("one", described("echo")), world.upstream("two", described("echo"))
    config = {"mcpServers": {"one": one.command, "two": two.command | {"pinned": False}}}
    async with world.opened(**config) as gateway:
        accept_all(gateway)
        whole = gateway.config.pins.read_text()
        gateway.config.pins.write_text(whole[:40])
        transport = httpx2.ASGITransport(app=gateway_application(gateway).app)
        headers = {"Authorization": f"Bearer {KEYS['ANNA']}"}
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost", headers=headers) as http:
            document = await http.get("/openapi.json")
            assert list(document.json()["paths"]) == ["/tools/two__echo"]
            refused = await http.post("/tools/one__echo", json={"text": "x"})
            assert (refused.status_code, refused.json()["error"]["kind"]) == (403, "denied")
            assert "what was accepted cannot be read" in refused.json()["error"]["message"]
            assert str(gateway.config.pins) not in refused.text  # that is for the operator
            assert (await http.post("/tools/two__echo", json={"text": "x"})).text == 'echo {"text": "x"}'
            assert await gateway.shelf.listed("prompts", principal=principal(gateway, "anna")) == []
            gateway.config.pins.write_text(whole)
            assert (await http.post("/tools/one__echo", json={"text": "x"})).text == 'echo {"text": "x"}'
    assert [said for said in world.told if str(gateway.config.pins) in said] != []
    assert (one.calls(), two.calls()) == (["echo"], ["echo"])
