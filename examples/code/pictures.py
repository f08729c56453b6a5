"""Looking closer: find something in a picture, cut it out, and ask about the part.

    python examples/code/pictures.py

The picture is twelve by six letters and the tools are stand-ins for models that see: `locate` finds the box of a
letter, `ask` counts. Pictures stay with the tools; code has only their names.
"""

from typing import TypedDict

from wieldy import Agent, tool
from wieldy.testing import ScriptedModel, call, text

PICTURES = {"photo": ["............", "..rrr...b...", "..rgr..bgb..", "..rrr...b...", "............", "g..........g"]}

CODE = """
box = await locate("photo", "r")
part = await crop("photo", box)
[box.left, box.top, await ask(part, "g"), await ask("photo", "g")]
"""
MODEL = ScriptedModel(
    lambda messages: [call("python", {"code": CODE})] if messages[-1].role == "user" else [text(messages[-1].text)]
)


class Box(TypedDict):
    """The corners, in letters from the upper left; right and bottom are outside."""

    left: int
    top: int
    right: int
    bottom: int


@tool(effect="read")
def locate(picture: str, what: str) -> Box:
    """The smallest box with everything of a colour."""
    found = [(x, y) for y, row in enumerate(PICTURES[picture]) for x, each in enumerate(row) if each == what]
    columns, rows = [x for x, _ in found], [y for _, y in found]
    return {"left": min(columns), "top": min(rows), "right": max(columns) + 1, "bottom": max(rows) + 1}


@tool(effect="idempotent")
def crop(picture: str, box: Box) -> str:
    """Cuts a part out; its name is what you get."""
    name = f"{picture}[{box['left']},{box['top']},{box['right']},{box['bottom']}]"
    PICTURES[name] = [row[box["left"] : box["right"]] for row in PICTURES[picture][box["top"] : box["bottom"]]]
    return name


@tool(effect="read")
def ask(picture: str, what: str) -> int:
    """How often a colour is seen."""
    return sum(row.count(what) for row in PICTURES[picture])


def main() -> None:
    print(Agent(MODEL, [locate, crop, ask], actions="code").run_sync("How many green dots are in the red ring?").text)


if __name__ == "__main__":
    main()
