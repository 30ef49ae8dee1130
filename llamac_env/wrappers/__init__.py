"""Wrappers for learners: other observations and rewards of the same worlds.

An agent's action is one number already, so that there is nothing to flatten.
"""

from llamac_env.wrappers.egocentric import Egocentric as Egocentric
from llamac_env.wrappers.flat_observations import FlatObservations as FlatObservations
from llamac_env.wrappers.team_reward import TeamReward as TeamReward
