"""The engine itself, with the smallest real model."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.connect.models.completing import completed
from wieldy.connect.models.llama import Engine
from wieldy.connect.models.llama_writing import IMPOSSIBLE
from wieldy.connect.models.weights import SMALLEST, find
from wieldy.core.errors import ModelNotAvailableError, RequestRefusedError
from wieldy.grammar import choice, json_schema

pytestmark = pytest.mark.model

ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "item": {"type": "string", "maxLength": 10},
        "count": {"type": "integer", "minimum": 1, "maximum": 9},
        "gift": {"type": "boolean"},
    },
    "required": ["item", "count", "gift"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def engine() -> Engine:
    path = find(SMALLEST)
    assert path is not None
    return Engine(path)


@settings(max_examples=5, deadline=None)
@given(prompt=st.text(st.characters(codec="utf-8"), min_size=1, max_size=40))
def test_json_under_a_schema_can_be_read_whatever_the_prompt(engine: Engine, prompt: str) -> None:
    completion = completed(engine, prompt, max_tokens=60, grammar=json_schema(ORDER))
    assert completion.finish == "stop"
    order = json.loads(completion.text)
    assert list(order) == ["item", "count", "gift"]
    assert 1 <= order["count"] <= 9


def test_a_choice_is_written_letter_for_letter(engine: Engine) -> None:
    completion = completed(engine, "The sky is", max_tokens=20, grammar=choice([" zebra-7", " Größe"]))
    assert completion.text in (" zebra-7", " Größe")


def test_the_pieces_are_told_as_they_come_and_the_listener_can_stop(engine: Engine) -> None:
    pieces: list[str] = []

    def listen(piece: str) -> bool:
        pieces.append(piece)
        return len(pieces) == 3

    completion = completed(engine, "Once upon a time", max_tokens=2000, on_piece=listen)
    assert completion.text == "".join(pieces)
    assert len(completion.tokens) <= 4


def test_what_a_listener_raises_arrives_and_the_engine_goes_on(engine: Engine) -> None:
    def fail(piece: str) -> bool:
        raise KeyError(piece)

    with pytest.raises(KeyError):
        completed(engine, "Once upon a time", max_tokens=50, on_piece=fail)
    assert completed(engine, "1 2 3 4", max_tokens=2).text


def test_weighing_prefers_the_obvious(engine: Engine) -> None:
    weighed = engine.weigh("The capital of France is", [" Paris", " banana", " zebra"]).logprobs
    assert max(weighed, key=lambda option: weighed[option]) == " Paris"
    assert weighed[" Paris"] > -3.0


def test_options_with_a_common_beginning_are_told_apart_where_they_part(engine: Engine) -> None:
    options = [" Parisian", " Paris", " Paris in winter"]
    weighed = engine.weigh("The capital of France is the beautiful city of", options)
    assert weighed.logprobs[" Paris"] > weighed.logprobs[" Paris in winter"]
    assert weighed.usage.requests > 1


def test_options_that_part_at_once_cost_one_token(engine: Engine) -> None:
    usage = engine.weigh("The capital of France is", [" Paris", " the"]).usage
    assert (usage.requests, usage.output_tokens) == (1, 1)


def test_options_are_weighed_also_where_the_likeliest_token_is_a_part_of_a_character(engine: Engine) -> None:
    weighed = engine.weigh("Emoji: 🦕🦖🦕🦖🦕🦖🦕", [" a", "\n"]).logprobs
    assert max(weighed.values()) > IMPOSSIBLE


def test_what_can_hardly_follow_counts_as_impossible_but_has_a_number(engine: Engine) -> None:
    assert engine.weigh("1 2 3", ["🙂"]).logprobs == {"🙂": IMPOSSIBLE}


def test_an_option_named_twice_counts_once(engine: Engine) -> None:
    prompt = "The capital of France is"
    assert engine.weigh(prompt, [" Rome", " Rome"]).logprobs == engine.weigh(prompt, [" Rome"]).logprobs
    assert engine.weigh(prompt, []).logprobs == {}


@pytest.mark.parametrize(
    "ask",
    [
        lambda engine, prompt: completed(engine, prompt, max_tokens=4),
        lambda engine, prompt: engine.weigh(prompt, [" a", " b"]),
        lambda engine, prompt: completed(engine, prompt, max_tokens=40, grammar=choice([" a", " b"])),
    ],
    ids=["complete", "weigh", "complete under a grammar"],
)
def test_a_prompt_that_does_not_fit_is_refused_in_words(engine: Engine, ask: Callable[[Engine, str], object]) -> None:
    with pytest.raises(RequestRefusedError, match=r"too long for the local model.*fewer or smaller tools"):
        ask(engine, "word " * 20_000)
    assert completed(engine, "1 2 3", max_tokens=1).text


@pytest.mark.parametrize("options", [{"prompt": "Hi", "max_tokens": -7}, {"prompt": "\ud800", "max_tokens": 2}])
def test_what_the_engine_does_not_take_is_refused(engine: Engine, options: dict[str, Any]) -> None:
    with pytest.raises(RequestRefusedError, match="does not take this request"):
        completed(engine, **options)


def test_requests_of_several_threads_are_all_answered_as_if_alone(engine: Engine) -> None:
    prompts = [f"{n} plus {n} is" for n in range(2, 8)]
    alone = [completed(engine, prompt, max_tokens=4, grammar=choice([" 4", " six", " 8"])).text for prompt in prompts]
    with ThreadPoolExecutor(6) as threads:
        together = threads.map(
            lambda prompt: completed(engine, prompt, max_tokens=4, grammar=choice([" 4", " six", " 8"])).text, prompts
        )
        assert list(together) == alone


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer guess"}])
def test_the_port_of_the_engine_answers_nobody(engine: Engine, headers: dict[str, str]) -> None:
    # The port is nothing that others should know, so there is no public way to it.
    address = urlsplit(engine._server.listening_address)
    assert address.hostname == "127.0.0.1"
    connection = HTTPConnection(address.hostname, address.port or 0, timeout=10)
    try:
        for method, path in [
            ("POST", "/v1/chat/completions"),
            ("POST", "/completion"),
            ("GET", "/slots"),
            ("GET", "/props"),
        ]:
            connection.request(method, path, body='{"prompt": "Hi"}' if method == "POST" else None, headers=headers)
            answer = connection.getresponse()
            text = answer.read()
            assert answer.status in (401, 404), (path, text)
            assert b"content" not in text
    finally:
        connection.close()


@pytest.mark.parametrize("length", [0, 4, 3_000_000])
def test_weights_that_are_cut_short_are_refused(tmp_path: Path, smallest_model: Path, length: int) -> None:
    file = tmp_path / "cut.gguf"
    with smallest_model.open("rb") as whole:
        file.write_bytes(whole.read(length))
    with pytest.raises(ModelNotAvailableError, match=r"cut\.gguf.*fetch it again"):
        Engine(file)


def run_python(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, timeout=120, check=False
    )


def test_the_engine_prints_nothing(smallest_model: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from wieldy.connect.models.llama import Engine\n"
        "engine = Engine(Path(sys.argv[1]))\n"
        "engine.write('Hi', max_tokens=3, on_token=lambda _: False); engine.weigh('Hi', [' a', ' b'])\n"
        "from wieldy.grammar import choice\n"
        "engine.write('Hi', max_tokens=3, on_token=lambda _: False, grammar=choice([' a', ' b']))\n"
    )
    ended = run_python(program, str(smallest_model))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_without_the_binding_it_says_what_to_install() -> None:
    program = (
        "import sys; from pathlib import Path\n"
        "sys.modules['xllamacpp'] = None\n"
        "from wieldy.connect.models.llama import Engine\n"
        "from wieldy import ModelNotAvailableError\n"
        "try: Engine(Path('any.gguf'))\n"
        "except ModelNotAvailableError as error: print(error)\n"
    )
    ended = run_python(program)
    assert ended.stderr == ""
    assert "pip install 'wieldy[local]', or in a clone: pip install -e '.[local]'" in ended.stdout


LEFT = """
import sys, threading
from pathlib import Path
from wieldy.connect.models.llama import Engine
engine = Engine(Path(sys.argv[1]))
has_begun = threading.Event()
def listen(token):
    has_begun.set()
    return False
work = threading.Thread(
    target=lambda: engine.write("Once upon a time", max_tokens=8000, on_token=listen), daemon=True
)
work.start()
has_begun.wait()
print("leaving")
"""


LEFT_LOADING = """
import sys, anyio
from pathlib import Path
from wieldy.connect.models.local import LocalModel
async def leave():
    model = LocalModel(path=Path(sys.argv[1]))
    async with anyio.create_task_group() as group:
        group.start_soon(model.weigh, "Hi " * 2000, [" a", " b"])
        await anyio.lowlevel.checkpoint()
        group.cancel_scope.cancel()
anyio.run(leave)
print("leaving")
"""


@pytest.mark.parametrize("program", [LEFT, LEFT_LOADING], ids=["writing", "loading"])
def test_a_program_may_end_while_the_engine_works(smallest_model: Path, program: str) -> None:
    ended = run_python(program, str(smallest_model))
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "leaving\n", "")
