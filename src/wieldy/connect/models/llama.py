"""llama.cpp in this process, through the public interface of its binding: blocking calls, safe from several threads.

Grammars are compiled here before they get to the engine (`Grammar`), which ignores what it does not understand.
The engine also listens on a loopback port, which cannot be switched off; a random key that nobody is told shuts it.
Deliberately not here: which weights, chat templates, waiting without blocking (`local`).
"""

from __future__ import annotations

import atexit
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

from wieldy.connect.models.foreign_calls import ForeignCalls
from wieldy.core.errors import ModelNotAvailableError, ProviderError, RequestRefusedError
from wieldy.core.extras import installing
from wieldy.core.limits import Usage
from wieldy.grammar import Grammar
from wieldy.run.guided import Completion, Weighed, Written

CONTEXT_TOKENS: Final = 16_384
"""The longest prompt and answer together; the memory for it is taken as it is used."""

_SLOTS: Final = 3
"""How many prompts are kept ready at once: the guided strategy asks with three that begin differently."""

_BATCH_TOKENS: Final = 512
"""How much of a prompt is read before others get their turn, and before whoever asked can be asked whether to go on."""

_ALTERNATIVES: Final = 300
"""How many of the likeliest tokens are looked at when options are weighed."""

IMPOSSIBLE: Final = -30.0
"""The log-probability given to what is not among the likeliest tokens."""

OnPiece: TypeAlias = Callable[[str], bool]
"""Told each piece of text; returns whether to stop."""

Answer: TypeAlias = dict[str, Any]
"""What the engine says, in the shape of the OpenAI protocol's completions."""


_calls: Final = ForeignCalls()


@cache
def _wait_at_exit() -> None:
    atexit.register(_calls.end)


class Engine:
    """One loaded model.

    Args:
        path: The weights, a GGUF file.
        threads: How many processor threads; all of them if left out.

    Raises:
        ModelNotAvailableError: The binding is not installed, or it cannot load the file.
    """

    def __init__(self, path: Path, *, threads: int | None = None, context_tokens: int = CONTEXT_TOKENS) -> None:
        # Threads of the engine that wait by spinning slow each other to a crawl on busy cores; read when it loads.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        os.environ.setdefault("GOMP_SPINCOUNT", "0")
        try:
            xllamacpp: Any = import_module("xllamacpp")  # an optional extra, without type information
        except ImportError as error:
            raise ModelNotAvailableError(
                f"Local models need llama.cpp, which cannot be imported ({error}). Run: {installing('local')}"
            ) from error
        parameters: Any = xllamacpp.CommonParams()
        parameters.model.path = str(path)
        parameters.n_ctx = context_tokens
        parameters.n_parallel = _SLOTS
        parameters.kv_unified = True
        parameters.n_batch = _BATCH_TOKENS
        parameters.cpuparams.n_threads = threads or _processors()
        parameters.warmup = False
        parameters.verbosity = -1
        parameters.cache_ram_mib = 0
        parameters.cache_idle_slots = False  # else each prompt that begins differently makes the others be read again
        parameters.api_keys = [secrets.token_hex(32)]
        _wait_at_exit()
        try:
            with _calls.one():
                self._server: Any = xllamacpp.Server(parameters)
        except (RuntimeError, ValueError) as error:
            raise ModelNotAvailableError(
                f"llama.cpp cannot load {str(path)!r} ({str(error).rstrip('.')}). The file may be cut short, or of a "
                "kind that this llama.cpp does not know: fetch it again, or use other weights."
            ) from error

    def complete(
        self,
        prompt: str,
        *,
        max_tokens: int,
        grammar: Grammar | None = None,
        stop: Sequence[str] = (),
        on_piece: OnPiece = lambda _: False,
    ) -> Completion:
        """The likeliest continuation, token by token.

        Raises:
            RequestRefusedError: The prompt does not fit.
            ProviderError: The engine failed.
        """
        body = {
            "prompt": prompt,
            "max_tokens": max_tokens,
            "temperature": 0,
            "cache_prompt": True,
            "n_probs": 1,
            "stop": list(stop),
        }
        if grammar is not None:
            body["grammar"] = grammar.engine_text
        pieces: list[str] = []
        tokens: list[Written] = []
        usage = Usage(requests=1)
        finishes: list[Any] = []

        def take(chunk: Answer) -> bool:
            nonlocal usage
            usage = _usage(chunk) or usage
            text = ""
            for choice in chunk.get("choices", ()):
                text += choice["text"]
                tokens.extend(Written(text=token["token"], logprob=token["logprob"]) for token in _tokens(choice))
                finishes.append(choice.get("finish_reason"))
            pieces.append(text)
            return on_piece(text)

        self._stream(self._server.handle_completions, body, take)
        return Completion(
            text="".join(pieces),
            tokens=tuple(tokens),
            usage=usage,
            finish="length" if "length" in finishes else "stop",
        )

    def chat(self, body: Mapping[str, Any], on_chunk: Callable[[Answer], bool]) -> None:
        """A chat-completions request, answered in the chunks of that protocol.

        Raises:
            RequestRefusedError: The engine does not take the request.
            ProviderError: The engine failed.
        """
        self._stream(self._server.handle_chat_completions, {**body, "cache_prompt": True}, on_chunk)

    def weigh(self, prompt: str, options: Sequence[str], *, is_unwanted: Callable[[], bool] = lambda: False) -> Weighed:
        """The log-probability of each option as the continuation of the prompt.

        Walks the options' common beginnings token by token, so that it costs one token where they differ at once. A
        token may reach beyond the end of an option. Options and the end of the prompt should lie where the model's
        tokens end: begin an option with its space.

        Args:
            prompt: The text that is continued.
            options: Its continuations.
            is_unwanted: Whether nobody waits for the result any more; it is then worth nothing.

        Raises:
            RequestRefusedError: The prompt does not fit.
            ProviderError: The engine failed.
        """
        scores = dict.fromkeys(options, 0.0)
        usage = Usage()
        waiting = [("", list(scores))]
        while waiting and not is_unwanted():
            prefix, candidates = waiting.pop()
            tokens, used = self._likeliest(prompt + prefix, is_unwanted)
            usage += used
            for token, group in _grouped(candidates, prefix, tokens, scores).items():
                unfinished = [candidate for candidate in group if len(candidate) > len(prefix + token)]
                if len(group) > 1 and unfinished:
                    waiting.append((prefix + token, unfinished))
        return Weighed(logprobs=scores, usage=usage)

    def _likeliest(self, prompt: str, is_unwanted: Callable[[], bool]) -> tuple[list[tuple[str, float]], Usage]:
        body = {"prompt": prompt, "max_tokens": 1, "temperature": 0, "cache_prompt": True, "n_probs": _ALTERNATIVES}
        tokens: list[tuple[str, float]] = []
        usage = Usage(requests=1)

        def take(chunk: Answer) -> bool:
            nonlocal usage
            usage = _usage(chunk) or usage
            for written in (written for choice in chunk.get("choices", ()) for written in _tokens(choice)):
                tokens.extend(
                    (bytes(token["bytes"]).decode("utf-8", "replace"), float(token["logprob"]))
                    for token in written["top_logprobs"]
                )
            return is_unwanted()

        self._stream(self._server.handle_completions, body, take)
        return tokens, usage

    def _stream(self, handle: Callable[..., Any], body: dict[str, Any], on_chunk: Callable[[Answer], bool]) -> None:
        failures: list[BaseException] = []

        def take(chunk: Any) -> bool:
            # An exception must not travel through the engine's C++ frames.
            try:
                return _calls.is_ending or any(on_chunk(self._checked(part)) for part in _chunks(chunk))
            except BaseException as error:
                failures.append(error)
                return True

        # With its progress told, a long prompt can be left while it is read.
        options = {"stream": True, "stream_options": {"include_usage": True}, "return_progress": True}
        try:
            with _calls.one():
                handle({**body, **options}, take)
        except (RuntimeError, ValueError) as error:
            raise RequestRefusedError(f"The local model does not take this request: {error}.") from error
        if failures:
            raise failures[0]

    @staticmethod
    def _checked(answer: Answer) -> Answer:
        match answer:
            case {"error": {"message": message, "type": "exceed_context_size_error"}}:
                raise RequestRefusedError(
                    f"The conversation is too long for the local model: {message}. Give it fewer or smaller tools, "
                    "or shorter messages."
                )
            case {"error": {"message": message, "code": 400}}:
                raise RequestRefusedError(f"The local model does not take this request: {message}.")
            case {"error": error}:
                raise ProviderError(f"The local model failed: {error}.")
            case _:
                return answer


def _grouped(
    candidates: Sequence[str], prefix: str, tokens: Sequence[tuple[str, float]], scores: dict[str, float]
) -> dict[str, list[str]]:
    """Candidates by the likeliest token with which each goes on; their scores are brought up to date."""
    groups: dict[str, list[str]] = {}
    for candidate in candidates:
        rest = candidate[len(prefix) :]
        fitting = [(score, token) for token, score in tokens if token and _agree(rest, token)]
        score, token = max(fitting, default=(IMPOSSIBLE, ""))
        scores[candidate] += score
        if token:
            groups.setdefault(token, []).append(candidate)
    return groups


def _agree(rest: str, token: str) -> bool:
    return rest.startswith(token) or token.startswith(rest)


def _chunks(chunk: Any) -> Iterator[Answer]:
    yield from chunk if isinstance(chunk, list) else [chunk]


def _tokens(choice: Answer) -> list[Any]:
    logprobs: Answer = choice.get("logprobs") or {}
    return logprobs.get("content") or []


def _usage(answer: Answer) -> Usage | None:
    # What is still in memory from an earlier prompt is not read again, and one run asks many short questions.
    match answer.get("usage"):
        case {"prompt_tokens": int(read), "completion_tokens": int(written), **details}:
            kept = cast("Answer", details.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
            return Usage(input_tokens=read - kept, output_tokens=written, requests=1)
        case _:
            return None


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every platform
        return os.cpu_count() or 1
