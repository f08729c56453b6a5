"""Every error that Wieldy raises, sorted by who must act on it.

WieldyError
├── ModelVisibleError          becomes an error result that the model reads; the run goes on
│   ├── ParseError             the text could not be read as a call
│   ├── UnknownToolError       there is no such tool
│   ├── ArgumentsError         the arguments do not fit the schema
│   ├── ForcedArgumentsError   the token budget decided arguments, not the model
│   ├── ToolDeniedError        the policy or a person said no
│   ├── ToolError              the tool says what went wrong (tools raise this themselves)
│   │   ├── ToolTimeoutError   no answer in time; the effect may still complete
│   │   └── TransientToolError it did not work now; the same call may work a little later
│   ├── OutcomeUnknownError    the call was started, and nothing says how it ended
│   └── ToolCrashedError       the tool's code raised; the model reads a fixed sentence
├── RunError                   for the operator: the run stops, the journal is complete up to there
│   ├── ModelError             a model could not answer
│   │   ├── AuthenticationError
│   │   ├── RateLimitError
│   │   ├── RequestRefusedError
│   │   │   └── ContentFilterError  a filter of the provider's, or the provider, stopped the answer
│   │   ├── ProviderError      the server failed, or answered what the protocol does not know
│   │   └── ModelUnreachableError
│   ├── ModelNotAvailableError the weights of a local model are not here and cannot be had
│   ├── OutputError            an answer did not become what it must be, and nothing else was asked for
│   ├── SandboxError           the sandbox's own processes have ended, or could not lock a worker in
│   └── JournalError
│       ├── RunBusyError       another process is at work on the run
│       ├── JournalConflictError  somebody else added to the run meanwhile
│       └── JournalTamperedError  an entry was changed, or is missing
└── UsageError                 for the programmer, before a run starts
    ├── ToolSignatureError     a function cannot become a tool as it is written
    ├── ApprovalError          there is no such call to decide on, or not any more
    ├── SandboxTierError       code cannot be isolated on this machine as asked
    ├── SkillError             code cannot become a skill, a skill's check does not hold, or there is no such skill
    │   └── SkillCheckError    its example or its check does not hold
    ├── GrammarError           a constraint cannot be compiled, or its engine is not installed
    │   └── BudgetError        the shortest text that the constraint allows is longer than the budget
    └── HistoryError           a list of messages that no strict provider would take

ForcedOutputWarning            a warning: the token budget decided values of an answer
SkillNotOfferedWarning         a warning: a saved skill is not offered to a model, with the reason
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

if TYPE_CHECKING:
    from wieldy.core.outputs import Incomplete

FailureLayer: TypeAlias = Literal["model", "harness", "policy", "provider", "tool"]


class WieldyError(Exception):
    """The root of every error that Wieldy raises on purpose. Whatever it quotes, its text can be printed."""

    def __str__(self) -> str:
        # Half a surrogate pair, which foreign text may hold, is no character: no terminal and no file takes it.
        return super().__str__().encode("utf-8", "backslashreplace").decode()


class ModelVisibleError(WieldyError):
    """Becomes an error result; `str(error)` is written for the model.

    Attributes:
        layer: Whose failure this is.
        detail: For the journal only: a traceback, an internal message.
    """

    layer: ClassVar[FailureLayer] = "model"

    def __init__(self, message: str, *, detail: str | None = None) -> None:
        super().__init__(message)
        self.detail = detail


class ParseError(ModelVisibleError):
    """The model's text was meant as a call and could not be read as one."""


class UnknownToolError(ModelVisibleError):
    """No tool has the name that the model asked for."""

    def __init__(self, message: str, *, name: str, nearest: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.name = name
        self.nearest = nearest


class ArgumentsError(ModelVisibleError):
    """The arguments do not fit the tool's input schema."""


class ForcedArgumentsError(ModelVisibleError):
    """The token budget decided some of the arguments, not the model: the call is not what it would have written."""

    layer: ClassVar[FailureLayer] = "harness"


class ToolDeniedError(ModelVisibleError):
    """The policy, or the person who was asked, did not let the call run."""

    layer: ClassVar[FailureLayer] = "policy"


class ToolError(ModelVisibleError):
    """A tool raises this to tell the model what went wrong and what to do instead."""

    layer: ClassVar[FailureLayer] = "tool"


class ToolTimeoutError(ToolError):
    """The tool gave no answer in time; what it does may still complete."""


class TransientToolError(ToolError):
    """It did not work now, and the same call may work a little later; the runtime decides whether it tries again.

    Attributes:
        retry_after_s: How long the service asked us to wait, in seconds.
        nothing_done: Whether it is certain that the call had no effect: refused, never sent.
    """

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        nothing_done: bool = False,
        detail: str | None = None,
    ) -> None:
        super().__init__(message, detail=detail)
        self.retry_after_s = retry_after_s
        self.nothing_done = nothing_done


class OutcomeUnknownError(ModelVisibleError):
    """The call was started, and nothing says how it ended: its process died, or was stopped."""

    layer: ClassVar[FailureLayer] = "harness"


class ToolCrashedError(ModelVisibleError):
    """The tool's code raised something unforeseen; the traceback is in `detail`, never in the message."""

    layer: ClassVar[FailureLayer] = "tool"


class RunError(WieldyError):
    """The run cannot go on; what happened up to here is in the journal."""


class ModelError(RunError):
    """A model could not answer.

    Attributes:
        status: The HTTP status, if there was one.
        retry_after_s: How long the server asked us to wait, in seconds.
        is_transient: Whether the same request may succeed a little later.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
        is_transient: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after_s = retry_after_s
        self.is_transient = is_transient


class AuthenticationError(ModelError):
    """The key is missing or was not accepted."""


class RateLimitError(ModelError):
    """The server refuses more requests for now."""


class RequestRefusedError(ModelError):
    """The server understood and refused: a wrong model name, a prompt too long, an option it does not take."""


class ContentFilterError(RequestRefusedError):
    """The request was right, and the provider, or a content filter of its own, stopped the answer."""


class ProviderError(ModelError):
    """The server failed, or what it sent is not the protocol that it claims to speak."""


class ModelUnreachableError(ModelError):
    """No connection, or no answer in time."""


class ModelNotAvailableError(RunError):
    """A local model's weights or runtime are not on this machine and could not be fetched."""


class OutputError(RunError):
    """What was wanted is an answer of a certain form, and the model's did not become one.

    Attributes:
        incomplete: What there is of it, and why it does not fit.
        run_id: The run that has the whole story.
    """

    def __init__(self, message: str, *, incomplete: Incomplete, run_id: str) -> None:
        super().__init__(message)
        self.incomplete = incomplete
        self.run_id = run_id


class SandboxError(RunError):
    """The sandbox's own processes have ended, or a worker could not be locked in: no code runs there any more."""


class JournalError(RunError):
    """The journal cannot be read or written."""


class RunBusyError(JournalError):
    """Another process is at work on the run.

    Attributes:
        holder: Who, for people: the process and its host.
    """

    def __init__(self, message: str, *, holder: str) -> None:
        super().__init__(message)
        self.holder = holder


class JournalConflictError(JournalError):
    """The run has more entries than the writer knows: somebody else added some meanwhile. Nothing was written."""


class JournalTamperedError(JournalError):
    """An entry was changed after it was written, or one is missing."""


class UsageError(WieldyError):
    """The program asks for something that cannot be; raised before a run starts."""


class ToolSignatureError(UsageError):
    """A function cannot become a tool as it is written."""


class ApprovalError(UsageError):
    """There is no such call to decide on, or it is not what was shown."""


class SandboxTierError(UsageError):
    """Code cannot be isolated on this machine as asked; nothing ran, and nothing weaker was taken instead.

    Attributes:
        reasons: Why not, by the names of the tiers that were tried.
    """

    def __init__(self, message: str, *, reasons: dict[str, str]) -> None:
        super().__init__(message)
        self.reasons = reasons


class SkillError(UsageError):
    """Code cannot become a skill as it is, a skill's check does not hold, or there is no such skill."""


class SkillCheckError(SkillError):
    """A skill was tried, and its example or its check does not hold; nothing was saved."""


class GrammarError(UsageError):
    """A decoding constraint cannot be compiled, or its engine is not installed."""


class BudgetError(GrammarError):
    """Nothing that the constraint allows fits into the budget; said before a token is generated.

    Attributes:
        minimum: Tokens of the shortest text that was found, the end token included where one is needed.
        budget: Tokens that there were.
    """

    def __init__(self, message: str, *, minimum: int, budget: int) -> None:
        super().__init__(message)
        self.minimum = minimum
        self.budget = budget


class ForcedOutputWarning(UserWarning):
    """Parts of an answer were decided by the token budget, not by the model; the text has their JSON pointers."""


class SkillNotOfferedWarning(UserWarning):
    """A saved skill is not offered to a model: a tool that it calls is not there, or is defined otherwise."""


class HistoryError(UsageError):
    """A list of messages breaks a rule of strict providers: a call without its result, an id used twice."""
