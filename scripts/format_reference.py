"""Writes the part of `docs/reference/chat-formats.md` that is about single formats, from the formats themselves.

    python scripts/format_reference.py           # writes the page
    python scripts/format_reference.py --check   # ends with 1 if the page is out of date

Everything but names, models and notes is found out by writing replies and reading them back.
"""

import re
import sys
from pathlib import Path

from wieldy import Message, ToolCall
from wieldy.apps.cli.formats_probes import EXAMPLES, PROBES, TOOLS, losses_of
from wieldy.formats import ChatFormat, get, names

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "chat-formats.md"
BEGIN = "<!-- written by scripts/format_reference.py -->"
END = "<!-- end of what is written -->"
GIVEN_ID = "call_7fA3"
UNTYPED = 'the text "2" beside the number 2, without a schema'
IN_TABLE = ("ids", "reasoning", "reasoning and a call", UNTYPED)


def main() -> int:
    old = PAGE.read_text("utf-8")
    new = page_with(old)
    if "--check" in sys.argv:
        return int(new != old)
    PAGE.write_text(new, "utf-8")
    return 0


def page_with(page: str) -> str:
    """The page with its generated part written anew."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{generated()}\n{END}{after}"


def generated() -> str:
    formats = [get(name) for name in names()]
    lost = {chat.name: lost_by(chat) for chat in formats}
    carried = [of for of in PROBES if not any(of in of_one for of_one in lost.values())]
    by_none = [of for of in lost[formats[0].name] if of != "ids" and all(of in of_one for of_one in lost.values())]
    rows = "\n".join(row(chat, lost[chat.name]) for chat in formats)
    sections = "\n".join(section(chat, lost[chat.name], by_none) for chat in formats)
    return (
        f"| format | models | ids | reasoning | types |\n|---|---|---|---|---|\n{rows}\n\n"
        f"Every format carries: {'; '.join(carried)}. No format carries: {'; '.join(by_none)}.\n\n{sections}"
    )


def lost_by(chat: ChatFormat) -> list[str]:
    """What of the probes does not come back, without the marks of the format."""
    return [re.split(r""", ['"](?=.*['"]$)""", loss.of, maxsplit=1, flags=re.DOTALL)[0] for loss in losses_of(chat)]


def row(chat: ChatFormat, lost: list[str]) -> str:
    cells = [
        f"[{chat.name}](#{anchor(chat.name)})",
        plain(chat.models),
        ids_of(chat),
        "no" if "reasoning" in lost else "yes",
        "from the schema" if UNTYPED in lost else "on the wire",
    ]
    return f"| {' | '.join(cells)} |"


def ids_of(chat: ChatFormat) -> str:
    """Which ids come back: none, only such as the format makes itself, or any."""
    call = ToolCall(id=GIVEN_ID, name="get_weather", arguments={"city": "Paris"}, provider_id=GIVEN_ID)
    text = chat.render_reply(Message.assistant(calls=[call]), TOOLS, prompt="")
    found = chat.parse(text, TOOLS, prompt="").calls[0].provider_id
    if found is None:
        return "none"
    return "any" if found == GIVEN_ID else "its own"


def section(chat: ChatFormat, lost: list[str], by_none: list[str]) -> str:
    example = EXAMPLES["one call" if "text beside a call" in lost else "text and a call"]
    text = chat.render_reply(example, TOOLS, prompt="").strip("\n")
    fence = "````" if "```" in text else "```"
    remarks = [*chat.notes]
    own = [of for of in lost if of not in (*by_none, *IN_TABLE)]
    if own:
        remarks.append(f"Not carried: {'; '.join(own)}.")
    ends = chat.turns.reply_end
    tokens = [token for token in chat.marks if token not in ends]
    if tokens:
        remarks.append(f"Special tokens: {', '.join(map(code, tokens))}.")
    if ends:
        remarks.append(f"Ends with: {', '.join(map(code, ends))}.")
    listed = "".join(f"* {plain(remark)}\n" for remark in remarks)
    return f"### {chat.name}\n\n{plain(chat.models)}.\n\n{fence}text\n{text}\n{fence}\n\n{listed}"


def anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def code(text: str) -> str:
    quote = "``" if "`" in text else "`"
    shown = text.replace("\n", "⏎")
    return f"{quote}{shown}{quote}"


def plain(text: str) -> str:
    """Prose in which tags and brackets are only letters; what stands in backquotes is left as it is."""
    parts = text.split("`")
    return "`".join(
        re.sub(r"([<>\[\]*_])", r"\\\1", part) if index % 2 == 0 else part for index, part in enumerate(parts)
    )


if __name__ == "__main__":
    sys.exit(main())
