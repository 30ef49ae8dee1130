"""PyPI `crafter` as the reference: no rendering, whose noise draws from the world's generator, and ordered chunks.

Crafter keeps the members of a chunk in a set, which Python iterates by address; here it keeps them in the order in
which they came, as the rules say.
"""

from __future__ import annotations

import collections
import functools

import crafter
import numpy as np
from crafter import constants, engine, env, objects

KINDS = {
    objects.Player: 13, objects.Cow: 14, objects.Zombie: 15, objects.Skeleton: 16, objects.Arrow: 17, objects.Plant: 18,
}  # fmt: skip


class OrderedSet(dict):
    """What Crafter asks of a set, in the order of insertion."""

    def add(self, member):
        self[member] = None

    def remove(self, member):
        del self[member]


class OrderedWorld(engine.World):
    """A world whose chunks remember the order of their members."""

    def reset(self, seed=None):
        super().reset(seed)
        self._chunks = collections.defaultdict(OrderedSet)


class ReferenceEnv(env.Env):
    """Crafter without pictures."""

    def __init__(self, seed, length=10000):
        super().__init__(seed=seed, length=length)
        self._world = OrderedWorld((64, 64), constants.materials, (12, 12))
        self._sem_view = functools.partial(np.zeros, (1, 1))

    def _obs(self):
        return None

    def begin(self, seed):
        """The first episode of a seed; to make an environment takes longer than this, since it reads its pictures."""
        self._seed, self._episode = seed, 0
        self.reset()

    @property
    def world(self):
        return self._world

    @property
    def player(self):
        return self._player

    def table(self):
        """Kind, x, y, health, direction and timer of every object, in order."""
        return [_row(thing) for thing in self._world.objects]

    def body(self):
        """Facing, sleeping, and the counters of the needs, in halves of a step where Crafter counts halves."""
        p = self._player
        return [*p.facing, int(p.sleeping), 2 * p._hunger, 2 * p._thirst, p._fatigue, 2 * p._recover]


def _row(thing):
    dx, dy = thing.facing if isinstance(thing, objects.Arrow) else (0, 0)
    timer = getattr(thing, "cooldown", getattr(thing, "reload", getattr(thing, "grown", 0)))
    health = 0 if isinstance(thing, objects.Player) else thing.health
    return [KINDS[type(thing)], *thing.pos.tolist(), health, int(dx), int(dy), timer]


assert crafter.__file__
