"""From the open network no redirect leads into a private one, however its address is written."""

from __future__ import annotations

import ipaddress
from typing import Any

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rest_documents import document, operation, send
from rest_recorder import Recorder, as_json

from wieldy.connect.rest.client import NO_SECRETS, Hop, written
from wieldy.connect.rest.reach import is_open, look_up, looks_private, open_address
from wieldy.connect.rest.requests import Request
from wieldy.core.errors import ToolError

pytestmark = pytest.mark.anyio

OPEN = "93.184.216.34"
"""Some address of the open network; nothing is ever sent there."""
HERE = [
    *(
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.0.0.1",
        "0177.0.0.1",
        "127.0.0.1.",
        "127.1.",
        "localhost",
        "localhost.",
    ),
    *(
        "LOCALHOST",
        "a.localhost.",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
    ),
    *("0.0.0.0", "[::]", "10.0.0.1", "169.254.169.254", "169.254.169.254.", "metadata.google.internal."),
    *("printer.lan", "x.home.arpa", "printer", "\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021"),
]


@pytest.fixture
def proxied(recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> Recorder:
    """A proxy, so that a service in the open network can answer where there is no network."""
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, recorder.url)
    for name in ("no_proxy", "NO_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    return recorder


@pytest.mark.parametrize("host", HERE)
async def test_no_redirect_leads_from_the_open_network_to_this_machine(proxied: Recorder, host: str) -> None:
    location = f"http://{host}/secret".encode().decode("latin-1")
    proxied.answers = [as_json({}, 302, Location=location), as_json({"stolen": True})]
    with pytest.raises(ToolError, match="It redirects, which was not followed"):
        await send(document(f"http://{OPEN}", operation()), {})
    assert [each.path for each in proxied.requests] == [f"http://{OPEN}/things"]


async def test_nor_does_one_of_several_after_another(proxied: Recorder) -> None:
    proxied.answers = [
        as_json({}, 302, Location="http://93.184.216.35/a"),
        as_json({}, 302, Location="/b"),
        as_json({}, 302, Location="http://127.1/c"),
        as_json({"stolen": True}),
    ]
    with pytest.raises(ToolError, match="It redirects, which was not followed"):
        await send(document(f"http://{OPEN}", operation()), {})
    assert [each.path.rpartition("/")[2] for each in proxied.requests] == ["things", "a", "b"]


async def test_one_to_another_server_in_the_open_network_is_followed(proxied: Recorder) -> None:
    proxied.answers = [as_json({}, 302, Location="http://93.184.216.35/a"), as_json({"at": "other"})]
    assert await send(document(f"http://{OPEN}", operation()), {}) == {"at": "other"}


@pytest.mark.parametrize(
    ("addresses", "found"),
    [
        ([OPEN], OPEN),
        ([OPEN, "93.184.216.35"], OPEN),
        (["2606:2800:220:1::1", OPEN], "2606:2800:220:1::1"),
        (["127.0.0.1"], None),
        ([OPEN, "127.0.0.1"], None),
        (["fe80::1%eth0"], None),
        ([], None),
    ],
)
async def test_a_name_leads_to_the_open_network_if_all_its_addresses_do(
    addresses: list[str], found: str | None
) -> None:
    asked = list[tuple[str, int]]()

    async def look(host: str, port: int) -> list[tuple[Any, ...]]:
        asked.append((host, port))
        return [(0, 0, 0, "", (address, port)) for address in addresses]

    assert await open_address("https://name.example/a?b", look) == found
    assert asked == [("name.example", 443)]


async def test_the_system_says_what_it_takes_a_name_for() -> None:
    assert await open_address("http://127.1:1/") is None
    assert {each[4][0] for each in await look_up("0x7f.0.0.1", 1)} == {"127.0.0.1"}


@given(address=st.ip_addresses(v=4))
def test_an_address_within_another_one_counts_as_itself(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    outer = [
        ipaddress.IPv6Address((0xFFFF << 32) | number),
        ipaddress.IPv6Address((0x2002 << 112) | (number << 80)),
        ipaddress.IPv6Address((0x0064FF9B << 96) | number),
    ]
    assert {is_open(str(each)) for each in outer} == {address.is_global}
    assert looks_private(f"http://{address}/") is not is_open(str(address))


async def test_a_request_goes_to_the_address_that_was_looked_up_and_names_the_server(recorder: Recorder) -> None:
    port = httpx2.URL(recorder.url).port
    request = Request(method="GET", url=f"http://name.example:{port}/a?b=1", headers=())
    sent = written(Hop(request=request, has_secrets=False, address="127.0.0.1"), NO_SECRETS, timeout_s=5)
    async with httpx2.AsyncClient(trust_env=False) as client:
        await client.send(sent)
    assert (recorder.last.target, recorder.last.header("host")) == ("/a?b=1", f"name.example:{port}")
    assert sent.extensions["sni_hostname"] == "name.example"
