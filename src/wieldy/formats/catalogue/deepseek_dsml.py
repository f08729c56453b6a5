"""DeepSeek V3.2 to V4.1: XML-like tags with a special token in each, and the kind of every value on the wire."""

from dataclasses import replace

from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Gap, Literal, Name
from wieldy.formats.nodes.tagged import Key, TaggedArguments, TypeMark
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.turns.turns import Turns
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire

_THINK = Region(open=Literal("<think>", token=True), close=Literal("</think>", token=True))
_SECTIONS = ("function_calls", "tool_calls", "calls")
_NOTES = (
    "A string is written raw: one that contains its own closing tag followed by another argument cannot be carried.",
    "The wire says of each value whether it is a string, and the reader believes it, whatever the schema says.",
)


def _tag(text: str, *, space: str, is_close: bool = False) -> Literal:
    """The tag as it should be; models also write it without the special token."""
    slash = "/" if is_close else ""
    return Literal(f"<{slash}｜DSML｜{space}{text}", also=(f"<{slash}{text}",), token=True)


def _section(text: str, *, space: str, is_close: bool = False) -> Literal:
    """The tag of the section; models also write it as another version does."""
    tag, slash = _tag(f"{text}>", space=space, is_close=is_close), "/" if is_close else ""
    others = (f"<{slash}｜DSML｜{gap}{other}>" for gap in ("", " ") for other in _SECTIONS)
    return replace(tag, also=(*tag.also, *(other for other in others if other != tag.text)))


def _format(name: str, models: str, turns: Turns, *, section: str, space: str = "") -> ChatFormat:
    return ChatFormat(
        name=name,
        models=models,
        wire=Wire(
            reasoning=_THINK,
            calls=Section(
                before=Gap(),
                open=(Gap("\n\n"), _section(section, space=space), Gap("\n")),
                call=Call(
                    head=(_tag('invoke name="', space=space), Name(), Literal('">'), Gap("\n")),
                    arguments=TaggedArguments(
                        open=(
                            _tag('parameter name="', space=space),
                            Key(),
                            Literal('" string="'),
                            TypeMark(),
                            Literal('">'),
                        ),
                        close=(_tag("parameter>", space=space, is_close=True),),
                        between=Gap("\n"),
                        after=Gap("\n"),
                        types="string flag",
                    ),
                    close=(_tag("invoke>", space=space, is_close=True),),
                    without_arguments=(Literal('"'), Gap(" "), Literal("/>")),
                ),
                between=(Gap("\n"),),
                close=(Gap("\n"), _section(section, space=space, is_close=True)),
            ),
        ),
        turns=turns,
        notes=_NOTES,
    )


DEEPSEEK_V3_2 = _format("deepseek-v3.2", "DeepSeek V3.2", ready_turns.DEEPSEEK_V3_2, section="function_calls")
DEEPSEEK_V4 = _format("deepseek-v4", "DeepSeek V4", ready_turns.DEEPSEEK_V4, section="tool_calls")
DEEPSEEK_V4_1 = _format("deepseek-v4.1", "DeepSeek V4.1", ready_turns.DEEPSEEK_V4_1, section="calls", space=" ")
