"""The tool-use layer for language models: everything between a model's tokens and the outside world.

    from wieldy import Agent, tool

    @tool(effect="read")
    def weather(city: str) -> str:
        "Today's weather in a city."
        return "sunny"

    print(Agent("local", tools=[weather]).run_sync("Do I need an umbrella in Rome?").text)

Everything that a program usually needs is importable from here; `wieldy.connect`, `wieldy.formats`, `wieldy.grammar`
and `wieldy.testing` are modules of their own, and are there after `import wieldy`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from wieldy.core.calls import (
    AnyCall,
    Effect,
    InvalidToolCall,
    ToolAnnotations,
    ToolCall,
    ToolChoice,
    ToolDefinition,
    ToolResult,
)
from wieldy.core.context import Context
from wieldy.core.errors import (
    ArgumentsError,
    AuthenticationError,
    GrammarError,
    HistoryError,
    JournalError,
    ModelError,
    ModelNotAvailableError,
    ModelUnreachableError,
    ModelVisibleError,
    ParseError,
    ProviderError,
    RateLimitError,
    RequestRefusedError,
    RunError,
    ToolCrashedError,
    ToolDeniedError,
    ToolError,
    ToolSignatureError,
    ToolTimeoutError,
    UnknownToolError,
    UsageError,
    WieldyError,
)
from wieldy.core.events import (
    CallFinished,
    CallStarted,
    LimitReached,
    ReasoningDelta,
    RunEvent,
    RunFinished,
    RunResult,
    RunStarted,
    TextDelta,
    TurnStarted,
)
from wieldy.core.limits import Limits, StopReason, Usage
from wieldy.core.messages import ImagePart, Message, ReasoningPart, TextPart
from wieldy.core.ports import Entry, Journal, Model, ModelReply, ModelRequest

if TYPE_CHECKING:
    from wieldy.agent import Agent, Prompt, Strategy
    from wieldy.run.journal import MemoryJournal, SqliteJournal
    from wieldy.run.policy import Allow, Decision, Deny, Policy, allow_all
    from wieldy.run.state import CallState, RunState, fold
    from wieldy.tools import Tool, Toolset, tool

__all__ = [
    "Agent",
    "Allow",
    "AnyCall",
    "ArgumentsError",
    "AuthenticationError",
    "CallFinished",
    "CallStarted",
    "CallState",
    "Context",
    "Decision",
    "Deny",
    "Effect",
    "Entry",
    "GrammarError",
    "HistoryError",
    "ImagePart",
    "InvalidToolCall",
    "Journal",
    "JournalError",
    "LimitReached",
    "Limits",
    "MemoryJournal",
    "Message",
    "Model",
    "ModelError",
    "ModelNotAvailableError",
    "ModelReply",
    "ModelRequest",
    "ModelUnreachableError",
    "ModelVisibleError",
    "ParseError",
    "Policy",
    "Prompt",
    "ProviderError",
    "RateLimitError",
    "ReasoningDelta",
    "ReasoningPart",
    "RequestRefusedError",
    "RunError",
    "RunEvent",
    "RunFinished",
    "RunResult",
    "RunStarted",
    "RunState",
    "SqliteJournal",
    "StopReason",
    "Strategy",
    "TextDelta",
    "TextPart",
    "Tool",
    "ToolAnnotations",
    "ToolCall",
    "ToolChoice",
    "ToolCrashedError",
    "ToolDefinition",
    "ToolDeniedError",
    "ToolError",
    "ToolResult",
    "ToolSignatureError",
    "ToolTimeoutError",
    "Toolset",
    "TurnStarted",
    "UnknownToolError",
    "Usage",
    "UsageError",
    "WieldyError",
    "allow_all",
    "fold",
    "tool",
]

# Loaded when they are first used: they bring pydantic, anyio and asyncio, which a program that only looks at records
# (or a command line that only prints its help) does not need.
_LOADED_ON_USE = {
    "wieldy.agent": ("Agent", "Prompt", "Strategy"),
    "wieldy.run.journal": ("MemoryJournal", "SqliteJournal"),
    "wieldy.run.policy": ("Allow", "Decision", "Deny", "Policy", "allow_all"),
    "wieldy.run.state": ("CallState", "RunState", "fold"),
    "wieldy.tools": ("Tool", "Toolset", "tool"),
}


# Loaded when they are first named, for the same reason.
_ROOMS = ("connect", "formats", "grammar", "testing")


def __getattr__(name: str) -> object:
    if name in _ROOMS:
        return import_module(f"wieldy.{name}")
    module = next((module for module, names in _LOADED_ON_USE.items() if name in names), None)
    if module is None:
        raise AttributeError(f"module 'wieldy' has no attribute {name!r}")
    value = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_ROOMS})
