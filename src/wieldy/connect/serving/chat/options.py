"""Fields of a request that say how a model writes: passed on, harmless to leave, or refused. Pure.

Law: no field that could change the answer is left without a word. A server behind this one is sent what it alone can
judge. A model in this process always writes the likeliest token: what only allows others is left with a warning, what
would make another one the likeliest is refused, and so is what nobody knows.
"""

from __future__ import annotations

from typing import Any, Final

from wieldy.connect.serving.chat.fields import FieldError, Fields, shown
from wieldy.core.json import JsonObject

_ASKS_FOR_NOTHING: Final[dict[str, tuple[object, ...]]] = {
    "n": (1,),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "store": (False,),
    "modalities": (["text"],),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "repetition_penalty": (1,),
    "logit_bias": ({},),
    "temperature": (0,),
    "top_p": (1,),
    "service_tier": ("auto", "default"),
    "functions": ([],),
}
"""Values with which a field asks for nothing that is not done anyway."""
_NEVER: Final[dict[str, str]] = {
    "n": "Ask once for each answer.",
    "logprobs": "The answers of this server have no probabilities.",
    "top_logprobs": "The answers of this server have no probabilities.",
    "store": "Nothing is stored here.",
    "modalities": "Answers are text.",
    "audio": "Answers are text.",
    "functions": "Use 'tools'.",
    "function_call": "Use 'tool_choice'.",
    "web_search_options": "Nothing is searched here.",
}
"""What no model behind this server is asked for, and what to do instead."""
_ONLY_ALLOWS: Final = frozenset({"temperature", "top_p", "top_k", "min_p", "typical_p", "seed"})
"""With which other tokens than the likeliest may come, or come in the same way again."""
_SAYS_NOTHING: Final = frozenset(
    {
        "user",
        "metadata",
        "safety_identifier",
        "prompt_cache_key",
        "prompt_cache_retention",
        "service_tier",
        "reasoning_effort",
        "verbosity",
        "prediction",
    }
)
"""Who asks, and how a provider goes about it."""


def options_in(fields: Fields, *, passes_on: bool) -> tuple[JsonObject, tuple[str, ...]]:
    """What is passed on of what is left of a request, and a sentence for each field that is left.

    Args:
        fields: Of the request; what others know of it is taken already.
        passes_on: Whether the model is sent options.

    Raises:
        FieldError: A field asks for what is not to be had.
    """
    options: JsonObject = {}
    warnings: list[str] = []
    for name, value in fields.left():
        if _asks_for_nothing(name, value):
            if passes_on and name not in _NEVER:
                options[name] = value
        elif name in _NEVER:
            raise FieldError(
                f"{name!r} of {shown(value)} is not served. {_NEVER[name]}", param=name, code="unsupported_value"
            )
        elif passes_on:
            options[name] = value
        elif name in _ONLY_ALLOWS:
            if name != "seed":  # the same request has the same answer anyway
                warnings.append(f"{name!r} was not used: the model always writes the likeliest token.")
        elif name in _SAYS_NOTHING:
            warnings.append(f"{name!r} was not used: the model knows nothing of the kind.")
        else:
            raise FieldError(
                f"{name!r} cannot be honoured by this model, and is not left out silently. Leave it out.",
                param=name,
                code="unsupported_parameter",
            )
    return options, tuple(warnings)


def _asks_for_nothing(name: str, value: Any) -> bool:
    known = _ASKS_FOR_NOTHING.get(name, ())
    return any(value == nothing and isinstance(value, bool) == isinstance(nothing, bool) for nothing in known)
