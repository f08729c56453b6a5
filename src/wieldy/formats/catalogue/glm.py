"""GLM: the name as bare text, then keys and values in tags."""

from wieldy.formats.catalogue.hermes import CHATML
from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes import Gap, Literal, Name
from wieldy.formats.reply import Region
from wieldy.formats.section import Call, Section
from wieldy.formats.tagged import Key, TaggedArguments
from wieldy.formats.wire import Wire


def _wire(line: str) -> Wire:
    return Wire(
        reasoning=Region(
            open=Literal("<think>", token=True),
            close=Literal("</think>", token=True),
            before=Gap(line),
            begin=Gap() if line else None,
            end=Gap() if line else None,
            behind=Gap(line),
        ),
        calls=Section(
            before=Gap(line),
            call=Call(
                head=(Literal("<tool_call>", token=True), Gap(), Name(), Gap(line)),
                arguments=TaggedArguments(
                    open=(
                        Literal("<arg_key>", token=True),
                        Key(),
                        Literal("</arg_key>", token=True),
                        Gap(line),
                        Literal("<arg_value>", token=True),
                    ),
                    close=(Literal("</arg_value>", token=True),),
                    between=Gap(line),
                    after=Gap(line),
                ),
                close=(Literal("</tool_call>", token=True),),
            ),
            between=(Gap(line),),
        ),
    )


GLM_4_5 = ChatFormat(name="glm-4.5", models="GLM 4.5 and 4.6", wire=_wire("\n"), turns=CHATML)
GLM_4_7 = ChatFormat(name="glm-4.7", models="GLM 4.7, 5 and later", wire=_wire(""), turns=CHATML)
