"""A model of the transformers library in this process: `hf:NAME`, or one that the program has loaded itself.

Offers the port of every model. Prompts, constraints and reading are those of `spoken`, and what is written is complete
within its budget also where it is sampled. Deliberately not here: how text is continued (`transformers_writing`),
batches of a program's own (`processors`), and leading a model by questions, which those that need this library do not.
"""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from datetime import datetime
from importlib import import_module
from typing import Any, Final, cast

from wieldy.connect.models.deployment import of_package
from wieldy.connect.models.spoken import Speech
from wieldy.connect.models.template_process import TemplateProcess, TemplateSource
from wieldy.connect.models.threads import IsLeft, Put, from_thread, in_thread
from wieldy.connect.models.transformers_writing import HfWriter
from wieldy.core.errors import ModelNotAvailableError
from wieldy.core.extras import installing
from wieldy.core.json import JsonObject
from wieldy.core.ports import ModelEvent, ModelRequest
from wieldy.formats import ChatFormat

GREEDY: Final[Mapping[str, Any]] = {"do_sample": False, "temperature": None, "top_p": None, "top_k": None}
"""The likeliest token every time, whatever the model's own settings are."""


class HfModel:
    """A causal language model of the transformers library.

    Args:
        source: Its name on the hub, or a folder.
        name: What this model is called in records.
        chat_format: How it writes calls, as a format or by its name; None to find it out from its chat template, and to
            describe tools in plain words to a model whose template has none.
        options: More arguments of `generate`; by default the likeliest token is taken every time.
        constrained: Whether replies are held to the format, the tools' schemas and the output.
    """

    def __init__(
        self,
        source: str,
        *,
        name: str | None = None,
        chat_format: str | ChatFormat | None = None,
        options: Mapping[str, Any] = GREEDY,
        constrained: bool = True,
    ) -> None:
        self._source = source
        self._name = name or f"hf:{source}"
        self._format = chat_format
        self._options = dict(options)
        self._constrained = constrained
        self._loading = threading.Lock()
        self._loaded: Speech | None = None

    @classmethod
    def of(
        cls,
        model: Any,
        tokenizer: Any,
        *,
        name: str = "hf",
        chat_format: str | ChatFormat | None = None,
        options: Mapping[str, Any] = GREEDY,
    ) -> HfModel:
        """A model that the program has loaded, on whatever device and with whatever settings.

        Args:
            model: A `PreTrainedModel` with `generate`.
            tokenizer: Its fast tokenizer, with the chat template.
            name: What this model is called in records.
            chat_format: As for the class.
            options: As for the class.

        Raises:
            ModelNotAvailableError: The tokenizer has no chat template.
        """
        made = cls(name, name=name, chat_format=chat_format, options=options)
        made._loaded = made._speech(model, tokenizer)
        return made

    takes_images = False
    """Whether the model is shown images and files."""

    def __repr__(self) -> str:
        return f"HfModel({self._name!r})"

    @property
    def name(self) -> str:
        """What this model is called in records."""
        return self._name

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        """Deltas as they come, then exactly one `ModelReply`.

        Raises:
            BudgetError: No call and no answer that is allowed fits into the budget; nothing was generated.
            ModelNotAvailableError: The library is not installed, or the model cannot be had or loaded.
            ModelError: The model could not answer.
        """
        speech = self._loaded or await in_thread(lambda _: self._load_once())

        def work(put: Put[ModelEvent], is_left: IsLeft) -> None:
            put(speech.reply(request, now=datetime.now(), on_delta=put))

        async with aclosing(from_thread(work)) as events:
            async for event in events:
                yield event

    async def deployment(self) -> JsonObject:
        """What answers: the library, the number format and the revision of the weights, the chat format.

        Raises:
            ModelNotAvailableError: The library is not installed, or the model cannot be had or loaded.
        """
        speech = self._loaded or await in_thread(lambda _: self._load_once())
        return {
            **_loaded_as(speech),
            "engine": of_package("transformers"),
            "torch": of_package("torch"),
            "constraint": self._constrained,
            "constraint_engine": of_package("llguidance"),
            "chat_format": await in_thread(lambda _: speech.manner.chat_format.name),
            "options": {name: repr(value) for name, value in sorted(self._options.items())},
        }

    def _load_once(self) -> Speech:
        with self._loading:
            if self._loaded is None:
                self._loaded = self._speech(*_loaded(self._source))
            return self._loaded

    def _speech(self, model: Any, tokenizer: Any) -> Speech:
        template = TemplateProcess(_template_of(tokenizer, self._name))
        writer = HfWriter(model, tokenizer, self._options)
        return Speech(writer, template, chat_format=self._format, constrained=self._constrained)


def _loaded_as(speech: Speech) -> JsonObject:
    """How the weights are loaded; the library says so of them."""
    model: Any = getattr(speech.writer, "model", None)
    config: Any = getattr(model, "config", None)
    quantisation: Any = getattr(config, "quantization_config", None)
    return {
        "source": getattr(config, "name_or_path", None),
        "revision": getattr(config, "_commit_hash", None),
        "number_format": str(getattr(model, "dtype", None)),
        "quantisation": None if quantisation is None else str(quantisation),
    }


def _loaded(source: str) -> tuple[Any, Any]:
    """The model and its tokenizer, on the fastest device that there is.

    Raises:
        ModelNotAvailableError: The library is not installed, or the model cannot be had or loaded.
    """
    try:
        torch: Any = import_module("torch")  # optional extras, without type information
        library: Any = import_module("transformers")
    except ImportError as error:
        raise ModelNotAvailableError(
            f"Models of the transformers library need it and torch, and one cannot be imported ({error}). "
            f"Run: {installing('transformers')}"
        ) from error
    try:
        # A model's own code would be run; who trusts it loads the model itself.
        tokenizer = library.AutoTokenizer.from_pretrained(source, trust_remote_code=False)
        model = library.AutoModelForCausalLM.from_pretrained(source, dtype="auto", trust_remote_code=False)
    except (OSError, ValueError, ImportError, RuntimeError, KeyError) as error:
        raise ModelNotAvailableError(
            f"The model {source!r} cannot be loaded: {str(error).rstrip('.')}. Give a name on the hub, or a folder "
            "with a causal language model and its tokenizer."
        ) from error
    device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else "cpu"
    return model.to(device).eval(), tokenizer


def _template_of(tokenizer: Any, name: str) -> TemplateSource:
    """The chat template that came with the tokenizer.

    Raises:
        ModelNotAvailableError: There is none.
    """
    found: object = tokenizer.chat_template
    if not isinstance(found, str | dict) or not found:
        raise ModelNotAvailableError(
            f"The tokenizer of {name} has no chat template, so it is not a model that can be talked to. "
            "Use the instruction-tuned variant of the model."
        )
    tokens = {key: str(value) for key, value in tokenizer.special_tokens_map.items() if isinstance(value, str)}
    added = [str(token) for token in tokenizer.added_tokens_decoder.values() if token.special]
    controls = list(dict.fromkeys([*tokenizer.all_special_tokens, *added]))
    text = found if isinstance(found, str) else cast("dict[str, str]", found)
    return TemplateSource(text=text, tokens=tokens, control_tokens=controls)
