"""What each setting of an agent means: the model, the journal, and how the model is led and acts.

Deliberately not here: putting them together (`agent`).
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from wieldy.core.errors import UsageError
from wieldy.run.guided import Guided, GuidedModel
from wieldy.run.journal import MemoryJournal, open_journal
from wieldy.run.outputs import OutputReader, OutputSpec, reader_of
from wieldy.tools import Toolset

if TYPE_CHECKING:
    from wieldy.agent.code_rules import CodeRules
    from wieldy.agent.skills import Skills
    from wieldy.core.ports import Journal, Model
    from wieldy.run.request import RunRequest
    from wieldy.tools import Tool

Strategy: TypeAlias = Literal["guided", "native"]
Actions: TypeAlias = Literal["calls", "react", "json", "code"]
ForcedCalls: TypeAlias = Literal["refuse", "run"]


def resolved(
    model: Model | str, *, chat_format: str | None = None, constrained: bool = True, seed: int | None = None
) -> Model:
    """The model that is meant; see `resolve` in `connect.models.resolve`.

    Raises:
        UsageError: There is no such model, or it cannot be had with these settings.
    """
    # Imported here because it is needed only once a model is named.
    from wieldy.connect.models.resolve import resolve  # noqa: PLC0415

    return resolve(model, chat_format=chat_format, constrained=constrained, seed=seed)


def journal_of(journal: Journal | Path | str | None) -> Journal:
    """The journal that is meant; one in memory if none is named.

    Raises:
        UsageError: It is none.
        JournalError: The file or the database cannot be used.
    """
    if journal is None:
        return MemoryJournal()
    if isinstance(journal, str | Path):
        return open_journal(journal)
    if not callable(getattr(journal, "append", None)) or not callable(getattr(journal, "read", None)):
        raise UsageError(f"Expected `journal` to be a path, a URL or a journal, found {journal!r}.")
    return journal


def wanted(spec: OutputSpec) -> OutputReader | None:
    """What the answer must be; None if any text will do.

    Raises:
        UsageError: That cannot be wanted.
    """
    return None if spec is None else reader_of(spec)


def runs_forced(forced_calls: ForcedCalls) -> bool:
    """Whether calls are run whose arguments the token budget decided.

    Raises:
        UsageError: It is neither.
    """
    if forced_calls not in ("refuse", "run"):
        raise UsageError(f"Expected `forced_calls` to be 'refuse' or 'run', found {forced_calls!r}.")
    return forced_calls == "run"


def code_rules(rules: CodeRules | None, actions: Actions) -> CodeRules | None:
    """Where code runs; None if the model does not act by code.

    Raises:
        UsageError: There are rules and no code.
    """
    if actions != "code":
        if rules is not None:
            raise UsageError(f"`code` says how code runs: expected actions='code' with it, found {actions!r}.")
        return None
    # Imported here because only code needs the sandbox.
    from wieldy.agent.code_rules import CodeRules  # noqa: PLC0415

    return CodeRules() if rules is None else rules


def skills_of(skills: Skills | Path | str | None) -> Skills | None:
    """The skills that are meant.

    Raises:
        UsageError: There are none of that name, or no sandbox for this system.
    """
    if skills is None:
        return None
    # Imported here because it brings the sandbox, parts of which not every system has.
    try:
        from wieldy.agent.skills import Skills  # noqa: PLC0415
    except ImportError as error:
        raise UsageError(f"Code cannot be isolated on {sys.platform}: {error}.") from error
    if not isinstance(skills, Skills | Path | str):  # pyright: ignore[reportUnnecessaryIsInstance] - a likely mistake
        raise UsageError(f"Expected `skills` to be Skills or their folder, found {skills!r}.")
    return skills if isinstance(skills, Skills) else Skills(skills)


def acting_with(request: RunRequest, *, code: CodeRules | None, skills: Skills | None) -> RunRequest:
    """The request of a run that is offered skills and acts by code, each if it is to, made of that of a plain one.

    Raises:
        UsageError: There is no sandbox for this system.
    """
    saving: Tool | None = None
    if skills is not None:
        from wieldy.agent.skill_tools import offering  # noqa: PLC0415 - as above

        request, saving = offering(request, skills, code)
    if code is not None:
        request = code.acting(request)
    # Beside the code, not within it: a model saves what its code has done.
    return request if saving is None else replace(request, toolset=Toolset([request.toolset, saving]))


def led(model: Model, strategy: Strategy | None, actions: Actions) -> Model:
    """The model, guided if it is to be.

    Raises:
        UsageError: There is no such strategy, or the model cannot be led so.
    """
    if strategy not in (None, "guided", "native"):
        raise UsageError(f"Expected `strategy` to be 'guided', 'native' or None, found {strategy!r}.")
    if strategy == "guided" and actions != "calls":
        raise UsageError(f"A guided model acts by calls: expected actions='calls', found {actions!r}.")
    if strategy == "native" or actions != "calls":
        return model
    if isinstance(model, GuidedModel):
        return Guided(model)
    if strategy == "guided":
        raise UsageError(
            f"The model {model.name!r} cannot be guided: only a model whose likelihoods can be asked for, such as a "
            "local one, can be. Leave `strategy` out, or use 'native'."
        )
    return model


def acting(model: Model, actions: Actions) -> Model:
    """The model, with calls read from its text if it is to act in text.

    Raises:
        UsageError: There is no such way to act.
    """
    match actions:
        case "calls" | "code":  # code is the argument of a call
            return model
        case "react" | "json":
            # Imported here because it brings the chat formats, which a run by calls does not need.
            from wieldy.formats import get  # noqa: PLC0415
            from wieldy.run.actions import TextActions  # noqa: PLC0415

            return TextActions(model, get(actions))
        case _:
            raise UsageError(f"Expected `actions` to be 'calls', 'react', 'json' or 'code', found {actions!r}.")
