"""The actions of the squeeze that the simulated speaker reads in others' plans."""

from __future__ import annotations

from llamac_env import Pick
from maeil.actions import Vocabulary

VOCABULARY = Vocabulary(Pick)
