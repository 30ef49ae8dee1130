"""The actions of CUBE that the simulated speaker reads in others' plans."""

from __future__ import annotations

from cube_env import Idle, Move, MoveToBlock, PushBlock, Rendezvous, WaitAgents, YieldBlock
from maeil.actions import Vocabulary

VOCABULARY = Vocabulary(Move, MoveToBlock, Rendezvous, PushBlock, YieldBlock, Idle, WaitAgents)
