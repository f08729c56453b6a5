"""A table in pandas: which region sold most. Needs `pandas` in the environment that runs it.

python examples/code/largest.py
"""

from wieldy import Agent, CodeRules, tool
from wieldy.testing import ScriptedModel, call, text

CODE = """
import pandas
table = pandas.DataFrame(await sales())
sums = table.groupby("region")["sum"].sum()
[sums.idxmax(), int(sums.max())]
"""
MODEL = ScriptedModel(
    lambda messages: [call("python", {"code": CODE})] if messages[-1].role == "user" else [text(messages[-1].text)]
)


@tool(effect="read")
def sales() -> list[dict[str, str | int]]:
    """All sales: region and sum."""
    return [{"region": "NESW"[number % 4], "sum": number} for number in range(1000)]


def main() -> None:
    agent = Agent(MODEL, [sales], actions="code", code=CodeRules(packages=("pandas",)))
    print(agent.run_sync("Which region sold most?").text)


if __name__ == "__main__":
    main()
