"""The templates that the processes of these tests share are those that Hydra composes."""

from __future__ import annotations

from pathlib import Path

import pytest

from quorum.configuration import compose as composing
from quorum.configuration.compose import Composer
from quorum.configuration.overrides import parse
from tests.composing import compose
from tests.templates import SharedTemplates

WORDS = ["topology=chain", "agents=naive", "n=3"]


def test_a_template_of_another_process_gives_what_hydra_composes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(composing, "_TEMPLATES", SharedTemplates(tmp_path))
    first = compose(WORDS)
    assert len(list(tmp_path.iterdir())) == 1
    monkeypatch.setattr(composing, "_TEMPLATES", SharedTemplates(tmp_path))
    monkeypatch.delattr(composing, "_composed")  # so that nothing can compose
    assert compose(WORDS) == first
    monkeypatch.undo()
    assert first == Composer().by_hydra(parse(WORDS))


def test_other_options_are_another_template(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "own" / "topology").mkdir(parents=True)
    (tmp_path / "shared").mkdir()
    option = tmp_path / "own" / "topology" / "mine.yaml"
    found = []
    for rounds in (1, 2):
        option.write_text(f"name: debate\nrounds: {rounds}\n")
        monkeypatch.setattr(composing, "_TEMPLATES", SharedTemplates(tmp_path / "shared"))
        found.append(compose(["topology=mine"], tmp_path / "own")["topology"]["rounds"])
    assert found == [1, 2]
