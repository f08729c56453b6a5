from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner
from typer.testing import Result as ClickResult

from wieldy.apps.cli.formats_probes import losses_of, portrait_of
from wieldy.apps.cli.formats_reading import ReplyText
from wieldy.apps.cli.main import app
from wieldy.formats import get, names
from wieldy.formats.events import Reply

Result = subprocess.CompletedProcess[str]
Wieldy = Callable[..., Result]

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city.",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
            "required": ["city"],
        },
    },
}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Łódź \\"a\\"", "days": 2}}\n</tool_call>'
REPLY = f"<think>\nHm.\n</think>\n\nI look.\n{CALL}\n<tool_call>\n{{"
QUESTION = {"role": "user", "content": "Weather?"}
ANSWER = {
    "role": "assistant",
    "content": "I look.",
    "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
    ],
}
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content or '' }}{% for c in m.tool_calls or [] %}"
    '\n<tool_call>\n{"name": "{{ c.function.name }}", "arguments": {{ c.function.arguments | tojson }}}\n</tool_call>'
    "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str, object], str]:
    """Writes a file in the folder where the command runs, and gives its name."""

    def write(name: str, content: object) -> str:
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return name

    return write


Here = Callable[..., ClickResult]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Here:
    """Runs the command within this process, which is quick; JSON lines need a process of their own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, stdin: str = "") -> ClickResult:
        return CliRunner().invoke(app, arguments, input=stdin)

    return run


@pytest.fixture
def tools(written: Callable[[str, object], str]) -> str:
    return written("tools.json", [TOOL])


def test_every_format_is_listed_with_its_models(here: Here) -> None:
    result = here("formats", "list", "--json")

    assert result.exit_code == 0
    assert json.loads(result.stdout) == {"formats": [{"name": name, "models": get(name).models} for name in names()]}
    lines = here("formats", "list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(names())


def test_a_reply_is_told_in_full(wieldy: Wieldy, tools: str) -> None:
    result = wieldy("formats", "parse", "hermes", "--tools", tools, "--json", stdin=REPLY)

    said = json.loads(result.stdout)
    assert result.returncode == 0
    assert (said["reasoning"], said["content"]) == ("Hm.", "I look.")
    assert said["calls"][0] == {
        "id": "call_0",
        "name": "get_weather",
        "arguments": {"city": 'Łódź "a"', "days": 2},
        "provider_id": None,
    }
    broken = said["calls"][1]
    assert (broken["invalid"], broken["text"]) == (True, "<tool_call>\n{")
    assert "expected" in broken["error"]
    assert "arguments" not in broken
    assert [span["start"] for span in said["spans"]][1:] == [span["end"] for span in said["spans"]][:-1]
    assert said["spans"][-1]["end"] == len(REPLY)


def test_the_size_of_the_pieces_does_not_matter(wieldy: Wieldy, tools: str) -> None:
    whole = wieldy("formats", "parse", "hermes", "--tools", tools, "--json", stdin=REPLY)
    pieces = wieldy("formats", "parse", "hermes", "--tools", tools, "--json", "--split", "1", stdin=REPLY)

    assert pieces.stdout == whole.stdout


def test_events_are_one_object_a_line_and_grow_with_the_text(wieldy: Wieldy, tools: str) -> None:
    result = wieldy("formats", "parse", "hermes", "--tools", tools, "--events", "--split", "5", stdin=REPLY)

    events = [json.loads(line) for line in result.stdout.splitlines()]
    kinds = [event["type"] for event in events]
    assert sorted(set(kinds)) == ["arguments", "call", "call_opened", "invalid_call", "reasoning", "text"]
    streamed = "".join(event["text"] for event in events if event["type"] == "arguments")
    assert json.loads(streamed) == next(event["arguments"] for event in events if event["type"] == "call")
    assert kinds.count("arguments") > 3


def test_a_conversation_that_was_written_is_read_back(
    here: Here, tools: str, written: Callable[[str, object], str]
) -> None:
    messages = written("messages.json", [QUESTION, ANSWER])

    text = here("formats", "render", "glm-4.7", "--messages", messages, "--tools", tools).stdout
    said = here("formats", "parse", "glm-4.7", "--tools", tools, stdin=text).stdout

    assert [line.split(maxsplit=1) for line in said.splitlines()] == [
        ["text", "I look."],
        ["call_0", 'get_weather(city="Oslo")'],
    ]


def test_a_rendering_is_exact_on_a_pipe_and_goes_on_to_the_assistant_only_when_asked(
    wieldy: Wieldy, here: Here
) -> None:
    asked = wieldy("formats", "render", "hermes", "--messages", "-", stdin=json.dumps("Hello"))
    bare = here("formats", "render", "hermes", "--messages", "-", "--no-generation-prompt", stdin=json.dumps("Hello"))
    as_json = wieldy("formats", "render", "hermes", "--messages", "-", "--json", stdin=json.dumps("Hello"))

    assert asked.stdout == get("hermes").render("Hello", generation_prompt=True)
    assert bare.stdout == get("hermes").render("Hello", generation_prompt=False) != asked.stdout
    assert json.loads(as_json.stdout) == {"format": "hermes", "text": asked.stdout}


def test_tools_may_be_written_in_python(here: Here, tools_file: Path) -> None:
    text = '<tool_call>\n{"name": "find_order", "arguments": {"order_id": "7"}}\n</tool_call>'

    result = here("formats", "parse", "hermes", "--tools", str(tools_file), stdin=text)

    assert result.stdout == 'call_0      find_order(order_id="7")\n'


def test_what_a_model_wrote_can_do_nothing_to_a_terminal(here: Here) -> None:
    result = here("formats", "parse", "hermes", stdin="a\x1b[2Jb\x07")

    assert "\x1b" not in result.stdout
    assert "\x07" not in result.stdout


def test_reasoning_that_the_prompt_opened_is_reasoning(wieldy: Wieldy) -> None:
    result = wieldy("formats", "parse", "hermes", "--json", "--prompt", "<think>\n", stdin="Hm.\n</think>\n\nYes.")

    said = json.loads(result.stdout)
    assert (said["reasoning"], said["content"]) == ("Hm.", "Yes.")


def test_bytes_that_are_no_text_are_replaced_and_told(wieldy: Wieldy) -> None:
    result = wieldy("formats", "parse", "hermes", "--json", stdin="a\udcffb")

    assert json.loads(result.stdout)["content"] == "a\ufffdb"
    assert "UTF-8" in result.stderr


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("chat_template.jinja", TEMPLATE),
        ("tokenizer_config.json", {"chat_template": TEMPLATE, "eos_token": {"content": "<|im_end|>"}}),
        ("settings.json", {"chat_template": [{"name": "default", "template": TEMPLATE}]}),
    ],
)
def test_the_format_of_a_template_is_found(
    here: Here, written: Callable[[str, object], str], name: str, content: object
) -> None:
    file = written(name, content)

    assert here("formats", "detect", file).stdout == "hermes\n"
    assert json.loads(here("formats", "detect", file, "--json").stdout) == {"name": "hermes"}


def test_a_template_whose_format_nobody_knows_ends_with_1(here: Here, written: Callable[[str, object], str]) -> None:
    result = here("formats", "detect", written("t.jinja", "{% for m in messages %}{{ m.content }}{% endfor %}"))

    assert (result.exit_code, result.stdout) == (1, "")
    assert "shows no calls" in result.stderr


def test_show_has_examples_a_grammar_and_what_is_lost(here: Here) -> None:
    result = here("formats", "show", "qwen3-coder", "--json")

    shown = json.loads(result.stdout)
    assert shown["name"] == "qwen3-coder"
    assert "<function=get_weather>" in shown["examples"]["one call"]
    assert shown["examples"]["two calls"].count("<function=get_weather>") == 2
    assert shown["examples"]["text and a call"].startswith("I look it up.")
    assert "<function=list_cities>" in shown["examples"]["a call without arguments"]
    assert shown["grammar"].startswith("start: ")
    assert {"ids", "text behind a call", 'the text "2" beside the number 2, without a schema'} <= {
        loss["of"] for loss in shown["does_not_round_trip"]
    }
    for_people = here("formats", "show", "qwen3-coder").stdout
    assert "What does not round-trip" in for_people
    assert "    <function=get_weather>" in for_people
    assert "start: " not in for_people
    assert "start: " in here("formats", "show", "qwen3-coder", "--grammar").stdout


@pytest.mark.parametrize("name", names())
def test_every_format_can_be_shown_and_carries_one_call(name: str) -> None:
    portrait = portrait_of(get(name))

    assert "get_weather" in portrait.examples["one call"]
    assert portrait.grammar
    assert all(loss.lost for loss in portrait.losses)


def test_json_has_no_trouble_with_closing_marks_where_raw_values_do() -> None:
    of = "a value that contains what ends a call"

    assert not [loss for loss in losses_of(get("hermes")) if loss.of.startswith(of)]
    assert [loss for loss in losses_of(get("glm-4.7")) if loss.of.startswith(of)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("formats", "show", "hermess"), "did you mean 'hermes'"),
        (("formats", "parse", "hermes", "--tools", "missing.json"), "missing.json"),
        (("formats", "parse", "hermes", "--tools", "missing.py"), "missing.py"),
        (("formats", "parse", "hermes", "--tools", "-"), "twice"),
        (("formats", "parse", "hermes", "--split", "0"), "--split"),
        (("formats", "parse", "hermes", "--tools", "bytes.json"), "UTF-8"),
        (("formats", "parse", "hermes", "--tools", "number.json"), "list"),
        (("formats", "parse", "hermes", "--tools", "numbers.json"), "tools[0]"),
        (("formats", "parse", "hermes", "--tools", "deep.json"), "nested"),
        (("formats", "parse", "hermes", "--tools", "text.json"), "JSON"),
        (("formats", "parse", "hermes", "--tools", "empty.json"), "JSON"),
        (("formats", "render", "hermes"), "--messages"),
        (("formats", "render", "hermes", "--messages", "number.json"), "list"),
        (("formats", "render", "hermes", "--messages", "numbers.json"), "messages[0]"),
        (("formats", "render", "hermes", "--messages", "calls.json"), "tool_calls"),
        (("formats", "render", "hermes", "--messages", "nan.json"), "NaN"),
        (("formats", "detect", "missing.jinja"), "missing.jinja"),
        (("formats", "detect", "bytes.json"), "UTF-8"),
        (("formats", "detect", "text.json"), "JSON"),
        (("formats", "detect", "empty.json"), "nothing"),
        (("formats", "detect", "object.json"), "chat_template"),
        (("formats", "detect", "number_template.json"), "int"),
        (("formats", "detect", "open.jinja"), "open.jinja"),
        (("formats", "detect", "folder"), "tokenizer_config.json"),
        (("formats", "nonsense"), "nonsense"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_what_is_wrong(
    written: Callable[[str, object], str],
    tmp_path: Path,
    here: Here,
    arguments: tuple[str, ...],
    said: str,
) -> None:
    (tmp_path / "folder").mkdir()
    written("bytes.json", b"\xff\xfe\x00[")
    written("number.json", 5)
    written("numbers.json", [5])
    written("deep.json", "[" * 200_000)
    written("text.json", "hello {")
    written("empty.json", "")
    written("calls.json", [{"role": "assistant", "tool_calls": 5}])
    written("nan.json", '[{"role": "user", "content": NaN}]')
    written("object.json", {})
    written("number_template.json", {"chat_template": 5})
    written("open.jinja", "{% for m in messages %}")

    result = here(*arguments)

    assert result.exit_code == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert "fault in wieldy" not in result.stderr


def test_a_model_file_that_is_none_ends_with_1(here: Here, written: Callable[[str, object], str]) -> None:
    result = here("formats", "detect", written("model.gguf", b"GGUF" + bytes(50)))

    assert result.exit_code == 1
    assert "GGUF" in result.stderr
    assert "Traceback" not in result.stderr


@settings(max_examples=30, deadline=None)
@given(
    text=st.text(max_size=60)
    | st.sampled_from([REPLY, CALL, f"<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n{CALL}"])
)
def test_reading_in_pieces_says_the_same_for_any_text(text: str) -> None:
    def read(split: int | None) -> Reply:
        return ReplyText(get("hermes"), text, tools=[TOOL], prompt=None, split=split).reply()

    assert read(1) == read(2) == read(None) == get("hermes").parse(text, [TOOL])


def test_an_empty_reply_says_nothing(wieldy: Wieldy) -> None:
    result = wieldy("formats", "parse", "hermes", "--json", stdin="")

    said: dict[str, Any] = json.loads(result.stdout)
    assert (said["content"], said["reasoning"], said["calls"], said["spans"]) == ("", "", [], [])
