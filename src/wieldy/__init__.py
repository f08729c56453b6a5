"""The tool-use layer for language models: everything between a model's tokens and the outside world.

    from wieldy import Agent, tool

    @tool(effect="read")
    def weather(city: str) -> str:
        "Today's weather in a city."
        return "sunny"

    print(Agent("local", tools=[weather]).run_sync("Do I need an umbrella in Rome?").text)

Everything that a program usually needs is importable from here; `wieldy.connect`, `wieldy.evals`, `wieldy.formats`,
`wieldy.grammar`, `wieldy.sandbox` and `wieldy.testing` are modules of their own, and are there after `import wieldy`.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from wieldy.core.approvals import Approval, ApprovalRequest
from wieldy.core.calls import (
    AnyCall,
    Effect,
    InvalidToolCall,
    Risk,
    ToolAnnotations,
    ToolCall,
    ToolChoice,
    ToolDefinition,
    ToolResult,
    Trust,
)
from wieldy.core.context import Context
from wieldy.core.errors import (
    ApprovalError,
    ArgumentsError,
    AuthenticationError,
    BudgetError,
    ContentFilterError,
    ForcedArgumentsError,
    ForcedOutputWarning,
    GrammarError,
    HistoryError,
    JournalConflictError,
    JournalError,
    JournalTamperedError,
    ModelError,
    ModelNotAvailableError,
    ModelUnreachableError,
    ModelVisibleError,
    OutcomeUnknownError,
    OutputError,
    ParseError,
    ProviderError,
    RateLimitError,
    RequestRefusedError,
    RunBusyError,
    RunError,
    SandboxError,
    SandboxTierError,
    SkillCheckError,
    SkillError,
    SkillNotOfferedWarning,
    ToolCrashedError,
    ToolDeniedError,
    ToolError,
    ToolSignatureError,
    ToolTimeoutError,
    TransientToolError,
    UnknownToolError,
    UsageError,
    WieldyError,
)
from wieldy.core.events import (
    CallDelta,
    CallFinished,
    CallProgress,
    CallRunning,
    CallStarted,
    CallWaiting,
    LimitReached,
    OutputDelta,
    OutputRefused,
    ReasoningDelta,
    RunEvent,
    RunFinished,
    RunResult,
    RunStarted,
    TextDelta,
    TurnStarted,
)
from wieldy.core.history import Repaired, repair
from wieldy.core.influence import Influence
from wieldy.core.limits import Limits, StopReason, Usage
from wieldy.core.media import FilePart, ImagePart
from wieldy.core.messages import Message, ReasoningPart, TextPart
from wieldy.core.outputs import ChoiceOutput, Incomplete, JsonOutput, Output, PatternOutput
from wieldy.core.ports import Draft, Entry, Journal, Lease, Model, ModelReply, ModelRequest
from wieldy.core.principals import Principal
from wieldy.core.record import Record

if TYPE_CHECKING:
    from wieldy.agent import (
        Actions,
        Agent,
        CodeRules,
        ForcedCalls,
        OutputSpec,
        Prompt,
        Strategy,
        extract,
        extract_async,
    )
    from wieldy.agent.skills import RecordedCall, Skills
    from wieldy.run.journal import MemoryJournal, PostgresJournal, SqliteJournal, open_journal, verify
    from wieldy.run.policy import (
        Allow,
        Approver,
        Ask,
        Decision,
        Deny,
        Policy,
        Proposal,
        Rule,
        Rules,
        allow_all,
        ask_when_tainted,
        careful,
        strictest,
    )
    from wieldy.run.prices import PRICES, Price, Prices
    from wieldy.run.results import ResultRules
    from wieldy.run.searching import ToolSearch
    from wieldy.run.state import CallState, RunState, fold
    from wieldy.tools import Presented, Sourced, Tool, Toolset, tool

__all__ = [
    "PRICES",
    "Actions",
    "Agent",
    "Allow",
    "AnyCall",
    "Approval",
    "ApprovalError",
    "ApprovalRequest",
    "Approver",
    "ArgumentsError",
    "Ask",
    "AuthenticationError",
    "BudgetError",
    "CallDelta",
    "CallFinished",
    "CallProgress",
    "CallRunning",
    "CallStarted",
    "CallState",
    "CallWaiting",
    "ChoiceOutput",
    "CodeRules",
    "ContentFilterError",
    "Context",
    "Decision",
    "Deny",
    "Draft",
    "Effect",
    "Entry",
    "FilePart",
    "ForcedArgumentsError",
    "ForcedCalls",
    "ForcedOutputWarning",
    "GrammarError",
    "HistoryError",
    "ImagePart",
    "Incomplete",
    "Influence",
    "InvalidToolCall",
    "Journal",
    "JournalConflictError",
    "JournalError",
    "JournalTamperedError",
    "JsonOutput",
    "Lease",
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
    "OutcomeUnknownError",
    "Output",
    "OutputDelta",
    "OutputError",
    "OutputRefused",
    "OutputSpec",
    "ParseError",
    "PatternOutput",
    "Policy",
    "PostgresJournal",
    "Presented",
    "Price",
    "Prices",
    "Principal",
    "Prompt",
    "Proposal",
    "ProviderError",
    "RateLimitError",
    "ReasoningDelta",
    "ReasoningPart",
    "Record",
    "RecordedCall",
    "Repaired",
    "RequestRefusedError",
    "ResultRules",
    "Risk",
    "Rule",
    "Rules",
    "RunBusyError",
    "RunError",
    "RunEvent",
    "RunFinished",
    "RunResult",
    "RunStarted",
    "RunState",
    "SandboxError",
    "SandboxTierError",
    "SkillCheckError",
    "SkillError",
    "SkillNotOfferedWarning",
    "Skills",
    "Sourced",
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
    "ToolSearch",
    "ToolSignatureError",
    "ToolTimeoutError",
    "Toolset",
    "TransientToolError",
    "Trust",
    "TurnStarted",
    "UnknownToolError",
    "Usage",
    "UsageError",
    "WieldyError",
    "allow_all",
    "ask_when_tainted",
    "careful",
    "extract",
    "extract_async",
    "fold",
    "open_journal",
    "repair",
    "strictest",
    "tool",
    "verify",
]

# Loaded when they are first used: they bring pydantic, anyio and asyncio, which a program that only looks at records
# (or a command line that only prints its help) does not need.
_LOADED_ON_USE = {
    "wieldy.agent": (
        "Actions",
        "Agent",
        "CodeRules",
        "ForcedCalls",
        "OutputSpec",
        "Prompt",
        "Strategy",
        "extract",
        "extract_async",
    ),
    "wieldy.agent.skills": ("RecordedCall", "Skills"),
    "wieldy.run.journal": ("MemoryJournal", "PostgresJournal", "SqliteJournal", "open_journal", "verify"),
    "wieldy.run.policy": (
        "Allow",
        "Approver",
        "Ask",
        "Decision",
        "Deny",
        "Policy",
        "Proposal",
        "Rule",
        "Rules",
        "allow_all",
        "ask_when_tainted",
        "careful",
        "strictest",
    ),
    "wieldy.run.prices": ("PRICES", "Price", "Prices"),
    "wieldy.run.results": ("ResultRules",),
    "wieldy.run.searching": ("ToolSearch",),
    "wieldy.run.state": ("CallState", "RunState", "fold"),
    "wieldy.tools": ("Presented", "Sourced", "Tool", "Toolset", "tool"),
}


# Loaded when they are first named, for the same reason.
_ROOMS = ("connect", "evals", "formats", "grammar", "sandbox", "testing")


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
