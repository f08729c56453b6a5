"""Workspaces: files that a model works on in a sandbox, and a command that checks what it made of them.

Read in this order: `starts` (the files), `commands` (running a command in the sandbox), `checking` (what a check
found), `workspace` (the environment of a task).
"""

from wieldy.evals.tasks.workspaces.starts import files_in_bundle, files_in_folder
from wieldy.evals.tasks.workspaces.workspace import Workspace

__all__ = ["Workspace", "files_in_bundle", "files_in_folder"]
