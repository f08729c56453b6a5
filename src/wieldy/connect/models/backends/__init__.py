"""What servers can be asked to enforce, each in its own request fields. Pure: nothing here sends or waits.

`taken` has the words, `plan` puts a request and a backend together. A backend is one module or a row of `plain`; to add
one, write what it takes and add it here.
"""

from __future__ import annotations

from typing import Final

from wieldy.connect.models.backends.anthropic import ANTHROPIC
from wieldy.connect.models.backends.llama_server import LLAMA_SERVER
from wieldy.connect.models.backends.openai import AZURE, OPENAI
from wieldy.connect.models.backends.plain import JSON_OBJECT, LM_STUDIO, OLLAMA, PLAIN, TOOL_CALLS
from wieldy.connect.models.backends.sglang import SGLANG
from wieldy.connect.models.backends.taken import Asked, Backend, How, Reading, Taken
from wieldy.connect.models.backends.vllm import VLLM
from wieldy.core.errors import UsageError
from wieldy.schema import nearest_names

__all__ = ["ANTHROPIC", "BACKENDS", "PLAIN", "Asked", "Backend", "How", "Reading", "Taken", "backend_named"]

BACKENDS: Final = {
    backend.name: backend
    for backend in (
        OPENAI,
        AZURE,
        ANTHROPIC,
        VLLM,
        SGLANG,
        LLAMA_SERVER,
        OLLAMA,
        LM_STUDIO,
        JSON_OBJECT,
        TOOL_CALLS,
        PLAIN,
    )
}


def backend_named(name: str, *, among: tuple[str, ...] = tuple(BACKENDS)) -> Backend:
    """The backend of this name.

    Raises:
        UsageError: There is none; the text names those that there are.
    """
    if name not in among:
        nearest = nearest_names(name, among, most=1)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else ""
        raise UsageError(f"Expected a backend of {', '.join(among)}; found {name!r}.{hint}")
    return BACKENDS[name]
