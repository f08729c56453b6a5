"""What each kind of server is asked to enforce, in which fields, and what it is said not to enforce."""

from __future__ import annotations

import json
import re
from typing import Any

import openai
import pytest
from openai.types.chat import ChatCompletionFunctionToolParam
from openai.types.shared_params import ResponseFormatJSONSchema
from pydantic import BaseModel, TypeAdapter

from wieldy.connect.models.backends import BACKENDS, Asked, backend_named
from wieldy.connect.models.backends.plan import Plan, merged, plan_of
from wieldy.core.calls import AUTO, NO_TOOLS, ToolCall, ToolChoice, ToolDefinition
from wieldy.core.errors import UsageError
from wieldy.core.messages import Message
from wieldy.core.outputs import ChoiceOutput, JsonOutput, Output, PatternOutput
from wieldy.formats import get, names
from wieldy.grammar.notation import to_gbnf
from wieldy.grammar.shape import Json

REQUIRED = ToolChoice(mode="required")
NAMED = ToolChoice(mode="tool", name="search")
SEARCH = ToolDefinition(
    name="search",
    description="Search.",
    input_schema={
        "type": "object",
        "properties": {"query": {"type": "string"}, "most": {"type": "integer"}},
        "required": ["query"],
        "additionalProperties": False,
    },
)
COLOUR: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "share": {"type": "integer", "minimum": 0}},
    "required": ["name", "share"],
    "additionalProperties": False,
}
JSON = JsonOutput(schema=COLOUR, name="colour", description="A colour.")
CHOICE = ChoiceOutput(options=("red", "blue-ish."))
PATTERN = PatternOutput(pattern="[a-z]{2}-[0-9]+")
OUTPUTS: dict[str, Output] = {"json": JSON, "choice": CHOICE, "pattern": PATTERN}
MASKING = ("vllm", "sglang", "llama_server")


def planned(backend: str, options: dict[str, Any] | None = None, **asked: Any) -> Plan:
    return plan_of(BACKENDS[backend], Asked(**asked), options=options or {})


# Chat completions with formats and strict tools


def test_an_answer_for_openai_is_a_strict_response_format_of_its_official_type() -> None:
    plan = planned("openai", output=JSON)
    (name, format_) = next(iter(plan.fields.items()))
    assert name == "response_format"
    assert TypeAdapter(ResponseFormatJSONSchema).validate_python(format_, strict=True) == format_
    assert format_["json_schema"] == {"name": "colour", "description": "A colour.", "schema": COLOUR, "strict": True}
    assert (plan.answer.how, plan.answer.holds, plan.answer.is_told) == ("native", True, True)


@pytest.mark.parametrize("output", [CHOICE, PATTERN], ids=["choice", "pattern"])
def test_choices_and_patterns_travel_in_an_object_and_are_read_as_their_text(output: Output) -> None:
    plan = planned("openai", output=output)
    schema = plan.fields["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == ["answer"]
    assert plan.reading.is_quoted
    assert plan.reading.answer is not None
    assert plan.reading.answer.is_wrapped


class Where(BaseModel):
    city: str
    country: str | None


class Trip(BaseModel):
    """Where to."""

    stops: list[Where]
    days: int


def test_a_model_without_optional_properties_is_what_the_official_client_makes_of_it() -> None:
    theirs = openai.pydantic_function_tool(Trip, name="trip")
    assert TypeAdapter(ChatCompletionFunctionToolParam).validate_python(theirs) == theirs
    tool = ToolDefinition(name="trip", description="Where to.", input_schema=Trip.model_json_schema())
    plan = planned("openai", tools=(tool,))
    (sent,) = plan.calls.tools or ()
    assert sent.input_schema == theirs["function"]["parameters"]
    assert plan.strict == {"trip"}


def test_tools_are_strict_where_their_schema_has_a_strict_form_and_others_are_sent_as_they_are() -> None:
    free = ToolDefinition(name="free", description="Free.", input_schema={"type": "object"})
    plan = planned("openai", tools=(SEARCH, free))
    assert plan.strict == {"search"}
    sent, same = plan.calls.tools or ()
    assert sent.input_schema["required"] == ["query", "most"]
    assert same is free
    assert plan.calls.cannot == (
        "free: # `type`: refused (an object of which no property is named has no strict form)",
    )
    assert plan.reading.calls["search"].back({"query": "x", "most": None}) == {"query": "x"}


def test_a_schema_without_a_strict_form_is_only_asked_for() -> None:
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    plan = planned("openai", output=JsonOutput(schema=schema))
    assert plan.fields["response_format"]["json_schema"]["strict"] is False
    assert plan.fields["response_format"]["json_schema"]["schema"] == schema
    assert (plan.answer.how, plan.answer.holds) == ("soft", False)


def test_azure_takes_fewer_keywords_and_says_so() -> None:
    plan = planned("azure", output=JSON)
    assert plan.answer.cannot == ("#/properties/share `minimum`: by the validator (Azure does not take it here)",)
    assert not plan.answer.holds


@pytest.mark.parametrize("backend", ["openai", "azure", "anthropic"])
def test_providers_hold_answers_and_calls_in_one_request(backend: str) -> None:
    plan = planned(backend, output=CHOICE, tools=(SEARCH,))
    assert plan.answer.how == "native"
    assert plan.strict == {"search"}


# Anthropic


def test_an_answer_for_anthropic_is_an_output_format_beside_what_the_program_sets() -> None:
    plan = planned("anthropic", {"output_config": {"effort": "low"}}, output=CHOICE)
    body = merged({"output_config": {"effort": "low"}, "model": "m"}, plan.fields)
    assert body["output_config"]["effort"] == "low"
    assert body["output_config"]["format"]["type"] == "json_schema"


def test_anthropic_is_sent_as_many_strict_tools_as_a_request_may_have() -> None:
    def tool(number: int, optional: int = 0, unions: int = 0) -> ToolDefinition:
        properties: dict[str, Any] = {f"o{n}": {"type": "string"} for n in range(optional)}
        properties |= {f"u{n}": {"type": ["string", "null"]} for n in range(unions)}
        required = [name for name in properties if name.startswith("u")]
        schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
        return ToolDefinition(name=f"t{number}", description="", input_schema=schema)

    many = planned("anthropic", tools=tuple(tool(number) for number in range(22)))
    assert many.strict == {f"t{number}" for number in range(20)}
    assert "at most 20 strict tools" in many.calls.cannot[0]
    loose = planned("anthropic", tools=(tool(0, optional=20), tool(1, optional=5), tool(2, optional=4)))
    assert loose.strict == {"t0", "t2"}
    unions = planned("anthropic", tools=(tool(0, unions=16), tool(1, unions=1), tool(2)))
    assert unions.strict == {"t0", "t2"}


def test_a_schema_without_a_strict_form_goes_into_the_shell_where_nothing_else_may_be_called() -> None:
    tree = JsonOutput(schema={"type": "object", "properties": {"next": {"$ref": "#"}}}, name="tree")
    alone = planned("anthropic", output=tree)
    assert (alone.answer.how, alone.reading.shell) == ("shell", "tree")
    beside = planned("anthropic", output=tree, tools=(SEARCH,))
    assert beside.answer.how == "prompt"
    assert "contains itself" in beside.answer.cannot[0]


# Servers that mask tokens


FIELDS: dict[str, dict[str, Any]] = {
    "vllm": {
        "json": {"structured_outputs": {"json": COLOUR}},
        "choice": {"structured_outputs": {"choice": ["red", "blue-ish."]}},
        "pattern": {"structured_outputs": {"regex": "[a-z]{2}-[0-9]+"}},
    },
    "sglang": {
        "json": {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "colour", "description": "A colour.", "schema": COLOUR, "strict": True},
            }
        },
        "choice": {"regex": r"red|blue\-ish\."},
        "pattern": {"regex": "[a-z]{2}-[0-9]+"},
    },
    "llama_server": {
        "json": {
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": "colour", "description": "A colour.", "schema": COLOUR, "strict": True},
            }
        },
        "choice": {"grammar": 'root ::= ("red" | "blue-ish.")\n', "reasoning_format": "none"},
        "pattern": {"grammar": 'root ::= [a-z]{2,2} "-" [0-9]+\n', "reasoning_format": "none"},
    },
}


@pytest.mark.parametrize("kind", OUTPUTS)
@pytest.mark.parametrize("backend", MASKING)
def test_an_answer_alone_is_masked_by_the_servers_own_fields(backend: str, kind: str) -> None:
    plan = planned(backend, output=OUTPUTS[kind])
    assert plan.fields == FIELDS[backend][kind]
    assert (plan.answer.how, plan.answer.holds, plan.answer.is_told) == ("mask", True, False)


@pytest.mark.parametrize("backend", MASKING)
def test_an_answer_beside_tools_is_left_free_unless_the_chat_format_is_known(backend: str) -> None:
    free = planned(backend, output=JSON, tools=(SEARCH,))
    assert (free.answer.how, free.fields) == ("prompt", {})
    held = planned(backend, output=JSON, tools=(SEARCH,), chat_format=get("hermes"))
    assert (held.answer.how, held.calls.how) == ("mask", "mask")
    assert "search" in json.dumps(held.fields)
    assert "share" in json.dumps(held.fields)
    without = planned(backend, output=JSON, tools=(SEARCH,), tool_choice=NO_TOOLS)
    assert without.fields == FIELDS[backend]["json"]


@pytest.mark.parametrize("backend", MASKING)
@pytest.mark.parametrize("choice", [AUTO, REQUIRED, NAMED], ids=lambda choice: choice.mode)
def test_what_calls_must_be_stands_in_the_constraint_and_not_in_the_choice(backend: str, choice: ToolChoice) -> None:
    plan = planned(backend, tools=(SEARCH,), tool_choice=choice, chat_format=get("hermes"))
    assert plan.calls.tool_choice == (NO_TOOLS if backend == "llama_server" else AUTO)
    assert plan.reading.chat_format == (get("hermes") if backend == "llama_server" else None)


def test_the_grammar_of_a_reply_is_that_of_its_chat_format() -> None:
    plan = planned("llama_server", output=JSON, tools=(SEARCH,), chat_format=get("hermes"))
    rules = get("hermes").rules((SEARCH,), answer=Json(COLOUR))
    assert plan.fields == {"grammar": to_gbnf(rules), "reasoning_format": "none"}


def test_what_a_schema_means_is_what_the_grammar_says_however_it_is_written() -> None:
    parts = [{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"maxProperties": 1}]
    tool = ToolDefinition(name="t", description="", input_schema={"allOf": parts, "dependentRequired": {"b": ["a"]}})
    for backend in MASKING:
        plan = planned(backend, tools=(tool,), tool_choice=REQUIRED, chat_format=get("hermes"))
        assert not {"allOf", "dependentRequired"} & set(re.findall(r"\w+", json.dumps(plan.fields)))
        assert "a" in json.dumps(plan.fields)


@pytest.mark.parametrize("backend", ["vllm", "sglang"])
def test_structural_tags_hold_no_lengths_which_break_json_in_xgrammar(backend: str) -> None:
    bounded = {**SEARCH.input_schema, "properties": {"query": {"type": "string", "maxLength": 9, "minLength": 2}}}
    tool = ToolDefinition(name="search", description="", input_schema=bounded)
    plan = planned(backend, tools=(tool,), chat_format=get("hermes"))
    assert "Length" not in json.dumps(plan.fields)
    assert sum("Length" in entry for entry in plan.calls.cannot) == 2


def test_what_is_said_of_raw_texts_is_left_to_the_validator() -> None:
    bounded = {**SEARCH.input_schema, "properties": {"query": {"type": "string", "pattern": "^a+$"}}}
    tool = ToolDefinition(name="search", description="", input_schema=bounded)
    raw = planned("vllm", tools=(tool,), chat_format=get("qwen3-coder"))
    assert raw.calls.cannot == ("search: #/properties/query `pattern`: by the validator (it is written as raw text)",)
    assert planned("vllm", tools=(tool,), chat_format=get("hermes")).calls.cannot == ()


@pytest.mark.parametrize("backend", MASKING)
def test_a_pattern_that_no_grammar_can_say_is_left_to_the_words(backend: str) -> None:
    plan = planned(backend, output=PatternOutput(pattern="(?=a)b"))
    assert (plan.answer.how, plan.fields) == ("prompt", {})
    assert "look-ahead" in plan.answer.cannot[0]


@pytest.mark.parametrize("name", names())
def test_structural_tags_mean_the_same_to_xgrammar(name: str) -> None:
    xgrammar = pytest.importorskip("xgrammar", reason="xgrammar is not installed")
    accepts = pytest.importorskip("xgrammar.testing")._is_grammar_accept_string
    chat = get(name)
    call = ToolCall(id="call_0", name="search", arguments={"query": "cats", "most": 2})
    answers = {"json": '{"name": "x", "share": 3}', "choice": "red", "pattern": "ab-12"}
    for kind, output in OUTPUTS.items():
        tag = planned("sglang", output=output, tools=(SEARCH,), chat_format=chat).fields["response_format"]
        grammar = xgrammar.Grammar.from_structural_tag(json.dumps(tag))
        assert accepts(grammar, chat.render_reply(Message.assistant(calls=[call]), (SEARCH,)))
        # Where JSON could be taken for a call, an answer stands on a line of its own.
        written = [chat.render_reply(Message.assistant(begin + answers[kind]), (SEARCH,)) for begin in ("", "\n")]
        assert any(accepts(grammar, text) for text in written)
        for begin in ("", "\n"):
            assert not accepts(grammar, chat.render_reply(Message.assistant(f"{begin}{answers[kind]}?"), (SEARCH,)))


# All others


@pytest.mark.parametrize("backend", ["ollama", "lm_studio"])
def test_servers_around_llama_cpp_take_a_response_format_alone(backend: str) -> None:
    plan = planned(backend, output=JSON)
    assert plan.fields["response_format"]["json_schema"]["schema"] == COLOUR
    assert plan.answer.holds
    assert planned(backend, output=JSON, tools=(SEARCH,)).fields == {}


def test_json_mode_asks_for_an_object_and_leaves_the_rest_to_the_words() -> None:
    plan = planned("json_object", output=JSON)
    assert plan.fields == {"response_format": {"type": "json_object"}}
    assert (plan.answer.how, plan.answer.holds, plan.answer.is_told) == ("soft", False, False)
    assert planned("json_object", output=CHOICE).fields == {}


@pytest.mark.parametrize("kind", OUTPUTS)
def test_the_shell_is_one_more_tool_that_must_be_called(kind: str) -> None:
    plan = planned("tool_calls", output=OUTPUTS[kind], tools=(SEARCH,), tool_choice=NO_TOOLS)
    *others, shell = plan.answer.tools or ()
    assert others == [SEARCH]
    assert plan.answer.tool_choice == ToolChoice(mode="tool", name=shell.name)
    assert shell.input_schema["type"] == "object"
    assert plan.answer.how == "shell"
    assert planned("tool_calls", output=OUTPUTS[kind], tools=(SEARCH,)).answer.how == "prompt"


def test_the_shell_takes_a_name_that_no_tool_has() -> None:
    tool = ToolDefinition(name="answer", description="", input_schema={"type": "object"})
    plan = planned("tool_calls", output=CHOICE, tools=(tool,), tool_choice=NO_TOOLS)
    assert plan.reading.shell == "answer_1"


def test_a_server_of_which_nothing_is_known_is_asked_softly() -> None:
    plan = planned("plain", output=JSON)
    assert plan.fields == planned("openai", output=JSON).fields
    assert (plan.answer.how, plan.answer.holds, plan.answer.is_told) == ("soft", False, False)


def test_options_that_are_single_tokens_are_preferred_where_the_vocabulary_is_known() -> None:
    tokens = {"red": 7, "blue-ish.": 8}
    plan = planned("plain", output=CHOICE, token_of=tokens.get)
    assert plan.fields == {"logit_bias": {"7": 100, "8": 100}}
    assert (plan.answer.how, plan.answer.holds) == ("soft", False)
    assert "logit_bias" not in planned("plain", output=CHOICE, token_of={"red": 7}.get).fields


def test_patterns_that_may_match_quotes_are_not_sent_where_they_would_be_written_without_escapes() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^[^x]$"}}, "required": ["a"]}
    plan = planned("ollama", output=JsonOutput(schema=schema))
    assert "pattern" not in json.dumps(plan.fields)
    assert any("pattern" in entry for entry in plan.answer.cannot)


# What holds for all


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_reply_that_must_be_a_call_is_no_answer(backend: str) -> None:
    for choice in (REQUIRED, NAMED):
        with_output = planned(backend, output=JSON, tools=(SEARCH,), tool_choice=choice)
        assert with_output == planned(backend, tools=(SEARCH,), tool_choice=choice)


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_the_program_sets_itself_is_not_touched(backend: str) -> None:
    for output in OUTPUTS.values():
        plan = planned(backend, output=output)
        for name in plan.fields:
            value = {"format": None} if name == "output_config" else "mine"
            decided = planned(backend, {name: value}, output=output)
            assert decided.fields == {}
            assert name in decided.answer.cannot[0]


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_holds_leaves_nothing_open_and_what_is_open_is_said(backend: str) -> None:
    for output in OUTPUTS.values():
        for tools in ((), (SEARCH,)):
            for chat_format in (None, get("hermes")):
                plan = planned(backend, output=output, tools=tools, chat_format=chat_format)
                assert plan.answer.holds == (not plan.answer.cannot)


def test_an_unknown_backend_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"found 'vlm'\. Did you mean 'vllm'\?"):
        backend_named("vlm")
