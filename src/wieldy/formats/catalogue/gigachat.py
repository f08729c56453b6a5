"""GigaChat 3: turns with role names, and a call as a turn of its own, since 3.1 behind a mark within the reply."""

from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal
from wieldy.formats.nodes.json_calls import JsonCall
from wieldy.formats.turns import tool_lists
from wieldy.formats.turns.ready.wrapping import each
from wieldy.formats.turns.turns import ToolSection, Turns, Wrap
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire


def _turn(role: str) -> Wrap:
    return Wrap(open=f"{role}<|role_sep|>\n", close="<|message_sep|>\n\n")


_TURNS = Turns(
    begin="<s>",
    system=_turn("system"),
    user=_turn("user"),
    assistant=_turn("assistant"),
    results=each(_turn("function result")),
    tools=ToolSection(
        tools=tool_lists.TYPESCRIPT_NAMESPACE,
        place="after_system",
        open="function descriptions<|role_sep|>\n",
        close="\n\n<|message_sep|>\n\n",
    ),
    markers=("<s>", "</s>", "<|role_sep|>", "<|message_sep|>", "<|function_call|>"),
)
_NOTES = (
    "Calls have no ids: results are matched by their order.",
    "There is no reasoning on this wire.",
    "A reply has one call: the official template drops others. Several are read.",
)

GIGACHAT_3 = ChatFormat(
    name="gigachat-3",
    models="GigaChat 3 10B and 702B",
    wire=Wire(
        calls=Section(
            call=Call(
                head=(
                    Literal(
                        "<|message_sep|>\n\nfunction call<|role_sep|>", also=("function call<|role_sep|>",), token=True
                    ),
                    Gap("\n"),
                ),
                arguments=JsonCall(),
            ),
            most=1,
        ),
    ),
    turns=_TURNS,
    notes=_NOTES,
)
GIGACHAT_3_1 = ChatFormat(
    name="gigachat-3.1",
    models="GigaChat 3.1",
    wire=Wire(
        calls=Section(
            call=Call(head=(Literal("<|function_call|>", token=True), Gap()), arguments=JsonCall()),
            most=1,
        ),
    ),
    turns=_TURNS,
    notes=_NOTES,
)
