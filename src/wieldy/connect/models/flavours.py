"""Which kind of server an address is: by its host, or by what it says of itself. Pure.

vLLM, SGLang and llama-server say so in their list of models (`owned_by`), llama-server in its `server` header as well,
LM Studio in the list, and Ollama at `/api/version`. What is not recognized is plain: nothing is guessed.
"""

from __future__ import annotations

import json
from typing import Any, Final, cast

_HOSTS: Final = {
    "api.openai.com": "openai",
    "api.deepseek.com": "json_object",
}
_HOST_ENDINGS: Final = {
    ".openai.azure.com": "azure",
    ".services.ai.azure.com": "azure",
    ".cognitiveservices.azure.com": "azure",
}
_OWNERS: Final = {
    "vllm": "vllm",
    "sglang": "sglang",
    "llamacpp": "llama_server",
    "organization_owner": "lm_studio",
}
_SERVERS: Final = {"llama.cpp": "llama_server"}

MODELS_PATH: Final = "/models"
"""Below the base address."""
OLLAMA_PATH: Final = "/api/version"
"""Below the root: only Ollama has it."""


def by_host(host: str) -> str | None:
    """The backend of a known host; None if it has to be asked."""
    ending = next((name for end, name in _HOST_ENDINGS.items() if host.endswith(end)), None)
    return _HOSTS.get(host, ending)


def by_models(*, server: str, body: str) -> str | None:
    """The backend by the `server` header and the list of models; None if neither says."""
    if server.lower() in _SERVERS:
        return _SERVERS[server.lower()]
    listed = _object_in(body).get("data")
    items = cast("list[Any]", listed) if isinstance(listed, list) else []
    owners = {str(cast("dict[str, Any]", item).get("owned_by")) for item in items if isinstance(item, dict)}
    found = {_OWNERS[owner] for owner in owners if owner in _OWNERS}
    return found.pop() if len(found) == 1 else None


def by_version(body: str) -> str | None:
    """Ollama, if this is what it says of its version."""
    return "ollama" if isinstance(_object_in(body).get("version"), str) else None


def _object_in(text: str) -> dict[str, Any]:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
