"""The page and the data that it asks for, as an ASGI application.

    GET  /             the page
    GET  /api/runs     a page of the list: `status`, `text`, `tool`, `after`, `limit`
    GET  /api/run      one run: `id`
    GET  /api/entries  its entries: `id`, `start`, `count`
    POST /api/decide   `run_id`, `call_id`, `digest` (of what was shown), `is_granted`, `reason`

Data that a browser has already, by the `version` that it names as `known`, is not sent again. Law: without
`decide_in` nothing is ever written. Deliberately not here: who may ask (`access`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from wieldy.apps.cli.deciding import what_is_next
from wieldy.apps.view.page import page
from wieldy.apps.view.run_list import Page, RunList, Wanted
from wieldy.apps.view.versions import Answer, versioned
from wieldy.apps.view.watched import MOST_ENTRIES, WatchedRuns, entries_to_json, waiting_to_json
from wieldy.core.errors import ApprovalError, JournalError, UsageError, WieldyError
from wieldy.core.json import JsonObject, parse_json
from wieldy.run.consent import Consent

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from wieldy.apps.cli.next_commands import NextCommands
    from wieldy.core.ports import Journal
    from wieldy.evals.reports.page import Redaction

MAX_BODY_BYTES: Final = 64 * 1024
MOST_LISTED: Final = 200
"""Runs in one page of the list."""
MOST_WAITING: Final = 100
"""Calls that are shown as waiting on top of the list; how many more there are is said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Viewed:
    """What is looked at, and by whom.

    Attributes:
        journal: Gives the journal, to read; None as long as there is none.
        commands: Those that a person may want next.
        redaction: Takes out what must not be shown.
        decide_in: Gives the journal to write decisions to; None if the page only shows.
        by: Who decides.
        name: Of the journal, for people.
    """

    journal: Callable[[], Journal | None]
    commands: NextCommands
    redaction: Redaction
    decide_in: Callable[[], Journal] | None
    by: str
    name: str


def view_application(viewed: Viewed) -> Any:
    """The application; only what `access.Door` lets through may reach it."""
    from starlette.applications import Starlette  # noqa: PLC0415 - an extra
    from starlette.routing import Route  # noqa: PLC0415 - an extra

    service = _Service(viewed)
    return Starlette(
        routes=[
            Route("/", service.page, methods=["GET"]),
            Route("/api/runs", _answering(service.runs), methods=["GET"]),
            Route("/api/run", _answering(service.run), methods=["GET"]),
            Route("/api/entries", _answering(service.entries), methods=["GET"]),
            Route("/api/decide", service.decide, methods=["POST"]),
        ]
    )


class _Service:
    """What answers each route."""

    def __init__(self, viewed: Viewed) -> None:
        self._viewed = viewed
        self._runs = RunList(redaction=viewed.redaction)
        self._watched = WatchedRuns(redaction=viewed.redaction, commands=viewed.commands, about=self._about())

    def page(self, request: Request) -> Response:
        from starlette.responses import HTMLResponse  # noqa: PLC0415 - an extra

        shown = page()
        return HTMLResponse(shown.html, headers={"content-security-policy": shown.policy})

    def runs(self, asked: Mapping[str, str]) -> Answer:
        wanted = Wanted(
            status=asked.get("status", ""),
            text=asked.get("text", ""),
            tool=asked.get("tool", ""),
            after=asked.get("after", ""),
            limit=max(1, min(_number(asked, "limit", 50), MOST_LISTED)),
        )
        journal = self._viewed.journal()
        found = Page() if journal is None else self._runs.page(journal, wanted)
        return versioned({"journal": self._viewed.name, **self._about(), **self._list(found)})

    def run(self, asked: Mapping[str, str]) -> Answer:
        return self._watched.run(self._journal(), asked.get("id", ""), anew="known" not in asked)

    def entries(self, asked: Mapping[str, str]) -> Answer:
        start = max(0, _number(asked, "start", 0))
        count = max(1, min(_number(asked, "count", MOST_ENTRIES), MOST_ENTRIES))
        journal, redaction = self._journal(), self._viewed.redaction
        return versioned(entries_to_json(journal, asked.get("id", ""), start=start, count=count, redaction=redaction))

    async def decide(self, request: Request) -> Response:
        import anyio.to_thread  # noqa: PLC0415 - with the extra

        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return _json({"error": "Expected the header `Content-Type: application/json`."}, 415)
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_BODY_BYTES:
                return _json({"error": f"Expected at most {MAX_BODY_BYTES} bytes, found more."}, 413)
        return await anyio.to_thread.run_sync(_answered, self._decided, bytes(body))

    def _decided(self, body: bytes) -> Answer:
        viewed, said = self._viewed, _decision(body)
        if viewed.decide_in is None:
            raise UsageError("This page only shows. Start it with `wieldy view --allow-decisions` to decide in it.")
        journal = viewed.decide_in()
        consent = Consent(journal)
        run_id = str(said["run_id"])
        approval = consent.answer(
            run_id,
            str(said["call_id"]),
            is_granted=said["is_granted"] is True,
            by=viewed.by,
            reason=str(said["reason"]),
            digest=str(said["digest"]),
        )
        next_up = what_is_next(journal, run_id, consent=consent)
        words = next_up.words(viewed.commands)
        return versioned({"is_granted": approval.is_granted, "by": approval.by, "left": next_up.left, "next": words})

    def _journal(self) -> Journal:
        journal = self._viewed.journal()
        if journal is None:
            raise UsageError("The journal holds no run yet. Start one with `wieldy run`.")
        return journal

    def _about(self) -> Answer:
        redaction = self._viewed.redaction
        return {"decides": self._viewed.decide_in is not None, "redacted": len(redaction.patterns)}

    def _list(self, found: Page) -> Answer:
        viewed = self._viewed
        requests = [request for row in found.waiting for request in row.waiting]
        return {
            "groups": [
                {"rows": [{"depth": depth, **row.to_json()} for depth, row in group.rows], "left_out": group.left_out}
                for group in found.groups
            ],
            "waiting": [
                waiting_to_json(request, redaction=viewed.redaction, commands=viewed.commands)
                for request in requests[:MOST_WAITING]
            ],
            "waiting_total": len(requests),
            "after": found.after,
            "is_partial": found.is_partial,
            "looked_at": found.looked_at,
            "listed": found.listed,
            "total": found.total,
            "tools": [*found.tools],
        }


def _answering(answer: Callable[[Mapping[str, str]], Answer]) -> Callable[[Request], Response]:
    # Not `async`: it reads a journal, for which Starlette gives it a thread.
    def endpoint(request: Request) -> Response:
        return _answered(answer, dict(request.query_params), known=request.query_params.get("known"))

    return endpoint


def _answered(answer: Callable[[Any], Answer], asked: Any, *, known: str | None = None) -> Response:
    try:
        told = answer(asked)
    except ApprovalError as error:
        return _json({"error": str(error)}, 409)
    except UsageError as error:
        return _json({"error": str(error)}, 400)
    except (JournalError, WieldyError) as error:
        return _json({"error": str(error)}, 503)
    version = told["version"]
    return _json({"version": version} if known == version else told, 200)


def _json(told: Answer, status: int) -> Response:
    from starlette.responses import Response  # noqa: PLC0415 - an extra

    # Escaped to ASCII, half a character of a stranger's text included.
    return Response(json.dumps(told), status_code=status, media_type="application/json")


def _decision(body: bytes) -> JsonObject:
    form: dict[str, type] = {"run_id": str, "call_id": str, "digest": str, "is_granted": bool, "reason": str}
    try:
        said = parse_json(body.decode())
    except ValueError as error:
        raise UsageError(f"Expected a decision as JSON, found something else: {error}.") from error
    if not isinstance(said, dict) or any(type(said.get(name)) is not kind for name, kind in form.items()):
        raise UsageError(f"Expected a decision with {', '.join(form)}, found something else.")
    return said


def _number(asked: Mapping[str, str], name: str, otherwise: int) -> int:
    text = asked.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else otherwise
