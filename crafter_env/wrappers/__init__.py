"""Wrappers for learners: other observations, actions and rewards of the same world."""

from crafter_env.wrappers.egocentric import Egocentric as Egocentric
from crafter_env.wrappers.flat_actions import FlatActions as FlatActions
from crafter_env.wrappers.flat_observations import FlatObservations as FlatObservations
from crafter_env.wrappers.team_reward import TeamReward as TeamReward
