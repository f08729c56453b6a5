"""Code instead of arithmetic in a model's head: the mean of four numbers.

    python examples/code/mean.py

The model is a script that says what a good model would say, so that the example needs none.
"""

from wieldy import Agent
from wieldy.testing import ScriptedModel, call, text

MODEL = ScriptedModel(
    lambda messages: (
        [call("python", {"code": "from statistics import mean\nmean([3.5, 8, 2.25, 6.25])"})]
        if messages[-1].role == "user"
        else [text(f"The mean is {messages[-1].text.removeprefix('value: ')}.")]
    )
)


def main() -> None:
    print(Agent(MODEL, actions="code").run_sync("What is the mean of 3.5, 8, 2.25 and 6.25?").text)


if __name__ == "__main__":
    main()
