"""A gateway in this process, with servers in processes of their own behind it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wieldy.apps.cli.tools_file import load_tools
from wieldy.core.principals import Principal
from wieldy.gateway.config import read_config
from wieldy.gateway.gateway import Gateway
from wieldy.run.journal import MemoryJournal

PROGRAM = Path(__file__).parent / "upstream_program.py"
KEYS = {"ANNA": "anna-anna-anna-anna", "BOB": "bob-bob-bob-bob-bob"}
CALLERS = {
    "anna": {"key": {"env": "ANNA"}},
    "bob": {"key": {"env": "BOB"}, "tools": ["one__echo", "fn__*"]},
}


def described(name: str, description: str = "", **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"text": {"type": "string"}, "name": {"type": "string"}}}
    return {"name": name, "description": description or f"The tool {name}.", "inputSchema": schema, **more}


@dataclass
class Upstream:
    """A server.

    Attributes:
        tools: What it says of its tools, read by it for every list.
        heard: What it has heard.
    """

    tools: Path
    heard: Path
    process: subprocess.Popen[str] | None = None
    port: int = 0

    @property
    def command(self) -> dict[str, Any]:
        return {"command": sys.executable, "args": [str(PROGRAM), str(self.tools), str(self.heard), "stdio"]}

    def says(self, *tools: dict[str, Any]) -> None:
        self._say(list(tools))

    def says_also(self, *tools: dict[str, Any], prompts: Any = (), resources: Any = ()) -> None:
        self._say({"tools": tools, "prompts": prompts, "resources": resources})

    def _say(self, what: object) -> None:
        """All of it at once: the server may be reading."""
        new = self.tools.with_suffix(".new")
        new.write_text(json.dumps(what))
        new.replace(self.tools)

    def calls(self) -> list[str]:
        lines = self.heard.read_text().splitlines() if self.heard.exists() else []
        return [heard["tool"] for line in lines if isinstance(heard := json.loads(line), dict) and "tool" in heard]


@dataclass
class World:
    """A folder with a configuration, and what stands behind it.

    Attributes:
        command: How `wieldy` is started.
    """

    folder: Path
    command: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=lambda: dict(KEYS))
    told: list[str] = field(default_factory=list)
    upstreams: list[Upstream] = field(default_factory=list)

    def upstream(self, name: str, *tools: dict[str, Any], http: bool = False) -> Upstream:
        made = Upstream(self.folder / f"{name}.tools.json", self.folder / f"{name}.heard")
        made.says(*tools)
        self.upstreams.append(made)
        if http:
            command = [sys.executable, str(PROGRAM), str(made.tools), str(made.heard), "http"]
            made.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            assert made.process.stdout is not None
            made.port = int(made.process.stdout.readline())
        return made

    def write(self, **config: Any) -> Path:
        file = self.folder / "gateway.json"
        said = {"principals": CALLERS, **config}
        file.write_text(json.dumps({name: value for name, value in said.items() if value is not None}))
        return file

    def gateway(self, **config: Any) -> Gateway:
        return Gateway(
            read_config(self.write(**config), environment=self.environment),
            journal=MemoryJournal(),
            environment=self.environment,
            load_functions=lambda path: load_tools([path]),
            tell=self.told.append,
        )

    @asynccontextmanager
    async def opened(self, *, accept: bool = True, **config: Any) -> AsyncGenerator[Gateway]:
        gateway = self.gateway(**config)
        async with gateway.opened():
            if accept:
                accept_all(gateway)
            yield gateway

    def close(self) -> None:
        for upstream in self.upstreams:
            if upstream.process is not None:
                upstream.process.kill()
                upstream.process.wait()
                assert upstream.process.stdout is not None
                upstream.process.stdout.close()


def accept_all(gateway: Gateway) -> None:
    """A person accepts all that the sources say now."""
    for name in gateway.config.callers:
        gateway.catalogue.pins.accept(each.definition for each in gateway.catalogue.listed(name))


def principal(gateway: Gateway, who: str) -> Principal:
    return gateway.config.callers[who].principal
