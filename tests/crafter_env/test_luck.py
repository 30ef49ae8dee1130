"""Luck by keys: what happens in one place moves no random number of another.

`reached` says exactly what an action may reach. It is written from the rules alone, and too wide rather than narrow.
"""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare

from crafter_env import PROFILES, Action, CrafterEnv, Item, Layout, Level, Luck
from crafter_env.constants import CHUNK
from crafter_env.kernels import arrays, luck
from crafter_env.kernels.creatures import EVERY
from crafter_env.kernels.grid import MANY_FREE_SLOTS
from crafter_env.kernels.rules import ANYWHERE
from quorum_base.compilation import numba

AROUND_AGENT = 10
"""Cells of L1 distance within which an agent matters to a creature that is awake: it sees 8, and both take a step."""
AROUND_CELL = 2
"""Cells within which a cell or an object matters to another object: two of them can step into one cell."""
_STEPS = (Action.noop, Action.move_left, Action.move_right, Action.move_up, Action.move_down)
FOLLOWED = 40
"""Steps after the changed one in which all is compared."""


class Moment:
    """One world between two steps: objects by number, agents, and where they are."""

    def __init__(self, env):
        world = env.crafter_state.copy().world
        self.materials, self.agents = world.materials, world.agents
        columns = [*range(arrays.SEQUENCE), arrays.IDENTITY]  # when it came to its chunk decides nothing
        rows = world.objects[: world.counters[arrays.SLOTS]][:, columns]
        self.cells = rows[: len(world.agents), arrays.X : arrays.Y + 1]
        self.objects = {int(row[-1]): row for row in rows[len(world.agents) :] if row[arrays.KIND]}
        self.occupants = np.zeros_like(self.materials, dtype=np.int64)
        for row in rows[rows[:, arrays.KIND] > 0]:
            self.occupants[row[arrays.X], row[arrays.Y]] = row[-1]
        self.visited = world.chunks[:, arrays.VISITED]


def distance(cells, cell):
    """L1 distance of the nearest of some cells, (k, 2)."""
    return np.abs(cells - cell).sum(axis=1).min() if len(cells) else ANYWHERE


def differing_cells(one, other):
    """Cells whose material, occupant, or occupant's row differs, (k, 2)."""
    rows = [
        row
        for key in one.objects.keys() | other.objects.keys()
        if not np.array_equal(one.objects.get(key), other.objects.get(key))
        for row in (one.objects.get(key), other.objects.get(key))
        if row is not None
    ]
    cells = np.argwhere((one.materials != other.materials) | (one.occupants != other.occupants))
    return np.array([*cells.tolist(), *(row[arrays.X : arrays.Y + 1].tolist() for row in rows)]).reshape(-1, 2)


def awake(before, after, radius, cell):
    """Whether an object acts: a living agent that has just moved is near it."""
    return distance(after.cells[before.agents[:, arrays.ALIVE] != 0], cell) < radius


def reached(befores, afters, joints, radius):
    """The numbers of the objects, and the chunks, that a difference can have reached in a step.

    A difference is a cell or an object that differs before the step, or an agent of which anything differs before or
    after it, or whose action does. It reaches an object that it keeps awake or asleep, one that an agent can see or
    hit, one that can meet it, and then what can meet that one. It reaches a chunk in the same ways.
    """
    (one, other), (one_after, other_after) = befores, afters
    cells = differing_cells(one, other)
    agents = joints[0] != joints[1]
    for here, there in (befores, afters):
        agents |= (here.agents != there.agents).any(axis=1) | (here.cells != there.cells).any(axis=1)
    near = np.concatenate([moment.cells[agents] for moment in (*befores, *afters)])
    places = {key: row[arrays.X : arrays.Y + 1] for key, row in (one.objects | other.objects).items()}
    found = {
        key
        for key, cell in places.items()
        if distance(cells, cell) <= AROUND_CELL
        or distance(near, cell) <= AROUND_AGENT
        or awake(one, one_after, radius, cell) != awake(other, other_after, radius, cell)
    }
    edge = found
    while edge:
        sources = np.array([places[key] for key in edge])
        edge = {key for key in places.keys() - found if distance(sources, places[key]) <= AROUND_CELL}
        found |= edge
    sources = np.array([places[key] for key in found]).reshape(-1, 2)
    chunks = set(np.flatnonzero(one.visited != other.visited).tolist())
    high, rows = np.array(one.materials.shape) - 1, arrays.chunk_rows(one.materials.shape[1])
    for chunk in range(len(one.visited)):
        corner = np.array(divmod(chunk, rows)) * CHUNK
        for source, reach in ((cells, AROUND_CELL), (near, AROUND_AGENT), (sources, AROUND_CELL)):
            if distance(source, np.clip(source, corner, np.minimum(corner + CHUNK - 1, high))) <= reach:
                chunks.add(chunk)
    return found, chunks


def members(moment, chunk):
    rows = arrays.chunk_rows(moment.materials.shape[1])
    return {
        key for key, row in moment.objects.items() if row[arrays.X] // CHUNK * rows + row[arrays.Y] // CHUNK == chunk
    }


def placebo(profile, seed):
    """Replace one agent's action at a random step by waiting or another move.

    Returns:
        Of the objects, and of the chunks that were balanced, that a difference had not reached: how many were not the
        same after the step, and how many there were.
    """
    rng = np.random.default_rng(seed)
    n = 3
    envs = [CrafterEnv(n, profile=profile, max_steps=10_000, infos="none") for _ in range(2)]
    for env in envs:
        env.reset(seed=seed)
    at = int(rng.integers(0, 300))
    moved = compared = 0
    befores = [Moment(env) for env in envs]
    for step in range(at + FOLLOWED):
        for env in envs:  # a team that starves would soon compare nothing
            env.crafter_state.inventory[:, :4] = np.where(env.crafter_state.alive[:, None], 9, 0)
        joints = [rng.integers(0, Action.share, size=n)] * 2
        if step == at:
            changed, agent = joints[0].copy(), rng.integers(n)
            changed[agent] = rng.choice([action for action in _STEPS if action != changed[agent]])
            joints = [joints[0], changed]
        if step >= at:
            befores = [Moment(env) for env in envs]
        for env, joint in zip(envs, joints, strict=True):
            if env.agents:
                env.step_array(joint)
        if step < at:
            continue
        afters = [Moment(env) for env in envs]
        radius = ANYWHERE if profile.update_radius is None else profile.update_radius
        found, chunks = reached(befores, afters, joints, radius)
        balanced = (step + 1) % EVERY == 0
        for key in befores[0].objects.keys() - found:
            rows = [after.objects.get(key) for after in afters]
            if balanced and any(row is None for row in rows):
                continue  # whether it leaves depends on who else is in its chunk; chunks are compared below
            compared += 1
            moved += not np.array_equal(*rows)
        for chunk in set(range(len(befores[0].visited))) - chunks if balanced else ():
            compared += 1
            moved += members(afters[0], chunk) != members(afters[1], chunk)
    return moved, compared


@pytest.mark.parametrize("name", ["coop", "coop2"])
def test_an_action_moves_no_luck_that_it_does_not_reach(name):
    placebos = [placebo(PROFILES[name], seed) for seed in range(4)]
    assert sum(moved for moved, _ in placebos) == 0
    assert all(compared > 500 for _, compared in placebos)


@pytest.mark.conformance
@pytest.mark.parametrize("name", ["coop", "coop2"])
def test_of_two_hundred_placebos_none_moves_luck_that_it_does_not_reach(name):
    placebos = [placebo(PROFILES[name], seed) for seed in range(100)]
    assert sum(moved for moved, _ in placebos) == 0
    assert sum(compared for _, compared in placebos) > 50_000


def test_with_one_stream_an_action_moves_luck_everywhere():
    placebos = [placebo(replace(PROFILES["coop"], luck=Luck.stream), seed) for seed in range(8)]
    assert sum(moved for moved, _ in placebos) > 20


def pasture(kill):
    """An agent that kills a penned cow, or hits the wall next to it, far from eight cows and an agent at grass.

    Returns:
        The steps in which the other agent found a sapling, and where the far cows were after each step.
    """
    rows = ["0C#" + "." * 21, "##" + "." * 22, *["." * 24] * 22]
    rows[13:24:3] = ["." * 13 + "C...C......"] * 4
    rows[23] = "." * 23 + "1"
    env = CrafterEnv(layout=Layout.parse("\n".join(rows)), profile="coop", level=Level("test"), max_steps=200)
    env.reset(seed=0)
    found, herd = [], []
    for step in range(60):
        first = (Action.move_right if kill else Action.move_down) if step == 0 else Action.do
        env.step_array([first, Action.move_up if step == 0 else Action.do])
        env.crafter_state.world.counters[arrays.FREE_SLOTS] = MANY_FREE_SLOTS  # else holes are closed later
        found.append(int(env.crafter_state.inventory[1, Item.sapling]))
        herd.append([creature for creature in env.crafter_state.creatures() if min(creature.cell) > 9])
    return env, found, herd


def test_the_death_of_a_cow_moves_no_luck_of_cows_and_agents_far_away():
    """Its slot is freed, so luck by slots would move that of all that came later; luck by one stream, everyone's."""
    (killed, found, herd), (spared, same, other) = pasture(kill=True), pasture(kill=False)
    assert herd == other
    assert herd[0] != herd[-1]
    assert found == same
    assert found[-1] > 0
    penned = [any(cow.cell == (1, 0) for cow in env.crafter_state.creatures()) for env in (killed, spared)]
    assert penned == [False, True]


@numba.njit
def lots(generator, events, whos):
    found = np.zeros((events, whos))
    for event in range(events):
        for who in range(whos):
            found[event, who] = luck._hash(generator, event, who)
    return found


def words(seed):
    """What a generator begins with that was seeded so."""
    return np.random.RandomState(seed).get_state(legacy=False)["state"]["key"][:2].astype(np.uint32)


@pytest.mark.parametrize("seed", [0, 1, 2**31])
def test_lots_are_uniform_over_purposes_steps_and_entities_and_independent_of_their_neighbours(seed):
    drawn = lots(words(seed), 200 * luck.PURPOSES, 100) / 2**53
    assert 0 <= drawn.min() < drawn.max() < 1
    bins = (drawn * 10).astype(int)
    by_purpose = bins.reshape(-1, luck.PURPOSES, 100)
    tables = [by_purpose[:, purpose] for purpose in range(luck.PURPOSES)] + [bins[:, :10], bins[:, 90:], bins[:100]]
    assert min(chisquare(np.bincount(table.ravel(), minlength=10)).pvalue for table in tables) > 1e-4
    pairs = [
        (bins[:-1], bins[1:]),  # purposes in turn
        (bins[: -luck.PURPOSES], bins[luck.PURPOSES :]),  # steps in turn
        (bins[:, :-1], bins[:, 1:]),  # entities in turn
        (bins, (lots(words(seed + 1), 200 * luck.PURPOSES, 100) / 2**53 * 10).astype(int)),
    ]
    for one, other in pairs:
        assert chisquare(np.bincount((one * 10 + other).ravel(), minlength=100)).pvalue > 1e-4


def mixed(word):
    """SplitMix64 in whole numbers of any size."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
    return word ^ (word >> 31)


def test_a_lot_is_two_rounds_of_splitmix64():
    golden, generator = 0x9E3779B97F4A7C15, np.array([2**32 - 7, 11], dtype=np.uint32)
    key = (2**32 - 7 << 32) + 11
    expected = [
        [mixed((mixed((key + (event + 1) * golden) % 2**64) + (who + 1) * golden) % 2**64) >> 11 for who in range(50)]
        for event in range(50)
    ]
    assert lots(generator, 50, 50).tolist() == expected


@pytest.fixture
def meadow():
    """A world of grass in which chunks are balanced, and an agent out of the way."""
    drawing = "\n".join(["0" + "." * 23, *["." * 24] * 23])
    env = CrafterEnv(layout=Layout.parse(drawing), profile="coop", level=Level("test"))
    env.reset(seed=0)
    return env


def test_the_numbers_of_objects_say_where_and_when_they_came(meadow):
    for _ in range(300):
        meadow.crafter_state.inventory[0, :4] = 9
        meadow.step_array([Action.noop])
    creatures = meadow.crafter_state.creatures()
    assert len({creature.id for creature in creatures}) == len(creatures) > 0
    for creature in creatures:
        step = (creature.id - 1) // 24**2
        assert 0 < step <= 300
        assert step % EVERY == 0
