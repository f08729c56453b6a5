"""Upstage's Solar: messages of several kinds between special tokens, and since version 2 keys and values in tags."""

from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import CallId, Gap, Literal, Name
from wieldy.formats.nodes.json_calls import JsonArguments
from wieldy.formats.nodes.tagged import Key, TaggedArguments
from wieldy.formats.turns import tool_lists
from wieldy.formats.turns.ready.wrapping import together, words
from wieldy.formats.turns.turns import Slot, ToolSection, Turns, Wrap
from wieldy.formats.turns.wire_ids import ten_characters
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire


def _token(text: str) -> Literal:
    return Literal(f"<|{text}|>", token=True)


_TOOLS = tool_lists.Each(
    write=tool_lists.function_json,
    open="## Tools\n\n### Available Tools\n<|tools:begin|><|tool:begin|>",
    between="<|tool:end|><|tool:begin|>",
    close="<|tool:end|><|tools:end|>\n\n### Tool Call Format\nWrite calls as follows, as many as are needed "
    "between the first mark and the last, each with an id of ten lowercase letters and digits:\n"
    "<|tool_calls|><|tool_call:begin|><tool-call-id><|tool_call:name|><tool-name><|tool_call:args|><args-json-object><|tool_call:end|><|calls|>",
)
_TOOLS_2 = tool_lists.Each(
    write=tool_lists.function_json,
    open="## Tools\n\n### Available Tools\n<|tool:start|>",
    between="<|tool:end|>\n<|tool:start|>",
    close="<|tool:end|>\n\n### Tool Call Instruction\nThink before you call, and write nothing behind a call. "
    "Write each as follows:\n<|tool_call:start|>{name-of-the-tool}\n"
    "<|tool_arg:start|>{key-1}<|tool_arg:value|>{value-1}<|tool_arg:end|>\n"
    "<|tool_arg:start|>{key-2}<|tool_arg:value|>{value-2}<|tool_arg:end|>\n<|tool_call:end|>",
)
_MARKERS = words(
    "<|begin|> <|end|> <|content|> <|think|> <|tool_calls|> <|calls|> <|flush|> <|tool_response|> <|tools:begin|> "
    "<|tools:end|> <|tool:begin|> <|tool:end|> <|tool_call:begin|> <|tool_call:name|> <|tool_call:args|> "
    "<|tool_call:end|> <|tool_response:begin|> <|tool_response:name|> <|tool_response:result|> <|tool_response:end|>"
)
_MARKERS_2 = words(
    "<|im:start|> <|im:content|> <|im:end|> <|think:start|> <|think:end|> <|tool:start|> <|tool:end|> "
    "<|tool_call:start|> <|tool_call:end|> <|tool_arg:start|> <|tool_arg:value|> <|tool_arg:end|> "
    "<|tool_response:start|> <|tool_response:end|>"
)


def _message(role: str) -> Wrap:
    return Wrap(open=f"<|begin|>{role}<|content|>", close="<|end|>")


def _message_2(role: str) -> Wrap:
    return Wrap(open=f"<|im:start|>{role}<|im:content|>", close="<|im:end|>\n")


SOLAR_OPEN = ChatFormat(
    name="solar-open",
    models="Solar Open 100B",
    wire=Wire(
        reasoning=Region(open=_token("think"), close=Literal("<|end|><|begin|>assistant", token=True)),
        content=Region(open=_token("content"), close=_token("end"), is_optional=True),
        calls=Section(
            open=(Literal("<|tool_calls|>", also=("<|begin|>assistant<|tool_calls|>",), token=True),),
            call=Call(
                head=(
                    _token("tool_call:begin"),
                    CallId(length=10),
                    _token("tool_call:name"),
                    Name(),
                    _token("tool_call:args"),
                ),
                arguments=JsonArguments(),
                close=(Gap(), _token("tool_call:end")),
            ),
            close=(_token("calls"),),
        ),
    ),
    turns=Turns(
        system=_message("system"),
        user=_message("user"),
        assistant=Wrap(open="<|begin|>assistant"),
        results=together(
            Wrap(open="<|begin|>tool<|tool_response|>", close="<|end|>"),
            (
                "<|tool_response:begin|>",
                Slot.ID,
                "<|tool_response:name|>",
                Slot.NAME,
                "<|tool_response:result|>",
                Slot.CONTENT,
                "<|tool_response:end|>",
            ),
            between="",
            markers=(),
        ),
        tools=ToolSection(tools=_TOOLS),
        markers=_MARKERS,
        wire_id=ten_characters,
    ),
    notes=(
        "An id is ten small letters and digits; others are replaced when a call is written, and so is its result's.",
        "The official template drops text beside calls; it is written and read here.",
    ),
)
SOLAR_OPEN_2 = ChatFormat(
    name="solar-open-2",
    models="Solar Open 2",
    wire=Wire(
        reasoning=Region(open=_token("think:start"), close=_token("think:end")),
        calls=Section(
            before=Gap(),
            call=Call(
                head=(_token("tool_call:start"), Gap(), Name(), Gap("\n")),
                arguments=TaggedArguments(
                    open=(_token("tool_arg:start"), Key(), _token("tool_arg:value")),
                    close=(_token("tool_arg:end"),),
                    between=Gap("\n"),
                    after=Gap("\n"),
                ),
                close=(_token("tool_call:end"),),
            ),
            between=(Gap("\n"),),
        ),
    ),
    turns=Turns(
        system=_message_2("system"),
        user=_message_2("user"),
        assistant=_message_2("assistant"),
        call_close="\n<|im:end|>\n",
        results=together(
            _message_2("tool"),
            ("<|tool_response:start|>", Slot.CONTENT, "<|tool_response:end|>"),
            markers=(),
        ),
        tools=ToolSection(tools=_TOOLS_2),
        prefill="<|think:start|>",
        markers=_MARKERS_2,
    ),
    notes=(
        "Calls have no ids: results are matched by their order.",
        "A value is written raw: a string that contains its own closing mark followed by another argument or by the "
        "end of the call cannot be carried.",
    ),
)
