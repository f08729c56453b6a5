"""Cohere: Command R with its fenced list of actions, and Command R7B and A with marks and counted ids."""

from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal
from wieldy.formats.nodes.json_calls import JsonCall
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire
from wieldy.grammar.shape import Characters

_LINE = Gap("\n    ")

COMMAND_R = ChatFormat(
    name="command-r",
    models="Command R and R+",
    wire=Wire(
        calls=Section(
            before=Gap(),
            open=(
                Gap("\n"),
                Literal("Action:\n```json", also=("Action: ```json", "Action:```json")),
                Gap("\n"),
                Literal("["),
                _LINE,
            ),
            call=Call(arguments=JsonCall(fields=(("name", "tool_name"), ("arguments", "parameters")), indent=4)),
            between=(Literal(","), _LINE),
            close=(Gap("\n"), Literal("]"), Literal("```", also=("\n```",), required=False)),
            claimed_by="any name",
            pretended=("directly-answer", "directly_answer"),
        ),
    ),
    turns=ready_turns.COMMAND_R,
    notes=(
        "Calls have no ids: results are matched by their order.",
        "There is no reasoning on this wire; a plan before the actions is text.",
        "An action 'directly-answer' says that no tool is needed; it stays text.",
    ),
)
COMMAND_A = ChatFormat(
    name="command-a",
    models="Command R7B, Command A, Command A Reasoning and A+",
    wire=Wire(
        reasoning=Region(
            open=Literal("<|START_THINKING|>", token=True),
            close=Literal("<|END_THINKING|>", token=True),
            behind=Gap(),
        ),
        content=Region(
            open=Literal("<|START_TEXT|>", also=("<|START_RESPONSE|>",), token=True),
            close=Literal("<|END_TEXT|>", also=("<|END_RESPONSE|>",), token=True),
            is_optional=True,
        ),
        calls=Section(
            before=Gap(),
            open=(Literal("<|START_ACTION|>", token=True), Gap(), Literal("[", required=False), _LINE),
            call=Call(
                arguments=JsonCall(
                    fields=(("id", "tool_call_id"), ("name", "tool_name"), ("arguments", "parameters")),
                    id=Characters("0-9", at_most=9),
                )
            ),
            between=(Literal(","), _LINE),
            close=(Gap("\n"), Literal("]", required=False), Gap(), Literal("<|END_ACTION|>", token=True)),
        ),
    ),
    turns=ready_turns.COMMAND_A,
    notes=(
        "An id is a number that counts through the conversation; others are replaced when a call is written.",
        "The official templates drop text beside calls; it is written and read here.",
        "Marks of citations within text stay in the text.",
    ),
)
