"""Tools, messages and texts with which the laws of every chat format are tested."""

import random
from typing import Any

from hypothesis import strategies as st

from wieldy.core.calls import ToolCall
from wieldy.core.messages import Message
from wieldy.formats import get

POINT = {
    "type": "object",
    "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
    "required": ["x", "y"],
    "additionalProperties": False,
}


def tool(name: str, properties: dict[str, Any], *, required: list[str] | None = None, **more: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
        **more,
    }
    return {"type": "function", "function": {"name": name, "description": f"{name}.", "parameters": schema}}


TOOLS = [
    tool("write_file", {"path": {"type": "string"}, "content": {"type": "string"}}, required=["path"]),
    tool("list_files", {}),
    tool(
        "convert",
        {
            "text": {"type": "string"},
            "count": {"type": "integer"},
            "ratio": {"type": "number"},
            "on": {"type": "boolean"},
            "off": {"type": ["integer", "null"]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "at": {"$ref": "#/$defs/Point"},
            "unit": {"enum": ["kg", "g"]},
        },
        required=["text", "count"],
        **{"$defs": {"Point": POINT}},
    ),
]

tame = st.text("abc XYZ019.,é日", max_size=12).map(str.strip)
"""Text without marks, quotes or brackets, and without whitespace at its ends."""
strings = st.text("ab09 \"'\\\n\t<>/{}()[]=,:;|&#`é日😀", max_size=10).filter(lambda text: '<|"|>' not in text)
"""What arguments may be: all that quoting and brackets are made of; but Gemma's quote, which its wire cannot carry."""
integers = st.integers(-(10**20), 10**20)

arguments = {
    "write_file": st.fixed_dictionaries({"path": tame}, optional={"content": strings}),
    "list_files": st.just({}),
    "convert": st.fixed_dictionaries(
        {"text": strings, "count": integers},
        optional={
            "ratio": st.floats(-1e6, 1e6).map(lambda number: round(number, 3)),
            "on": st.booleans(),
            "off": st.none() | integers,
            "tags": st.lists(strings, max_size=3),
            "at": st.fixed_dictionaries({"x": integers, "y": integers}),
            "unit": st.sampled_from(["kg", "g"]),
        },
    ),
}


@st.composite
def calls(draw: st.DrawFn, *, most: int) -> list[ToolCall]:
    """Calls of the tools."""
    names = draw(st.lists(st.sampled_from(sorted(arguments)), max_size=most))
    return [
        ToolCall(id=f"call_{index}", name=name, arguments=draw(arguments[name])) for index, name in enumerate(names)
    ]


ONE_CALL = ("llama-json", "react", "harmony-one")
"""Formats whose wire carries one call at most."""
NO_REASONING_CLOSE = ("react",)


def carries(name: str) -> dict[str, bool]:
    """What the format says that it cannot carry, as its notes have it."""
    wire: Any = get(name).wire
    section = getattr(wire, "calls", None)
    return {
        "reasoning": getattr(wire, "reasoning", True) is not None,
        "calls": getattr(section, "most", None) != 1,
        "text beside a call": getattr(wire, "text_beside_calls", True),
    }


@st.composite
def messages(draw: st.DrawFn, name: str) -> Message:
    """A reply that the format can carry."""
    able = carries(name)
    made = draw(calls(most=3 if able["calls"] else 1))
    content = draw(tame) if able["text beside a call"] or not made else ""
    return Message.assistant(content, made, reasoning=draw(tame) if able["reasoning"] else "")


def literals(name: str) -> list[str]:
    """The texts of which a format's replies are made, found in what it writes."""
    call = ToolCall(id="c", name="write_file", arguments={"path": "P", "content": "C"})
    text = get(name).render_reply(Message.assistant("T", [call, call], reasoning="R"), TOOLS)
    pieces = [text]
    for word in ("write_file", "path", "content", "P", "C", "T", "R"):
        pieces = [part for piece in pieces for part in piece.split(word)]
    return [*{piece for piece in pieces if piece.strip()}, "write_file", "path", "\n", " ", '"', "{", "}", "x"]


def changed(text: str, name: str, chance: random.Random) -> str:
    """The text with a stretch left out, doubled, or replaced by something that the format is made of."""
    start = chance.randint(0, len(text))
    end = min(len(text), start + chance.choice([0, 1, 1, 2, 5, 40]))
    new = chance.choice(["", text[start:end] * 2, chance.choice(literals(name)), chance.choice("ab{}\"'<>[]()=,:\n")])
    return text[:start] + new + text[end:]
