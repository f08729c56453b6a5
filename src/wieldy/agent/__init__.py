"""Agents: a model, tools and rules put together into runs.

Read `agent`; `parts` says what each setting means, `within` is a run that a call of another run starts, `code` is
acting by code, and `extract` is a run for the sake of one value.
"""

from wieldy.agent.agent import Agent, Prompt
from wieldy.agent.code_rules import CodeRules
from wieldy.agent.extract import extract, extract_async
from wieldy.agent.parts import Actions, ForcedCalls, Strategy
from wieldy.run.outputs import OutputSpec

__all__ = [
    "Actions",
    "Agent",
    "CodeRules",
    "ForcedCalls",
    "OutputSpec",
    "Prompt",
    "Strategy",
    "extract",
    "extract_async",
]
