"""Tools, prompts and resources as the official MCP conformance suite wants to find them, over HTTP; writes the URL.

    python conformance/mcp/server.py

An ordinary program: it uses what every program can. `run_server.py` runs the suite against it, and against a gateway in
front of it.
"""

import base64
import json
import sys
from typing import Any

import anyio

from wieldy import Context, FilePart, ImagePart, ToolError, tool
from wieldy.connect import client, mcp_server, prompt, resource
from wieldy.connect.serving.blocks import ResourceContent
from wieldy.connect.serving.listening import listening
from wieldy.core.calls import ToolDefinition
from wieldy.tools.from_schema import tool_from_schema

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SOUND = b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00@\x1f\x00\x00\x80>\x00\x00\x02\x00\x10\x00data"
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@tool(effect="read")
def test_simple_text() -> str:
    """Return a text."""
    return "This is a simple text response for testing."


@tool(effect="read")
def test_image_content() -> ImagePart:
    """Return an image."""
    return ImagePart.from_bytes(PICTURE)


@tool(effect="read")
def test_audio_content() -> FilePart:
    """Return a sound."""
    return FilePart.from_bytes(SOUND, name="sound.wav")


@tool(effect="read")
def test_embedded_resource() -> FilePart:
    """Return a file."""
    return FilePart.from_bytes(b"This is an embedded resource content.", name="note.txt")


@tool(effect="read")
def test_multiple_content_types() -> list[str | ImagePart | FilePart]:
    """Return a text, an image and a file."""
    return [
        "Multiple content types test:",
        ImagePart.from_bytes(PICTURE),
        FilePart.from_bytes(b'{"test":"data","value":123}', name="data.json"),
    ]


@tool(effect="read")
def test_error_handling() -> str:
    """Fail."""
    raise ToolError("This tool intentionally returns an error for testing")


@tool(effect="read")
def test_tool_with_progress(ctx: Context) -> str:
    """Say how far it is."""
    for fraction in (0.0, 0.5, 1.0):
        ctx.progress(f"{fraction:.0%}", fraction=fraction)
    return "done"


# What a tool tells its client, and asks it


@tool(effect="read")
async def test_tool_with_logging() -> str:
    """Say what happens while it happens."""
    for said in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        client().log("info", said)
        await anyio.sleep(0.05)
    return "done"


@tool(effect="read")
def test_logging_tool() -> str:
    """Say something, to those who want to hear it."""
    client().log("info", "heard only by those who have asked for it")
    return "done"


@tool(effect="read")
async def test_sampling(prompt: str) -> str:
    """Ask the client's model."""
    return f"LLM response: {await client().sample(prompt, max_tokens=100)}"


@tool(effect="read")
async def test_missing_capability() -> str:
    """Ask for what the client may not have."""
    return await client().sample("Are you there?", max_tokens=10)


def form(*required: str, **properties: Any) -> dict[str, Any]:
    """The schema of what a person fills in."""
    return {"type": "object", "properties": properties, "required": list(required)}


def answered(answer: dict[str, Any] | None) -> str:
    """What a person has done, and filled in."""
    action = "decline" if answer is None else "accept"
    return f"action={action}, content={json.dumps(answer or {})}"


@tool(effect="read")
async def test_elicitation(message: str) -> str:
    """Ask a person who they are."""
    asked = form(
        "username",
        "email",
        username={"type": "string", "description": "User's response"},
        email={"type": "string", "description": "User's email address"},
    )
    return f"User response: {answered(await client().ask(message, asked))}"


@tool(effect="read")
async def test_streaming_elicitation(ctx: Context) -> str:
    """Say how far it is, and ask a person to go on."""
    ctx.progress("asking", fraction=0.5)
    return answered(await client().ask("Go on?", form("ok", ok={"type": "boolean"})))


@tool(effect="read")
async def test_elicitation_sep1034_defaults() -> str:
    """Ask with defaults of all kinds."""
    asked = form(
        name={"type": "string", "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    )
    return f"Elicitation completed: {answered(await client().ask('Who are you?', asked))}"


def choices(word: str) -> list[Any]:
    """Three choices with titles."""
    return [{"const": f"value{n}", "title": f"{nth} {word}"} for n, nth in enumerate(("First", "Second", "Third"), 1)]


@tool(effect="read")
async def test_elicitation_sep1330_enums() -> str:
    """Ask with choices of all kinds."""
    options = ["option1", "option2", "option3"]
    titles = ["Option One", "Option Two", "Option Three"]
    asked = form(
        untitledSingle={"type": "string", "enum": options},
        titledSingle={"type": "string", "oneOf": choices("Option")},
        legacyEnum={"type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": titles},
        untitledMulti={"type": "array", "items": {"type": "string", "enum": options}},
        titledMulti={"type": "array", "items": {"anyOf": choices("Choice")}},
    )
    return f"Elicitation completed: {answered(await client().ask('Which?', asked))}"


NAME = form("name", name={"type": "string"})
OK = form("ok", ok={"type": "boolean"})


def elicitation(message: str, asked: dict[str, Any]) -> dict[str, Any]:
    """The request for what a person fills in, among others."""
    return {"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": asked}}


def sampling(words: str) -> dict[str, Any]:
    """The request for what the client's model says, among others."""
    message = {"role": "user", "content": {"type": "text", "text": words}}
    return {"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 50}}


ROOTS: dict[str, Any] = {"method": "roots/list", "params": {}}


async def asking(**requests: dict[str, Any]) -> str:
    """What the client answers to these."""
    return json.dumps(await client().inputs(requests))


@tool(effect="read")
async def test_input_required_result_elicitation() -> str:
    """Ask a person for a name."""
    return await asking(user_name=elicitation("What is your name?", NAME))


@tool(effect="read")
async def test_input_required_result_sampling() -> str:
    """Ask the client's model."""
    return await asking(capital_question=sampling("What is the capital of France?"))


@tool(effect="read")
async def test_input_required_result_list_roots() -> str:
    """Ask for the client's roots."""
    return await asking(client_roots=ROOTS)


@tool(effect="read")
async def test_input_required_result_request_state() -> str:
    """Ask, and go on where it was."""
    return f"state-ok: {await asking(confirm=elicitation('Please confirm', OK))}"


@tool(effect="read")
async def test_input_required_result_tampered_state() -> str:
    """Ask, and go on only for who was asked."""
    return await asking(confirm=elicitation("Please confirm", OK))


@tool(effect="read")
async def test_input_required_result_multiple_inputs() -> str:
    """Ask for three things at once."""
    return await asking(
        user_name=elicitation("What is your name?", NAME),
        greeting=sampling("Generate a greeting"),
        client_roots=ROOTS,
    )


@tool(effect="read")
async def test_input_required_result_multi_round() -> str:
    """Ask twice."""
    color = form("color", color={"type": "string"})
    first = await asking(step1=elicitation("Step 1: What is your name?", NAME))
    return first + await asking(step2=elicitation("Step 2: What is your favorite color?", color))


@tool(effect="read")
async def test_input_required_result_capabilities() -> str:
    """Ask for what the client can do, and for nothing else."""
    wanted = {"elicitation": elicitation("What is your name?", NAME), "sampling": sampling("Say hello"), "roots": ROOTS}
    return await asking(**{what: request for what, request in wanted.items() if client().can(what)})


@tool(effect="read")
async def test_trigger_tool_change() -> str:
    """Tell those who listen that there are other tools."""
    await SERVER.tell_change("tools")
    return "told"


@tool(effect="read")
async def test_trigger_prompt_change() -> str:
    """Tell those who listen that there are other prompts."""
    await SERVER.tell_change("prompts")
    return "told"


# Prompts and resources


@prompt
def test_simple_prompt() -> str:
    """Say something."""
    return "This is a simple prompt for testing."


@prompt(complete={"arg1": lambda written: [word for word in ("paris", "park", "party") if word.startswith(written)]})
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """Say something with arguments.

    Args:
        arg1: First test argument.
        arg2: Second test argument.
    """
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@prompt(name="test_prompt_with_embedded_resource")
def embedded(resourceUri: str) -> list[str | ResourceContent]:  # noqa: N803 - the suite's name
    """Show a resource.

    Args:
        resourceUri: URI of the resource to embed.
    """
    content = ResourceContent(uri=resourceUri, content="Embedded resource content for testing.")
    return [content, "Please process the embedded resource above."]


@prompt
def test_prompt_with_image() -> list[str | ImagePart]:
    """Show an image."""
    return [ImagePart.from_bytes(PICTURE), "Please analyze the image above."]


@prompt
async def test_input_required_result_prompt() -> str:
    """Ask a person before it says something."""
    asked = form("context", context={"type": "string"})
    answer = await client().inputs({"user_context": elicitation("What context should the prompt use?", asked)})
    return f"Use this: {json.dumps(answer)}"


@resource("test://static-text", media_type="text/plain")
def static_text() -> str:
    """A text."""
    return "This is the content of the static text resource."


@resource("test://static-binary", media_type="image/png")
def static_binary() -> bytes:
    """A picture."""
    return PICTURE


@resource("test://template/{id}/data", media_type="application/json")
def template(id: str) -> dict[str, Any]:  # noqa: A002 - the suite's name
    """Data with a number."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


@resource("test://watched-resource", media_type="text/plain")
def watched_resource() -> str:
    """What may change."""
    return "Watched resource content."


def described(name: str, schema: dict[str, Any]) -> Any:
    """A tool with this schema that repeats its arguments."""

    async def repeat(arguments: Any, context: object) -> Any:
        del context
        return arguments

    definition = ToolDefinition(name=name, description="Say it again.", input_schema=schema)
    return tool_from_schema(definition, repeat, origin=name, effect="read")


TOOLS = [
    test_simple_text,
    test_image_content,
    test_audio_content,
    test_embedded_resource,
    test_multiple_content_types,
    test_error_handling,
    test_tool_with_progress,
    test_tool_with_logging,
    test_logging_tool,
    test_sampling,
    test_missing_capability,
    test_elicitation,
    test_streaming_elicitation,
    test_elicitation_sep1034_defaults,
    test_elicitation_sep1330_enums,
    test_input_required_result_elicitation,
    test_input_required_result_sampling,
    test_input_required_result_list_roots,
    test_input_required_result_request_state,
    test_input_required_result_tampered_state,
    test_input_required_result_multiple_inputs,
    test_input_required_result_multi_round,
    test_input_required_result_capabilities,
    test_trigger_tool_change,
    test_trigger_prompt_change,
    described("json_schema_2020_12_tool", SCHEMA),
    described(
        "test_x_mcp_header",
        {
            "type": "object",
            "properties": {
                "region": {"type": "string", "x-mcp-header": "Region"},
                "priority": {"type": "integer", "x-mcp-header": "Priority"},
                "verbose": {"type": "boolean", "x-mcp-header": "Verbose"},
                "query": {"type": "string"},
            },
        },
    ),
]


PROMPTS = [
    test_simple_prompt,
    test_prompt_with_arguments,
    embedded,
    test_prompt_with_image,
    test_input_required_result_prompt,
]
RESOURCES = [static_text, static_binary, template, watched_resource]
SERVER = mcp_server(TOOLS, prompts=PROMPTS, resources=RESOURCES, name="conformance", version="1")


def main() -> None:
    """Serve until asked to end."""
    import uvicorn

    with listening() as place:
        print(f"http://127.0.0.1:{place.getsockname()[1]}/mcp", flush=True)
        uvicorn.Server(uvicorn.Config(SERVER.asgi(), log_level="error", access_log=False)).run(sockets=[place])


if __name__ == "__main__":
    sys.exit(main())
