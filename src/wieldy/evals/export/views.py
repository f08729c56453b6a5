"""What each trainer reads: a table of views over the row.

    rows       everything                                                    sft        messages, tools, train
    trl        messages, tools (SFTTrainer)                                  prime-rl   messages, tools
    openrlhf   messages (its option takes no tools)                          verl       messages, tools, as parquet
    grpo       prompt, completion, tools, reward, advantage, by groups       art        trajectories of groups

A trainer that takes no mask of messages learns from every assistant's message: it is given only rows in which all of
them may be learned from, unless tokens say it (`tokens`). Source: TRL 1.16, verl 0.9.1, ART 0.5.18, prime-rl
at 00a0a32 and OpenRLHF at 066228f. Deliberately not here: which rows there are (`selection`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol

from wieldy.core.json import JsonObject
from wieldy.evals.export.row import Row, prompt_length


class Write(Protocol):
    """Makes a line of a row; `as_text`: whether arguments are wanted as JSON text."""

    def __call__(self, row: Row, *, as_text: bool) -> dict[str, Any]: ...  # noqa: D102


Purpose = Literal["all", "imitation", "reinforcement"]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What of a row is written, and which rows a trainer can be given.

    Attributes:
        purpose: `imitation` learns from passes, `reinforcement` from groups of trials.
        write: Makes the line.
        takes_mask: Whether what is not learned from can be said.
        shows_tools: Whether the model is shown its tools.
        takes_tokens: Whether exact tokens say everything.
        is_parquet: Whether the file is parquet rather than JSON lines.
    """

    purpose: Purpose
    write: Write
    takes_mask: bool = True
    shows_tools: bool = True
    takes_tokens: bool = True
    is_parquet: bool = False


def _whole(row: Row, *, as_text: bool) -> dict[str, Any]:
    return {
        **_names(row),
        "trial": row.trial,
        "messages": row.messages(as_text=as_text),
        "tools": row.tools_text,
        "train": list(row.train),
        "untrained": list(row.untrained),
        **_rewards(row),
        "split": row.split,
        "model": row.model,
        "provider": row.provider,
        "configuration": row.configuration,
        "harness_version": row.harness_version,
        "verdict": row.verdict,
        "stop_reason": row.stop_reason,
        "failure_layer": row.failure_layer,
        "license": row.license,
        "runs": list(row.runs),
        "parent": row.parent,
        "flags": list(row.flags),
    }


def _names(row: Row) -> dict[str, Any]:
    return {"id": row.id, "task_id": row.task_id, "group_id": row.group_id}


def _rewards(row: Row) -> dict[str, Any]:
    return {"reward": row.reward, "rewards": row.rewards, "advantage": row.advantage}


def _sft(row: Row, *, as_text: bool) -> dict[str, Any]:
    messages = row.messages(as_text=as_text)
    return {"id": row.id, "messages": messages, "tools": row.tools_text, "train": list(row.train), "split": row.split}


def _conversation(row: Row, *, as_text: bool) -> dict[str, Any]:
    return {"id": row.id, "messages": row.messages(as_text=as_text), "tools": row.tools_text, "split": row.split}


def _openrlhf(row: Row, *, as_text: bool) -> dict[str, Any]:
    return {"id": row.id, "messages": row.messages(as_text=as_text), "split": row.split}


def _verl(row: Row, *, as_text: bool) -> dict[str, Any]:
    """Always text: in parquet, objects of different shapes would be given each other's members."""
    del as_text
    return _conversation(row, as_text=True)


def _grpo(row: Row, *, as_text: bool) -> dict[str, Any]:
    messages, first = row.messages(as_text=as_text), prompt_length(row)
    return {
        **_names(row),
        "trial": row.trial,
        "prompt": messages[:first],
        "completion": messages[first:],
        "tools": row.tools_text,
        "train": list(row.train[first:]),
        **_rewards(row),
        "split": row.split,
        "flags": list(row.flags),
    }


def _art(row: Row, *, as_text: bool) -> dict[str, Any]:
    """Choices are learned from, plain messages are not. Arguments are text, as on OpenAI's wire."""
    del as_text
    messages = zip(row.messages(as_text=True), row.train, strict=True)
    return {
        "messages_and_choices": [_choice(message) if learned else message for message, learned in messages],
        "tools": row.tools or None,
        "reward": row.reward,
        "metrics": {name: value for name, value in row.rewards.items() if value is not None},
        "metadata": {**_names(row), "trial": row.trial, "split": row.split},
    }


def _choice(message: JsonObject) -> JsonObject:
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    return {"finish_reason": finish, "index": 0, "logprobs": None, "message": message}


VIEWS: Final[Mapping[str, View]] = {
    "rows": View(purpose="all", write=_whole),
    "sft": View(purpose="imitation", write=_sft),
    "trl": View(purpose="imitation", write=_conversation, takes_mask=False),
    "prime-rl": View(purpose="imitation", write=_conversation, takes_mask=False, takes_tokens=False),
    "openrlhf": View(purpose="imitation", write=_openrlhf, takes_mask=False, shows_tools=False, takes_tokens=False),
    "verl": View(purpose="imitation", write=_verl, takes_mask=False, takes_tokens=False, is_parquet=True),
    "grpo": View(purpose="reinforcement", write=_grpo),
    "art": View(purpose="reinforcement", write=_art, takes_tokens=False),
}
"""By the name that `--to` takes."""
