"""Arguments between marks: typed on the wire, quoted, with missing closes, and what grammars allow for them."""

from dataclasses import replace
from typing import Any

import pytest

from wieldy.core.calls import InvalidToolCall, ToolCall
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message
from wieldy.formats import Call, Gap, Key, Literal, Name, Section, TaggedArguments, Wire, get
from wieldy.grammar import Matcher, Tokenizer


def tool(**properties: Any) -> dict[str, Any]:
    return {"name": "t", "parameters": {"type": "object", "properties": properties}}


def dsml(*parameters: str) -> str:
    inside = "".join(f"<｜DSML｜parameter {parameter}</｜DSML｜parameter>\n" for parameter in parameters)
    head = '\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="t">\n'
    return f"{head}{inside}</｜DSML｜invoke>\n</｜DSML｜tool_calls>"


def only(name: str, text: str, definition: dict[str, Any]) -> Any:
    (found,) = get(name).parse(text, [definition]).calls
    assert isinstance(found, ToolCall), found
    return found.arguments


@pytest.mark.parametrize(
    ("mark", "text", "schema", "value"),
    [
        ("true", "2", {"type": "integer"}, "2"),
        ("true", "null", {"type": ["string", "null"]}, "null"),
        ("false", "2", {"type": ["string", "integer"]}, 2),
        ("false", "2", {}, 2),
        ("false", "null", {"type": "string"}, None),
        ("false", "2.0", {"type": "integer"}, 2),
        ("false", "Paris", {"type": "string"}, "Paris"),
        ("false", "NaN", {}, "NaN"),
        ("false", "True", {}, True),
        ("false", '{"a": 1, "a": 2}', {}, '{"a": 1, "a": 2}'),
    ],
)
def test_the_wire_says_whether_a_value_is_a_string_and_the_schema_the_rest(
    mark: str, text: str, schema: dict[str, Any], value: Any
) -> None:
    arguments = only("deepseek-v4", dsml(f'name="a" string="{mark}">{text}'), tool(a=schema))

    assert arguments == {"a": value}
    assert type(arguments["a"]) is type(value)


def test_every_type_is_written_with_its_mark_and_accepted_by_the_grammar() -> None:
    kinds = {"type": ["string", "integer", "boolean", "null", "array", "object"]}
    definition = tool(**dict.fromkeys("abcdef", kinds))
    arguments = {"a": "2", "b": 2, "c": True, "d": None, "e": [1], "f": {"x": "y"}}
    message = Message.assistant("", [ToolCall(id="c", name="t", arguments=arguments)])

    for name in ("deepseek-v3.2", "kimi-k3"):
        text = get(name).render_reply(message, [definition])
        assert only(name, text, definition) == arguments
        matcher = Matcher(get(name).grammar([definition]), Tokenizer.of_bytes())
        assert matcher.accept_text(text)
        assert matcher.is_accepting
        wrong = text.replace(">2<", ">x<", 2).replace('"number"<|sep|>2', '"number"<|sep|>x')
        assert not Matcher(get(name).grammar([definition]), Tokenizer.of_bytes()).accept_text(wrong)


@pytest.mark.parametrize(
    "name", ["deepseek-v4", "kimi-k3", "qwen3-coder", "glm-4.5", "step-3", "minicpm-5", "seed-oss"]
)
def test_listed_strings_are_all_that_a_grammar_allows(name: str) -> None:
    definition = tool(unit={"enum": ["kg", "g", 3, None]})
    grammar = get(name).grammar([definition])

    for value, is_listed in (("kg", True), (3, True), (None, True), ("lb", False), (4, False)):
        message = Message.assistant("", [ToolCall(id="c", name="t", arguments={"unit": value})])
        matcher = Matcher(grammar, Tokenizer.of_bytes())
        assert (
            matcher.accept_text(get(name).render_reply(message, [definition])) and matcher.is_accepting
        ) is is_listed


@pytest.mark.parametrize("name", ["qwen3-coder", "glm-4.5", "minimax-m2", "deepseek-v4", "claude-2"])
def test_a_tool_whose_arguments_are_all_left_out_is_called_as_the_grammar_has_it(name: str) -> None:
    definition = tool(a={"type": "string"}, b={"type": "integer"})
    text = get(name).render_reply(Message.assistant("", [ToolCall(id="c", name="t", arguments={})]), [definition])

    matcher = Matcher(get(name).grammar([definition]), Tokenizer.of_bytes())

    assert matcher.accept_text(text)
    assert matcher.is_accepting
    assert only(name, text, definition) == {}


def test_a_nullable_object_keeps_its_schema_in_the_grammar() -> None:
    definition = tool(at={"anyOf": [{"type": "object", "properties": {"x": {"type": "integer"}}}, {"type": "null"}]})
    grammar = get("qwen3-coder").grammar([definition])

    def accepts(value: str) -> bool:
        text = f"<tool_call>\n<function=t>\n<parameter=at>\n{value}\n</parameter>\n</function>\n</tool_call>"
        matcher = Matcher(grammar, Tokenizer.of_bytes())
        return matcher.accept_text(text) and matcher.is_accepting

    assert accepts('{"x": 1}')
    assert accepts("null")
    assert not accepts('{"x": "1"}')


@pytest.mark.parametrize("value", ["a</param>b", "<![CDATA[x", "a & b", "x\ny", "</function>", "plain", ""])
def test_what_xml_cannot_hold_stands_in_quotes_and_comes_back(value: str) -> None:
    definition = tool(a={"type": "string"})
    message = Message.assistant("", [ToolCall(id="c", name="t", arguments={"a": value})])

    text = get("minicpm-5").render_reply(message, [definition])

    assert ("<![CDATA[" in text) is (value not in ("plain", ""))
    assert only("minicpm-5", text, definition) == {"a": value}
    matcher = Matcher(get("minicpm-5").grammar([definition]), Tokenizer.of_bytes())
    assert matcher.accept_text(text)


def test_tags_without_the_mark_of_the_family_are_read() -> None:
    text = '<tool_calls>\n<invoke name="t">\n<parameter name="a" string="true">x</parameter>\n'
    text += '<parameter name="b" string="false">2</parameter>\n</invoke>\n</tool_calls>'

    assert only("deepseek-v4", text, tool(a={"type": "string"}, b={"type": "integer"})) == {"a": "x", "b": 2}


def test_calls_may_stand_without_their_section_and_text_may_follow() -> None:
    one = '<invoke name="t">\n<parameter name="a">x</parameter>\n</invoke>'

    reply = get("minimax-m2").parse(f"First.\n{one}\n{one}\nThen.", [tool(a={"type": "string"})], prompt="")

    assert [type(call) for call in reply.calls] == [ToolCall, ToolCall]
    assert reply.content == "First.\nThen."
    assert reply.problems == ()


def test_a_close_that_is_missing_is_implied_before_an_argument_that_is_still_to_come_only() -> None:
    definition = tool(a={"type": "string"}, b={"type": "string"})

    def read(inside: str) -> Any:
        return (
            get("qwen3-coder")
            .parse(f"<tool_call>\n<function=t>\n{inside}</function>\n</tool_call>", [definition])
            .calls
        )

    (implied,) = read("<parameter=a>\nx\n<parameter=b>\ny\n</parameter>\n")
    assert isinstance(implied, ToolCall)
    assert implied.arguments == {"a": "x", "b": "y"}
    (text,) = read("<parameter=a>\nx\n<parameter=a>\ny\n</parameter>\n")
    assert isinstance(text, ToolCall)
    assert text.arguments == {"a": "x\n<parameter=a>\ny"}


def test_an_argument_that_stands_there_twice_makes_the_call_invalid() -> None:
    (found,) = get("deepseek-v4").parse(dsml('name="a" string="true">x', 'name="a" string="true">y'), [tool()]).calls

    assert isinstance(found, InvalidToolCall)
    assert "each argument once" in found.error


class TestDefinitions:
    """Whoever writes a format of their own hears at once what is missing."""

    @pytest.mark.parametrize(
        ("fields", "missing"),
        [
            ({"open": (Literal("<a>"),), "close": (Literal("</a>"),)}, "one Key"),
            ({"open": (Key(), Literal("=")), "close": (Literal(";"),)}, "one Key"),
            ({"open": (Literal("<"), Key(), Literal(">")), "close": ()}, "`close`"),
            ({"open": (Literal("<"), Key(), Literal(">")), "close": (Literal("/"),), "types": "name"}, "TypeMark"),
        ],
    )
    def test_arguments_that_could_not_be_read_are_refused_when_they_are_defined(
        self, fields: dict[str, Any], missing: str
    ) -> None:
        with pytest.raises(UsageError, match=missing):
            TaggedArguments(**fields)

    def test_a_key_ends_where_the_mark_behind_it_begins(self) -> None:
        arguments = TaggedArguments(
            open=(Literal("@arg "), Key(), Literal("@")), close=(Literal("@end@"),), between=Gap("\n"), after=Gap("\n")
        )
        head = (Literal("<call "), Name(), Literal(">\n"))
        own = replace(
            get("hermes"),
            wire=Wire(calls=Section(call=Call(head=head, arguments=arguments, close=(Literal("</call>"),)))),
        )
        call = ToolCall(id="call_0", name="f", arguments={"opt": "null", "path": ""})

        text = own.render_reply(Message.assistant(calls=[call]))

        assert [read.arguments for read in own.parse(text).calls if isinstance(read, ToolCall)] == [call.arguments]
