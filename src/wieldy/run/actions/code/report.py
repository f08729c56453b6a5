"""What the model that wrote code is told of how it ended: the value, what was printed, and of failures what took place.

Pure. What is told may hold the words of strangers; whether it is fenced and where it is cut is the shaper's business.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from wieldy.core.json import canonical_json
from wieldy.core.media import FilePart, ImagePart, data_url
from wieldy.tools.attachments import human_size
from wieldy.tools.present import Presented

if TYPE_CHECKING:
    from wieldy.core.calls import AnyCall, Trust
    from wieldy.core.influence import Sources
    from wieldy.core.limits import StopReason
    from wieldy.run.actions.code.ended import Ended, File
    from wieldy.run.state import CallState
    from wieldy.sandbox import SandboxLimits

MOST_PRINTED: Final = 4000
"""Characters of what was printed that a model is shown: half from its beginning and half from its end."""

_MOST_CALLS: Final = 40
_MOST_OF_A_CALL: Final = 200
_IMAGES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp")


def report(
    ended: Ended | None,
    calls: Sequence[CallState],
    *,
    limits: SandboxLimits,
    stop_reason: StopReason | None,
    tainted_by: Sources,
    failures: Sequence[CallState] = (),
    remark: str | None = None,
) -> Presented:
    """What the model is told.

    Args:
        ended: How the code ended; None if its run ended before it.
        calls: Those that it made.
        limits: Of the sandbox.
        stop_reason: How its run ended.
        tainted_by: The untrusted sources that may have shaped what is told.
        failures: Calls that failed without the code being told.
        remark: Something to be said beside.
    """
    trust: Trust = "untrusted" if tainted_by else "trusted"
    remarks = [*(() if ended is None else ended.remarks), *([] if remark is None else [remark])]
    if ended is None or ended.status != "done":
        lines = [*_failure(ended, limits, stop_reason), *_printed(ended), *calls_made(calls), *remarks]
        return Presented(text="\n".join(lines), trust=trust, tainted_by=tainted_by, is_error=True, parts=_parts(ended))
    lines = [_value(ended), *_printed(ended), *map(_about, ended.artifacts), *_failed(failures), *remarks]
    return Presented(
        text="\n".join(lines), structured=ended.value, trust=trust, tainted_by=tainted_by, parts=_parts(ended)
    )


def _value(ended: Ended) -> str:
    if ended.value_repr is not None:
        return f"value (not JSON, so only its repr is shown): {ended.value_repr}"
    return f"value: {canonical_json(ended.value)}"


def _printed(ended: Ended | None) -> list[str]:
    if ended is None:
        return []
    printed = [("printed", ended.stdout), ("written to stderr", ended.stderr)]
    return [f"{name}:\n{_bounded(text.rstrip())}" for name, text in printed if text.strip()]


def _bounded(text: str) -> str:
    if len(text) <= MOST_PRINTED:
        return text
    half = MOST_PRINTED // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters are left out here]\n{text[-half:]}"


def _failure(ended: Ended | None, limits: SandboxLimits, stop_reason: StopReason | None) -> list[str]:
    if ended is None or ended.status == "limit":
        return [
            f"The code was ended, because its run has reached a limit ({stop_reason or 'unknown'}). Answer from what "
            "is known.",
            _NOTHING_KEPT,
        ]
    if ended.status == "error":
        return [
            f"The code raised an error{'' if ended.line is None else f' in line {ended.line}'}. What it had assigned "
            "before is kept.",
            ended.error or "",
        ]
    if ended.status == "diverged":
        return _diverged(ended)
    return [f"The code was ended: {why_ended(ended, limits)}.", *([ended.error] if ended.error else []), _NOTHING_KEPT]


_NOTHING_KEPT: Final = "Nothing that it assigned is kept; the names that earlier actions left are as they were before."


def _diverged(ended: Ended) -> list[str]:
    if ended.has_lost_names:
        return [
            "The code was not run: earlier code had to be run again after a restart, and did something else than "
            f"before. {ended.because}",
            "The names of all earlier actions are lost; assign again what you need.",
        ]
    return [
        "The code had to be run again after a restart, and did something else than before, so nothing further was "
        f"run. {ended.because}",
        _NOTHING_KEPT,
    ]


def why_ended(ended: Ended, limits: SandboxLimits) -> str:
    """In words: which limit, or what else."""
    words = {
        "wall_time": f"it took longer than {limits.wall_s:g} s",
        "cpu_time": f"it used more than {limits.cpu_s:g} s of CPU time",
        "memory": f"it used more than {limits.memory_bytes // (1 << 20)} MiB of memory",
        "output": f"it printed more than {limits.output_bytes // (1 << 20)} MiB",
        "files": "it wrote too many or too large files",
        "processes": "it left a thread or a process behind",
        "calls": f"it made more than {limits.calls} calls",
        "protocol": "it sent something that code does not send",
        "crash": "its process crashed",
        "exit": "its process ended itself",
        "tracked": "it reached a limit of tracked code",
    }
    return words.get(ended.because or "", ended.because or "for an unknown reason")


def calls_made(calls: Iterable[CallState]) -> list[str]:
    """The calls that were made, so that nobody makes them twice."""
    told = [f"- {_shown(call.call)}: {_outcome(call)}" for call in calls]
    if not told:
        return []
    more = [f"- and {len(told) - _MOST_CALLS} before these"] if len(told) > _MOST_CALLS else []
    return ["These calls were made before that. Do not repeat those that took place:", *more, *told[-_MOST_CALLS:]]


def failures_behind_handles(calls: Iterable[CallState]) -> list[CallState]:
    """The calls that failed, and whose failure code that works with handles is not told."""
    return [call for call in calls if call.result is not None and call.result.is_error and _is_behind_handle(call)]


def _is_behind_handle(call: CallState) -> bool:
    influence = call.call.influence
    is_given_one = influence is not None and bool(influence.arguments)
    return is_given_one or (call.result is not None and call.result.trust == "untrusted")


def _failed(calls: Sequence[CallState]) -> list[str]:
    return ["These calls failed:", *(f"- {_shown(call.call)}: {_outcome(call)}" for call in calls)] if calls else []


def _shown(call: AnyCall) -> str:
    return _cut(f"{call.name}({canonical_json(getattr(call, 'arguments', {}))})")


def _outcome(call: CallState) -> str:
    result = call.result
    if call.late is not None:
        return f"it gave no answer in time, and came to its end later: {_cut(call.late.content)}"
    if result is None or call.is_unknown:
        return "outcome unknown: check before you repeat it"
    if not result.is_error:
        return f"took place: {_cut(result.content)}"
    kind = result.failure or "tool"
    return f"{'did not run' if kind in ('denied', 'arguments') else 'failed'} ({kind}): {_cut(result.content)}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _MOST_OF_A_CALL else f"{line[: _MOST_OF_A_CALL - 3]}..."


def _about(file: File) -> str:
    left_out = ", left out, because it is too large or one too many" if file.content is None else ""
    return f"file: {file.name} ({file.media_type}, {human_size(file.size_bytes)}{left_out})"


def _parts(ended: Ended | None) -> tuple[ImagePart | FilePart, ...]:
    files = () if ended is None else ended.artifacts
    return tuple(_part(file, file.content) for file in files if file.content is not None)


def _part(file: File, content: bytes) -> ImagePart | FilePart:
    url = data_url(content, media_type=file.media_type)
    if file.media_type in _IMAGES:
        return ImagePart(url=url)
    return FilePart(name=file.name.rpartition("/")[2] or "file", media_type=file.media_type, url=url)
