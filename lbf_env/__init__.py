"""Level-based foraging (`foraging`): the environment of the package `lbforaging`, joined to the loop.

The rules, the draw of a field, the rewards and what agents see are the package's own `ForagingEnv`, which is imported
when a world is built (extra `lbf`).
"""

from lbf_env.observation import Cell as Cell
from lbf_env.observation import ForagingObservation as ForagingObservation
from lbf_env.observation import beside as beside
from lbf_env.observation import distance as distance
from lbf_env.observation import food_cell as food_cell
from lbf_env.observation import food_name as food_name
from lbf_env.symbolic.control import GoTo as GoTo
from lbf_env.symbolic.control import Load as Load
from lbf_env.symbolic.control import Wait as Wait
