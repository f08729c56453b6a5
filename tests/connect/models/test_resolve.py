"""Model strings."""

from __future__ import annotations

import subprocess
import sys

import pytest

from wieldy.connect.models.anthropic import AnthropicModel
from wieldy.connect.models.openai import OpenAIModel
from wieldy.connect.models.resolve import resolve
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message
from wieldy.core.ports import ModelRequest
from wieldy.testing import ScriptedModel

HELLO = ModelRequest(messages=[Message.user("Hello")])


@pytest.fixture(autouse=True)
def no_settings(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_a_model_is_given_back_as_it_is():
    model = ScriptedModel([])
    assert resolve(model) is model


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("http://127.0.0.1:8000/v1#org/model", "http://127.0.0.1:8000/v1#org/model"),
        ("https://h/v1/chat/completions#m", "https://h/v1#m"),
        (" http://h/v1/ # m ", "http://h/v1#m"),
        ("http://h/v1", "http://h/v1"),
        ("http://h/v1#", "http://h/v1"),
        ("http://ann:secret@h:1/v1#a#b", "http://h:1/v1#a#b"),
        ("HTTP://H/v1#M", "http://H/v1#M"),
        ("http://[::1]:8000/v1#m", "http://[::1]:8000/v1#m"),
    ],
)
def test_an_address_names_a_server(text, name):
    model = resolve(text)
    assert isinstance(model, OpenAIModel)
    assert model.name == name


def test_providers_take_their_key_from_the_environment(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-2")
    openai, anthropic = resolve("openai:gpt-x"), resolve("anthropic:claude-x")
    assert isinstance(openai, OpenAIModel)
    assert isinstance(anthropic, AnthropicModel)
    assert (openai.name, anthropic.name) == ("openai:gpt-x", "anthropic:claude-x")


@pytest.mark.anyio
async def test_another_server_may_stand_in_for_openai(server, ask, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")
    server.will(server.saying("a"), server.saying("b"))
    await ask(resolve("openai:m"), HELLO)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    await ask(resolve("openai:m"), HELLO)
    first, second = server.requests
    assert "authorization" not in first.headers
    assert second.headers["authorization"] == "Bearer sk-1"


@pytest.mark.anyio
async def test_a_key_for_openai_is_not_sent_to_a_server_that_is_named_by_its_address(server, ask, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    server.will(server.saying("a"))
    await ask(resolve(f"{server.url}/v1#m"), HELLO)
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Expected a model as one of local, .*; found ''"),
        ("gpt-5", "Did you mean 'openai:gpt-5'"),
        ("claude-opus", "Did you mean 'anthropic:claude-opus'"),
        ("locla", "Did you mean 'local'"),
        ("antropic:x", "Did you mean 'anthropic:x'"),
        ("openai", "Did you mean 'openai:NAME'"),
        ("openai: ", "Did you mean 'openai:NAME'"),
        ("localhost:8000/v1", "Did you mean 'http://localhost:8000/v1'"),
        ("model.gguf", "Did you mean 'local:model.gguf'"),
        ("http:/h/v1", "Did you mean 'http://HOST:PORT/v1#NAME'"),
        ("openai:gpt-x", "set OPENAI_API_KEY"),
        ("anthropic:claude-x", "set ANTHROPIC_API_KEY"),
        ("local:", "Expected a path after 'local:'"),
        ("local:/no/such/file.gguf", "Expected a file of weights"),
        ("local:\0.gguf", "Expected a file of weights|cannot be read"),
        ("local:~no-such-user/x.gguf", "cannot be read"),
        ("http://", "Expected an address"),
        ("http://h:99999/v1#m", "cannot be read"),
        ("http://h/v1?key=1#m", r"without a '\?'"),
        ("http://[::1/v1#m", "cannot be read"),
        ("http://a b/v1#m", "Expected an address"),
        (None, "found NoneType"),
        (5, "found int"),
        (ScriptedModel, "found the class ScriptedModel"),
        (object(), "found object"),
    ],
)
def test_what_names_no_model_is_refused_with_what_is_understood(text, words):
    with pytest.raises(UsageError, match=words):
        resolve(text)


@pytest.mark.parametrize("key", ["sk-1\nsk-2", "sk 1", "schlüssel", "sk-\x00"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(key):
    with pytest.raises(UsageError, match="Copy it again") as caught:
        OpenAIModel("m", api_key=key)
    assert key not in str(caught.value)


def test_blanks_around_a_key_do_no_harm(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "  sk-1\n")
    assert resolve("openai:m").name == "openai:m"


def test_reading_a_string_loads_no_client_before_it_is_needed():
    code = "import sys, wieldy.connect.models.resolve; print('httpx2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
