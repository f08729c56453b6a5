"""StepFun's smaller models: JSON lines in tags (Step 3 VL), and a name and JSON between tokens (Step Audio)."""

from dataclasses import replace

from wieldy.formats.catalogue.hermes import THINK
from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal, Name
from wieldy.formats.nodes.json_calls import JsonArguments, JsonCall
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.turns import tool_lists
from wieldy.formats.turns.ready.wrapping import RESPONSE_LINES, each, together, words
from wieldy.formats.turns.turns import Slot, ToolSection, Turns, Wrap
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

_NO_IDS = "Calls have no ids: results are matched by their order."
_LINES = tool_lists.Each(
    write=tool_lists.openai_json,
    open="# Tools\n\nThese are the signatures of functions that can be called:\n<tools>\n",
    close="\n</tools>\n\nWrite calls as follows, as many as are needed between the outer tags:\n<tool_calls>\n"
    '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>\n</tool_calls>',
)


def _audio(role: str) -> Wrap:
    return Wrap(open=f"<|BOT|>{role}\n", close="<|EOT|>")


STEP_3_VL = ChatFormat(
    name="step-3-vl",
    models="Step 3 VL 10B",
    wire=Wire(
        reasoning=THINK,
        calls=Section(
            before=Gap("\n"),
            open=(Literal("<tool_calls>"), Gap("\n")),
            call=Call(
                head=(Literal("<tool_call>"), Gap("\n")),
                arguments=JsonCall(),
                close=(Gap("\n"), Literal("</tool_call>")),
            ),
            between=(Gap("\n"),),
            close=(Gap("\n"), Literal("</tool_calls>")),
        ),
    ),
    turns=replace(
        ready_turns.CHATML,
        results=together(Wrap(open="<|im_start|>tool_response\n", close="<|im_end|>\n"), RESPONSE_LINES),
        tools=ToolSection(tools=_LINES),
        prefill="<think>\n",
    ),
    notes=(_NO_IDS,),
)
STEP_AUDIO = ChatFormat(
    name="step-audio",
    models="Step Audio R1.1",
    wire=Wire(
        reasoning=replace(THINK, behind=Gap()),
        calls=Section(
            before=Gap(),
            call=Call(
                head=(
                    Literal("<|CALL_START|>", token=True),
                    Gap(),
                    Literal("function", required=False),
                    Gap("\n"),
                    Name(),
                    Gap("\n"),
                ),
                arguments=JsonArguments(),
                close=(Gap(), Literal("<|CALL_END|>", token=True)),
            ),
        ),
    ),
    turns=Turns(
        system=_audio("system"),
        user=_audio("human"),
        assistant=_audio("assistant"),
        results=each(_audio("function_output"), Slot.NAME, "\n", Slot.CONTENT),
        tools=ToolSection(
            tools=tool_lists.JSON_ARRAY, place="after_system", open="<|BOT|>tool_json_schemas\n", close="<|EOT|>"
        ),
        prefill="<think>\n",
        markers=words("<|BOT|> <|EOT|> <|CALL_START|> <|CALL_END|>"),
    ),
    notes=(_NO_IDS,),
)
