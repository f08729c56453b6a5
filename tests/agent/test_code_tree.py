"""Code that looks around among many tools, and calls what it finds."""

from __future__ import annotations

from typing import Any

import pytest

from wieldy import Agent, CodeRules, MemoryJournal, RunResult, Tool, ToolSearch, fold, tool
from wieldy.sandbox import probe
from wieldy.testing import ScriptedModel, call, text

SEARCH = ToolSearch(above_tokens=300)


@pytest.fixture(scope="module", autouse=True)
def sandboxed() -> None:
    tiers = probe()
    if not any(tier.works for tier in tiers):
        pytest.skip("; ".join(f"{tier.name}: {tier.reason}" for tier in tiers))


def many() -> list[Tool]:
    """Tools of two servers, and some without one."""

    def made(server: str, verb: str, noun: str) -> Tool:
        def code(number: int, note: str | None = None, limit: int = 3) -> dict[str, Any]:
            return {"did": f"{verb} {noun} {number}", "note": note, "limit": limit}

        name = f"{server}__{verb}-{noun}" if server else f"{verb}_{noun}"
        return tool(name=name, description=f"To {verb} the {noun} of a customer.", effect="read")(code)

    nouns = ("invoice", "contract", "shipment")
    return [
        made(server, verb, noun) for server in ("shop", "mail", "") for verb in ("read", "export") for noun in nouns
    ]


def acted(code: str, **rules: Any) -> tuple[RunResult, ScriptedModel]:
    model = ScriptedModel([[call("python", {"code": code})], [text("done")]])
    agent = Agent(model, tools=many(), actions="code", search=SEARCH, code=CodeRules(**rules))
    return agent.run_sync("?"), model


def told(result: RunResult) -> str:
    return next(message.result.content for message in result.messages if message.result)


def test_the_model_is_shown_the_servers_and_no_functions() -> None:
    _, model = acted("1")
    (python,) = model.requests[0].tools
    assert "shop/: 6 tools\nmail/: 6 tools\nown/: 6 tools" in python.description
    assert "read_invoice" not in python.description


def test_a_few_tools_are_functions_as_ever() -> None:
    model = ScriptedModel([[call("python", {"code": "await read_invoice(1)"})], [text("done")]])
    tools = [each for each in many() if each.name == "read_invoice"]
    result = Agent(model, tools=tools, actions="code", search=ToolSearch()).run_sync("?")
    assert "read invoice 1" in told(result)
    assert "servers" not in model.requests[0].tools[0].description


def test_code_lists_searches_and_reads_types() -> None:
    result, _ = acted(
        "print(await servers.list('shop'))\n"
        "print(await servers.search('export a contract'))\n"
        "print(await servers.show('mail.read_invoice'))"
    )
    said = told(result)
    assert "read_invoice: To read the invoice of a customer." in said
    assert "export_contract: To export the contract of a customer." in said
    assert "async def read_invoice(number: int" in said


def test_code_calls_what_it_found() -> None:
    result, _ = acted(
        "import asyncio\n"
        "calls = shop.read_invoice(number=1, note=None), mail.export_contract(number=2, note='x')\n"
        "a, b = await asyncio.gather(*calls)\n"
        "[a.did, b['note'], own.read_shipment.sync(number=3, limit=None).limit]"
    )
    assert '["read invoice 1","x",3]' in told(result)


def test_every_look_and_every_call_is_recorded_under_the_tools_names() -> None:
    journal = MemoryJournal()
    code = "await servers.search('read an invoice')\nawait shop.read_invoice(number=1)"
    model = ScriptedModel([[call("python", {"code": code})], [text("done")]])
    Agent(model, tools=many(), actions="code", search=SEARCH, journal=journal).run_sync("?")
    names = [each.tool_name for run_id in journal.run_ids() for each in fold(journal.read(run_id)).calls]
    assert sorted(names) == ["python", "servers_search", "shop__read-invoice"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("await shop.read_invoices(number=1)", "there is no shop.read_invoices"),
        ("await shop.read_invoice(1)", "named arguments"),
        ("await shop.read_invoice(number='x')", "number"),
        ("await shopp.read_invoice(number=1)", "shopp"),
        ("await servers.show('shop.read_invoyce')", "shop.read_invoice"),
        ("await servers.list('shopp')", "shop, mail, own"),
    ],
)
def test_what_is_not_there_is_told(code: str, said: str) -> None:
    result, _ = acted(code)
    assert said in told(result)


def test_names_are_kept_and_handles_are_revealed_beside_a_tree() -> None:
    @tool(effect="read", trust="untrusted", name="web__page")
    def page() -> dict[str, str]:
        """What a page says."""
        return {"title": "Hello"}

    turns = [
        [call("python", {"code": "found = await web.page()"})],
        [call("python", {"code": "await reveal(found.title)"})],
        [text("done")],
    ]
    model = ScriptedModel(turns)
    rules = CodeRules(taint="handles")
    result = Agent(model, tools=[*many(), page], actions="code", search=SEARCH, code=rules).run_sync("?")
    assert "Hello" in [message.result.content for message in result.messages if message.result][1]


@pytest.mark.parametrize("taint", ["handles", "tracked"])
def test_code_looks_around_at_every_level(taint: Any) -> None:
    code = "found = await servers.list('shop')\nmade = await shop.read_invoice(number=1)\n[len(found) > 20, made.did]"
    result, _ = acted(code, taint=taint)
    assert told(result).splitlines()[0] == 'value: [true,"read invoice 1"]'
