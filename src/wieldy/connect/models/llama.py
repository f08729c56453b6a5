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
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from wieldy.connect.models.foreign_calls import ForeignCalls
from wieldy.connect.models.gguf import read_metadata
from wieldy.connect.models.llama_writing import (
    ALTERNATIVES,
    ENDS_AT_ONCE,
    IMPOSSIBLE,
    Answer,
    GuardedWriting,
    Said,
    counts_in,
    said_in,
    tokens_in,
    usage_of,
)
from wieldy.connect.models.writing import Ending, OnToken, Token
from wieldy.core.errors import GrammarError, ModelNotAvailableError, ProviderError, RequestRefusedError
from wieldy.core.extras import installing
from wieldy.core.limits import Usage
from wieldy.grammar import Grammar, Guard, Tokenizer
from wieldy.run.guided import Weighed

CONTEXT_TOKENS: Final = 16_384
"""The longest prompt and answer together; the memory for it is taken as it is used."""

_SLOTS: Final = 3
"""How many prompts are kept ready at once: the guided strategy asks with three that begin differently."""

_BATCH_TOKENS: Final = 512
"""How much of a prompt is read before others get their turn, and before whoever asked can be asked whether to go on."""

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

    begins_texts = True

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
        self.path = path
        self._context_tokens = context_tokens
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

    @property
    def tokenizer(self) -> Tokenizer:
        """The vocabulary in the weights.

        Raises:
            GrammarError: It is of a kind that is not known, or the engine of constraints is not installed.
        """
        return self._tokenizer

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return Tokenizer.of_gguf(read_metadata(self.path))

    def write(self, prompt: str, *, max_tokens: int, on_token: OnToken, grammar: Grammar | None = None) -> Ending:
        """The likeliest continuation, told token by token; with a grammar, complete within the budget.

        A grammar in the engine's own dialect, which only the engine can read, has no budget: it may be cut.

        Raises:
            BudgetError: Nothing that the grammar allows fits into the budget; nothing was generated.
            GrammarError: The vocabulary is of a kind that cannot be constrained.
            RequestRefusedError: The prompt does not fit.
            ProviderError: The engine failed.
        """
        if grammar is None or grammar.rules is None:
            return self._write_freely(prompt, max_tokens=max_tokens, on_token=on_token, grammar=grammar)

        def guard_of(budget: int) -> Guard:
            return Guard(grammar, self.tokenizer, max_tokens=budget)

        return GuardedWriting(
            self._complete,
            prompt=prompt,
            grammar=grammar,
            guard_of=guard_of,
            max_tokens=max_tokens,
            context_tokens=self._context_tokens,
            tokenizer=self.tokenizer,
            on_token=on_token,
        ).run()

    def _write_freely(self, prompt: str, *, max_tokens: int, on_token: OnToken, grammar: Grammar | None) -> Ending:
        counts: dict[str, int] = {}
        finishes: list[Any] = []
        is_left = False
        mark: list[Token] = []

        def take(answer: Answer) -> bool:
            nonlocal is_left
            counts.update(counts_in(answer))
            finishes.extend(choice.get("finish_reason") for choice in answer.get("choices", ()))
            if (said := said_in(answer)) is not None:
                token = self._told(said)
                told = [*mark] if token.is_special else [*mark, token]
                # Only when something follows a mark is it known that it did not end the text.
                mark[:] = [token] if token.is_special else []
                for one in told:
                    is_left = on_token(one)
            return is_left

        body: dict[str, Any] = {"prompt": prompt, "max_tokens": max_tokens, "n_probs": 1}
        self._complete(body | ({"grammar": grammar.engine_text} if grammar else {}), take)
        written = counts.get("predicted_n", 0)
        usage = usage_of(read=counts.get("prompt_n", 0), known=counts.get("cache_n", 0), written=written)
        return Ending(usage=usage, finish="length" if "length" in finishes and not is_left else "stop")

    def _told(self, said: Said) -> Token:
        """The token, with what those before it added that were not told."""
        if said.id not in self._marks:
            return Token(id=said.id, data=said.text, logprob=said.logprob)
        name = self._marks[said.id]
        return Token(id=said.id, data=name.encode(), is_special=True, logprob=said.logprob)

    @cached_property
    def _marks(self) -> dict[int, str]:
        """The special tokens by their ids; none where the vocabulary cannot be read, for text needs none."""
        try:
            return {number: name for name, number in self.tokenizer.special_tokens.items()}
        except GrammarError:
            return {}

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
        counts: dict[str, int] = {}
        tokens: list[tuple[str, float]] = []

        def take(answer: Answer) -> bool:
            counts.update(counts_in(answer))
            for token, _ in tokens_in(answer):
                tokens.extend(
                    (bytes(other["bytes"]).decode("utf-8", "replace"), float(other["logprob"]))
                    for other in token["top_logprobs"]
                )
            return is_unwanted()

        body = {"prompt": prompt, "max_tokens": 1, "n_probs": ALTERNATIVES, "grammar": ENDS_AT_ONCE}
        self._complete(body, take)
        return tokens, _usage(counts)

    def _complete(self, body: dict[str, Any], on_answer: Callable[[Answer], bool]) -> None:
        # `timings_per_token` counts tokens that are not told, and those of an answer that is left.
        options = {"temperature": 0, "cache_prompt": True, "timings_per_token": True}
        self._stream(self._server.handle_completions, body | options, on_answer)

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


def _usage(counts: Mapping[str, int]) -> Usage:
    # What is still in memory from an earlier prompt is not read again, and one run asks many short questions.
    return Usage(input_tokens=counts.get("prompt_n", 0), output_tokens=counts.get("predicted_n", 0), requests=1)


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every platform
        return os.cpu_count() or 1
