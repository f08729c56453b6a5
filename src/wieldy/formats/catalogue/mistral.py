"""Mistral, by version of its tokenizer: an array with ids, then a name before each call's arguments."""

from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import CallId, Flat, Gap, Literal, Name, WithId
from wieldy.formats.nodes.json_calls import JsonArguments, JsonCall
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

_CALLS = Literal("[TOOL_CALLS]", token=True)


def _array(behind_mark: Gap) -> Section:
    return Section(
        open=(_CALLS, behind_mark, Literal("[", required=False)),
        call=Call(arguments=JsonCall(fields=(("name", "name"), ("arguments", "arguments"), ("id", "id")))),
        between=(Literal(","), Gap(" ")),
        close=(Literal("]"),),
    )


def _named(*before_arguments: Flat) -> Section:
    # Models of the first of these versions leave out the mark of the arguments.
    head = (_CALLS, Gap(), Name(), Gap(), *before_arguments, Literal("[ARGS]", token=True, required=False))
    return Section(call=Call(head=head, arguments=JsonArguments()))


_ONLY_ARGUMENTS_END = "Nothing ends a call but the end of its arguments: a call is complete with its last brace."
_ORDER_IS_ALL = "Calls have no ids: results are matched by their order."

MISTRAL_V3 = ChatFormat(
    name="mistral-v3",
    models="Mistral 7B v0.3, Mixtral 8x22B, Mistral Large 2407 (with SentencePiece: spaces behind the markers)",
    wire=Wire(calls=_array(Gap(" "))),
    turns=ready_turns.MISTRAL_V3,
    notes=(
        "An id is nine letters and digits; others are replaced when a call is written, and so is its result's.",
        "There is no reasoning on this wire.",
        "The official template drops text beside calls; it is written and read here.",
    ),
)
MISTRAL_V7 = ChatFormat(
    name="mistral-v7",
    models="Mistral Nemo 2407, Ministral 8B 2410, Mistral Large 2411, Mistral Small 3 and 3.1",
    wire=Wire(calls=_array(Gap())),
    turns=ready_turns.MISTRAL_V7,
    notes=MISTRAL_V3.notes,
)
MISTRAL_V11 = ChatFormat(
    name="mistral-v11",
    models="Mistral Small 3.2, Devstral Small 2507, Magistral Small 2506, Dolphin Venice",
    wire=Wire(
        # Magistral 2506 was told in words to think between these tags; its vocabulary has no marks for it.
        reasoning=Region(
            open=Literal("<think>", also=("[THINK]",)),
            close=Literal("</think>", also=("[/THINK]",)),
            before=Gap(),
            begin=Gap("\n"),
            end=Gap("\n"),
            behind=Gap("\n"),
        ),
        calls=_named(WithId((Literal("[CALL_ID]", token=True), CallId()))),
    ),
    turns=ready_turns.MISTRAL_V11,
    notes=(
        "Conversations carry ids of nine letters and digits; models write most calls without one.",
        _ONLY_ARGUMENTS_END,
        "The official template drops text beside calls; it is written and read here.",
    ),
)
_THINK = Region(open=Literal("[THINK]", token=True), close=Literal("[/THINK]", token=True))
MISTRAL_V13 = ChatFormat(
    name="mistral-v13",
    models="Devstral 2, Devstral Small 1.1 and 2, Magistral 2509, Ministral 3, Mistral Large 3",
    wire=Wire(reasoning=_THINK, calls=_named()),
    turns=ready_turns.MISTRAL_V13,
    notes=(_ORDER_IS_ALL, _ONLY_ARGUMENTS_END),
)
MISTRAL_V15 = ChatFormat(
    name="mistral-v15",
    models="Mistral Small 4, Mistral Medium 3.5, Leanstral 1.5",
    wire=MISTRAL_V13.wire,
    turns=ready_turns.MISTRAL_V15,
    notes=(_ORDER_IS_ALL, _ONLY_ARGUMENTS_END, "How much to think stands in the prompt, before the conversation."),
)
