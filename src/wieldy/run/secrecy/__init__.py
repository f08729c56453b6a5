"""Keeps the secrets of a run out of its record, and so out of everything that is made from the record.

Law: of what programs, people, models and tools say, no entry, no request to a model and no event holds a secret. What
the runtime says itself (ids, digests, numbers, the names of tools on offer) is left as it is, because a short secret
may stand in it by chance. Deliberately not here: finding secrets in a text (`results.masks`), and results, which are
masked before they are judged and cut (`results.shaper`).
"""

from wieldy.run.secrecy.deltas import MaskedDeltas
from wieldy.run.secrecy.entries import Secrecy, secrecy_of
from wieldy.run.secrecy.errors import conceal, concealing
from wieldy.run.secrecy.names import together

__all__ = ["MaskedDeltas", "Secrecy", "conceal", "concealing", "secrecy_of", "together"]
