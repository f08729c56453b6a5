"""The smallest causal language model of the transformers library: random weights and a byte-level vocabulary."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from wieldy.grammar import Tokenizer

# Threads that wait for so small a model only slow each other; read when torch is loaded, which is later.
os.environ.setdefault("OMP_NUM_THREADS", "1")

PAD, END, TURN, CALL, CALLED = "<pad>", "<end>", "<turn>", "<tool_call>", "</tool_call>"
PIECES = ["{", "}", '"', ": ", ", ", "the ", "name", "city", "Paris", '": "', '", "', "arguments", "\n", '{"name": "']
TEMPLATE = (
    "{% for m in messages %}<turn>{{ m.role }}\n{{ m.content or '' }}"
    '{% for c in m.tool_calls or [] %}{{ \'\\n<tool_call>\\n{"name": "\' + c.function.name + \'", "arguments": \' }}'
    "{{ c.function.arguments | tojson }}{{ '}\\n</tool_call>' }}{% endfor %}<end>\n{% endfor %}"
    "{% if add_generation_prompt %}<turn>assistant\n{% endif %}"
)
PADDED = 32
"""How many more scores the model has than its vocabulary has tokens."""


@dataclass(frozen=True, kw_only=True)
class Tiny:
    """The model, its tokenizer, and what Wieldy makes of it."""

    model: Any
    tokenizer: Any
    vocabulary: Tokenizer


def tiny(*, template: str | None = TEMPLATE, seed: int = 0) -> Tiny:
    """A new model; another seed gives other weights."""
    import tokenizers
    import torch
    import transformers

    letters = {letter: index for index, letter in enumerate(sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()))}
    spelled = [piece.replace(" ", "Ġ").replace("\n", "Ċ") for piece in PIECES if len(piece) > 1]
    # Each piece is merged from the left, letter by letter.
    steps = list(dict.fromkeys(piece[:size] for piece in spelled for size in range(2, len(piece) + 1)))
    vocabulary = letters | {step: len(letters) + index for index, step in enumerate(steps)}
    merges = [(step[:-1], step[-1]) for step in steps]
    made = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=merges))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=made,
        eos_token=END,
        pad_token=PAD,
        additional_special_tokens=[TURN, CALL, CALLED],
        padding_side="left",
        chat_template=template,
    )
    torch.manual_seed(seed)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer) + PADDED,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=4096,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
        initializer_range=1.0,
    )
    model = transformers.LlamaForCausalLM(config).eval()
    return Tiny(model=model, tokenizer=tokenizer, vocabulary=Tokenizer.of_transformers(tokenizer))
