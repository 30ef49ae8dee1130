from __future__ import annotations

import hashlib
import json

import yaml

from experiments.cell import Cell


def test_the_hash_is_of_the_canonical_json() -> None:
    cell = Cell.compose(["n=2"])
    text = json.dumps(cell.plain, sort_keys=True, separators=(",", ":"))
    assert cell.hash == hashlib.sha256(text.encode()).hexdigest()
    assert cell.name == f"cube-n2-heuristic-individual-s0-{cell.hash[:8]}"


def test_equal_configurations_have_equal_names_however_they_are_written() -> None:
    name = Cell.compose(["n=2", "env.step_cost=0"]).name
    assert Cell.compose(["env.step_cost=0.0", "n=2"]).name == name
    assert Cell.compose(["++n=2", "env=cube", "env.step_cost=0e0"]).name == name


def test_every_value_is_part_of_the_name() -> None:
    base = Cell.compose([])
    changes = ("seed=1", "n=2", "max_steps=9", "clock=fixed", "memory.messages=3", "env.step_cost=1")
    assert len({base.name, *(Cell.compose([change]).name for change in changes)}) == 1 + len(changes)


def test_the_yaml_gives_the_configuration_back() -> None:
    cell = Cell.compose(["env.blocks={1: 3, 2: 1}"])
    data = yaml.safe_load(cell.as_yaml())
    assert data.pop("hash") == cell.hash
    assert Cell.of(data).name == cell.name


def test_a_board_stands_in_the_yaml_line_by_line() -> None:
    cell = Cell.compose(["n=1", 'env.layout="...|\n.0A|\n...|\n...|\n"'])
    board = cell.plain["env"]["layout"]
    assert "\n" in board
    assert "  layout: |\n    ...|\n" in cell.as_yaml()
    assert yaml.safe_load(cell.as_yaml())["env"]["layout"] == board
