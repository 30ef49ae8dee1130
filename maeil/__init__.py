"""The multi-agent environment interaction loop (MAEIL, from EmCoop): two clocks, plans, messages, and a trace.

The environment's clock `t` counts primitive steps. The cognitive clock `t_hat` runs while the environment stands
still, and orders everything that agents think and say.
"""

from maeil.actions import ActionStatus, SymbolicAction, Vocabulary
from maeil.clock import ClockUnit
from maeil.component import Component, ComponentConfig, TeamContext, TopologyContext
from maeil.mind import Act, Call, Mind, Observation, Resume, Thought, Turn, View
from maeil.plans import Plan, PlanStatus, Task
from maeil.scheduler import run_episode
from maeil.seeds import Seeds
from maeil.settings import LoopSettings
from maeil.stages import Stage
from maeil.tasks import Attempt, CapabilityChange, TaskState
from maeil.topology import ConversationState, Topology
from maeil.world import ActionEnd, Controller, Progress, Transition, World

__all__ = [
    "Act",
    "ActionEnd",
    "ActionStatus",
    "Attempt",
    "Call",
    "CapabilityChange",
    "ClockUnit",
    "Component",
    "ComponentConfig",
    "Controller",
    "ConversationState",
    "LoopSettings",
    "Mind",
    "Observation",
    "Plan",
    "PlanStatus",
    "Progress",
    "Resume",
    "Seeds",
    "Stage",
    "SymbolicAction",
    "Task",
    "TaskState",
    "TeamContext",
    "Thought",
    "Topology",
    "TopologyContext",
    "Transition",
    "Turn",
    "View",
    "Vocabulary",
    "World",
    "run_episode",
]
