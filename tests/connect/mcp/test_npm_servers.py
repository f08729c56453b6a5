"""Servers for Node.js that others wrote, over standard input and output."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest

from wieldy.connect import mcp
from wieldy.connect.mcp.client.toolset import McpToolset

pytestmark = pytest.mark.anyio


def opened(name: str, entry: dict[str, Any], **options: Any) -> McpToolset:
    return mcp({"mcpServers": {name: {**entry, "trusted": True}}}, **options)


async def test_files_are_written_and_read_and_none_outside_the_folder(
    npm_server: Any, call: Any, tmp_path: Path
) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.txt").write_text("not for models")
    async with opened("files", npm_server("filesystem", str(inside))) as files:
        assert {tool.name: tool.effect for tool in files}["files__write_file"] == "idempotent"
        path = str(inside / "a b.txt")
        written = await call(files, "files__write_file", path=path, content="Grüße\nzwei\n")
        assert not written.is_error
        assert (inside / "a b.txt").read_text(encoding="utf-8") == "Grüße\nzwei\n"
        assert (await call(files, "files__read_text_file", path=path, head=1)).structured_content == {
            "content": "Grüße"
        }
        listed = await call(files, "files__list_directory", path=str(inside))
        assert "a b.txt" in listed.content
        edits = [{"oldText": "zwei", "newText": "drei"}]
        assert not (await call(files, "files__edit_file", path=path, edits=edits)).is_error
        assert "drei" in (inside / "a b.txt").read_text(encoding="utf-8")
        for outside in (str(tmp_path / "secret.txt"), str(inside / ".." / "secret.txt"), "/etc/hostname"):
            refused = await call(files, "files__read_text_file", path=outside)
            assert refused.is_error
            assert "Access denied" in refused.content


async def test_a_picture_comes_as_a_picture(npm_server: Any, call: Any) -> None:
    async with opened("all", npm_server("everything")) as everything:
        result = await call(everything, "all__get-tiny-image")
        (picture,) = result.parts
        assert picture.media_type == "image/png"


async def test_what_is_structured_stays_so_and_sums_are_right(npm_server: Any, call: Any) -> None:
    async with opened("all", npm_server("everything")) as everything:
        weather = await call(everything, "all__get-structured-content", location="Chicago")
        assert {"temperature", "conditions", "humidity"} <= weather.structured_content.keys()
        assert "42" in (await call(everything, "all__get-sum", a=19, b=23)).content
        wrong = await call(everything, "all__get-sum", a="nineteen", b=23)
        assert wrong.is_error
        assert wrong.layer == "model"


async def test_what_takes_long_is_waited_for_with_others_at_work(npm_server: Any, call: Any) -> None:
    results: dict[str, str] = {}
    async with opened("all", npm_server("everything")) as everything, anyio.create_task_group() as tasks:

        async def ask(key: str, name: str, **arguments: Any) -> None:
            results[key] = (await call(everything, name, **arguments)).content

        tasks.start_soon(lambda: ask("long", "all__trigger-long-running-operation", duration=0.2, steps=2))
        for number in range(10):
            tasks.start_soon(lambda number=number: ask(str(number), "all__echo", message=f"m{number}"))
    assert "completed" in results.pop("long").lower()
    assert all(f"m{key}" in said for key, said in results.items())
    assert len(results) == 10


async def test_a_graph_is_kept_over_the_death_of_its_server(npm_server: Any, call: Any, tmp_path: Path) -> None:
    kept = tmp_path / "graph.jsonl"
    entry = npm_server("memory", MEMORY_FILE_PATH=str(kept))
    anna = {"name": "Anna", "entityType": "person", "observations": ["likes tea"]}
    async with opened("memory", entry) as memory:
        assert not (await call(memory, "memory__create_entities", entities=[anna])).is_error
        os.kill(child_with("server-memory"), signal.SIGKILL)
        found = await call(memory, "memory__search_nodes", query="tea")
        assert found.structured_content["entities"] == [anna]
        assert (await call(memory, "memory__open_nodes", names=["nobody"])).structured_content["entities"] == []


def child_with(text: str) -> int:
    """The process that this one started with the text in its command line."""
    children = " ".join(path.read_text() for path in Path("/proc/self/task").glob("*/children")).split()
    (found,) = (child for child in children if text in command_of(child))
    return int(found)


def command_of(process: str) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_text()
    except FileNotFoundError:
        return ""  # it has ended meanwhile
