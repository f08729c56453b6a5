"""A model's chat template in a process of its own, which may use only so much.

A template is a program that came with the weights. Jinja's sandbox keeps it from the machine, not from running for ever
or from filling the memory, and a thread that does so cannot be stopped; a process can. This module is both sides:
`TemplateProcess` runs it again as the process, which stays for as long as the model does, compiles the template and
answers one question after another. Deliberately not here: what a template means (`formats.templates`).
"""

from __future__ import annotations

import json
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO, Final, cast

from wieldy.core.calls import ToolDefinition
from wieldy.core.errors import ModelNotAvailableError, UsageError
from wieldy.core.json import JsonObject
from wieldy.core.messages import Message

# What reads templates is imported where it is needed: this side only waits for the other process.

_MAX_MESSAGE: Final = 4000
"""The longest message that is handed on: what a template wrote may stand in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateLimits:
    """What one answer may use; processor time and memory only where the system can limit them, as POSIX can.

    Attributes:
        cpu_s: Seconds of processor time.
        memory_bytes: The whole process, its own libraries included.
        wall_s: Seconds until there must be an answer.
        characters: The longest text that a template may write.
    """

    cpu_s: int = 10
    memory_bytes: int = 768 * 2**20
    wall_s: float = 60
    characters: int = 16 * 2**20


LIMITS: Final = TemplateLimits()


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateSource:
    """A chat template as it stands in the weights, with the tokens that it and its readers must know.

    Attributes:
        text: Jinja source; or several by name.
        tokens: The texts of the tokenizer's named tokens that templates write themselves: `bos_token`, `eos_token`.
        control_tokens: The texts that mean more than their letters to the model.
    """

    text: str | Mapping[str, str]
    tokens: Mapping[str, str]
    control_tokens: Collection[str] = ()


class TemplateProcess:
    """A chat template at work in a process of its own; the process begins with the first question.

    A template that reached a limit is not run again: it would do so every time.
    """

    def __init__(self, source: TemplateSource, *, limits: TemplateLimits = LIMITS) -> None:
        self._source = source
        self._limits = limits
        self._asking = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = ""

    def mentions(self, text: str) -> bool:
        """Whether the template's source has these letters."""
        source = self._source.text
        return any(text in part for part in ([source] if isinstance(source, str) else source.values()))

    def render(
        self, messages: Iterable[Message], *, tools: Iterable[ToolDefinition] = (), begun: str = "", now: datetime
    ) -> str:
        """The conversation as text, up to where the assistant's next words begin, and those already `begun`.

        Raises:
            UsageError: The template refuses these messages, or loses a part of a call.
            ModelNotAvailableError: It is no valid template, or it reached a limit.
        """
        return self._asked("render", (tuple(messages), tuple(tools), begun, now))

    def format_name(self) -> str:
        """The name of the chat format that the template's model writes.

        Raises:
            UsageError: The template shows no calls, or fits no format; the text says what was tried.
            ModelNotAvailableError: It is no valid template, or it reached a limit.
        """
        return self._asked("format", ())

    def _asked(self, question: str, values: tuple[object, ...]) -> str:
        with self._asking:
            if self._stopped:
                raise ModelNotAvailableError(self._stopped)
            answer = self._answer((question, values))
        match answer:
            case {"text": str(text)}:
                return text
            case {"error": "UsageError", "message": str(message)}:
                raise UsageError(message)
            case {"error": str(), "message": str(message)}:
                raise ModelNotAvailableError(message)
            case _:
                raise self._ended(f"it asked for more than {self._limits.memory_bytes / 2**20:g} MiB of memory")

    def _answer(self, question: object) -> JsonObject:
        process = self._process = self._process or self._started()
        was_late = threading.Event()

        def stop() -> None:
            was_late.set()
            process.kill()

        timer = threading.Timer(self._limits.wall_s, stop)
        timer.daemon = True
        timer.start()
        try:
            line = _exchanged(process, question)
        finally:
            timer.cancel()
        if line:
            return cast("JsonObject", json.loads(line))
        _close(process)
        number = -process.returncode
        if was_late.is_set():
            raise self._ended(f"it ran for {self._limits.wall_s:g} seconds")
        if number == getattr(signal, "SIGXCPU", None):
            raise self._ended(f"it used {self._limits.cpu_s} seconds of processor time")
        raise self._ended(f"its process ended with {process.returncode}, as it does when memory runs out")

    def _started(self) -> subprocess.Popen[bytes]:
        if not sys.executable:
            raise ModelNotAvailableError("Expected to know this program's own Python, which runs the template.")
        # -P: the folder that the user is in must not shadow a module.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        weakref.finalize(self, _close, process)
        _told(process, (self._source, self._limits))
        return process

    def _ended(self, reason: str) -> ModelNotAvailableError:
        self._stopped = (
            f"The model's chat template was stopped: {reason}. It is a program that came with the weights, and it is "
            "not trusted with more. Use weights from a source that you trust, or look at what the template does."
        )
        if self._process is not None:
            _close(self._process)
        return ModelNotAvailableError(self._stopped)


def _exchanged(process: subprocess.Popen[bytes], question: object) -> bytes:
    """The line that answers; empty if the process is gone."""
    if not _told(process, question):
        return b""
    return cast("BinaryIO", process.stdout).readline()


def _told(process: subprocess.Popen[bytes], question: object) -> bool:
    pipe = cast("BinaryIO", process.stdin)
    try:
        pickle.dump(question, pipe)
        pipe.flush()
    except OSError:  # it is gone; reading its answer says so
        return False
    return True


def _close(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:  # what was still to be written has no reader any more
                continue


# The other side


def main() -> None:
    """Answer the questions that come on standard input, each as one line of JSON, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who interrupts the program closes this process's input
    source, limits = cast("tuple[TemplateSource, TemplateLimits]", pickle.load(sys.stdin.buffer))
    _limit("RLIMIT_AS", limits.memory_bytes)
    _limit("RLIMIT_CORE", 0)
    answering = _Answering(source, limits)
    while (question := _next_question()) is not None:
        _limit("RLIMIT_CPU", _used_cpu_s() + limits.cpu_s)
        answer = answering.answer(*question)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
        if "reached" in answer:
            return


def _next_question() -> tuple[str, tuple[Any, ...]] | None:
    try:
        return pickle.load(sys.stdin.buffer)
    except EOFError:
        return None


class _Answering:
    def __init__(self, source: TemplateSource, limits: TemplateLimits) -> None:
        self._source = source
        self._limits = limits
        self._template: Any = None

    def answer(self, question: str, values: tuple[Any, ...]) -> JsonObject:
        """The answer, or why there is none."""
        try:
            if self._template is None:
                self._template = self._compiled()
            text = self._format() if question == "format" else self._rendered(*values)
        except MemoryError:
            return {"reached": "memory"}
        except (UsageError, ModelNotAvailableError) as error:
            return {"error": type(error).__name__, "message": str(error)[:_MAX_MESSAGE]}
        except Exception as error:  # the edge of the process: who asked would only see that it is gone
            told = f"The model's chat template could not be read, for a reason that nobody foresaw: {error!r}"
            return {"error": "", "message": told[:_MAX_MESSAGE]}
        return {"text": text}

    def _compiled(self) -> Any:
        from wieldy.formats.templates.template import ChatTemplate  # noqa: PLC0415

        try:
            return ChatTemplate(
                self._source.text, tokens=self._source.tokens, control_tokens=self._source.control_tokens
            )
        except UsageError as error:
            raise ModelNotAvailableError(f"The model cannot be used: {error}") from error

    def _format(self) -> str:
        from wieldy.formats.templates.detection import detect  # noqa: PLC0415

        return detect(self._template)

    def _rendered(self, messages: Any, tools: Any, begun: str, now: datetime) -> str:
        text: str = self._template.render(messages, tools=tools, begun=begun, now=now)
        if len(text) > self._limits.characters:
            raise ModelNotAvailableError(
                f"The model's chat template wrote {len(text)} characters; at most {self._limits.characters} are read."
            )
        return text


def _limit(name: str, most: int) -> None:
    try:
        import resource  # noqa: PLC0415 - only POSIX has it
    except ImportError:
        return
    kind: int = getattr(resource, name)
    _, hard = resource.getrlimit(kind)
    try:
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
    except (OSError, ValueError):  # macOS has a limit of address space and refuses to set it
        return


def _used_cpu_s() -> int:
    import time  # noqa: PLC0415

    return int(time.process_time()) + 1


if __name__ == "__main__":
    main()
