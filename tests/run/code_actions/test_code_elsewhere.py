"""Where no kernel isolates code, everything else works, and code is refused in words."""

import subprocess
import sys


def test_agents_do_not_need_the_sandbox_and_code_says_why_it_cannot_run() -> None:
    code = (
        "import os, sys\n"
        "sys.modules['resource'] = None\n"  # as on a system that lacks it
        "os.environ['PATH'] = ''\n"  # and where no container engine is installed
        "import wieldy\n"
        "from wieldy.apps.cli.checks.code import check_sandbox\n"
        "from wieldy.testing import ScriptedModel, text\n"
        "print(wieldy.Agent(ScriptedModel([[text('works')]])).run_sync('Go').text)\n"
        "print([name for name in sys.modules if name.startswith('wieldy.sandbox')])\n"
        "print(check_sandbox().state)\n"
        "try:\n    wieldy.Agent(ScriptedModel([]), actions='code').run_sync('Go')\n"
        "except wieldy.UsageError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False)
    works, modules, state, refused = done.stdout.splitlines()
    assert (works, modules, state) == ("works", "[]", "note"), done.stderr
    assert refused.startswith("code cannot be isolated on this machine")
    assert "this Python lacks what it needs" in refused
