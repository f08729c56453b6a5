"""JSON: calls as JSON objects in plain text, for any model by prompt."""

from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.prose_json import ProseJsonWire
from wieldy.formats.wires.prose_json_reader import CallKeys
from wieldy.formats.wires.reply import Region

JSON = ChatFormat(
    name="json",
    models="Any model, by prompt",
    wire=ProseJsonWire(
        keys=CallKeys(
            names=("name", "tool", "tool_name", "function", "action"),
            arguments=("arguments", "parameters", "args", "input", "params", "tool_input", "action_input"),
            also=("id", "type", "tool_call_id"),
            wrappers=("function", "function_call", "tool_call", "tool_calls"),
        ),
        reasoning=Region(
            open=Literal("<think>"), close=Literal("</think>"), begin=Gap("\n"), end=Gap("\n"), behind=Gap("\n\n")
        ),
    ),
    turns=ready_turns.JSON,
    notes=(
        "An object that names a tool on offer is a call wherever it stands; any other JSON is text.",
        "Space at the edges of texts is not kept. No ids: results are matched by name and order.",
        "A call is told when it is complete, with what was changed in its JSON.",
    ),
    repair=3,
)
