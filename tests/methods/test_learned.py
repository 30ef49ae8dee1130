"""Directed edges: who may write to whom, and where the edges come from."""

import json

import pytest
from pydantic import ValidationError

from maeil import TopologyContext
from maeil.component import RECORDED
from quorum.configuration.cell import Cell
from quorum.methods.learned import Learned, LearnedConfig
from tests.maeil.corridor import Corridor
from tests.maeil.scripted import Scripted, play
from tests.topologies.test_timelines import go, nothing

EDGES = [(0, 2), (0, 1), (2, 1)]


def config(edges=EDGES):
    return LearnedConfig(name="learned", rounds=1, edges=edges)


def test_an_edge_goes_one_way_and_who_has_none_just_plans():
    minds = [Scripted(nothing(1), go(1, 1)), Scripted(go(1, 1)), Scripted(nothing(1), go(1, 1))]
    play(minds, Corridor(3, length=1), topology=Learned(config(), TopologyContext(3)))
    assert [mind.views[0].turn.recipients for mind in minds] == [(1, 2), (), (1,)]


def test_the_file_of_the_edges_decides_by_what_it_holds_and_not_by_its_name(tmp_path):
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(f"agents: 3\nedges: {[list(edge) for edge in EDGES]}\n")
    words = ["agents=naive", "n=3", "topology=learned"]
    cells = [Cell.compose([*words, f"topology.edges={tmp_path / name}"]) for name in ("a.yaml", "b.yaml")]
    inline = Cell.compose([*words, "topology.edges=[[0,2],[0,1],[2,1]]"])
    assert cells[0].configuration.topology.edges == EDGES
    assert {cell.hash for cell in cells} == {inline.hash}
    assert str(tmp_path) not in json.dumps(cells[0].plain)


def test_the_configuration_of_a_recorded_run_names_no_file(tmp_path):
    (tmp_path / "a.yaml").write_text("edges: [[0, 1]]\n")
    values = json.dumps({"name": "learned", "rounds": 1, "edges": str(tmp_path / "a.yaml")})
    with pytest.raises(ValidationError, match="valid array"):
        LearnedConfig.model_validate_json(values, strict=True, context=RECORDED)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (None, "No such file"),
        ("[1]", "no key `edges`"),
        ("[" + "{}," * 300_000 + "]", "no key `edges`"),
        ("edges:\n" + "- [0, 1]\n" * 200_000, "longer than 1,000,000 characters"),
        ("edges: [", "not a YAML file"),
        ("edges: [[0]]", "edges.0.1"),
    ],
)
def test_a_file_without_edges_is_refused_with_its_name(text, reported, tmp_path):
    file = tmp_path / "edges.yaml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ValidationError) as refused:
        config(str(file))
    assert reported in str(refused.value) or ("edges", 0, 1) in [error["loc"] for error in refused.value.errors()]


def test_an_edge_to_nobody_is_refused():
    with pytest.raises(ValueError, match=r"edges: \(2, 1\) does not join two different agents; the agents are 0 to 1"):
        Learned(config([(0, 1), (2, 1)]), TopologyContext(2))
