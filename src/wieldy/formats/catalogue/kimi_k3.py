"""Kimi K3: elements between special tokens, attributes escaped as in XML, and the type of every value on the wire."""

from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Index, Literal, Name
from wieldy.formats.nodes.tagged import Key, TaggedArguments, TypeMark
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire


def _open(element: str) -> Literal:
    return Literal(f"<|open|>{element}<|sep|>", token=True)


def _close(element: str) -> Literal:
    return Literal(f"<|close|>{element}<|sep|>", token=True)


KIMI_K3 = ChatFormat(
    name="kimi-k3",
    models="Kimi K3",
    wire=Wire(
        reasoning=Region(open=_open("think"), close=_close("think")),
        content=Region(open=_open("response"), close=_close("response")),
        calls=Section(
            open=(_open("tools"),),
            call=Call(
                head=(
                    Literal('<|open|>call tool="', token=True),
                    Name(),
                    Literal('" index="'),
                    Index(first=1),
                    Literal('"<|sep|>', token=True),
                ),
                arguments=TaggedArguments(
                    open=(
                        Literal('<|open|>argument key="', token=True),
                        Key(escape=True),
                        Literal('" type="'),
                        TypeMark(),
                        Literal('"<|sep|>', token=True),
                    ),
                    close=(_close("argument"),),
                    types="name",
                ),
                close=(_close("call"),),
            ),
            close=(_close("tools"),),
        ),
    ),
    turns=ready_turns.KIMI_K3,
    notes=(
        "A string is written raw: one that contains the end of an argument followed by another argument cannot be "
        "carried.",
        "The wire says the type of each value, and the reader believes it, whatever the schema says.",
        "Calls have a number within the reply and no id.",
    ),
)
