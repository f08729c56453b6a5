"""Chat formats: how model families write tool calls, each as one definition.

`get(name)` gives a `ChatFormat`: it renders conversations, parses replies whole or piece by piece, and makes grammars.
All four come from the same tree of nodes. A format of your own is a `ChatFormat` made of the nodes that are importable
from here. Pure: text in, events out.

To understand a format, begin with one: `catalogue.hermes`, and `format`, which says what can be done with it. Then what
it is made of: `nodes.flat`, `nodes.json_calls`, `wires.section`, `wires.wire`. Then how it is read: `reading.source`,
`reading.pattern`, `reading.sink`, `wires.section_reader`, `wires.reply_reader`.
"""

from importlib import import_module

from wieldy.core.errors import UsageError
from wieldy.formats.events import (
    ArgumentsDelta,
    CallOpened,
    ParseEvent,
    Problem,
    Repaired,
    Reply,
    Span,
    TextWasReasoning,
)
from wieldy.formats.format import ChatFormat
from wieldy.formats.nodes.flat import CallId, Gap, Index, Literal, Name, WithId
from wieldy.formats.nodes.json_calls import JsonArguments, JsonCall, KeyedJsonCall
from wieldy.formats.nodes.object_notation import ObjectNotation
from wieldy.formats.nodes.python_calls import PythonArguments
from wieldy.formats.nodes.tagged import Key, TaggedArguments, TypeMark
from wieldy.formats.nodes.xml_calls import XmlArguments
from wieldy.formats.parser import Parser
from wieldy.formats.turns.turns import Results, Slot, ToolSection, Turns, Wrap
from wieldy.formats.wires.reply import Region
from wieldy.formats.wires.section import Call, Section
from wieldy.formats.wires.wire import Wire
from wieldy.schema import nearest_names

__all__ = [
    "ArgumentsDelta",
    "Call",
    "CallId",
    "CallOpened",
    "ChatFormat",
    "Gap",
    "Index",
    "JsonArguments",
    "JsonCall",
    "Key",
    "KeyedJsonCall",
    "Literal",
    "Name",
    "ObjectNotation",
    "ParseEvent",
    "Parser",
    "Problem",
    "PythonArguments",
    "Region",
    "Repaired",
    "Reply",
    "Results",
    "Section",
    "Slot",
    "Span",
    "TaggedArguments",
    "TextWasReasoning",
    "ToolSection",
    "Turns",
    "TypeMark",
    "Wire",
    "WithId",
    "Wrap",
    "XmlArguments",
    "detect",
    "get",
    "names",
]

_CATALOGUE = {
    "hermes": "hermes:HERMES",
    "qwen3-coder": "qwen:QWEN3_CODER",
    "seed-oss": "xml:SEED_OSS",
    "mistral-v3": "mistral:MISTRAL_V3",
    "mistral-v7": "mistral:MISTRAL_V7",
    "mistral-v11": "mistral:MISTRAL_V11",
    "mistral-v13": "mistral:MISTRAL_V13",
    "mistral-v15": "mistral:MISTRAL_V15",
    "deepseek-v3": "deepseek:DEEPSEEK_V3",
    "deepseek-v3.1": "deepseek:DEEPSEEK_V3_1",
    "deepseek-v3.2": "deepseek_dsml:DEEPSEEK_V3_2",
    "deepseek-v4": "deepseek_dsml:DEEPSEEK_V4",
    "deepseek-v4.1": "deepseek_dsml:DEEPSEEK_V4_1",
    "kimi-k2": "kimi:KIMI_K2",
    "kimi-k3": "kimi_k3:KIMI_K3",
    "glm-4.5": "glm:GLM_4_5",
    "glm-4.7": "glm:GLM_4_7",
    "minimax-m1": "minimax:MINIMAX_M1",
    "minimax-m2": "minimax:MINIMAX_M2",
    "minimax-m3": "minimax:MINIMAX_M3",
    "llama-json": "llama:LLAMA_JSON",
    "pythonic": "pythonic:PYTHONIC",
    "olmo-3": "pythonic:OLMO_3",
    "lfm2": "pythonic:LFM2",
    "harmony": "harmony:HARMONY",
    "gemma-4": "gemma:GEMMA_4",
    "functiongemma": "gemma:FUNCTIONGEMMA",
    "granite-3": "granite:GRANITE_3",
    "granite-20b-fc": "granite:GRANITE_20B_FC",
    "phi-4-mini": "granite:PHI_4_MINI",
    "command-r": "cohere:COMMAND_R",
    "command-a": "cohere:COMMAND_A",
    "internlm": "internlm:INTERNLM",
    "jamba": "arrays:JAMBA",
    "nemotron": "arrays:NEMOTRON",
    "xlam": "arrays:XLAM",
    "apertus": "arrays:APERTUS",
    "step-3": "xml:STEP_3",
    "ernie-4.5": "ernie:ERNIE_4_5",
    "functionary": "xml:FUNCTIONARY",
    "minicpm-5": "xml:MINICPM_5",
    "hunyuan": "arrays:HUNYUAN",
    "claude-2": "xml:CLAUDE_2",
    "react": "react:REACT",
    "markers": "prompted:MARKERS",
    "json": "json_text:JSON",
    "hunyuan-3": "glm:HUNYUAN_3",
    "hunyuan-dense": "hunyuan_dense:HUNYUAN_DENSE",
    "solar-open": "solar:SOLAR_OPEN",
    "solar-open-2": "solar:SOLAR_OPEN_2",
    "gigachat-3": "gigachat:GIGACHAT_3",
    "gigachat-3.1": "gigachat:GIGACHAT_3_1",
    "step-3-vl": "step:STEP_3_VL",
    "step-audio": "step:STEP_AUDIO",
    "minicpm-3": "others:MINICPM_3",
    "falcon-3": "others:FALCON_3",
    "frogboss": "others:FROGBOSS",
}


def names() -> tuple[str, ...]:
    """The names of all formats."""
    return tuple(_CATALOGUE)


def get(name: str) -> ChatFormat:
    """The format of this name.

    Raises:
        UsageError: There is none; the text names the nearest.
    """
    place = _CATALOGUE.get(name)
    if place is None:
        raise UsageError(f"There is no chat format {name!r}{_did_you_mean(name)} There are: {', '.join(names())}.")
    module, constant = place.split(":")
    return getattr(import_module(f"wieldy.formats.catalogue.{module}"), constant)


def detect(chat_template: str) -> str:
    """The name of the format that a model's chat template (Jinja source) writes, found by rendering and reading back.

    Raises:
        UsageError: The template is none, shows no calls, or fits no format; the text says what was tried.
    """
    # Rendering templates is not what programs that name their format need.
    from wieldy.formats.templates import detection  # noqa: PLC0415

    return detection.detect(chat_template)


def _did_you_mean(name: str) -> str:
    alike = nearest_names(name, names(), most=3)
    return f"; did you mean {' or '.join(map(repr, alike))}?" if alike else "."
