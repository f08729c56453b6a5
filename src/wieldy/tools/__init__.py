"""Tools from typed functions, sets of them, and a lint for both.

The action wing's first room: it knows schemas and code, and nothing of models, tokens or runs. Above it lies `run`,
which decides when and whether a tool's code is called; below it `schema`. The order in which to read: `declare` makes
a `tool` from a function's `signature`; `toolset` puts tools together; `lint` says what a model would stumble over.
"""

from wieldy.tools.declare import tool
from wieldy.tools.present import Presented, Sourced
from wieldy.tools.tool import Tool, ValidArguments
from wieldy.tools.toolset import Toolset, tools_from

__all__ = ["Presented", "Sourced", "Tool", "Toolset", "ValidArguments", "tool", "tools_from"]
