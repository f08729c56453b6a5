"""Vectors of words, and a text's vector as their mean: 32,000 pieces of words, 256 numbers each, of a package's files.

The package (wordllama) carries the weights as data; nothing of it is imported. They were made from the embeddings of
language models, for English.
"""

from __future__ import annotations

import hashlib
import importlib.util
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from wieldy.core.errors import UsageError
from wieldy.core.extras import installing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

DIMENSIONS: Final = 256
_PACKAGE: Final = "wordllama"
_WEIGHTS: Final = "weights/l2_supercat_256.safetensors"
_WEIGHTS_SHA256: Final = "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5"
_PIECES: Final = "tokenizers/l2_supercat_tokenizer_config.json"


class Vectors:
    """Of pieces of words.

    Args:
        folder: With the files of the package.

    Raises:
        UsageError: A file is missing, or not the one that is expected.
    """

    def __init__(self, folder: Path) -> None:
        from tokenizers import Tokenizer  # noqa: PLC0415 - an extra

        try:
            content = (folder / _WEIGHTS).read_bytes()
            self._pieces = Tokenizer.from_file(str(folder / _PIECES))
        except Exception as error:
            raise UsageError(f"The vectors of words in {folder} cannot be read: {error}. {_advice()}") from None
        if hashlib.sha256(content).hexdigest() != _WEIGHTS_SHA256:
            raise UsageError(f"The vectors of words in {folder} are not the ones of wordllama 0.2.2. {_advice()}")
        start = 8 + int.from_bytes(content[:8], "little")  # safetensors: a header of that many bytes, then the numbers
        self._vectors = np.frombuffer(content, dtype=np.float16, offset=start).reshape(-1, DIMENSIONS)

    def of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row of length 1 for each text; of zeros for a text without words that are known."""
        found = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        # Half a surrogate pair, which an argument of a command may hold, is no character that a tokenizer takes.
        whole = [text.encode("utf-8", "replace").decode() for text in texts]
        for row, encoded in enumerate(self._pieces.encode_batch_fast(whole, add_special_tokens=False)):
            ids = [piece for piece in encoded.ids if piece < len(self._vectors)]
            if ids:
                found[row] = self._vectors[ids].astype(np.float32).sum(axis=0)
        return found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)


@cache
def installed_vectors() -> Vectors:
    """Those of the package that is installed; read once in a process.

    Raises:
        UsageError: It is not installed.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or not spec.submodule_search_locations or importlib.util.find_spec("tokenizers") is None:
        raise UsageError(_advice())
    return Vectors(Path(spec.submodule_search_locations[0]))


def _advice() -> str:
    return f"Searching among tools needs an extra: {installing('search')}."
