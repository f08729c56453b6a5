"""GLM: the name as bare text, then keys and values in tags; LongCat and Hunyuan write the same with other tags."""

from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal, Name
from wieldy.formats.nodes.tagged import Key, TaggedArguments
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

_NOTES = (
    "A value is written raw: a string that contains its own closing tag followed by another argument or by the end of "
    "the call cannot be carried.",
)


def _tag(name: str) -> Literal:
    """The tag as GLM has it and as LongCat has it."""
    slash, bare = ("/", name[1:]) if name.startswith("/") else ("", name)
    return Literal(f"<{name}>", also=(f"<{slash}longcat_{bare}>",), token=True)


def _hunyuan(name: str) -> Literal:
    """The tag of the released models, and that of the preview."""
    return Literal(f"<{name}:opensource>", also=(f"<{name}>",), token=True)


def _wire(line: str) -> Wire:
    return Wire(
        reasoning=Region(
            open=_tag("think"),
            close=_tag("/think"),
            before=Gap(line),
            begin=Gap() if line else None,
            end=Gap() if line else None,
            behind=Gap(line),
        ),
        calls=Section(
            before=Gap(line),
            call=Call(
                head=(_tag("tool_call"), Gap(), Name(), Gap(line)),
                arguments=TaggedArguments(
                    open=(_tag("arg_key"), Key(), _tag("/arg_key"), Gap(line), _tag("arg_value")),
                    close=(_tag("/arg_value"),),
                    between=Gap(line),
                    after=Gap(line),
                ),
                close=(_tag("/tool_call"),),
            ),
            between=(Gap(line),),
        ),
    )


GLM_4_5 = ChatFormat(
    name="glm-4.5",
    models="GLM 4.5 and 4.6, Ling and Ring 2.6, Laguna XS, LongCat 2",
    wire=_wire("\n"),
    turns=ready_turns.GLM_4_5,
    notes=_NOTES,
)
GLM_4_7 = ChatFormat(
    name="glm-4.7",
    models="GLM 4.7 and 5, Laguna S",
    wire=_wire(""),
    turns=ready_turns.GLM_4_7,
    notes=_NOTES,
)
HUNYUAN_3 = ChatFormat(
    name="hunyuan-3",
    models="Hunyuan 3 (Hy3)",
    wire=Wire(
        reasoning=Region(open=_hunyuan("think"), close=_hunyuan("/think")),
        calls=Section(
            open=(_hunyuan("tool_calls"), Gap("\n")),
            call=Call(
                head=(_hunyuan("tool_call"), Gap(), Name(), _hunyuan("tool_sep"), Gap("\n")),
                arguments=TaggedArguments(
                    open=(_hunyuan("arg_key"), Key(), _hunyuan("/arg_key"), Gap("\n"), _hunyuan("arg_value")),
                    close=(_hunyuan("/arg_value"),),
                    between=Gap("\n"),
                    after=Gap("\n"),
                ),
                close=(_hunyuan("/tool_call"),),
            ),
            between=(Gap("\n"),),
            close=(Gap("\n"), _hunyuan("/tool_calls")),
        ),
        stray=(Literal("<｜hy_eos｜>", token=True), Literal("<eos:6124c78e>", token=True)),
    ),
    turns=ready_turns.HUNYUAN_3,
    notes=_NOTES,
)
