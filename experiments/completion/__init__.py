"""What a shell offers while a command is typed: the words that may come next, and the scripts that ask for them."""

from quorum.experiments.completion.scripts import SHELLS, script
from quorum.experiments.completion.words import Candidate, Verb, candidates

__all__ = ["SHELLS", "Candidate", "Verb", "candidates", "script"]
