"""The turns of the model families, as they are written where a model's own chat template is not at hand.

Each constant is data: `dataclasses.replace` makes a variant. `begin` holds the token with which a text begins, which
many engines add by themselves: `replace(turns, begin="")` leaves it out. `prefill` is what the family's template puts
there when no more is asked for; replace it to switch thinking on or off. What a family writes at the beginning of a
reply itself, such as a space or `</think>`, belongs to the reply and is the format's. Dates, names and system messages
that official templates add by themselves are left out.
"""

from __future__ import annotations

from wieldy.formats.turns.ready.chatml import (
    CHATML,
    HERMES,
    INTERNLM,
    LFM2,
    MINICPM_5,
    NEMOTRON_3,
    OLMO_3,
    QWEN3_5,
    QWEN3_CODER,
    STEP_3_5,
    XLAM_QWEN,
)
from wieldy.formats.turns.ready.cohere import (
    COMMAND_A,
    COMMAND_R,
    COMMAND_R7B,
)
from wieldy.formats.turns.ready.deepseek import (
    DEEPSEEK_R1,
    DEEPSEEK_V3,
    DEEPSEEK_V3_1,
    DEEPSEEK_V3_2,
    DEEPSEEK_V4,
    DEEPSEEK_V4_1,
)
from wieldy.formats.turns.ready.gemma import FUNCTIONGEMMA, GEMMA, GEMMA_4
from wieldy.formats.turns.ready.glm import (
    GLM_4_5,
    GLM_4_7,
    HUNYUAN_3,
    LING,
    LONGCAT,
)
from wieldy.formats.turns.ready.granite import (
    GRANITE_3,
    GRANITE_4,
    GRANITE_20B,
    PHI_3,
    PHI_4,
    PHI_4_MINI,
)
from wieldy.formats.turns.ready.harmony import HARMONY
from wieldy.formats.turns.ready.kimi import (
    KIMI_K2,
    KIMI_K3,
)
from wieldy.formats.turns.ready.llama import (
    FUNCTIONARY,
    LLAMA_3,
    LLAMA_4,
    LLAMA_JSON,
    LLAMA_NEMOTRON,
    PYTHONIC,
    XLAM,
)
from wieldy.formats.turns.ready.minimax import (
    MINIMAX_M1,
    MINIMAX_M2,
    MINIMAX_M3,
)
from wieldy.formats.turns.ready.mistral import (
    MISTRAL_V3,
    MISTRAL_V3_TEKKEN,
    MISTRAL_V7,
    MISTRAL_V7_SPACED,
    MISTRAL_V11,
    MISTRAL_V13,
    MISTRAL_V15,
)
from wieldy.formats.turns.ready.others import (
    APERTUS,
    APRIEL,
    ERNIE_4_5,
    HUNYUAN,
    JAMBA,
    NEMOTRON,
    NEMOTRON_MINI,
    SEED_OSS,
    STEP_3,
)
from wieldy.formats.turns.ready.plain import (
    CLAUDE_2,
    JSON,
    MARKERS,
    PLAIN_TEXT,
    REACT,
)

__all__ = [
    "APERTUS",
    "APRIEL",
    "CHATML",
    "CLAUDE_2",
    "COMMAND_A",
    "COMMAND_R",
    "COMMAND_R7B",
    "DEEPSEEK_R1",
    "DEEPSEEK_V3",
    "DEEPSEEK_V3_1",
    "DEEPSEEK_V3_2",
    "DEEPSEEK_V4",
    "DEEPSEEK_V4_1",
    "ERNIE_4_5",
    "FUNCTIONARY",
    "FUNCTIONGEMMA",
    "GEMMA",
    "GEMMA_4",
    "GLM_4_5",
    "GLM_4_7",
    "GRANITE_3",
    "GRANITE_4",
    "GRANITE_20B",
    "HARMONY",
    "HERMES",
    "HUNYUAN",
    "HUNYUAN_3",
    "INTERNLM",
    "JAMBA",
    "JSON",
    "KIMI_K2",
    "KIMI_K3",
    "LFM2",
    "LING",
    "LLAMA_3",
    "LLAMA_4",
    "LLAMA_JSON",
    "LLAMA_NEMOTRON",
    "LONGCAT",
    "MARKERS",
    "MINICPM_5",
    "MINIMAX_M1",
    "MINIMAX_M2",
    "MINIMAX_M3",
    "MISTRAL_V3",
    "MISTRAL_V3_TEKKEN",
    "MISTRAL_V7",
    "MISTRAL_V7_SPACED",
    "MISTRAL_V11",
    "MISTRAL_V13",
    "MISTRAL_V15",
    "NEMOTRON",
    "NEMOTRON_3",
    "NEMOTRON_MINI",
    "OLMO_3",
    "PHI_3",
    "PHI_4",
    "PHI_4_MINI",
    "PLAIN_TEXT",
    "PYTHONIC",
    "QWEN3_5",
    "QWEN3_CODER",
    "REACT",
    "SEED_OSS",
    "STEP_3",
    "STEP_3_5",
    "XLAM",
    "XLAM_QWEN",
]
