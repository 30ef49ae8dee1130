"""LaTeX of a comparison: a paper that includes it compiles, and nothing of it is wider than its column."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from quorum.comparison import Question, compare
from quorum.comparison.files import write_files
from quorum.comparison.formats import Table, escaped, figures_as_latex, tables_as_latex
from quorum.comparison.notes import notes
from quorum.comparison.tables import tables
from quorum.runs import read_results
from tests.folders import hostile_sweep

needs_latex = pytest.mark.skipif(
    shutil.which("pdflatex") is None,
    reason="no pdflatex: apt install texlive-latex-recommended texlive-fonts-recommended",
)
WIDE = Table("wide", ("level", *"abcdefgh"), (("one", *["0.123 [0.100, 0.145]"] * 8),), name="wide")
NARROW = Table("narrow", ("level", "steps"), (("one", "3"),), name="narrow")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_sweep(tmp_path_factory.mktemp("latex") / "sweep")


@pytest.fixture(scope="module")
def written(sweep: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Path]:
    """Give the files of a comparison for a document of this many columns, written once."""

    @cache
    def files(columns: int) -> Path:
        folder = tmp_path_factory.mktemp("files") / "n"
        comparison = compare([read_results(sweep)], Question(baseline="plain"))
        write_files(comparison, tables(comparison), notes(comparison), folder, force=False, columns=columns)
        return folder

    return files


def _compiled(folder: Path, columns: int) -> str:
    """Compile a paper that includes all there is, and return TeX's log."""
    option = "twocolumn" if columns == 2 else "onecolumn"
    lines = [
        rf"\documentclass[{option}]{{article}}",
        r"\usepackage[T1]{fontenc}\usepackage[utf8]{inputenc}\usepackage{times}",
        r"\usepackage{booktabs}\usepackage{graphicx}",
        r"\begin{document}",
        r"Before.\input{figure}\input{tables}\clearpage\input{figures}",
        r"\end{document}",
    ]
    (folder / "paper.tex").write_text("\n".join(lines), encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "paper.tex"]
    for _ in range(2):
        done = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    log = (folder / "paper.log").read_text(encoding="utf-8", errors="replace")
    assert done.returncode == 0, log[-3000:]
    return log


@needs_latex
@pytest.mark.claims
@pytest.mark.parametrize("columns", [1, 2])
def test_a_paper_that_includes_tables_and_figures_has_no_overfull_box(
    written: Callable[[int], Path], columns: int
) -> None:
    log = _compiled(written(columns), columns)
    assert "Overfull" not in log
    assert "Missing character" not in log
    assert "multiply defined" not in log
    assert "undefined" not in log.lower()


@needs_latex
def test_the_check_for_overfull_boxes_sees_a_table_that_is_too_wide(tmp_path: Path) -> None:
    unfitted = tables_as_latex([WIDE], [], 1).replace(r"\resizebox{\linewidth}{!}{\usebox0}", r"\usebox0")
    (tmp_path / "tables.tex").write_text(unfitted, encoding="utf-8")
    for name in ("figure.tex", "figures.tex"):
        (tmp_path / name).write_text("", encoding="utf-8")
    assert "Overfull" in _compiled(tmp_path, 1)


@pytest.mark.conformance
def test_the_fonts_of_a_figure_are_embedded_and_none_is_of_type_3(written: Callable[[int], Path]) -> None:
    files = [file for file in written(1).rglob("*.pdf") if file.name != "paper.pdf"]
    assert files
    for file in files:
        content = file.read_bytes()
        assert b"/FontFile2" in content, file.name
        assert b"/Type3" not in content, file.name
        assert b"CreationDate" not in content, file.name


def test_a_figure_is_as_wide_as_a_column_or_the_page(written: Callable[[int], Path]) -> None:
    for file in (file for file in written(1).rglob("*.pdf") if file.name != "paper.pdf"):
        box = re.search(rb"/MediaBox \[ ?0 0 ([\d.]+) ", file.read_bytes())
        assert box is not None
        assert round(float(box[1]) / 72, 2) in (3.3, 7.0)


def test_only_what_is_wider_than_a_column_goes_over_both() -> None:
    text = tables_as_latex([NARROW, WIDE], [], 2)
    assert text.count(r"\begin{table}") == text.count(r"\begin{table*}") == 1
    assert text.index(r"\label{tab:narrow}") < text.index(r"\begin{table*}") < text.index(r"\label{tab:wide}")
    assert r"\begin{table*}" not in tables_as_latex([NARROW, WIDE], [], 1)
    figures = figures_as_latex({"a.b.pdf": ("one", False), "c.pdf": ("two", True)}, [], 2)
    assert figures.count(r"\begin{figure}") == figures.count(r"\begin{figure*}") == 1
    assert r"\includegraphics{{a.b}.pdf}" in figures


def test_every_float_has_its_own_label_and_a_caption_in_words(written: Callable[[int], Path]) -> None:
    folder = written(2)
    text = "".join((folder / f"{name}.tex").read_text() for name in ("tables", "figure", "figures"))
    labels = re.findall(r"\\label\{(.*?)\}", text)
    captions = re.findall(r"\\caption\{(.*)\}", text)
    assert len(labels) == len(set(labels)) == len(captions) > 8
    assert "tab:outcome-steps" in labels
    assert {"fig:figure", "fig:outcome-steps"} <= set(labels)
    for caption in captions:
        title = caption.partition(".")[0]
        assert title[0].isupper(), caption
        assert "outcome" not in title, caption
        assert not set("↑↓") & set(title), caption


def test_the_head_of_a_metric_is_its_title_with_its_unit() -> None:
    text = tables_as_latex([Table("t", ("arm", "outcome.seconds ↓"), (("a", "-1"), ("b", "-")))], [], 1)
    assert r"(s) $\downarrow$ \\" in text
    assert "{}a & $-$1" in text
    assert "{}b & --" in text


def test_untrusted_text_is_printed_and_never_a_command() -> None:
    assert escaped("\\input{z} 50 % _a_ #1 & ~^") == (
        r"\textbackslash{}input\{z\} 50 \% \_a\_ \#1 \& \textasciitilde{}\textasciicircum{}"
    )
