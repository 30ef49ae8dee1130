from .observation import Cell as Cell
from .observation import ForagingObservation as ForagingObservation
from .observation import distance as distance
from .observation import food_cell as food_cell
from .observation import food_name as food_name
from .symbolic.control import GoTo as GoTo
from .symbolic.control import Load as Load
from .symbolic.control import Wait as Wait
