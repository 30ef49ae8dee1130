"""The kitchen as shapes of `quorum_base.drawing`: cells by letter, objects, pots, and held items."""

from __future__ import annotations

from overcooked_env.observation import COUNTER, DISHES, POT, SERVING, KitchenObservation, kind_of, pot_name
from quorum_base.drawing import PAPER, Drawing, Mark, MarkKind, Rotation, Shape, Texture

_CELLS = {
    COUNTER: MarkKind("counter", "#c9b79c", "#5a4d3c"),
    "O": MarkKind("onions", "#e9c46a", "#8a6d1a", sign="O"),
    "T": MarkKind("tomatoes", "#e76f51", "#8f3520", sign="T"),
    DISHES: MarkKind("dishes", "#bcd4e6", "#3d5a73", sign="D"),
    POT: MarkKind("pot", "#6c757d", "#495057", texture=Texture.WAVES),
    SERVING: MarkKind("serving", "#8fbf8f", "#2f5f3a", texture=Texture.STRIPES, sign="S"),
}
_ITEMS = {
    "onion": MarkKind("onion", "#b8860b", "#ffd166", Shape.DISC),
    "tomato": MarkKind("tomato", "#c8102e", "#ff6b6b", Shape.DISC, Texture.DOTS),
    "dish": MarkKind("dish", "#0b4f6c", "#a9d6ff", Shape.RING),
    "soup": MarkKind("soup", "#7b2d00", "#ffb38a", Shape.DIAMOND),
}
_AGENT = MarkKind("agent, points where it looks", "#0072b2", "#56b4e9", Shape.WEDGE)
KINDS = (*_CELLS.values(), _AGENT, *_ITEMS.values())
_TURNS = {"north": Rotation.UP, "south": Rotation.DOWN, "east": Rotation.RIGHT, "west": Rotation.LEFT}
_GROUND = {letter: index for index, letter in enumerate(_CELLS)}


def _item(what: str, x: float, y: float, size: float, title: str, *, label: str = "") -> Mark:
    return Mark(KINDS.index(_ITEMS[kind_of(what)]), x, y, size, size, label, title)


def draw(seen: KitchenObservation) -> Drawing:
    """Draw a kitchen; a pot shows its ingredients and remaining cooking steps (0: ready)."""
    marks: dict[str, Mark] = {}
    for (row, col), (ingredients, left) in seen.contents.items():
        for slot, what in enumerate(filter(None, ingredients.split("+"))):
            name = pot_name((row, col))
            marks[f"{name} {slot}"] = _item(what, col + 0.05 + 0.3 * slot, row + 0.05, 0.3, f"{what} in {name}")
        if left is not None:
            title = f"soup, {left} steps to go" if left else "soup, ready"
            marks[f"{pot_name((row, col))} soup"] = _item("soup", col + 0.19, row + 0.36, 0.62, title, label=str(left))
    for (row, col), what in seen.lying.items():
        marks[f"counter {row} {col}"] = _item(what, col + 0.3, row + 0.3, 0.4, what)
    for agent, row, col, facing, item in seen.agents:
        turn, title = _TURNS[facing], f"agent_{agent} with {item or 'nothing'}"
        marks[f"agent_{agent}"] = Mark(
            KINDS.index(_AGENT), col + 0.1, row + 0.1, 0.8, 0.8, str(agent), title, agent, turn
        )
        if item:
            marks[f"agent_{agent} holds"] = _item(item, col + 0.66, row + 0.66, 0.32, title)
    ground = bytes(_GROUND.get(letter, PAPER) for line in seen.grid for letter in line)
    held = tuple(item or "nothing" for item in seen.held.values())
    of = f" of {seen.goal}" if seen.goal else ""
    return Drawing(ground, marks, f"{seen.delivered}{of} soups are served", held)


def ansi(seen: KitchenObservation) -> str:
    """Draw a kitchen as text: letters for cells, agents as `a`, `b`; held items and pot contents below."""
    lines = [list(line) for line in seen.grid]
    for agent, (row, col) in seen.cells.items():
        lines[row][col] = chr(ord("a") + agent)
    for (row, col), item in seen.lying.items():
        lines[row][col] = item[0]
    return "\n".join([*(" ".join(line) for line in lines), seen.text()])
