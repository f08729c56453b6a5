"""`wieldy serve` as a process."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")
openai = pytest.importorskip("openai", reason="openai is not installed")

BOUND_S = 60


@contextmanager
def serving(*words: str, environment: dict[str, str]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Where the server says that it listens, and what it says of requests, once it has ended well."""
    command = [sys.executable, "-W", "error", "-m", "wieldy.apps.cli.main", "serve", "--port", "0", "--json", *words]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            lines: list[str] = []
            yield json.loads(process.stdout.readline()), lines
            process.send_signal(signal.SIGTERM)
            lines += process.communicate(timeout=BOUND_S)[1].splitlines()
            assert process.returncode == 0
        finally:
            process.kill()


def test_a_client_and_an_agent_use_it_in_front_of_a_server_with_keys_on_both_sides(
    serve: Callable[..., Any], wieldy: Callable[..., Any], tools_file: Path, environment: dict[str, str]
) -> None:
    wrong, right = [("find_order", {"order": "17"})], [("find_order", {"order_id": "17"})]
    behind = serve([wrong, right, wrong, right, "It is shipped."])
    environment = {**environment, "BEHIND": "behind-key", "FRONT": "front-key-of-16-or-more"}
    words = ("--upstream", behind.model, "--upstream-key-env", "BEHIND", "--key-env", "FRONT")
    schema = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
    tool = {"type": "function", "function": {"name": "find_order", "parameters": schema}}
    with serving(*words, environment=environment) as (told, lines):
        assert (told["type"], told["model"]) == ("listening", "scripted")
        client = openai.OpenAI(base_url=told["url"], api_key="front-key-of-16-or-more")
        answer = client.chat.completions.create(
            model="scripted", messages=[{"role": "user", "content": "17"}], tools=[tool]
        )
        (made,) = answer.choices[0].message.tool_calls
        assert json.loads(made.function.arguments) == {"order_id": "17"}
        keys = {"OPENAI_BASE_URL": told["url"], "OPENAI_API_KEY": "front-key-of-16-or-more"}
        ran = wieldy("run", "Where is 17?", "--model", "openai:scripted", "--tools", tools_file, "--json", **keys)
        done = [json.loads(line) for line in ran.stdout.splitlines()]
        assert [line.get("is_error") for line in done if line["type"] == "result"] == [False]
        assert done[-1]["text"] == "It is shipped."
        with pytest.raises(openai.AuthenticationError):
            openai.OpenAI(base_url=told["url"], api_key="none").models.list()
    first, *_, last = map(json.loads, lines)
    assert (first["status"], first["calls"], first["retries"], first["model"]) == (200, 1, 1, "scripted")
    assert (last["path"], last["status"]) == ("/v1/models", 401)
    assert len(behind.requests) == 5


@pytest.mark.model
def test_the_smallest_model_is_held_to_right_calls(smallest_model: Path, environment: dict[str, str]) -> None:
    schema = {"type": "object", "properties": {"unit": {"enum": ["C", "F"]}}, "required": ["unit"]}
    tool = {"type": "function", "function": {"name": "weather", "parameters": schema}}
    with serving("--model", f"local:{smallest_model}", environment=environment) as (told, _):
        client = openai.OpenAI(base_url=told["url"], api_key="none")
        stream = client.chat.completions.create(
            model=told["model"],
            messages=[{"role": "user", "content": "How warm?"}],
            tools=[tool],
            tool_choice="required",
            max_tokens=40,
            stream=True,
        )
        deltas = [chunk.choices[0].delta for chunk in stream]
        (made,) = [each for delta in deltas for each in delta.tool_calls or []]
        assert json.loads(made.function.arguments)["unit"] in ("C", "F")
        asked = {"model": told["model"], "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}
        first, second = (client.chat.completions.create(**asked).usage for _ in range(2))
        assert first.prompt_tokens == second.prompt_tokens > second.prompt_tokens_details.cached_tokens > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "local", "--upstream", "http://127.0.0.1:9/v1"), "found both"),
        (("--upstream", "http://127.0.0.1:9/v1#m", "--host", "0.0.0.0"), "Expected keys"),
        (("--upstream", "http://127.0.0.1:9/v1#m", "--key-env", "NOBODY_SET_THIS"), "'NOBODY_SET_THIS'"),
        (("--upstream-key-env", "X"), "expected --upstream beside it"),
        (("--upstream", "ftp://x"), "http"),
    ],
)
def test_what_cannot_be_served_is_said_before_anything_listens(
    words: tuple[str, ...], said: str, wieldy: Callable[..., Any]
) -> None:
    done = wieldy("serve", "--port", "0", *words)
    assert done.returncode == 2
    assert said in done.stderr
    assert not done.stdout
