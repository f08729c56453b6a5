"""Chat formats: how model families write tool calls, each as one definition.

`get(name)` gives a `ChatFormat`: it renders conversations, parses replies whole or piece by piece, and makes grammars.
All four come from the same tree of nodes. Pure: text in, events out.
"""

from importlib import import_module

from wieldy.core.errors import UsageError
from wieldy.formats.format import ChatFormat
from wieldy.schema import nearest_names

_CATALOGUE = {
    "hermes": "hermes:HERMES",
    "qwen3-coder": "qwen:QWEN3_CODER",
    "seed-oss": "xml:SEED_OSS",
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
    "step-3": "xml:STEP_3",
    "functionary": "xml:FUNCTIONARY",
    "minicpm-5": "xml:MINICPM_5",
    "claude-2": "xml:CLAUDE_2",
    "markers": "prompted:MARKERS",
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
        raise UsageError(f"There is no chat format {name!r}{_did_you_mean(name)}. There are: {', '.join(names())}.")
    module, constant = place.split(":")
    return getattr(import_module(f"wieldy.formats.catalogue.{module}"), constant)


def detect(chat_template: str) -> str:
    """The name of the format that a model's chat template (Jinja source) writes, found by rendering and reading back.

    Raises:
        UsageError: The template is none, shows no calls, or fits no format; the text says what was tried.
    """
    # Rendering templates is not what programs that name their format need.
    from wieldy.formats import detection  # noqa: PLC0415

    return detection.detect(chat_template)


def _did_you_mean(name: str) -> str:
    alike = nearest_names(name, names(), most=3)
    return f"; did you mean {' or '.join(map(repr, alike))}?" if alike else ""
