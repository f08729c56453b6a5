"""A list of notes as a page with a script: what is on it comes by requests of its own, and a note is removed on asking.

Its tasks need a real browser, which must be installed (Chromium or Chrome):

    wieldy eval examples/evals/notes.py --model local --yes
    wieldy eval examples/evals/notes.py --model script:oracle --yes
"""

from __future__ import annotations

import json
from typing import Any

from wieldy.evals import Condition, ExpectedCall, Request, Response, Site, Task

Notes = dict[str, str]

PAGE = """<!doctype html><title>Notes</title><h1>My notes</h1><ul></ul>
<label for="text">New note</label><input id="text"><button id="add">Add</button>
<script>
const list = document.querySelector('ul'), text = document.getElementById('text');
const send = (path, body) => fetch(path, {method: 'POST', body: JSON.stringify(body)});
async function show() {
  const notes = await (await fetch('/notes')).json();
  list.replaceChildren(...Object.entries(notes).map(([key, words]) => {
    const item = document.createElement('li'), button = document.createElement('button');
    item.textContent = words + ' ';
    button.textContent = 'Remove';
    button.setAttribute('aria-label', `Remove ${words}`);
    button.onclick = async () => {
      if (confirm(`Remove "${words}"?`)) { await send('/remove', {key}); await show(); }
    };
    item.append(button);
    return item;
  }));
}
document.getElementById('add').onclick = async () => {
  await send('/add', {text: text.value});
  text.value = '';
  await show();
};
show();
</script>"""


def start() -> Notes:
    """The notes that are there at the beginning."""
    return {"1": "Water the plants", "2": "Call Ada"}


def answer(notes: Notes, request: Request) -> Response:
    """The page, and what its script asks for."""
    if request.path == "/":
        return Response(html=PAGE)
    if request.path == "/notes":
        return Response(html=json.dumps(notes), content_type="application/json")
    if request.path == "/add" and request.method == "POST":
        notes[str(1 + max(map(int, notes), default=0))] = str(json.loads(request.body)["text"])
        return Response(status=201)
    if request.path == "/remove" and request.method == "POST":
        notes.pop(str(json.loads(request.body)["key"]), None)
        return Response(status=200)
    return Response(html="<h1>There is no such page</h1>", status=404)


def look(notes: Notes) -> dict[str, Any]:
    """The notes, as conditions of tasks see them."""
    return dict(notes)


NOTES = Site(name="notes 1", start=start, answer=answer, look=look, browser="chromium")


def do(tool: str, **arguments: Any) -> ExpectedCall:
    """A call of a script."""
    return ExpectedCall(name=tool, arguments=arguments)


OPEN = do("goto", path="/")

TASKS = [
    Task(
        id="add",
        kind="scripts",
        prompt="Add the note 'Buy bread' to my notes. Begin at the page /.",
        environment=NOTES,
        milestones=(Condition(name="the note is there", state={"/3": "Buy bread", "/1": "Water the plants"}),),
        scripts={
            "oracle": (OPEN, do("type", control=3, text="Buy bread"), do("click", control=4)),
            "careless": (OPEN, do("type", control=3, text="Buy bread")),
        },
    ),
    Task(
        id="remove",
        kind="scripts",
        prompt="I have called Ada: remove that note, and no other. Begin at the page /.",
        environment=NOTES,
        milestones=(
            Condition(name="only that note is gone", test=lambda seen: seen.state == {"1": "Water the plants"}),
        ),
        scripts={
            "oracle": (OPEN, do("click", control=2), do("click", control=1)),
            "careless": (OPEN, do("click", control=2), do("click", control=2)),
        },
    ),
]
