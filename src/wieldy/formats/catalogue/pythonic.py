"""Calls as a list of Python calls: Llama 3.2 and 4, ToolACE, Gemma 3 by prompt; OLMo 3; LFM2."""

from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal, Name
from wieldy.formats.nodes.python_calls import PythonArguments
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

_COMMA = (Literal(","), Gap(" "))
_THINK = Region(
    open=Literal("<think>", token=True),
    close=Literal("</think>", token=True),
    before=Gap(),
    begin=Gap(),
    end=Gap(),
    behind=Gap(),
)
_MARKS = ("<|python_start|>", "<|python_end|>", "<|python_tag|>", "<|eot|>", "<|eom|>", "<end_of_turn>")
_PATTERN_NOTE = "Grammars leave a string's `pattern` and `format` to the validator."

PYTHONIC = ChatFormat(
    name="pythonic",
    models="Llama 3.2 and 4, ToolACE, Gemma 3 and others that are asked for Python calls",
    wire=Wire(
        calls=Section(
            before=Gap("\n"),
            open=(Literal("["), Gap()),
            call=Call(head=(Name(),), arguments=PythonArguments(bare="text")),
            between=_COMMA,
            close=(Gap(), Literal("]")),
            claimed_by="name",
            at_line_start=True,
            stands_together=True,
        ),
        stray=tuple(Literal(mark, token=True) for mark in _MARKS),
    ),
    turns=ready_turns.PYTHONIC,
    notes=(
        "Calls are told from text by a bracket at the beginning of a line and the name of a known tool, for there is "
        "no mark: text that has such a line cannot be written.",
        "One call that cannot be read spoils the list: none of its calls is made.",
        "Reasoning cannot be written.",
        _PATTERN_NOTE,
    ),
)
OLMO_3 = ChatFormat(
    name="olmo-3",
    models="OLMo 3, 3.1 and Hybrid",
    wire=Wire(
        reasoning=_THINK,
        calls=Section(
            before=Gap(),
            open=(Literal("<function_calls>", token=True), Gap()),
            call=Call(head=(Name(),), arguments=PythonArguments(spelling="json")),
            between=(Literal("\n", also=(",", ";"), required=False),),
            close=(Gap(), Literal("</function_calls>", token=True)),
        ),
    ),
    turns=ready_turns.OLMO_3,
    notes=("Space around reasoning, and between text and calls, is layout and does not come back.",),
)
LFM2 = ChatFormat(
    name="lfm2",
    models="LFM2 and LFM2.5",
    wire=Wire(
        reasoning=_THINK,
        calls=Section(
            before=Gap(),
            open=(Literal("<|tool_call_start|>", token=True), Gap(), Literal("[", required=False), Gap()),
            call=Call(head=(Name(),), arguments=PythonArguments()),
            between=_COMMA,
            close=(Gap(), Literal("]", required=False), Gap(), Literal("<|tool_call_end|>", token=True)),
        ),
    ),
    turns=ready_turns.LFM2,
    notes=(
        "Space around reasoning, and between text and calls, is layout and does not come back.",
        _PATTERN_NOTE,
    ),
)
