"""What carries out calls on an environment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel, create_model


class FunctionCall(BaseModel):
    function: str
    args: dict[str, Any]


class Function:
    def __init__(self, run: Callable[..., Any], **parameters: Any) -> None:
        self.name, self.description, self.run = run.__name__, run.__doc__ or "", run
        self.parameters: type[BaseModel] = create_model(self.name, **parameters)


class FunctionsRuntime:
    def __init__(self, functions: list[Function]) -> None:
        self.functions = {each.name: each for each in functions}

    def run_function(self, env: Any, function: str, kwargs: Mapping[str, Any]) -> tuple[Any, str | None]:
        try:
            return self.functions[function].run(env, **kwargs), None
        except ValueError as error:
            return "", f"ValueError: {error}"
