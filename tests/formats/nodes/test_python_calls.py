"""Python's calls as formats read and write them."""

import ast
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.core.messages import Message
from wieldy.formats import get
from wieldy.formats.events import Reply, reply_of
from wieldy.grammar import Matcher, Tokenizer

BYTES = Tokenizer.of_bytes()


def tool(name: str, properties: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "parameters": {"type": "object", "properties": properties, **more}}


WEATHER = tool("get_weather", {"city": {"type": "string"}, "days": {"type": "integer"}})
ANY = tool("take", {"value": {}})
TOOLS = [WEATHER, ANY]


def read(text: str, name: str = "lfm2", tools: list[dict[str, Any]] = TOOLS) -> Reply:
    """The reply, fed letter by letter after it has been seen to be the same as a whole."""
    whole = get(name).parse(text, tools)
    parser = get(name).parser(tools)
    events = [event for letter in text for event in parser.feed(letter)]
    assert reply_of([*events, *parser.close()], parser.spans) == whole
    return whole


def arguments(text: str, name: str = "lfm2", tools: list[dict[str, Any]] = TOOLS) -> Any:
    """The arguments of the only call in a list of one."""
    around = {"lfm2": "<|tool_call_start|>[{}]<|tool_call_end|>", "pythonic": "[{}]", "markers": "[[{}]]"}[name]
    (call,) = read(around.replace("{}", text), name, tools).calls
    return call.arguments if isinstance(call, ToolCall) else call.error


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(values)
def test_what_python_shows_of_a_value_is_read_as_python_reads_it(value: Any) -> None:
    assert json.dumps(arguments(f"take(value={value!r})")) == json.dumps({"value": ast.literal_eval(repr(value))})


@given(values)
def test_what_is_written_is_read_by_python_too(value: Any) -> None:
    call = ToolCall(id="c", name="take", arguments={"value": value})
    text = get("lfm2").render_reply(Message.assistant(calls=[call]), [ANY])

    written = text.removeprefix("<|tool_call_start|>[take(value=").removesuffix(")]<|tool_call_end|>")
    assert ast.literal_eval(written) == value
    assert [found.arguments for found in read(text).calls if isinstance(found, ToolCall)] == [{"value": value}]


@given(st.text("ab '\"\\\nnxuU018rN{}"))
def test_any_text_between_quotes_that_python_takes_means_what_it_means_to_python(inside: str) -> None:
    for quote in ("'", '"', "'''", '"""'):
        literal = f"{quote}{inside}{quote}"
        try:
            meant = ast.literal_eval(literal)
        except (SyntaxError, ValueError):
            continue
        if "\\N" not in inside and isinstance(meant, str):
            assert arguments(f"take(value={literal})") == {"value": meant}


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("True", True),
        ("false", False),
        ("None", None),
        ("null", None),
        ("-3", -3),
        ("+3", 3),
        ("0x1F", 31),
        ("1_000", 1000),
        (".5", 0.5),
        ("2.", 2.0),
        ("1E3", 1000.0),
        ("(1, 'a')", [1, "a"]),
        ("(1,)", [1]),
        ("(1)", 1),
        ("()", []),
        ("('a' \"b\")", "ab"),
        ("[1, 2,]", [1, 2]),
        ("{'a': {'b': [None]},}", {"a": {"b": [None]}}),
        (r"r'\d+\''", r"\d+\'"),
        (r"'C:\Users\me'", r"C:\Users\me"),
        (r"'\ud83d\ude00'", "😀"),
        (r"'\x41\102\u0043\U00000044'", "ABCD"),
        ("'two\nlines'", "two\nlines"),
        ("'''it's'''", "it's"),
        ("''", ""),
    ],
)
def test_literals_of_python_and_json(literal: str, value: Any) -> None:
    assert arguments(f"take(value={literal})") == {"value": value}


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("get_weather(city=Paris)", "expected a string in quotes"),
        ("take(value=1 + 2)", "expected ',' or ')', found '+ 2)"),
        ("take(value=f('x'))", "expected a string in quotes"),
        ("take(value={1: 2})", "expected a member's name in quotes"),
        ("take(value={'a' 1})", "expected ':'"),
        ("take(value=[1 2])", "expected ',' or ']'"),
        ("take(value=[1,,2])", "expected a string in quotes"),
        ("take(value=nan)", "expected a string in quotes"),
        ("take(value=1e999)", "too large for a number"),
        ("take(value=007)", "expected a string in quotes"),
        ("take(value='a', value='b')", "each argument once, not 'value' again"),
        ("take(1, 2)", "the name of an argument and '='"),
        ("take(value=", "expected a string in quotes"),
        ("take(value='a", "expected the end of a string"),
        ("take(value='a\\", "expected the end of a string"),
        ("take(value=" + "[" * 300 + "]" * 300 + ")", "at most 200 nested brackets"),
        ("get_weather(**{'city': 'a'})", "expected a string in quotes"),
    ],
)
def test_what_is_no_call_is_told_and_never_run(call: str, error: str) -> None:
    (found,) = read(f"<|tool_call_start|>[{call}]<|tool_call_end|>").calls

    assert isinstance(found, InvalidToolCall)
    assert error in found.error


def test_strings_are_passed_on_before_they_end() -> None:
    parser = get("lfm2").parser(TOOLS)
    parser.feed("<|tool_call_start|>[get_weather(city='Par")

    assert "is" in str(parser.feed("is"))


def test_arguments_without_a_name_take_the_names_of_the_schema() -> None:
    assert arguments("get_weather('Paris', 2)") == {"city": "Paris", "days": 2}
    assert arguments("get_weather('Paris', days=2)") == {"city": "Paris", "days": 2}
    assert "each argument once" in arguments("get_weather(2, city='x')")


def test_names_that_python_cannot_have_are_those_of_the_schema() -> None:
    odd = tool("odd", {"a b": {"type": "integer"}, "c=d": {"type": "string"}, "e'": {}})
    call = ToolCall(id="c", name="odd", arguments={"a b": 1, "c=d": "x", "e'": [2]})
    text = get("lfm2").render_reply(Message.assistant(calls=[call]), [odd])

    assert [found.arguments for found in read(text, tools=[odd]).calls if isinstance(found, ToolCall)] == [
        call.arguments
    ]


def test_a_comma_may_be_missing_before_a_name() -> None:
    assert arguments('get_weather(city="Paris"days=2)') == {"city": "Paris", "days": 2}
    assert "expected ',' or ')'" in arguments("get_weather(city='Paris' 2)")


def test_calls_may_be_laid_out_over_many_lines() -> None:
    text = "[\n  get_weather(\n    city='Paris',\n    days = 2,\n  ),\n  take(value={\n'a': 1}),\n]"

    made = [(call.name, call.arguments) for call in read(text, "pythonic").calls if isinstance(call, ToolCall)]
    assert made == [("get_weather", {"city": "Paris", "days": 2}), ("take", {"value": {"a": 1}})]


class TestTextWithoutQuotes:
    """What a format reads that tolerates it."""

    @pytest.mark.parametrize("name", ["pythonic", "markers"])
    @pytest.mark.parametrize(
        ("call", "expected"),
        [
            ("get_weather(city=Paris, days=2)", {"city": "Paris", "days": 2}),
            ("get_weather(city=Paris, France, days=2)", {"city": "Paris, France", "days": 2}),
            ("get_weather(city=2)", {"city": "2"}),
            ("get_weather(city=True )", {"city": "True"}),
            ("get_weather(days=2.5)", {"days": 2.5}),
            ("get_weather(city=it's)", {"city": "it's"}),
            ("take(value=2)", {"value": 2}),
            ("take(value=two)", {"value": "two"}),
            ("get_weather(city='Paris, France')", {"city": "Paris, France"}),
        ],
    )
    def test_is_a_text_or_what_the_schema_wants(self, name: str, call: str, expected: dict[str, Any]) -> None:
        assert arguments(call, name) == expected

    def test_needs_a_name_before_it_and_an_end(self) -> None:
        assert "expected a string in quotes" in arguments("get_weather(Paris)", "markers")
        assert "expected a value" in arguments("get_weather(city=)", "markers")
        assert "the end of the call" in arguments("get_weather(city=Paris", "markers")

    @pytest.mark.parametrize("name", ["pythonic", "markers"])
    @pytest.mark.parametrize(
        ("call", "error"),
        [
            ("get_weather(city=lookup('x'))", "expected a string in quotes, a number"),
            ("get_weather(city=lookup('x'), days=2)", "found 'lookup('"),
            ("get_weather(city=Paris (France))", "found 'Paris ('"),
            ("take(value=lookup())", "found 'lookup('"),
            ("get_weather(days=two)", "expected a value of type integer, found 'two'"),
            ("get_weather(days=1+1)", "expected a value of type integer, found '1+1'"),
            ("get_weather(days=1city=2)", "found '1city=2'"),
            ("add(a=1b=2.5)", "expected a value of type integer or number, found '1b=2.5'"),
            ("add(a=b, list=c)", "found 'b'"),
            ("add(list=c)", "expected a value of type array, found 'c'"),
            ("add(choice=c)", "expected a value of type integer or null, found 'c'"),
            ("add(nothing=c)", "for nothing fits"),
            ("add(a=" + "x" * 9000 + ")", "found 'xxxxxxxxxxxxxxxxxxxxxxxx'"),
        ],
    )
    def test_is_never_an_expression_or_a_value_of_another_kind(self, name: str, call: str, error: str) -> None:
        add = tool(
            "add",
            {
                "a": {"type": "number"},
                "b": {"type": "number"},
                "list": {"type": "array"},
                "choice": {"enum": [1, None]},
                "nothing": False,
            },
        )

        found = arguments(call, name, [WEATHER, ANY, add])

        assert isinstance(found, str)
        assert error in found


class TestListsWithoutAMark:
    """What tells Python calls from text."""

    @pytest.mark.parametrize(
        "text",
        [
            "[]",
            "[1, 2]",
            "[get_weather]",
            "[1](get_weather(",
            "See [get_weather(city='a')]",
            "[unknown(x=1)]",
            "[get_weather (city='a')]",
        ],
    )
    def test_text_with_brackets_is_text(self, text: str) -> None:
        assert read(text, "pythonic").content == text
        assert read(text, "pythonic").calls == ()

    def test_text_before_between_and_behind_is_kept(self) -> None:
        reply = read("Sure:\n[get_weather(city='a')]\nAnd\n[take(value=1)]\nDone", "pythonic")

        assert reply.content.split() == ["Sure:", "And", "Done"]
        assert [call.name for call in reply.calls] == ["get_weather", "take"]

    def test_a_call_that_cannot_be_read_spoils_the_list(self) -> None:
        reply = read("[take(value=1), get_weather(city='Par", "pythonic")

        assert [type(call) for call in reply.calls] == [InvalidToolCall, InvalidToolCall]
        first = reply.calls[0]
        assert isinstance(first, InvalidToolCall)
        assert first.text == "take(value=1)"
        assert "the list in which it stands" in first.error

    def test_a_list_that_ends_within_a_name_is_not_made(self) -> None:
        reply = read("[take(value=1), get_weat", "pythonic")

        assert [type(call) for call in reply.calls] == [InvalidToolCall]

    def test_a_list_that_is_not_closed_has_its_calls_and_a_problem(self) -> None:
        reply = read("[take(value=1), take(value=2)", "pythonic")

        assert [type(call) for call in reply.calls] == [ToolCall, ToolCall]
        assert [problem.expected for problem in reply.problems] == ["a call or ']'"]


def test_brackets_of_prose_are_no_markers() -> None:
    text = "See [[Paris]] and [[a b]]."

    assert read(text, "markers").content == text


def test_markers_of_an_unknown_tool_are_a_call() -> None:
    (call,) = read("[[ wether(city='a') ]]", "markers").calls

    assert call.name == "wether"


SCHEMA = {
    "text": {"type": "string", "minLength": 1, "maxLength": 3},
    "count": {"type": "integer", "minimum": 0},
    "choice": {"enum": ["a'b", 2, None, True]},
    "either": {"anyOf": [{"type": "boolean"}, {"type": "null"}, {"const": "auto"}]},
    "pairs": {"type": "array", "items": {"$ref": "#/$defs/Pair"}, "maxItems": 2},
    "free": {"type": "object", "additionalProperties": {"type": "number"}},
    "any": {},
}
PAIR = {
    "type": "object",
    "properties": {"left": {"type": "integer"}, "rest": {"$ref": "#/$defs/Pair"}},
    "required": ["left"],
}
RICH = tool("rich", SCHEMA, required=["count"], **{"$defs": {"Pair": PAIR}})


@pytest.mark.parametrize("name", ["pythonic", "lfm2"])
@pytest.mark.parametrize(
    ("inside", "is_allowed"),
    [
        ("count=1", True),
        ("text='abc', count=1", True),
        ("text='\\'', count=1", True),
        ("count=1, choice='a\\'b'", True),
        ("count=1, choice=None, either='auto'", True),
        ("count=1, either=True, pairs=[{'left': 1, 'rest': {'left': 2}}, {'left': 3}]", True),
        ("count=1, free={'a': 1.5, 'b': 2}, any=[{'k': [None, True]}]", True),
        ("count=1, pairs=[]", True),
        ("", False),
        ("text='abc'", False),
        ("count=1, text='a'", False),
        ("text='abcd', count=1", False),
        ("text='', count=1", False),
        ('text="a", count=1', False),
        ("count=-1", False),
        ("count=1, choice='c'", False),
        ("count=1, either=true", False),
        ("count=1, pairs=[{'rest': {'left': 2}}]", False),
        ("count=1, pairs=[{'left': 1}, {'left': 1}, {'left': 1}]", False),
        ("count=1, free={'a': 'x'}", False),
        ("count=1, other=2", False),
    ],
)
def test_grammars_allow_what_the_schema_does(name: str, inside: str, is_allowed: bool) -> None:
    around = {"pythonic": "[{}]", "lfm2": "<|tool_call_start|>[{}]<|tool_call_end|>"}[name]
    matcher = Matcher(get(name).grammar([RICH]), BYTES)

    accepted = (
        all(matcher.accept_token(byte) for byte in around.replace("{}", f"rich({inside})").encode())
        and matcher.is_accepting
    )

    assert accepted is is_allowed
