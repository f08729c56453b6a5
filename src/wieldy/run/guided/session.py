"""A run as the guided strategy shows it to the model: a Python session in which tools are called, one call a line.

Pure. A small model that was trained on code keeps to this form better than to a tool-calling template, and decides
better: see docs/decisions/0006-guided-strategy.md for what was measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from wieldy.core.calls import AnyCall, ToolCall, ToolDefinition, ToolResult
from wieldy.core.json import JsonObject, canonical_json
from wieldy.core.messages import Message
from wieldy.core.ports import ModelRequest
from wieldy.run.guided.quoting import quoted, unbroken
from wieldy.run.guided.stubs import stub
from wieldy.run.outputs import is_correction

PROMPT: Final = ">>>"
CALL_END: Final = ")\n"
"""What follows the arguments; part of their grammar, because the model's tokens reach over the end of the value."""

_MOST_RESULT_CHARACTERS: Final = 2000

_RULES: Final = """\
You answer requests in a Python session by calling tools, one call per line; each result appears below its call. \
Look up what is not known before calculating with it; never invent facts or numbers. \
Give every argument that the request says something about. \
As soon as the results contain everything that the request needs, call answer()."""

_EXAMPLES: Final = """\
def find_building(name: str): ...
def find_person(name: str): ...
def find_product(name: str, colour: str, in_stock: bool, most: int): ...
def arithmetic(expression: str): ...

# Request: How tall is the Nile tower?
>>> find_building({"name": "Nile tower"})
{"name": "Nile tower", "height_m": 187, "city": "Khartoum"}
>>> answer()

# Request: What do six blue chairs cost?
>>> find_product({"name": "chair", "colour": "blue"})
{"name": "blue chair", "price_euros": 43, "stock": 12}
>>> arithmetic({"expression": "43 * 6"})
258
>>> answer()

# Request: How much is 15% of 60?
>>> arithmetic({"expression": "60 * 15 / 100"})
9
>>> answer()

# Request: Show me two red lamps that you have in stock.
>>> find_product({"name": "lamp", "colour": "red", "in_stock": true, "most": 2})
[{"name": "Glow", "price_euros": 29, "stock": 4}, {"name": "Ray", "price_euros": 35, "stock": 1}]
>>> answer()

# Request: Which is older, the Red Bridge or the Old Mill?
>>> find_building({"name": "Red Bridge"})
{"name": "Red Bridge", "built": 1874}
>>> find_building({"name": "Old Mill"})
{"name": "Old Mill", "built": 1791}
>>> answer()

# Request: How high is the building where Anna works?
>>> find_person({"name": "Anna"})
{"name": "Anna", "works_in": "Harbour House"}
>>> find_building({"name": "Harbour House"})
{"name": "Harbour House", "height_m": 61}
>>> answer()

# Request: How many chairs and tables do we have in all?
>>> find_product({"name": "chair"})
{"name": "chair", "price_euros": 43, "stock": 12}
>>> find_product({"name": "table"})
{"name": "table", "price_euros": 120, "stock": 9}
>>> arithmetic({"expression": "12 + 9"})
21
>>> answer()

# Request: What is the height of the Old Mill in feet?
>>> find_building({"name": "Old Mill"})
{"name": "Old Mill", "height_m": 14}
>>> arithmetic({"expression": "14 * 3.2808"})
45.9312
>>> answer()

# Request: Thanks, that is all!
>>> answer()
"""

_ANSWER_RULE: Final = "Answer the user's request in one short sentence, from the tool results only."
_OUTPUT_RULE: Final = "Answer from the tool results only."
_CHAT_RULE: Final = "Answer the user briefly. If you lack the facts for an answer, say so; never invent them."


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A call of the current request, and its result."""

    call: AnyCall
    result: ToolResult

    @property
    def line(self) -> str:
        """The call as it stands in the session."""
        arguments = _json(self.call.arguments) if isinstance(self.call, ToolCall) else self.call.text
        return unbroken(f"{self.call.name}({arguments})")

    @property
    def output(self) -> str:
        """What the session prints below it."""
        content = self.result.content
        if len(content) > _MOST_RESULT_CHARACTERS:
            content = (
                f"{content[:_MOST_RESULT_CHARACTERS]} [... {len(content) - _MOST_RESULT_CHARACTERS} more characters]"
            )
        content = quoted(content)
        return f"Error: {content}" if self.result.is_error else content


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What is known when the model is asked for its next step.

    Attributes:
        instructions: The system message.
        earlier: The conversation before the current request, without its calls.
        request: What the user wants now.
        steps: What was done about it so far.
        wants_output: Whether the answer must be something; the model is told what where it is held to it.
        attempts: Answers that were not that, each with what the model was told of it.
    """

    instructions: str
    earlier: tuple[Message, ...]
    request: str
    tools: tuple[ToolDefinition, ...]
    steps: tuple[Step, ...]
    wants_output: bool = False
    attempts: tuple[Message, ...] = ()

    @classmethod
    def of(cls, request: ModelRequest) -> Session:
        """The session that a request to a model amounts to."""
        messages = request.messages
        asked = (index for index, each in enumerate(messages) if each.role == "user" and not is_correction(each))
        last = max(asked, default=-1)
        talk = [message for message in messages[: max(last, 0)] if message.role in ("user", "assistant")]
        return cls(
            instructions="\n".join(message.text for message in messages if message.role == "system"),
            earlier=tuple(_words_only(message) for message in talk if message.text),
            request=messages[last].text if last >= 0 else "",
            tools=tuple(request.tools),
            steps=tuple(_steps(messages[last + 1 :])),
            attempts=tuple(_attempts(messages[last + 1 :])),
            wants_output=request.output is not None,
        )

    @property
    def answer(self) -> str:
        """The pseudo-call that ends the calling, as it goes on from the prompt; no tool has its name."""
        name = "answer"
        while any(tool.name == name for tool in self.tools):
            name += "_"
        return f" {name}()"

    @property
    def rules(self) -> Message:
        """The system message of the session; the same for every request with these tools, so that it is read once."""
        answer = self.answer.strip()
        stubs = [*map(stub, self.tools), f'def {answer}:\n    """Everything needed is known, or no tool can help."""']
        examples = _EXAMPLES.replace("answer()", answer)
        parts = [
            _RULES.replace("answer()", answer),
            *([self.instructions] if self.instructions else []),
            f"Sessions with other tools, as examples:\n\n```\n{examples}```",
            "The tools of this session:\n\n```\n" + "\n\n".join(stubs) + "\n```",
        ]
        return Message.system("\n\n".join(parts))

    @property
    def transcript(self) -> str:
        """The session so far, up to where the next call begins."""
        lines = [f"{PROMPT} {step.line}\n{step.output}\n" for step in self.steps]
        return f"```\n# Request: {_one_line(self.request)}\n{''.join(lines)}{PROMPT}"

    def refused(self, name: str, arguments: str, error: str) -> str:
        """How the transcript goes on with a call that was refused before it was made, up to where the next begins."""
        return f"{opening(name)}{arguments}{CALL_END}Error: {quoted(error)}\n{PROMPT}"

    @property
    def question(self) -> list[Message]:
        """What the model reads before it writes its answer."""
        rules = [*([self.instructions] if self.instructions else []), *self._answer_rules]
        system = [Message.system("\n\n".join(rules))] if rules else []
        results = "\n".join(f"{step.line} -> {step.output}" for step in self.steps)
        asked = f"{self.request}\n\nTool results:\n{results}" if results else self.request
        return [*system, *self.earlier, Message.user(asked), *self.attempts]

    @property
    def _answer_rules(self) -> tuple[str, ...]:
        if self.wants_output:
            return (_OUTPUT_RULE,) if self.steps else ()
        return (_ANSWER_RULE if self.steps else _CHAT_RULE,)

    @property
    def conversation(self) -> str:
        """All text from which arguments can be taken."""
        spoken = [self.instructions, *(message.text for message in self.earlier), self.request]
        return "\n".join([*spoken, *(f"{step.line}\n{step.output}" for step in self.steps)])

    def has_made(self, name: str, arguments: JsonObject) -> bool:
        """Whether exactly this call was made for this request."""
        wanted = (name, canonical_json(arguments))
        return any(
            isinstance(step.call, ToolCall) and (step.call.name, canonical_json(step.call.arguments)) == wanted
            for step in self.steps
        )


def opening(name: str) -> str:
    """How a call of the tool goes on from the prompt, up to its arguments."""
    return f" {name}("


def _steps(messages: Sequence[Message]) -> list[Step]:
    results = {message.result.tool_call_id: message.result for message in messages if message.result}
    calls = [call for message in messages for call in message.calls]
    return [Step(call=call, result=results[call.id]) for call in calls if call.id in results]


def _attempts(messages: Sequence[Message]) -> Iterator[Message]:
    for answer, told in pairwise(messages):
        if is_correction(told) and answer.text:
            yield from (_words_only(answer), told)


def _words_only(message: Message) -> Message:
    return Message(role=message.role, parts=Message.user(message.text).parts)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _json(value: JsonObject) -> str:
    return json.dumps(value, ensure_ascii=False)
