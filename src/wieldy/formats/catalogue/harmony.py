"""Harmony: gpt-oss and models that were tuned from it."""

from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import Literal
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.harmony import HarmonyWire
from wieldy.formats.wires.message_header import HeaderMarks

_END, _CALL, _RETURN = (Literal(text, token=True) for text in ("<|end|>", "<|call|>", "<|return|>"))

HARMONY = ChatFormat(
    name="harmony",
    models="gpt-oss 20B and 120B, gpt-oss-safeguard, LLM-jp 4",
    wire=HarmonyWire(
        marks=HeaderMarks(
            start=Literal("<|start|>", token=True),
            channel=Literal("<|channel|>", token=True),
            kind=Literal("<|constrain|>", token=True),
            message=Literal("<|message|>", token=True),
            ends=(_END, _CALL, _RETURN),
        ),
        channels={"analysis": "reasoning", "commentary": "content", "final": "content"},
        written_on={"reasoning": "analysis", "preamble": "commentary", "answer": "final", "call": "commentary"},
        calls_end=_CALL,
    ),
    turns=ready_turns.HARMONY,
    notes=(
        "Text beside calls is written on the commentary channel; which channel a text stood on is not kept.",
        "Several messages of one kind are read as one text, without anything between them.",
        "Calls have no ids: results are matched by name and order.",
        "The official template writes no call but the first of a reply.",
        "Messages to built-in tools (python, browser) are no calls: they stay in the spans, with a problem.",
    ),
)
