"""Llama JSON: bare objects with a name and parameters."""

from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal
from wieldy.formats.nodes.json_calls import JsonCall
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

_MARKS = ("<|python_tag|>", "<|python_start|>", "<|python_end|>", "<|eot|>", "<|eom|>")
"""Marks around code, and ends of turns, of Llama 3 and 4: what stands between them says whether it is a call."""

LLAMA_JSON = ChatFormat(
    name="llama-json",
    models="Llama 3.1, 3.2 and 3.3, and models that were tuned from them; Llama 4 where its template asks for JSON",
    wire=Wire(
        calls=Section(
            before=Gap("\n"),
            call=Call(arguments=JsonCall(fields=(("name", "name"), ("arguments", "parameters")))),
            between=(Literal(";"), Gap(" ")),
            claimed_by="name",
            at_line_start=True,
        ),
        stray=tuple(Literal(mark, token=True) for mark in _MARKS),
    ),
    turns=ready_turns.LLAMA_JSON,
    notes=(
        "Nothing opens a call: an object at the beginning of a line whose first member names a known tool is one, and "
        "any other JSON is text.",
        "The official template refuses more than one call in a reply and drops the text beside it; models write "
        "several with semicolons between them.",
        "No reasoning. No ids: results are matched by order.",
    ),
)
