"""A scripted model as a chat-completions server, asked by the official client and by hand."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from itertools import count
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.connect.serving.chat.application import ChatRules, Served, chat_application
from wieldy.connect.serving.chat.bodies import MAX_BODY_BYTES
from wieldy.connect.serving.chat.watching import Told
from wieldy.connect.serving.keys import Keys
from wieldy.core.calls import ToolCall
from wieldy.core.events import TextDelta
from wieldy.core.limits import Usage
from wieldy.core.messages import Message
from wieldy.core.ports import Model, ModelEvent, ModelReply, ModelRequest
from wieldy.schema import CompiledSchema
from wieldy.testing import ScriptedModel, call, reasoning, text

pytest.importorskip("starlette", reason="starlette is not installed")
openai = pytest.importorskip("openai", reason="openai is not installed")
pytestmark = pytest.mark.anyio

SCHEMAS: dict[str, Any] = {
    "weather": {
        "type": "object",
        "properties": {"city": {"type": "string", "minLength": 1}, "days": {"type": "integer", "maximum": 7}},
        "required": ["city"],
        "additionalProperties": False,
    },
    "now": {"type": "object", "properties": {}, "additionalProperties": False},
}
TOOLS = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": schema}}
    for name, schema in SCHEMAS.items()
]
ASKED: dict[str, Any] = {"messages": [{"role": "user", "content": "How warm?"}], "tools": TOOLS}
GOOD = call("weather", {"city": "Rome"}, id="w1")
BAD = call("weather", {"town": "Rome"}, id="w2")


def served(model: Model, *, keys: Keys | None = None, **rules: Any) -> Served:
    numbers = count(1)
    settled = ChatRules(now=lambda: 1000.0, new_id=lambda: f"{next(numbers)}", **{"name": "m", **rules})
    return chat_application(model, rules=settled, keys=keys)


def connected(app: Any) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url="http://localhost")


async def posted(model: Model, /, *, rules: dict[str, Any] | None = None, **body: Any) -> httpx2.Response:
    async with connected(served(model, **(rules or {})).app) as http:
        return await http.post("/v1/chat/completions", json={**ASKED, **body})


def sdk(app: Any) -> Any:
    return openai.AsyncOpenAI(base_url="http://localhost/v1", api_key="none", http_client=connected(app))


def events_in(body: str) -> tuple[list[Any], bool]:
    """The JSON of a stream's events, and whether it has its end mark."""
    lines = [line.removeprefix("data: ") for line in body.split("\n\n") if line]
    return [json.loads(line) for line in lines if line != "[DONE]"], "[DONE]" in lines


def joined(chunks: list[Any]) -> dict[str, Any]:
    """The message that the chunks say, with how it ended."""
    message: dict[str, Any] = {"content": "", "reasoning_content": "", "tool_calls": [], "finish_reason": None}
    for chunk in chunks:
        for choice in chunk["choices"]:
            for name in ("content", "reasoning_content"):
                message[name] += choice["delta"].get(name) or ""
            message["tool_calls"] += choice["delta"].get("tool_calls", [])
            message["finish_reason"] = choice["finish_reason"] or message["finish_reason"]
    return message


def said(answer: dict[str, Any]) -> dict[str, Any]:
    choice = answer["choices"][0]
    message = choice["message"]
    return {
        "content": message["content"] or "",
        "reasoning_content": message.get("reasoning_content", ""),
        "tool_calls": [{"index": index, **each} for index, each in enumerate(message.get("tool_calls", []))],
        "finish_reason": choice["finish_reason"],
    }


arguments = st.sampled_from(
    [
        '{"city": "Rome"}',
        '{"city": "Rome", "days": "3"}',
        '{"city": ""}',
        "{}",
        '{"city": "Ro',
        "[1]",
        "",
        '{"days": NaN}',
    ]
)
items = st.one_of(
    st.builds(text, st.text(max_size=12)),
    st.builds(reasoning, st.text(max_size=5)),
    st.builds(
        call, st.sampled_from(["weather", "now", "wether", ""]), arguments, st.sampled_from(["", "x", "y", None])
    ),
)
turns = st.lists(st.lists(items, max_size=4), min_size=1, max_size=3)
choices = st.sampled_from(["auto", "none", "required", {"type": "function", "function": {"name": "weather"}}])


@given(
    turns=turns,
    choice=choices,
    parallel=st.booleans(),
    limit=st.none() | st.integers(1, 12),
    stop=st.sampled_from([[], ["a", "00"]]),
)
def test_whatever_a_model_writes_only_right_calls_leave_and_streams_say_the_same(
    turns: Any, choice: Any, parallel: bool, limit: int | None, stop: list[str]
) -> None:
    body = {"tool_choice": choice, "parallel_tool_calls": parallel, "max_tokens": limit, "stop": stop}

    async def ask(**more: Any) -> httpx2.Response:
        return await posted(ScriptedModel(turns), rules={"retries": len(turns) - 1}, **body, **more)

    async def both() -> tuple[httpx2.Response, httpx2.Response]:
        return await ask(), await ask(stream=True, stream_options={"include_usage": True})

    plain, stream = anyio.run(both)
    if plain.status_code != 200:
        assert plain.status_code == 502
        error = plain.json()["error"]
        assert error["code"] in ("invalid_tool_call", "missing_tool_call")
        found, is_ended = ([stream.json()], False) if stream.status_code != 200 else events_in(stream.text)
        assert found[-1]["error"] == error
        assert not is_ended
        return
    answer, (chunks, is_ended) = plain.json(), events_in(stream.text)
    found = said(answer)
    assert is_ended
    assert joined(chunks) == found
    assert (chunks[-1]["usage"], chunks[-2].get("wieldy")) == (answer["usage"], answer.get("wieldy"))
    calls = found["tool_calls"]
    assert (found["finish_reason"] == "tool_calls") == bool(calls)
    assert len({each["id"] for each in calls} - {""}) == len(calls)
    assert parallel or len(calls) <= 1
    for each in calls:
        name = each["function"]["name"]
        assert CompiledSchema(SCHEMAS[name]).accepts(json.loads(each["function"]["arguments"]))
        assert choice in ("auto", "required") or (choice != "none" and name == "weather")
    if choice not in ("auto", "none") and not calls:
        assert found["finish_reason"] == "length"


async def test_the_official_client_gets_a_call_that_was_asked_for_again_and_what_both_replies_used() -> None:
    with ScriptedModel([[text("I look. "), BAD, GOOD], [GOOD]]) as model:
        answer = await sdk(served(model).app).chat.completions.create(model="m", **ASKED)
    (first,) = answer.choices[0].message.tool_calls
    assert (first.function.name, json.loads(first.function.arguments)) == ("weather", {"city": "Rome"})
    assert answer.choices[0].message.content == "I look. "
    assert answer.choices[0].finish_reason == "tool_calls"
    assert answer.wieldy == {"retries": 1}
    assert answer.created == 1000
    told = model.requests[1].messages[-2:]
    assert "city" in told[0].text
    assert told[1].text.startswith("Not run")
    assert answer.usage.completion_tokens == 19
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + 19


async def test_the_official_client_streams_text_and_then_whole_calls() -> None:
    with ScriptedModel([[reasoning("Hm."), text("Two calls."), GOOD, call("now", {}, id="w1")]]) as model:
        stream = await sdk(served(model).app).chat.completions.create(model="m", stream=True, **ASKED)
        deltas = [chunk.choices[0].delta async for chunk in stream]
    assert "".join(delta.content or "" for delta in deltas) == "Two calls."
    calls = [each for delta in deltas for each in delta.tool_calls or []]
    assert [(each.index, each.function.arguments) for each in calls] == [(0, '{"city": "Rome"}'), (1, "{}")]
    assert calls[0].id == "w1" != calls[1].id


@pytest.mark.parametrize("stream", [False, True])
async def test_a_call_that_stays_wrong_is_an_error_that_the_official_client_does_not_ask_for_again(
    stream: bool,
) -> None:
    model = ScriptedModel([[BAD], [BAD]])  # a third request would be an error of its own
    with model, pytest.raises(openai.InternalServerError) as raised:
        await sdk(served(model).app).chat.completions.create(model="m", stream=stream, **ASKED)
    assert raised.value.status_code == 502
    assert raised.value.code == "invalid_tool_call"
    assert raised.value.body["written"] == 'weather({"town":"Rome"})'


async def test_an_error_in_the_middle_of_a_stream_reaches_the_official_client() -> None:
    with ScriptedModel([[text("I look."), BAD]]) as model:
        stream = await sdk(served(model, retries=0).app).chat.completions.create(model="m", stream=True, **ASKED)
        with pytest.raises(openai.APIError, match="What the model wrote is not right"):
            async for _ in stream:
                pass


async def test_an_answer_without_the_call_that_must_be_made_is_asked_again() -> None:
    with ScriptedModel([[text("It is warm.")], [GOOD]]) as model:
        found = said((await posted(model, tool_choice="required")).json())
    assert found["finish_reason"] == "tool_calls"
    assert "`weather` or `now`" in model.requests[1].messages[-1].text


async def test_only_allowed_tools_are_shown_and_called() -> None:
    allowed = {"mode": "auto", "tools": [{"type": "function", "function": {"name": "now"}}]}
    with ScriptedModel([[GOOD], [call("now", {})]]) as model:
        answer = await posted(model, tool_choice={"type": "allowed_tools", "allowed_tools": allowed})
    assert said(answer.json())["tool_calls"][0]["function"]["name"] == "now"
    assert [tool.name for tool in model.requests[0].tools] == ["now"]


async def test_of_a_reply_with_a_call_that_the_limit_cut_no_call_leaves_and_nothing_is_asked_again() -> None:
    with ScriptedModel([[text("Two:"), GOOD, GOOD]]) as model:
        answer = (await posted(model, max_tokens=11)).json()
    assert said(answer) == {"content": "Two:", "reasoning_content": "", "tool_calls": [], "finish_reason": "length"}
    assert "weather" in answer["wieldy"]["warnings"][0]


async def test_a_call_of_which_the_budget_decided_a_part_does_not_leave() -> None:
    forced = ToolCall(id="f", name="weather", arguments={"city": "R"}, forced=("/city",))
    reply = ModelReply(message=Message.assistant(calls=[forced]), usage=Usage(), finish="closed_by_budget")
    found = said((await posted(Saying(reply))).json())
    assert (found["tool_calls"], found["finish_reason"]) == ([], "length")


async def test_what_was_said_beside_a_wrong_call_stays_said() -> None:
    with ScriptedModel([[text("One."), BAD], [text("Two."), GOOD]]) as model:
        assert said((await posted(model)).json())["content"] == "One.\n\nTwo."
    assert "has been passed on" in model.requests[1].messages[-1].text


async def test_arguments_with_one_reading_are_repaired_and_the_answer_says_so() -> None:
    answer = (await posted(ScriptedModel([[call("weather", {"city": "Rome", "days": "3"})]]))).json()
    assert json.loads(said(answer)["tool_calls"][0]["function"]["arguments"]) == {"city": "Rome", "days": 3}
    assert "days" in answer["wieldy"]["repairs"][0]


OUTPUT = {
    "type": "json_schema",
    "json_schema": {
        "name": "n",
        "schema": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
    },
}


@pytest.mark.parametrize("stream", [False, True])
async def test_an_output_leaves_once_it_fits_and_without_what_is_around_it(stream: bool) -> None:
    with ScriptedModel([[text("n is 1")], [text('Here:\n```json\n{"n": 1}\n```')]]) as model:
        answer = await posted(model, tools=None, response_format=OUTPUT, stream=stream)
    found = joined(events_in(answer.text)[0]) if stream else said(answer.json())
    assert (found["content"], found["finish_reason"]) == ('{"n": 1}', "stop")


async def test_an_output_that_stays_wrong_is_an_error_and_one_that_was_cut_is_told_as_cut() -> None:
    wrong = await posted(ScriptedModel([[text("no")]]), rules={"retries": 0}, response_format={"type": "json_object"})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (502, "invalid_output")
    cut = await posted(ScriptedModel([[text('{"n": 12345678}')]]), response_format=OUTPUT, max_tokens=2)
    assert said(cut.json()) | {"content": '{"n": 12', "finish_reason": "length"} == said(cut.json())


USER = {"role": "user", "content": "x"}
IMAGE = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]}
REFUSED: list[tuple[dict[str, Any], int, str | None]] = [
    ({"messages": []}, 400, "messages"),
    ({"messages": "hi"}, 400, "messages"),
    ({"messages": [{"role": "robot", "content": "x"}]}, 400, "messages"),
    ({"messages": [{"role": "assistant", "content": "x"}]}, 400, "messages"),
    ({"messages": [IMAGE]}, 400, "messages"),
    ({"model": "other"}, 404, "model"),
    ({"model": 3}, 400, "model"),
    ({"n": 2}, 400, "n"),
    ({"n": True}, 400, "n"),
    ({"logprobs": True}, 400, "logprobs"),
    ({"store": True}, 400, "store"),
    ({"frequency_penalty": 1}, 400, "frequency_penalty"),
    ({"logit_bias": {"5": 3}}, 400, "logit_bias"),
    ({"nobody_knows": 1}, 400, "nobody_knows"),
    ({"max_tokens": 0}, 400, "max_tokens"),
    ({"max_tokens": 5, "max_completion_tokens": 6}, 400, "max_tokens"),
    ({"max_tokens": True}, 400, "max_tokens"),
    ({"stop": ["a", ""]}, 400, "stop"),
    ({"stop": ["a"] * 17}, 400, "stop"),
    ({"stream_options": {"include_usage": True}}, 400, "stream_options"),
    ({"functions": [{}]}, 400, "functions"),
    ({"tools": [*TOOLS, TOOLS[0]]}, 400, "tools[2]"),
    ({"tools": [{"type": "custom"}]}, 400, "tools[0].type"),
    ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, 400, "tools[0]"),
    ({"tools": [{"type": "function", "function": {"name": "a", "parameters": {"type": 3}}}]}, 400, "tools[0]"),
    ({"tools": [], "tool_choice": "required"}, 400, "tool_choice"),
    ({"tool_choice": {"type": "function", "function": {"name": "x"}}}, 400, "tool_choice"),
    ({"tool_choice": "maybe"}, 400, "tool_choice"),
    ({"response_format": {"type": "yaml"}}, 400, "response_format.type"),
    ({"response_format": {"type": "json_schema"}}, 400, "response_format.json_schema"),
]


class TextModel(ScriptedModel):
    takes_images = False


@pytest.mark.parametrize(("body", "status", "param"), REFUSED)
async def test_what_cannot_be_honoured_is_refused_by_the_name_of_its_field(
    body: dict[str, Any], status: int, param: str | None
) -> None:
    answer = await posted(TextModel([]), **body)
    error = answer.json()["error"]
    assert (answer.status_code, error["param"], error["type"]) == (status, param, "invalid_request_error")
    assert error["message"]


async def test_what_is_harmless_is_answered_and_told() -> None:
    body = {"temperature": 0.7, "seed": 3, "user": "u", "n": 1, "logprobs": None, "messages": [USER | {"name": "Ann"}]}
    answer = (await posted(ScriptedModel([[text("a")]]), **body)).json()
    warnings = answer["wieldy"]["warnings"]
    assert [warning.split("'")[1] for warning in warnings] == ["messages[0].name", "temperature", "user"]


async def test_a_broken_history_is_mended_and_the_answer_says_how() -> None:
    made = {"id": "c9", "type": "function", "function": {"name": "now", "arguments": "{}"}}
    history = [USER, {"role": "assistant", "content": None, "tool_calls": [made]}, USER]
    answer = (await posted(ScriptedModel([[text("a")]]), messages=history)).json()
    assert "c9" in answer["wieldy"]["warnings"][0]


async def test_every_error_has_the_shape_of_the_protocol() -> None:
    async with connected(served(ScriptedModel([])).app) as http:
        json_kind = {"content-type": "application/json"}
        path = "/v1/chat/completions"
        answers = {
            404: await http.get("/v2"),
            405: await http.get(path),
            400: await http.post(path, content=b'{"a', headers=json_kind),
            415: await http.post(path, content=b"{}", headers={"content-type": "text/plain"}),
            403: await http.post(path, json={}, headers={"origin": "http://evil.example"}),
            413: await http.post(path, content=b" " * (MAX_BODY_BYTES + 1), headers=json_kind),
        }
        other_host = await http.get("/health", headers={"host": "evil.example"})
        no_object = await http.post(path, content=b"[]", headers=json_kind)
        no_model = await http.get("/v1/models/other")
    for status, answer in answers.items():
        assert answer.status_code == status
    for answer in (*answers.values(), other_host, no_object, no_model):
        assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
    assert answers[405].headers["allow"] == "POST"


async def test_models_are_listed_and_only_those_with_a_key_are_answered_but_for_health() -> None:
    app = served(ScriptedModel([]), keys=Keys.of({"anna": "anna-anna-anna-anna"}), name="org/m").app
    async with connected(app) as http:
        refused = await http.get("/v1/models")
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, "invalid_api_key")
        assert (await http.get("/health")).json() == {"status": "ok"}
        key = {"authorization": "Bearer anna-anna-anna-anna"}
        (listed,) = (await http.get("/v1/models", headers=key)).json()["data"]
        assert listed["id"] == "org/m"
        assert (await http.get("/v1/models/org/m", headers=key)).json() == listed


class Saying:
    """A model that always has the same reply."""

    name = "saying"

    def __init__(self, reply: ModelReply) -> None:
        self._reply = reply

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        yield self._reply


SCOPE: dict[str, Any] = {
    "type": "http",
    "method": "POST",
    "path": "/v1/chat/completions",
    "query_string": b"",
    "headers": [(b"host", b"localhost"), (b"content-type", b"application/json")],
}


class Endless:
    """A model that writes for as long as somebody listens."""

    name = "endless"

    def __init__(self) -> None:
        self.has_begun = anyio.Event()
        self.is_left = False

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        try:
            while True:
                yield TextDelta(text="a")
                self.has_begun.set()
                await anyio.lowlevel.checkpoint()
        finally:
            self.is_left = True


async def asked_by_hand(model: Endless, *, stream: bool, leaves: bool) -> tuple[list[Any], list[Told]]:
    """One request over bare ASGI that is ended once the model writes: by the client, who leaves, or by the server."""
    told: list[Told] = []
    app, stop = served(model, tell=told.append)
    body = json.dumps({"messages": [USER], "stream": stream}).encode()
    sent: list[Any] = []
    has_enough = anyio.Event()
    incoming = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        if incoming:
            return incoming.pop()
        await (has_enough.wait() if leaves else anyio.sleep_forever())
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    async def watch() -> None:
        await model.has_begun.wait()
        if leaves:
            has_enough.set()
        else:
            stop()

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        await app(SCOPE, receive, send)
    return sent, told


@pytest.mark.parametrize("stream", [False, True])
async def test_a_client_that_leaves_ends_what_the_model_writes(stream: bool) -> None:
    model = Endless()
    with anyio.fail_after(30):
        sent, (told,) = await asked_by_hand(model, stream=stream, leaves=True)
    assert model.is_left
    assert (told.status, told.code) == (499, "client_gone")
    assert not any(b"DONE" in message.get("body", b"") for message in sent)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_server_that_stops_ends_what_is_under_way_with_an_error(stream: bool) -> None:
    with anyio.fail_after(30):
        sent, (told,) = await asked_by_hand(Endless(), stream=stream, leaves=False)
    assert (sent[0]["status"], told.code) == (200 if stream else 503, "server_stopping")
    body = b"".join(message.get("body", b"") for message in sent).decode()
    last = events_in(body)[0][-1] if stream else json.loads(body)
    assert last["error"]["code"] == "server_stopping"


async def test_each_request_is_told_with_what_it_came_to() -> None:
    told: list[Told] = []
    times = iter(float(second) for second in range(10))
    repaired = call("weather", {"city": "Rome", "days": "3"})
    model = ScriptedModel([[BAD], [repaired]])
    await posted(model, rules={"tell": told.append, "clock": lambda: next(times)}, stream=True)
    (one,) = told
    assert (one.status, one.calls, one.repairs, one.retries, one.seconds) == (200, 1, 1, 1, 1.0)
    assert one.usage.requests == 2


async def test_a_fault_of_the_server_is_an_error_that_says_nothing_of_its_inside(caplog: Any) -> None:
    def broken(messages: Sequence[Any]) -> Any:
        raise KeyError("secret")

    answer = await posted(ScriptedModel(broken))
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "secret" in caplog.text


async def test_a_request_that_breaks_off_is_told_and_is_no_fault_of_the_server() -> None:
    told: list[Told] = []
    app, _ = served(ScriptedModel([]), tell=told.append)
    incoming = [{"type": "http.disconnect"}, {"type": "http.request", "body": b'{"mess', "more_body": True}]

    async def receive() -> Any:
        return incoming.pop()

    async def send(message: Any) -> None:
        del message

    await app(SCOPE, receive, send)
    assert [one.status for one in told] == [400]
