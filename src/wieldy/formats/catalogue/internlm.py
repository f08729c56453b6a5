"""InternLM: one JSON object between the marks of an action, for the plugins."""

from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal
from wieldy.formats.nodes.json_calls import JsonCall
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

INTERNLM = ChatFormat(
    name="internlm",
    models="InternLM 2, 2.5 and 3, Intern-S1-mini",
    wire=Wire(
        reasoning=Region(
            open=Literal("<think>", token=True),
            close=Literal("</think>", token=True),
            before=Gap(),
            begin=Gap("\n"),
            end=Gap("\n"),
            behind=Gap("\n"),
        ),
        calls=Section(
            before=Gap(),
            call=Call(
                head=(Literal("<|action_start|>", token=True), Gap(), Literal("<|plugin|>", token=True), Gap("\n")),
                arguments=JsonCall(fields=(("name", "name"), ("arguments", "parameters"))),
                close=(Gap("\n"), Literal("<|action_end|>", token=True)),
            ),
            between=(Gap("\n"),),
        ),
    ),
    turns=ready_turns.INTERNLM,
    notes=(
        "Calls have no ids: results are matched by their order.",
        "Code for the interpreter is no call of a tool: it is reported as a call that could not be read.",
    ),
)
