"""Wrappers for learners: other observations, rewards and actions of the same world."""

from cube_env.wrappers.egocentric import Egocentric as Egocentric
from cube_env.wrappers.flat_actions import FlatActions as FlatActions
from cube_env.wrappers.flat_observations import FlatObservations as FlatObservations
from cube_env.wrappers.team_reward import TeamReward as TeamReward
