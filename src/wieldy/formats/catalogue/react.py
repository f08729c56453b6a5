"""ReAct: thoughts, actions and answers as labelled lines, for any model by prompt."""

from wieldy.formats.format import ChatFormat
from wieldy.formats.turns import ready as ready_turns
from wieldy.formats.wires.labelled import LabelledWire
from wieldy.formats.wires.labelled_reader import Label

REACT = ChatFormat(
    name="react",
    models="Any model, by prompt",
    wire=LabelledWire(
        labels=(
            Label(text="Thought:", means="reasoning", also=("**Thought:**", "**Thought**:")),
            Label(text="Action Input:", means="arguments", also=("**Action Input:**", "**Action Input**:")),
            Label(text="Action:", means="name", also=("**Action:**", "**Action**:")),
            Label(text="Observation:", means="result", also=("**Observation:**", "**Observation**:")),
            Label(text="Final Answer:", means="content", also=("**Final Answer:**", "**Final Answer**:")),
        )
    ),
    turns=ready_turns.REACT,
    notes=(
        "A label at the beginning of a line ends the text before it; space at the edges of texts is not kept.",
        "Text beside a call is written before the first label. The prompt asks for one action at a time; several are "
        "read.",
        "Input that is no JSON is the tool's only text argument, in quotes, or bare where a label follows: at the end "
        "of a reply it may have been cut.",
        "No ids: results are matched by order.",
    ),
    repair=3,
)
