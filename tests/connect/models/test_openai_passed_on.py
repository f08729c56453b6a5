"""A chat-completions server in front of another one that speaks the same protocol, byte by byte."""

from __future__ import annotations

import json
from typing import Any

import httpx2
import pytest

pytest.importorskip("starlette", reason="starlette is not installed")

from wieldy.connect.models.openai import OpenAIModel
from wieldy.connect.models.retries import NO_RETRIES, Timeouts
from wieldy.connect.serving.chat.application import ChatRules, chat_application

pytestmark = pytest.mark.anyio

TOOL = {
    "type": "function",
    "function": {
        "name": "add",
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
    },
}
USER = {"role": "user", "content": "x"}


async def posted(url: str, /, *, read_s: float = 600.0, **body: Any) -> httpx2.Response:
    model = OpenAIModel(
        "m", base_url=f"{url}/v1", retries=NO_RETRIES, timeouts=Timeouts(read_s=read_s), backend="plain"
    )
    app = chat_application(model, rules=ChatRules(name="front")).app
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost") as http:
        return await http.post("/v1/chat/completions", json={"messages": [USER], **body})


def calling(server: Any, arguments: str, **more: Any) -> Any:
    made = {"index": 0, "id": "up1", "function": {"name": "add", "arguments": arguments}}
    used = {"prompt_tokens": 10, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}
    return server.events(
        server.chunk({"tool_calls": [made]}, **more), server.chunk({}, "tool_calls"), server.chunk(usage=used), "[DONE]"
    )


async def test_what_only_the_server_behind_can_judge_is_sent_to_it(server: Any) -> None:
    server.will(server.saying("a"))
    answer = await posted(
        server.url, temperature=0.5, top_k=3, seed=7, stop="z", max_completion_tokens=9, user="u", n=1
    )
    assert answer.status_code == 200
    assert "wieldy" not in answer.json()
    sent = server.requests[0].json
    expected = {"temperature": 0.5, "top_k": 3, "seed": 7, "stop": ["z"], "max_tokens": 9, "user": "u", "model": "m"}
    assert {name: sent.get(name) for name in expected} == expected
    assert "n" not in sent


async def test_a_wrong_call_of_the_server_behind_is_asked_again_and_its_ids_and_usage_are_kept(server: Any) -> None:
    server.will(calling(server, '{"b": 1}'), calling(server, '{"a": 1}'))
    answer = (await posted(server.url, tools=[TOOL])).json()
    (made,) = answer["choices"][0]["message"]["tool_calls"]
    assert (made["id"], made["function"]["arguments"]) == ("up1", '{"a": 1}')
    assert answer["usage"]["prompt_tokens"] == 20
    assert answer["usage"]["prompt_tokens_details"] == {"cached_tokens": 8}
    result = server.requests[1].json["messages"][-1]
    assert result["role"] == "tool"
    assert "`add`" in result["content"]


async def test_an_id_that_the_conversation_has_already_gets_another(server: Any) -> None:
    made = {"id": "up1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}}
    history = [
        USER,
        {"role": "assistant", "tool_calls": [made]},
        {"role": "tool", "tool_call_id": "up1", "content": "1"},
    ]
    server.will(calling(server, '{"a": 2}'))
    answer = (await posted(server.url, tools=[TOOL], messages=history)).json()
    assert answer["choices"][0]["message"]["tool_calls"][0]["id"] != "up1"


FAILURES = [
    (429, {"retry_after": "7"}, 429, "rate_limit_exceeded", ("7", "true")),
    (500, {}, 502, "upstream_error", (None, "true")),
    (503, {"retry_after": "2"}, 502, "upstream_error", ("2", "true")),
    (401, {}, 502, "upstream_authentication", (None, "false")),
    (404, {}, 502, "upstream_error", (None, "false")),
    (400, {}, 400, "refused_by_model", (None, "false")),
]


@pytest.mark.parametrize(("status", "headers", "expected", "code", "again"), FAILURES)
async def test_a_failure_behind_says_whose_it_is_and_when_to_try_again(
    server: Any, status: int, headers: dict[str, str], expected: int, code: str, again: tuple[str | None, str]
) -> None:
    server.will(server.json({"error": {"message": "because"}}, status=status, **headers))
    answer = await posted(server.url, stream=True)
    assert (answer.status_code, answer.json()["error"]["code"]) == (expected, code)
    assert (answer.headers.get("retry-after"), answer.headers["x-should-retry"]) == again
    assert "because" in answer.json()["error"]["message"]


async def test_a_server_behind_that_is_silent_is_504_and_one_that_is_not_there_is_502(server: Any) -> None:
    server.will(server.chunks(then="hang"))
    silent = await posted(server.url, read_s=0.05)
    assert silent.status_code == 504
    gone = await posted("http://127.0.0.1:1")
    assert gone.status_code == 502


@pytest.mark.parametrize("stream", [False, True])
async def test_a_server_behind_that_dies_in_the_middle_ends_the_answer_with_an_error(server: Any, stream: bool) -> None:
    server.will(server.events(server.chunk({"content": "Half"}), then="abort"))
    answer = await posted(server.url, stream=stream)
    if not stream:
        assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_error")
        return
    *chunks, last = [json.loads(line.removeprefix("data: ")) for line in answer.text.split("\n\n") if line]
    assert last["error"]["code"] == "upstream_error"
    assert "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks) == "Half"
