"""What a model reads when a service refuses, fails or keeps silent, and where secrets go and where they do not."""

from __future__ import annotations

import json
import logging
import threading
from typing import Any

import pytest
from rest_documents import CONTEXT, body, call, document, operation, query, send
from rest_recorder import Answer, Recorder, as_json, cut_off, recording

from wieldy import Agent
from wieldy.connect import openapi
from wieldy.connect.rest.security import Credentials
from wieldy.core.errors import OutcomeUnknownError, ToolError, TransientToolError, UsageError
from wieldy.core.media import FilePart
from wieldy.testing import ScriptedModel
from wieldy.testing import call as call_of
from wieldy.testing import text as text_of

pytestmark = pytest.mark.anyio

CANARY = "canary-9f8e7d6c"
KEYED = {
    "components": {"securitySchemes": {"own": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
    "security": [{"own": []}],
}


async def test_a_refusal_says_the_status_the_service_s_words_and_what_to_do(recorder: Recorder) -> None:
    recorder.answers = [as_json({"error": {"message": "amount must be positive"}}, 422)]
    with pytest.raises(ToolError) as raised:
        await send(document(recorder.url, operation("post")), {})
    assert not isinstance(raised.value, TransientToolError)
    for words in ("`do` failed", "422 Unprocessable", "amount must be positive", "Correct the arguments"):
        assert words in str(raised.value)


@pytest.mark.parametrize(("status", "nothing_done"), [(429, True), (503, False), (500, False), (504, False)])
async def test_what_may_pass_says_so_and_how_long_to_wait(recorder: Recorder, status: int, nothing_done: bool) -> None:
    recorder.answers = [as_json({}, status, Retry_After="7")]
    with pytest.raises(TransientToolError) as raised:
        await send(document(recorder.url, operation("post")), {})
    assert (raised.value.retry_after_s, raised.value.nothing_done) == (7.0, nothing_done)


async def test_a_service_that_asks_for_a_moment_is_asked_again_after_it(recorder: Recorder) -> None:
    recorder.answers = [as_json({}, 429, Retry_After="0"), as_json({"found": 1})]
    assert "found" in await answer_of(recorder, operation("post"))
    assert len(recorder.requests) == 2


async def test_an_unsafe_call_without_an_answer_has_an_unknown_outcome_and_is_not_repeated(recorder: Recorder) -> None:
    recorder.answers = [cut_off()]
    assert "outcome unknown" in await answer_of(recorder, operation("post"))
    assert len(recorder.requests) == 1


@pytest.mark.parametrize("method", ["get", "put", "delete"])
async def test_other_calls_without_an_answer_are_tried_again(recorder: Recorder, method: str) -> None:
    recorder.answers = [cut_off(), as_json({"found": 1})]
    assert "found" in await answer_of(recorder, operation(method))
    assert len(recorder.requests) == 2


async def test_a_call_with_a_key_is_tried_again_with_the_same_key(recorder: Recorder) -> None:
    key = {"name": "Idempotency-Key", "in": "header", "schema": {"type": "string"}}
    recorder.answers = [cut_off(), as_json({"found": 1})]
    assert "found" in await answer_of(recorder, operation("post", parameters=[key]))
    keys = {request.header("idempotency-key") for request in recorder.requests}
    assert (len(recorder.requests), len(keys)) == (2, 1)
    assert None not in keys


async def answer_of(recorder: Recorder, paths: dict[str, Any]) -> str:
    """What a model reads that calls the only tool, in a run."""
    toolset = openapi(document(recorder.url, paths))
    agent = Agent(ScriptedModel([[call_of("do", {})], [text_of("done")]]), tools=[toolset])
    result = await agent.run("go")
    return str([message for message in result.messages if message.role == "tool"])


async def test_a_service_that_is_not_there_has_done_nothing() -> None:
    with recording() as gone:
        url = gone.url
    with pytest.raises(TransientToolError) as raised:
        await send(document(url, operation("post")), {})
    assert raised.value.nothing_done


async def test_an_answer_that_takes_too_long_is_given_up(recorder: Recorder) -> None:
    release = threading.Event()

    def answer(_: Any) -> Answer:
        release.wait(60)
        return Answer()

    recorder.answer = answer
    try:
        with pytest.raises(OutcomeUnknownError, match=r"outcome unknown.*0\.2 s"):
            await send(document(recorder.url, operation("post")), {}, timeout_s=0.2)
    finally:
        release.set()


async def test_an_answer_beyond_the_limit_is_not_read(recorder: Recorder) -> None:
    recorder.answers = [Answer(content=b"x" * 2000)]
    with pytest.raises(ToolError, match="Ask for less"):
        await send(document(recorder.url, operation()), {}, response_bytes=1000)


async def test_a_secret_is_in_no_text_that_anybody_sees(recorder: Recorder, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    source = document(recorder.url, operation(parameters=[query("q", {"type": "string"})]), **KEYED)
    recorder.answer = lambda request: as_json({"key": request.header("x-key"), CANARY: [f"a {CANARY}"]}, 400)
    toolset = openapi(source, credentials={"own": CANARY})
    async with toolset:
        with pytest.raises(ToolError) as raised:
            await call(toolset, {})
        assert "[secret own]" in str(raised.value)
        recorder.answer = lambda request: as_json({"key": request.header("x-key")})
        value = await call(toolset, {})
    assert value == {"key": "[secret own]"}
    assert recorder.last.header("x-key") == CANARY
    shown = [
        raised.value,
        toolset,
        toolset.tools,
        toolset.request("do", {}),
        Credentials({"own": CANARY}),
        vars(toolset),
    ]
    assert all(CANARY not in f"{each!r}{each}" for each in shown)
    assert CANARY not in caplog.text


async def test_a_secret_in_a_query_is_in_no_log(recorder: Recorder, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    scheme = {"own": {"type": "apiKey", "in": "query", "name": "key"}}
    source = document(recorder.url, operation(security=[{"own": []}]), components={"securitySchemes": scheme})
    await send(source, {}, credentials={"own": CANARY})
    assert CANARY in recorder.last.query
    assert CANARY not in caplog.text


async def test_a_redirect_to_another_host_takes_no_secret_along(recorder: Recorder) -> None:
    source = document(recorder.url, operation(), **KEYED)
    with recording() as other:
        recorder.answers = [
            as_json({}, 302, Location=f"{other.url}/there"),
            as_json({}, 307, Location="/here"),
            as_json({"at": "home"}),
        ]
        other.answers = [as_json({"at": "other"})]
        assert await send(source, {}, credentials={"own": CANARY}) == {"at": "other"}
        assert other.last.header("x-key") is None
        assert await send(source, {}, credentials={"own": CANARY}) == {"at": "home"}
        assert (recorder.last.path, recorder.last.header("x-key")) == ("/here", CANARY)
        assert len(other.requests) == 1


async def test_a_call_that_changes_something_is_not_sent_on_to_another_host(recorder: Recorder) -> None:
    with recording() as other:
        recorder.answers = [as_json({}, 307, Location=f"{other.url}/there"), as_json({}, 302, Location="/here")]
        for _ in range(2):
            with pytest.raises(ToolError, match="It redirects"):
                await send(document(recorder.url, operation("post", **body({"type": "object"}))), {"body": {}})
        assert (len(other.requests), len(recorder.requests)) == (0, 2)


async def test_cookies_of_a_service_are_not_kept(recorder: Recorder) -> None:
    recorder.answers = [as_json({}, Set_Cookie="session=1; Path=/")]
    async with openapi(document(recorder.url, operation())) as toolset:
        await call(toolset, {})
        await call(toolset, {})
    assert recorder.last.header("cookie") is None


BOTH = {
    "components": {
        "securitySchemes": {
            "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
            "id": {"type": "apiKey", "in": "header", "name": "X-Id"},
            "token": {"type": "http", "scheme": "bearer"},
        }
    },
    "security": [{"key": [], "id": []}, {"token": []}],
}


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"key": CANARY, "id": "client-7"}, {"x-key": CANARY, "x-id": "client-7"}),
        ({"token": CANARY}, {"authorization": f"Bearer {CANARY}"}),
        ({"key": CANARY, "token": "other-token"}, {"authorization": "Bearer other-token"}),
        ({"key": CANARY}, {}),
        ({}, {}),
    ],
)
async def test_the_first_alternative_of_which_everything_is_known_is_answered(
    recorder: Recorder, given: dict[str, str], sent: dict[str, str]
) -> None:
    await send(document(recorder.url, operation(), **BOTH), {}, credentials=given)
    names = ("x-key", "x-id", "authorization")
    assert {name: value for name in names if (value := recorder.last.header(name))} == sent


async def test_an_operation_without_security_is_sent_no_secret(recorder: Recorder) -> None:
    await send(document(recorder.url, operation(security=[]), **KEYED), {}, credentials={"own": CANARY})
    assert recorder.last.header("x-key") is None


async def test_missing_credentials_are_named(recorder: Recorder) -> None:
    recorder.answers = [as_json({}, 401)]
    with pytest.raises(ToolError, match="No credentials were given for own"):
        await send(document(recorder.url, operation(), **KEYED), {})


UNSUPPORTED = {
    "mutual TLS": ({"type": "mutualTLS"}, "mutual TLS"),
    "digest": ({"type": "http", "scheme": "Digest"}, "'Digest'"),
    "SCRAM": ({"type": "http", "scheme": "SCRAM-SHA-256"}, "'SCRAM-SHA-256'"),
    "a key nowhere": ({"type": "apiKey", "in": "body", "name": "k"}, "'apikey' in 'body'"),
    "another kind": ({"type": "magic"}, "'magic'"),
    "nothing": ({"$ref": "#/components/securitySchemes/none"}, "leads nowhere"),
}


@pytest.mark.parametrize(("scheme", "why"), UNSUPPORTED.values(), ids=UNSUPPORTED.keys())
async def test_what_cannot_be_answered_is_told_by_name_before_a_call_and_after_it(
    recorder: Recorder, scheme: dict[str, Any], why: str
) -> None:
    source = document(
        recorder.url, operation(), components={"securitySchemes": {"own": scheme}}, security=[{"own": []}]
    )
    toolset = openapi(source)
    assert len(toolset.tools) == 1
    (told,) = toolset.diagnostics
    assert "'own'" in told.reason
    assert why in told.reason
    with pytest.raises(UsageError, match="'own' cannot be used") as refused:
        openapi(source, credentials={"own": CANARY})
    assert why in str(refused.value)
    recorder.answers = [as_json({}, 401)]
    with pytest.raises(ToolError, match="'own' cannot be answered") as failed:
        await send(source, {})
    assert why in str(failed.value)


async def test_what_cannot_be_answered_is_passed_over_where_something_else_is_allowed(recorder: Recorder) -> None:
    schemes = {"own": {"type": "mutualTLS"}, "key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
    source = document(
        recorder.url, operation(), components={"securitySchemes": schemes}, security=[{"own": []}, {"key": []}]
    )
    assert openapi(source).tools
    assert openapi(source).diagnostics == ()
    await send(source, {}, credentials={"key": CANARY})
    assert recorder.last.header("x-key") == CANARY


async def test_where_a_person_gets_tokens_a_token_is_taken_and_a_client_s_secret_refused(recorder: Recorder) -> None:
    urls = {"authorizationUrl": "https://a.example.com/go", "tokenUrl": "https://a.example.com/token"}
    schemes = {"own": {"type": "oauth2", "flows": {"authorizationCode": {**urls, "scopes": {}}}}}
    source = document(recorder.url, operation(), components={"securitySchemes": schemes}, security=[{"own": []}])
    client = {"client_id": "me", "client_secret": CANARY}
    with pytest.raises(UsageError, match="'own' is a client's") as refused:
        openapi(source, credentials={"own": client})
    assert CANARY not in str(refused.value)
    openapi(source, credentials={"own": {**client, "token_url": "https://a.example.com/token"}})
    await send(source, {}, credentials={"own": CANARY})
    assert recorder.last.header("authorization") == f"Bearer {CANARY}"


@pytest.mark.parametrize("url", ["//[", "http://[/token", "ftp://a.example.com/"])
async def test_an_address_for_tokens_that_is_none_is_said(url: str) -> None:
    schemes = {"own": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": url, "scopes": {}}}}}
    source = document(
        "https://api.example.com", operation(), components={"securitySchemes": schemes}, security=[{"own": []}]
    )
    with pytest.raises(ToolError, match="begins with https"):
        await send(source, {}, credentials={"own": {"client_id": "me", "client_secret": CANARY}})


def test_credentials_for_nothing_are_refused() -> None:
    source = document("https://example.com", operation(), **KEYED)
    with pytest.raises(UsageError, match="it has 'own'"):
        openapi(source, credentials={"other": CANARY})
    for bad in ("", "two\nlines", {"user": "x"}, 5):
        with pytest.raises(UsageError, match="'own'"):
            openapi(source, credentials={"own": bad})  # type: ignore[dict-item]


async def test_a_client_gets_a_token_once_and_another_when_it_is_not_taken(recorder: Recorder) -> None:
    tokens = iter(["token-one", "token-two"])
    taken = {"Bearer token-one"}

    def answer(request: Any) -> Answer:
        if request.path == "/token":
            return as_json({"access_token": next(tokens), "expires_in": 3600})
        return as_json(
            {"ok": request.header("authorization")}, 200 if request.header("authorization") in taken else 401
        )

    recorder.answer = answer
    flows = {"clientCredentials": {"tokenUrl": f"{recorder.url}/token", "scopes": {}}}
    schemes = {"own": {"type": "oauth2", "flows": flows}}
    source = document(recorder.url, operation(), components={"securitySchemes": schemes}, security=[{"own": []}])
    secret = {"client_id": "me", "client_secret": CANARY, "scope": "read"}
    async with openapi(source, credentials={"own": secret}) as toolset:
        assert await call(toolset, {}) == {"ok": "Bearer [secret own (token)]"}
        await call(toolset, {})
        assert [request.path for request in recorder.requests] == ["/token", "/things", "/things"]
        taken.clear()
        taken.add("Bearer token-two")
        await call(toolset, {})
    first = recorder.requests[0]
    assert first.body == b"grant_type=client_credentials&scope=read"
    assert CANARY not in first.body.decode()
    assert [request.path for request in recorder.requests[3:]] == ["/things", "/token", "/things"]


async def test_a_client_s_secret_is_not_sent_over_an_open_network(recorder: Recorder) -> None:
    flows = {"clientCredentials": {"tokenUrl": "http://tokens.example.com/token", "scopes": {}}}
    schemes = {"own": {"type": "oauth2", "flows": flows}}
    source = document(recorder.url, operation(), components={"securitySchemes": schemes}, security=[{"own": []}])
    with pytest.raises(ToolError, match="https"):
        await send(source, {}, credentials={"own": {"client_id": "me", "client_secret": CANARY}})
    assert recorder.requests == []


async def test_calls_outside_of_an_opened_set_work_too(recorder: Recorder) -> None:
    toolset = openapi(document(recorder.url, operation()))
    tool = toolset.tools[0]
    assert await tool.bind(tool.validate({}).values, CONTEXT)() == {}
    assert json.loads(recorder.last.body or b"null") is None


HTML = (("Content-Type", "text/html"),)


@pytest.mark.parametrize("piece", ["<script>", "<style ", "<", "<!--", "</script ", "<a b=<script>"])
async def test_a_long_page_of_tags_that_never_end_is_read_as_fast_as_any_other(recorder: Recorder, piece: str) -> None:
    # Where each tag looked for its end up to the end of the page, this would take hours.
    page = f"<html><p>It is <b>down</b>. {piece * (500_000 // len(piece))}"
    recorder.answers = [Answer(status=500, content=page.encode(), headers=HTML)]
    with pytest.raises(TransientToolError, match=r"It says: It is down \."):
        await send(document(recorder.url, operation()), {})


async def test_what_a_page_does_not_show_is_not_repeated(recorder: Recorder) -> None:
    page = "<html><style>b { }</style><SCRIPT x>if (1 < 2) { a('<b>') }</ script ><h1>Down</h1>at 3 < 4<script>more"
    recorder.answers = [Answer(status=500, content=page.encode(), headers=HTML)]
    with pytest.raises(TransientToolError) as raised:
        await send(document(recorder.url, operation()), {})
    assert str(raised.value).endswith("It says: Down at 3 < 4")


async def test_a_header_of_links_that_never_end_is_read_as_fast_as_any_other(recorder: Recorder) -> None:
    source = document(recorder.url, operation(parameters=[query("page", {"type": "integer"})]))
    links = ("Link", f'<{"<" * 60_000}, <?page=2>; rel="next"')
    recorder.answers = [Answer(headers=(("Content-Type", "application/json"), links)), as_json({})]
    assert "page" in str(await send(source, {}))


@pytest.mark.parametrize(
    "header",
    [
        ("Content-Disposition", f'attachment; filename="{CANARY}.bin"'),
        ("Content-Disposition", f"attachment; filename*=UTF-8''{'x' * 90}{CANARY}.bin"),
        ("Content-Type", f"application/{CANARY}"),
        ("Content-Type", f"image/{CANARY}"),
    ],
)
async def test_a_secret_is_in_no_name_and_no_kind_of_a_file(recorder: Recorder, header: tuple[str, str]) -> None:
    source = document(recorder.url, operation(), **KEYED)
    kind = ("Content-Type", "application/octet-stream")
    recorder.answers = [Answer(content=b"\x00\x01", headers=(header,) if header[0] == kind[0] else (kind, header))]
    toolset = openapi(source, credentials={"own": CANARY})
    async with toolset:
        value = await call(toolset, {})
    assert isinstance(value, FilePart)
    assert CANARY[:6] not in f"{value.name} {value.media_type}"
    assert value.media_type == "application/octet-stream"


@pytest.mark.parametrize("before", range(780, 801, 2))
async def test_no_part_of_a_secret_stays_where_a_service_s_words_are_cut(recorder: Recorder, before: int) -> None:
    recorder.answers = [Answer(status=400, content=f"{'x' * before}{CANARY}".encode(), headers=HTML)]
    toolset = openapi(document(recorder.url, operation(), **KEYED), credentials={"own": CANARY})
    async with toolset:
        with pytest.raises(ToolError) as raised:
            await call(toolset, {})
    assert CANARY[:2] not in str(raised.value).partition("It says")[2].partition("Correct")[0]


async def test_a_secret_that_a_service_puts_into_the_link_to_the_next_page_is_not_shown(recorder: Recorder) -> None:
    source = document(recorder.url, operation(parameters=[query("key", {"type": "string"})]), **KEYED)
    recorder.answer = lambda request: as_json([1], Link=f"<?key={request.header('x-key')}>; rel=next")
    toolset = openapi(source, credentials={"own": CANARY})
    async with toolset:
        assert await call(toolset, {}) == [1]
