"""Agents: a model, tools and rules put together into runs. Read `agent`; `parts` says what each setting means."""

from wieldy.agent.agent import Agent, Prompt
from wieldy.agent.parts import Actions, Strategy

__all__ = ["Actions", "Agent", "Prompt", "Strategy"]
