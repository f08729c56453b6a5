"""Connections to what lies outside: models behind servers, and the embedded one.

Wire spellings are translated here, in both directions, so that the rooms below speak one vocabulary.
Importing this package imports no client library. Below: `core` and `testing`; above: `agent` and `apps`.
"""
