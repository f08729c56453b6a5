"""The command line: one module per command, `main` assembles them.

Deliberately not here: anything that a program could need too. What a command does is a call into a room below; these
modules read options, show what happened and turn failures into exit codes.
"""
