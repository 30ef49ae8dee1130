from __future__ import annotations

from pathlib import Path

from experiments import baseline


def test_the_main_job_prints_its_table_and_keeps_its_results(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(baseline, "SIZES", (1, 8))
    monkeypatch.setattr(baseline, "SEEDS", range(2))
    assert baseline.main(["--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert any("6/6" in line and "165" in line for line in text.splitlines())
    (folder,) = tmp_path.iterdir()
    assert str(folder) in text
    assert len(list(folder.iterdir())) == 4


def test_a_place_that_cannot_be_written_is_one_message(tmp_path: Path, capsys) -> None:
    (tmp_path / "file").write_text("")
    assert baseline.main(["--out", str(tmp_path / "file")]) == 2
    assert "results cannot be written there" in capsys.readouterr().err
