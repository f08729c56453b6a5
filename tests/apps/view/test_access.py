"""Who gets an answer: a browser that has the key, on this machine, from a page of this server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.apps.view.access import Door

pytestmark = pytest.mark.anyio
Made = tuple[Path, dict[str, str]]
ROUTES = ("/", "/api/runs", "/api/run?id=x", "/api/entries?id=x")


def is_guarded(answer: httpx2.Response) -> bool:
    policy = answer.headers["content-security-policy"] if answer.status_code in (401, 403) else "default-src 'none'"
    return (
        "default-src 'none'" in policy
        and answer.headers["cache-control"] == "no-store"
        and answer.headers["x-content-type-options"] == "nosniff"
        and "access-control-allow-origin" not in answer.headers
    )


async def test_without_the_key_nothing_is_answered(journal: Made, seen: Callable[..., Any]) -> None:
    page = seen(journal[0])
    async with page.client(enters=False) as http:
        for route in (*ROUTES, "/?key=", "/?key=guessed", f"/api/runs?{page.door.query}"):
            for cookie in ("", "view=", "view=guessed", 'view="', "other=1", "view=a; view=b"):
                answer = await http.get(route, headers={"cookie": cookie})
                assert (answer.status_code, is_guarded(answer)) == (401, True), (route, cookie)
        assert (await http.post("/api/decide", headers={"origin": "http://127.0.0.1:5000"})).status_code == 401


async def test_the_key_is_given_once_and_a_ticket_is_good_for_one_use(journal: Made, seen: Callable[..., Any]) -> None:
    page = seen(journal[0])
    ticket = page.door.ticket()
    async with page.client(enters=False) as http:
        entered = await http.get(f"/?{ticket}")
        cookie = entered.headers["set-cookie"]
        assert all(word in cookie for word in ("HttpOnly", "SameSite=Strict", "Path=/"))
        assert ticket.partition("=")[2] not in cookie
        http.cookies.clear()
        assert (await http.get(f"/?{ticket}")).status_code == 401
        http.cookies.clear()
        for _ in range(2):  # another browser may be given the address as well
            assert (await http.get(f"/?{page.door.query}")).status_code == 200
        for route in ("/", "/api/runs"):
            answer = await http.get(route)
            assert (answer.status_code, is_guarded(answer)) == (200, True)
        policy = (await http.get("/")).headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "connect-src 'self'" in policy
        assert "unsafe" not in policy


async def test_other_hosts_origins_and_sites_are_refused_even_with_the_cookie(
    journal: Made, seen: Callable[..., Any]
) -> None:
    own = "http://127.0.0.1:5000"
    async with seen(journal[0], decides=True).client() as http:
        foreign: tuple[dict[str, str], ...] = (
            {"host": "evil.example"},
            {"host": "127.0.0.1.evil.example:5000"},
            {"host": "localhost@evil.example"},
            {"host": "127.0.0.1:5000@evil.example"},
            {"host": ""},
            {"origin": "https://evil.example"},
            {"origin": "null"},
            {"origin": "http://127.0.0.1:5001"},
            {"origin": "https://127.0.0.1:5000"},
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
        )
        for headers in foreign:
            assert (await http.get("/api/runs", headers=headers)).status_code == 403, headers
            posted = await http.post("/api/decide", json={}, headers={"origin": own, **headers})
            assert posted.status_code == 403, headers
        assert (await http.post("/api/decide", json={})).status_code == 403
        assert (await http.post("/api/decide", json={}, headers={"origin": own})).status_code == 400
        for host in ("localhost:8080", "[::1]:5000", "127.0.0.1"):  # also where a tunnel ends
            assert (await http.get("/api/runs", headers={"host": host, "origin": f"http://{host}"})).status_code == 200


async def test_there_are_no_files_behind_any_path(journal: Made, seen: Callable[..., Any]) -> None:
    async with seen(journal[0]).client() as http:
        for path in (
            "/../runs.db",
            "/%2e%2e/runs.db",
            "/api/../runs",
            "//evil.example/",
            "/api/runs/",
            "/static/x",
        ):
            answer = await http.request(
                "GET", httpx2.URL(scheme="http", host="127.0.0.1", port=5000, raw_path=path.encode())
            )
            assert answer.status_code in (307, 404), path
            assert not answer.headers.get("location", "/").startswith("//")
        for method in ("PUT", "DELETE", "OPTIONS", "POST"):
            answer = await http.request(method, "/api/runs", headers={"origin": "http://127.0.0.1:5000"})
            assert answer.status_code == 405


names = st.text(st.characters(codec="latin-1", exclude_characters="\r\n"), max_size=20)
hosts = st.one_of(
    names, st.builds("{}{}".format, st.sampled_from(["127.0.0.1", "LocalHost", "[::1]"]), st.just(":80") | names)
)


@given(host=hosts)
def test_what_names_another_host_reaches_nothing(host: str) -> None:
    reached = list[str]()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        reached.append(host)

    async def ignore(message: Any) -> None:
        pass

    door = Door(app, name="view")
    headers = [(b"host", host.encode("latin-1")), (b"cookie", f"view={door._session}".encode())]
    scope = {"type": "http", "method": "GET", "path": "/api/runs", "query_string": b"", "headers": headers}
    anyio.run(door, scope, None, ignore)
    if reached:
        name = next(name for name in ("127.0.0.1", "localhost", "[::1]") if host.lower().startswith(name))
        rest = host[len(name) :]
        assert not rest or (rest[0] == ":" and rest[1:].isdecimal())
