"""Prompts and resources that are functions, for whoever calls.

Each request is a call of the function's tool, and so a run that is validated, allowed, recorded and masked as every
call is. Deliberately not here: making functions prompts and resources (`prompts`, `resources`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from wieldy.connect.serving.calls import CallRules, answer
from wieldy.connect.serving.prompts import Prompt
from wieldy.connect.serving.resources import Resource, contents_of
from wieldy.connect.serving.shelf import Kind, completion, no_such_prompt, no_such_resource, structured
from wieldy.core.errors import UsageError
from wieldy.run.policy import permitted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from wieldy.core.json import JsonObject
    from wieldy.core.principals import Principal
    from wieldy.tools import Tool

_Each = TypeVar("_Each")


class FunctionShelf:
    """Implements `Shelf`.

    Args:
        prompts: Each by its name.
        resources: The first one that an address fits is read.
        rules: What calls are kept to.

    Raises:
        UsageError: Two have one name or one address.
    """

    def __init__(self, prompts: Iterable[Prompt], resources: Iterable[Resource], rules: CallRules) -> None:
        self._prompts = _by_name(prompts, lambda each: each.name, what="prompts")
        self._resources = _by_name(resources, lambda each: each.uri, what="resources")
        self._rules = rules

    @property
    def has(self) -> frozenset[str]:
        """As `Shelf`."""
        found = {"prompts"} if self._prompts else set[str]()
        found |= {"resources"} if self._resources else set()
        can_complete = any(each.complete for each in (*self._prompts.values(), *self._resources.values()))
        return frozenset(found | ({"completions"} if can_complete else set()))

    async def listed(self, kind: Kind, *, principal: Principal | None) -> Sequence[JsonObject]:
        """As `Shelf`."""
        if kind == "prompts":
            return [each.described() for each in self._prompts.values() if _may(each.tool, principal)]
        wanted = kind == "resourceTemplates"
        found = (each for each in self._resources.values() if each.is_template is wanted)
        return [each.described() for each in found if _may(each.tool, principal)]

    async def get_prompt(self, name: str, arguments: Mapping[str, str], *, principal: Principal | None) -> JsonObject:
        """As `Shelf`."""
        found = self._prompts.get(name)
        if found is None or not _may(found.tool, principal):
            raise no_such_prompt(name)
        result = await self._run(found.tool, dict(arguments), principal)
        description = found.tool.definition.description
        return {"description": description, **result} if description else result

    async def read_resource(self, uri: str, *, principal: Principal | None) -> JsonObject:
        """As `Shelf`."""
        for each in self._resources.values():
            arguments = each.match(uri)
            if arguments is not None and _may(each.tool, principal):
                return contents_of(await self._run(each.tool, arguments, principal), uri)
        raise no_such_resource(uri)

    async def complete(self, params: JsonObject, *, principal: Principal | None) -> JsonObject:
        """As `Shelf`."""
        reference = cast("JsonObject", params["ref"])
        argument = cast("Mapping[str, str]", params["argument"])
        if "uri" in reference:
            uri = str(reference["uri"])
            found: Prompt | Resource | None = self._resources.get(uri)
            missing = no_such_resource(uri)
        else:
            found = self._prompts.get(str(reference.get("name")))
            missing = no_such_prompt(str(reference.get("name")))
        if found is None or not _may(found.tool, principal):
            raise missing
        completer = found.complete.get(argument["name"])
        return completion([*completer(argument["value"])] if completer else [])

    async def subscribe(self, uri: str, *, principal: Principal | None) -> None:
        """As `Shelf`; the program tells when a resource has changed."""
        known = (each for each in self._resources.values() if each.match(uri) is not None)
        if not any(_may(each.tool, principal) for each in known):
            raise no_such_resource(uri)

    async def _run(self, tool: Tool, arguments: JsonObject, principal: Principal | None) -> JsonObject:
        return structured(await answer(tool.name, arguments, {tool.name: tool}, self._rules, principal=principal))


def _may(tool: Tool, principal: Principal | None) -> bool:
    return permitted(tool, principal) is None


def _by_name(items: Iterable[_Each], name: Callable[[_Each], str], *, what: str) -> dict[str, _Each]:
    found: dict[str, _Each] = {}
    for item in items:
        if name(item) in found:
            raise UsageError(f"Expected {what} with different names, found {name(item)!r} twice.")
        found[name(item)] = item
    return found
