"""Vocabularies as the engine sees them: bytes, special tokens, and the tokens that end an answer."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wieldy.connect.models.gguf import read_metadata
from wieldy.core.errors import GrammarError
from wieldy.grammar import Grammar, Matcher, Tokenizer, choice, lark

BYTES = [bytes([value]) for value in range(256)]
MARKED = Tokenizer(
    [*BYTES, b"<end>", b"<call>", b"<stop>", b"ab", "é".encode(), b""],
    end_token=["<end>", "<stop>"],
    special_tokens={"<end>": 256, "<call>": 257, "<stop>": 258},
)


def letters() -> list[str]:
    """Byte-level BPE's letters of the 256 bytes, as `tokenizer.json` has them."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = iter(range(256, 512))
    return [chr(value) if value in printable else chr(next(others)) for value in range(256)]


def byte_level_json(**changes: Any) -> str:
    """A small byte-level BPE: `ab`, ` a` and `{"` are merged."""
    spelled = letters()
    space = spelled[32]
    vocab = {letter: number for number, letter in enumerate(spelled)}
    merges = [("a", "b"), (space, "a"), ("{", '"')]
    for first, second in merges:
        vocab[first + second] = len(vocab)
    added = [
        {"id": len(vocab) + number, "content": text, "special": special, **AS_IT_IS}
        for number, (text, special) in enumerate([("<|end|>", True), ("<tool>", False), ("extra word", False)])
    ]
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": {"strategy": {"Fixed": 512}, "direction": "Right", "pad_to_multiple_of": None, "pad_id": 0,
                        "pad_type_id": 0, "pad_token": "a"},
            "added_tokens": added,
            "normalizer": {"type": "NFC"},
            "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "post_processor": None,
            "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False, "ignore_merges": False,
                      "vocab": vocab, "merges": [f"{first} {second}" for first, second in merges]},
            **changes,
        }
    )  # fmt: skip


AS_IT_IS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}


def sentence_piece_json() -> str:
    """A small SentencePiece BPE as Llama 2 has it: a space in front of every text, bytes for what has no token."""
    vocab = {"<unk>": 0, "<s>": 1, "</s>": 2} | {f"<0x{value:02X}>": 3 + value for value in range(256)}
    for piece in ["▁", "a", "b", "é", "▁a", "▁ab", "ab", "{", '"']:
        vocab[piece] = len(vocab)
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [
                {"id": number, "content": text, "special": True, **AS_IT_IS}
                for number, text in enumerate(["<unk>", "<s>", "</s>"])
            ],
            "normalizer": {"type": "Sequence", "normalizers": [
                {"type": "Prepend", "prepend": "▁"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
            "pre_tokenizer": None,
            "post_processor": None,
            "decoder": {"type": "Sequence", "decoders": [
                {"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"},
                {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
            "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>", "continuing_subword_prefix": None,
                      "end_of_word_suffix": None, "fuse_unk": True, "byte_fallback": True, "ignore_merges": False,
                      "vocab": vocab, "merges": ["▁ a", "a b", "▁a b"]},
        }
    )  # fmt: skip


GGUF_OF_LETTERS = {
    "tokenizer.ggml.model": "gpt2",
    "tokenizer.ggml.tokens": [*letters(), "ab", letters()[32] + "a", "<|end|>", "<tool>", "  ", "<|eot|>"],
    "tokenizer.ggml.token_type": [1] * 258 + [3, 4, 4, 3],
    "tokenizer.ggml.eos_token_id": 258,
    "tokenizer.ggml.eot_token_id": 261,
}
GGUF_OF_PIECES = {
    "tokenizer.ggml.model": "llama",
    "tokenizer.ggml.tokens": ["<unk>", "</s>", *(f"<0x{value:02X}>" for value in range(256)), "▁a", "ab", "<x>", "▁▁"],
    "tokenizer.ggml.token_type": [2, 3, *[6] * 256, 1, 1, 4, 4],
    "tokenizer.ggml.eos_token_id": 1,
}

TOKENIZERS = {
    "bytes": Tokenizer.of_bytes(),
    "marked": MARKED,
    "byte level": Tokenizer.of_json(byte_level_json(), end_token="<|end|>"),
    "sentence piece": Tokenizer.of_json(sentence_piece_json(), end_token="</s>"),
    "letters of a GGUF file": Tokenizer.of_gguf(GGUF_OF_LETTERS),
    "pieces of a GGUF file": Tokenizer.of_gguf(GGUF_OF_PIECES),
}
texts = st.lists(
    st.sampled_from(
        [
            "a",
            "b",
            " ",
            "é",
            "<",
            "<|end|>",
            "<end>",
            "</s>",
            "<tool>",
            "<|complete|>",
            "extra word",
            "▁",
            "{",
            "e\u0301",
        ]
    )
    | st.characters(exclude_categories=["Cs"]),
    max_size=8,
).map("".join)


@pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=TOKENIZERS)
@settings(max_examples=150, deadline=None)
@given(text=texts)
def test_tokens_spell_the_text_and_none_is_special(tokenizer: Tokenizer, text: str) -> None:
    tokens = tokenizer.tokenize(text.encode())

    assert tokens is not None
    assert b"".join(tokenizer.tokens[token] for token in tokens) == text.encode()
    assert tokenizer.special_ids.isdisjoint(tokens)


@pytest.mark.parametrize("tokenizer", TOKENIZERS.values(), ids=TOKENIZERS)
@settings(max_examples=100, deadline=None)
@given(text=texts.filter(bool), others=st.lists(texts.filter(bool), max_size=2))
def test_a_text_is_accepted_token_by_token(tokenizer: Tokenizer, text: str, others: list[str]) -> None:
    matcher = Matcher(choice([text, *others]), tokenizer)
    tokens = tokenizer.tokenize(text.encode())
    assert tokens is not None

    for token in tokens:
        assert matcher.fill_mask().allows(token)
        assert matcher.accept_token(token)
    assert matcher.is_accepting


@pytest.mark.parametrize("name", ["qwen3", "llama3", "gemma3"])
def test_real_vocabularies_cut_texts_as_their_models_do(name: str, vocabulary_of: Callable[[str], Tokenizer]) -> None:
    tokenizer = vocabulary_of(name)

    for text in (
        '{"city": "Rome", "n": [1, 2]}',
        "x<|im_end|>y<|eot_id|><end_of_turn>",
        "日本 😀 e\u0301",
        " a\n\n  b",
        "",
    ):
        tokens = tokenizer.tokenize(text.encode())
        assert tokens is not None
        assert b"".join(tokenizer.tokens[token] for token in tokens) == text.encode()
        assert tokenizer.special_ids.isdisjoint(tokens)
        assert len(tokens) <= len(text.encode())
    assert len(tokenizer.tokenize(b" Hello world") or ()) == 2


def test_the_smallest_models_own_vocabulary_is_read(smallest_model: Path) -> None:
    tokenizer = Tokenizer.of_gguf(read_metadata(smallest_model))

    assert [tokenizer.tokens[token] for token in tokenizer.tokenize(b"Hello world\n") or ()] == [
        b"Hello",
        b" world",
        b"\n",
    ]
    assert tokenizer.special_tokens["<|im_end|>"] in tokenizer.end_tokens


def test_what_files_say_of_special_tokens() -> None:
    assert TOKENIZERS["byte level"].special_tokens == {"<|end|>": 259, "<tool>": 260}
    assert TOKENIZERS["letters of a GGUF file"].special_tokens == {"<|end|>": 258, "<tool>": 259, "<|eot|>": 261}
    assert TOKENIZERS["letters of a GGUF file"].end_tokens == (258, 261)
    assert TOKENIZERS["letters of a GGUF file"].tokens[257] == b" a"
    assert TOKENIZERS["pieces of a GGUF file"].special_tokens == {"</s>": 1, "<x>": 260}
    assert TOKENIZERS["pieces of a GGUF file"].tokens[258] == b" a"
    assert TOKENIZERS["pieces of a GGUF file"].tokens[2 + 10] == b"\n"


def of_token(token: int) -> Grammar:
    return lark(f'start: "x" <[{token}]> "y"?')


def test_a_special_token_is_no_text_and_its_text_is_not_the_token() -> None:
    for tokenizer in (MARKED, TOKENIZERS["byte level"]):
        mark = "<call>" if tokenizer is MARKED else "<tool>"
        token = tokenizer.special_tokens[mark]

        spelled = Matcher(choice([mark]), tokenizer)
        assert not spelled.fill_mask().allows(token)
        assert not spelled.accept_token(token)
        assert spelled.accept_text(mark)

        named = Matcher(of_token(token), tokenizer)
        assert named.accept_text("x")
        assert not named.accept_text(mark)
        assert named.fill_mask().allowed == [token]
        assert named.accept_token(token)
        assert named.is_accepting


def test_a_token_that_ends_answers_may_be_part_of_a_grammar() -> None:
    matcher = Matcher(of_token(256), MARKED)
    assert matcher.accept_text("x")

    assert matcher.fill_mask().allowed == [256]
    assert matcher.validate([256, ord("y"), 258]) == 3
    assert not matcher.accept_token(258)
    assert matcher.accept_token(256)
    assert matcher.fill_mask().allowed == [ord("y"), 256, 258]
    assert matcher.accept_token(ord("y"))
    assert matcher.is_finished


def test_the_same_vocabulary_has_the_same_digest() -> None:
    assert MARKED.digest == Tokenizer(MARKED.tokens, end_token=[256, 258], special_tokens=MARKED.special_tokens).digest
    others = [
        Tokenizer(MARKED.tokens, end_token=[258, 256], special_tokens=MARKED.special_tokens),
        Tokenizer(MARKED.tokens, end_token=256, special_tokens={"<call>": 257}),
        Tokenizer([*MARKED.tokens[:-2], b"", "é".encode()], end_token=[256, 258]),
    ]
    assert len({MARKED.digest, *(other.digest for other in others)}) == 4


def test_how_the_model_cuts_is_asked_of_it_and_checked() -> None:
    asked: list[bytes] = []

    def cut(text: bytes) -> list[int]:
        asked.append(text)
        return list(text) if text != b"wrong" else [0]

    tokenizer = Tokenizer(MARKED.tokens, end_token=256, tokenize=cut)

    assert tokenizer.tokenize(b"ab") == [97, 98]
    assert tokenizer.tokenize(b"wrong") == list(b"wrong")
    assert MARKED.tokenize(b"ab") == [259]
    assert {b"ab", b"wrong"} <= set(asked)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Tokenizer(BYTES, end_token=256), "token 256 is not among the 256"),
        (lambda: Tokenizer(BYTES, end_token="<end>"), "'<end>' is not among"),
        (lambda: Tokenizer(BYTES, end_token=[]), "needs a token that ends"),
        (lambda: Tokenizer(BYTES, end_token=0, special_tokens={"<x>": 300}), "300 is not among"),
        (lambda: Tokenizer.of_gguf({}), "describe no vocabulary"),
        (lambda: Tokenizer.of_gguf(GGUF_OF_LETTERS | {"tokenizer.ggml.model": "bert"}), "of the kind gpt2 or"),
        (lambda: Tokenizer.of_gguf({k: v for k, v in GGUF_OF_PIECES.items() if "eos" not in k}), "needs a token that"),
        (lambda: Tokenizer.of_json("{}", end_token=0), "Expected the text of a tokenizer.json"),
        (lambda: Tokenizer.of_json("[1", end_token=0), "Expected the text of a tokenizer.json"),
        (lambda: Tokenizer.of_json('{"model": {"vocab": {"a": 0}}}', end_token=0), "The engine cannot read"),
        (lambda: Tokenizer.of_json(byte_level_json(), end_token="<nothing>"), "'<nothing>' is not among"),
        (lambda: Tokenizer.of_transformers(object()), "fast tokenizer"),
    ],
)
def test_what_is_no_vocabulary_is_refused(make: Callable[[], Tokenizer], said: str) -> None:
    with pytest.raises(GrammarError, match=said):
        make()


def test_a_tokenizer_of_transformers_is_the_vocabulary_in_its_file(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    path = tmp_path / "tokenizer.json"
    path.write_text(byte_level_json(), encoding="utf-8")
    theirs = transformers.PreTrainedTokenizerFast(tokenizer_file=str(path), eos_token="<|end|>")

    tokenizer = Tokenizer.of_transformers(theirs)

    assert tokenizer.tokens == TOKENIZERS["byte level"].tokens
    assert tokenizer.end_tokens == (259,)
    assert Tokenizer.of_transformers(theirs, end_token=["<|end|>", "<tool>"]).end_tokens == (259, 260)


def test_an_end_token_of_any_kind_is_special() -> None:
    tokenizer = Tokenizer.of_json(byte_level_json(), end_token=["<|end|>", "extra word", "ab"])

    assert [tokenizer.tokens[end] for end in tokenizer.end_tokens] == [b"<|end|>", b"extra word", b"ab"]
    assert tokenizer.tokenize(b"ab") == [97, 98]
    matcher = Matcher(choice(["extra word"]), tokenizer)
    assert matcher.fill_mask().allowed == [ord("e")]
    assert matcher.accept_text("extra word")
    assert matcher.fill_mask().allowed == sorted(tokenizer.end_tokens)
