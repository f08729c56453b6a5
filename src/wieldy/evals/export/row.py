"""A row: one history of one trial as data to train on, the same for every trainer.

    id, task_id, group_id, trial, messages, tools, train, reward, rewards, advantage, split, model, provider,
    harness_version, stop_reason, failure_layer, license, and verdict, configuration, runs, parent, untrained, flags

`messages` are OpenAI-style dictionaries whose calls have their arguments as objects, `tools` is JSON text, `train` says
of each message whether it is learned from, `untrained` why a reply is not. Deliberately not here: what each trainer
reads (`views`), tokens (`tokens`).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from wieldy.core.calls import InvalidToolCall, ToolDefinition
from wieldy.core.json import JsonObject, digest
from wieldy.core.messages import Message

SPLITS: Final = ("train", "test")
_BUCKETS: Final = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row; `source` is what tokens are made of.

    Attributes:
        tokens: The columns of `tokens`, if they were asked for.
    """

    id: str
    task_id: str
    group_id: str | None
    trial: int | None
    source: tuple[Message, ...]
    definitions: tuple[ToolDefinition, ...]
    train: tuple[bool, ...]
    untrained: tuple[str | None, ...]
    reward: float | None
    rewards: dict[str, float | None]
    advantage: float | None
    split: str
    model: str
    harness_version: str | None
    stop_reason: str | None
    failure_layer: str | None
    license: str | None
    verdict: str | None
    configuration: str | None
    runs: tuple[str, ...]
    parent: str | None
    flags: tuple[str, ...] = ()
    tokens: dict[str, Any] = field(default_factory=dict[str, Any])

    @property
    def provider(self) -> str | None:
        """Who is asked, where the model's name says it."""
        return self.model.partition(":")[0] if ":" in self.model else None

    def messages(self, *, as_text: bool = False) -> list[JsonObject]:
        """The messages as dictionaries.

        Args:
            as_text: Whether arguments are JSON text, as on OpenAI's wire; they are objects otherwise.
        """
        return [message.to_dict() if as_text else _with_objects(message) for message in self.source]

    @property
    def tools(self) -> list[JsonObject]:
        """The tools as OpenAI-style dictionaries."""
        return [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
            }
            for tool in self.definitions
        ]

    @property
    def tools_text(self) -> str | None:
        """The same as JSON text, which has one type whatever the tools are; None where there are none."""
        return json.dumps(self.tools, ensure_ascii=False) if self.definitions else None

    @property
    def digest(self) -> str:
        """The same for rows that teach the same."""
        return digest(self.messages(), self.tools, list(self.train), self.reward)


def _with_objects(message: Message) -> JsonObject:
    data: JsonObject = message.to_dict()
    if message.calls:
        # What could not be read stays the text that it is.
        data["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name or "",
                    "arguments": call.text if isinstance(call, InvalidToolCall) else call.arguments,
                },
            }
            for call in message.calls
        ]
    return data


def split_of(task_id: str, share: float) -> str:
    """Which split a task is in: a function of its id alone.

    Args:
        task_id: Its id.
        share: How much of all tasks is to be trained on, from 0 to 1.
    """
    return SPLITS[int(digest("split", task_id), 16) % _BUCKETS >= share * _BUCKETS]


def prompt_length(row: Row) -> int:
    """How many messages stand before the first that the model itself wrote."""
    own: Sequence[bool] = [why != "given" for why in row.untrained]
    return own.index(True) if True in own else len(own)
