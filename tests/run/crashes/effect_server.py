"""The world outside: a process of its own, on loopback, that does what tools ask for and counts every effect.

It plays the services behind tools. For a keyed request it acts once for each key and gives the same receipt again; each
service can be asked whether something happened; everything else it does as often as it is told to. An operation whose
name begins with `flaky` is refused the first time, without an effect; one that begins with `lost` takes effect and then
gives no answer, the first time; one that begins with `shut` is always refused by services whose name ends with
`elsewhere`; one that begins with `slow` takes effect and is answered late, the first time. Trials do not see one
another: each has a world of its own.

    python effect_server.py        prints its port, and ends with its standard input

Law: what the client of a dead process had sent was dealt with before `quiet` is answered.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

GATE_S = 10.0
"""How long a gate stays shut when nobody opens it."""


SLOW_S = 0.2
"""More than the patience of a tool that has little."""


class World:
    """What happened in one trial.

    Attributes:
        log: Every request in order, with what came of it.
    """

    def __init__(self) -> None:
        self.log: list[dict[str, Any]] = []
        self.delay_s = 0.0
        self.connections = 0
        self.gate = asyncio.Event()
        self._values: dict[str, Any] = {}
        self._keys: set[tuple[str, str]] = set()

    def act(self, request: dict[str, Any]) -> dict[str, Any]:
        """What the request asked for is done, and how is in the log."""
        operation, effect = request["operation"], request["effect"]
        is_first = all(other["operation"] != operation or "took_effect" not in other for other in self.log)
        request["took_effect"], request["is_slow"] = False, is_first and operation.startswith("slow")
        self.log.append(request)
        is_shut = operation.startswith("shut") and request["service"].endswith("elsewhere")
        if is_shut or (operation.startswith("flaky") and is_first):
            return {"refused": "busy, try again"}
        request["took_effect"] = self._take_effect(effect, operation, request)
        if operation.startswith("lost") and is_first:
            return {}
        return {"receipt": f"{effect} {operation}: done"}

    def _take_effect(self, effect: str, operation: str, request: dict[str, Any]) -> bool:
        match effect:
            case "read":
                return False
            case "idempotent":
                self._values[operation] = request["value"]
                return True
            case "keyed":
                known = (request["service"], request["key"])
                is_new = known not in self._keys
                self._keys.add(known)
                return is_new
            case _:
                return True

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Whether the operation has happened; the question is in the log."""
        operation, known = request["operation"], (request["service"], request["key"])
        happened = any((other["service"], other["key"]) == known and other.get("took_effect") for other in self.log)
        self.log.append({**request, "happened": happened})
        return {"receipt": f"{request['effect']} {operation}: done" if happened else None}

    def report(self) -> dict[str, Any]:
        """Everything that can be seen from outside."""
        return {"log": self.log, "values": self._values}


class EffectServer:
    """All worlds."""

    def __init__(self) -> None:
        self._worlds: dict[str, World] = {}
        self._unread = 0
        self._changed = asyncio.Condition()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, which carries one request and its answer."""
        self._unread += 1
        line = await self._first_line(reader)
        self._unread -= 1
        if line is not None:
            request = json.loads(line)
            world = self._worlds.setdefault(request.pop("world"), World())
            is_of_tool = request["do"] in ("act", "ask", "gate")
            world.connections += is_of_tool
            try:
                answer = await self._answer(request, world)
                writer.write(json.dumps(answer).encode() + b"\n")
                await writer.drain()
                if is_of_tool:
                    await reader.read()  # until the other side has read the answer, or is dead
            except ConnectionError:  # it is dead already
                pass
            finally:
                world.connections -= is_of_tool
        writer.close()
        async with self._changed:
            self._changed.notify_all()

    async def _first_line(self, reader: asyncio.StreamReader) -> bytes | None:
        try:
            line = await reader.readline()
        except ConnectionError:
            return None
        return line if line.endswith(b"\n") else None

    async def _answer(self, request: dict[str, Any], world: World) -> dict[str, Any]:
        match request.pop("do"):
            case "act":
                answer = world.act(request)
                await asyncio.sleep(SLOW_S if request["is_slow"] else world.delay_s)
                return answer
            case "ask":
                return world.ask(request)
            case "gate":
                try:
                    await asyncio.wait_for(world.gate.wait(), GATE_S)
                except TimeoutError:
                    return {"opened": False}
                return {"opened": True}
            case "open":
                world.gate.set()
                return {}
            case "delay":
                world.delay_s = request["seconds"]
                return {}
            case "quiet":
                async with self._changed:
                    await self._changed.wait_for(lambda: not (world.connections or self._unread))
                return {}
            case "forget":
                self._worlds = {name: other for name, other in self._worlds.items() if other is not world}
                return {}
            case _:
                return world.report()


async def main() -> None:
    """Serves until standard input ends."""
    effects = EffectServer()
    server = await asyncio.start_server(effects.serve, "127.0.0.1", 0, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201
    await asyncio.to_thread(sys.stdin.read)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
