"""What answers, beyond its name: the file and its checksum, how it is quantised, the engine, what holds replies.

Two deployments under one name give results that must not stand in one table, so everything that could change an answer
and can be known is told; what cannot be known is None. Deliberately not here: how a model is led, and the machine.
Sources: llama.h of llama.cpp (`llama_ftype`) for the numbers of file types; vLLM's /v1/models and /version, Ollama's
/api/tags, llama-server's /props.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from wieldy.core.json import JsonObject, JsonValue

_FILE_TYPES: Final = {
    **{0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S"},
    **{12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K"},
    **{19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL"},
    **{26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16"},
    **{36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4_MOE"},
}


def of_package(name: str) -> str | None:
    """The package with its version; None where it is not installed."""
    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return None


@cache
def _sha256(path: Path, size_bytes: int, changed_ns: int) -> str:
    """Cost: reads the file, once for as long as its size and time stay."""
    del size_bytes, changed_ns
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def of_weights(path: Path, metadata: Mapping[str, Any]) -> JsonObject:
    """A file of weights: its name, checksum, architecture and quantisation, by its own header."""
    about = path.stat()
    number = metadata.get("general.file_type")
    return {
        "file": path.name,
        "sha256": _sha256(path, about.st_size, about.st_mtime_ns),
        "architecture": metadata.get("general.architecture"),
        "quantisation": None if number is None else _FILE_TYPES.get(number, f"file type {number}"),
    }


# Servers


class Question(NamedTuple):
    """What a kind of server is asked about a model.

    Attributes:
        path: At the root of the server, or below its base address.
        reads: What of the JSON answer is told, given the model's name; nothing that changes from request to request.
    """

    path: str
    at_root: bool
    reads: Callable[[dict[str, Any], str | None], JsonObject]


def _listed(answer: dict[str, Any], model: str | None) -> JsonObject:
    fields = ("id", "root", "parent", "owned_by", "max_model_len", "quantization", "meta")
    return _named(answer.get("data"), model, key="id", fields=fields)


def _tagged(answer: dict[str, Any], model: str | None) -> JsonObject:
    return _named(answer.get("models"), model, key="name", fields=("name", "digest", "details"))


def _named(items: Any, model: str | None, *, key: str, fields: tuple[str, ...]) -> JsonObject:
    listed = cast("list[Any]", items) if isinstance(items, list) else []
    rows = [cast("dict[str, Any]", item) for item in listed if isinstance(item, dict)]
    found = next((row for row in rows if row.get(key) == model or (model is None and len(rows) == 1)), None)
    return {} if found is None else {name: found[name] for name in fields if name in found}


def _only(*fields: str) -> Callable[[dict[str, Any], str | None], JsonObject]:
    return lambda answer, _: {name: cast("JsonValue", answer[name]) for name in fields if name in answer}


MODELS: Final = Question("/models", at_root=False, reads=_listed)
QUESTIONS: Final[Mapping[str, tuple[Question, ...]]] = {
    "vllm": (MODELS, Question("/version", at_root=True, reads=_only("version"))),
    "sglang": (
        MODELS,
        Question("/get_model_info", at_root=True, reads=_only("model_path", "weight_version")),
        Question(
            "/get_server_info",
            at_root=True,
            reads=_only("version", "quantization", "dtype", "speculative_algorithm", "grammar_backend"),
        ),
    ),
    "llama_server": (MODELS, Question("/props", at_root=True, reads=_only("model_path", "build_info"))),
    "ollama": (
        Question("/api/tags", at_root=True, reads=_tagged),
        Question("/api/version", at_root=True, reads=_only("version")),
    ),
    "anthropic": (),
}
"""What to ask, by the kind of server; all others are asked for their list of models."""


def read(question: Question, body: str, model: str | None) -> JsonObject:
    """What an answer says; nothing where it is something else."""
    try:
        answer: Any = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return question.reads(cast("dict[str, Any]", answer), model) if isinstance(answer, dict) else {}
