"""The files of a comparison, and the page of a sweep: whole, the same each time, and safe with untrusted text."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from matplotlib.text import Text
from PIL import Image
from rich.console import Console

from quorum.comparison import Question, compare
from quorum.comparison.figures import FIGURES as DRAWN
from quorum.comparison.figures import style
from quorum.comparison.files import write_files
from quorum.comparison.formats import Table, as_markdown, print_tables, tables_as_latex
from quorum.comparison.notes import notes
from quorum.comparison.report import write_report
from quorum.comparison.tables import tables
from quorum.runs import read_results
from quorum.storage.outputs import Output
from quorum_base.user_errors import UserError
from tests.conftest import Quorum
from tests.folders import HOSTILE, hostile_sweep, real_sweep

FIGURES = {
    "figure",
    "figures/outcome.success",
    "figures/outcome.completion",
    "figures/outcome.steps",
    "figures/overview",
    "figures/radar",
    "figures/failures",
    "figures/pareto",
}
"""What is drawn of the hostile sweep against its plain arm."""
ON_THE_PAGE = {
    "outcome.completion",
    "outcome.steps",
    "communication.messages",
    "overview",
    "radar",
    "failures",
    "pareto",
}
"""What differs among its runs, each once."""


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return hostile_sweep(tmp_path_factory.mktemp("files") / "sweep")


@pytest.fixture(scope="module")
def written(sweep: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out")
    comparison = compare([read_results(sweep)], Question(baseline="plain"))
    write_files(comparison, tables(comparison), notes(comparison), out, force=False)
    return out


def test_every_file_is_written(written: Path) -> None:
    names = {f"{figure}.{form}" for figure in FIGURES for form in ("png", "svg", "pdf")}
    names |= {"estimates.csv", "differences.csv", "runs.csv", "tables.md", "tables.tex", "figure.tex", "figures.tex"}
    assert {path.relative_to(written).as_posix() for path in written.rglob("*") if path.is_file()} == names


def test_the_main_figure_has_its_caption(written: Path) -> None:
    text = (written / "figure.tex").read_text()
    assert r"\includegraphics{{figure}.pdf}" in text
    assert (
        r"\caption{Steps by arm across n: mean difference from plain, over 3 boards with 1 draw each (12 runs)." in text
    )
    assert "Holm's correction" in text
    assert r"\includegraphics{{figures/overview}.pdf}" in (written / "figures.tex").read_text()


def test_nothing_is_left_where_a_link_stands_in_the_place_of_the_folder_of_figures(sweep: Path, tmp_path: Path) -> None:
    comparison = compare([read_results(sweep)], Question())
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "figures").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="figures"):
        write_files(comparison, tables(comparison), notes(comparison), tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["figures"]
    assert not list((tmp_path / "elsewhere").iterdir())


def test_equal_results_give_equal_files(sweep: Path, written: Path, tmp_path: Path) -> None:
    comparison = compare([read_results(sweep)], Question(baseline="plain"))
    for file in write_files(comparison, tables(comparison), notes(comparison), tmp_path, force=False):
        assert file.read_bytes() == (written / file.relative_to(tmp_path)).read_bytes(), file.name


def test_the_radar_names_its_axes_and_those_that_it_leaves_out(sweep: Path) -> None:
    with style.styled():
        (drawing,) = DRAWN["radar"](compare([read_results(sweep)], Question()))
        shown = " ".join(" ".join(text.get_text() for text in drawing.figure.findobj(Text)).split())
    assert "share of attempts" in shown
    assert {"SP", "TM", "PC"} <= set(shown.split())
    left_out = "DP (undefined in a group), PT (undefined in a group), CG (undefined in a group), PS (0.9 in all groups)"
    assert f"Not drawn: {left_out}." in shown


def test_pictures_are_whole_and_as_wide_as_paper(written: Path) -> None:
    for name in FIGURES:
        with Image.open(written / f"{name}.png") as image:
            image.load()
            assert image.width in (660, 1400)
        ElementTree.parse(written / f"{name}.svg")


def test_every_picture_says_that_the_model_was_simulated(sweep: Path) -> None:
    page = sweep / "said.html"
    write_report(read_results(sweep), compare([read_results(sweep)], Question()), Output(page, "--out"))
    drawings = re.findall(r"<svg.*?</svg>", page.read_text(), re.DOTALL)
    drawings = [drawing for drawing in drawings if "<text" in drawing]
    assert len(drawings) == len(ON_THE_PAGE)
    assert all("Simulated language model." in re.sub(r"\s+", " ", drawing) for drawing in drawings)


@pytest.mark.usefixtures("page")
def test_the_page_shows_each_figure_once_and_has_one_legend(sweep: Path) -> None:
    text = (sweep / "report.html").read_text()
    labelled = re.findall(r'(?<!role="group" )aria-label="(.*?)"', text)
    assert len(labelled) == len(set(labelled)), "a figure, a table or a legend stands twice"
    shown = re.findall(r'role="img" aria-label="(.*?)"', text)
    assert len(shown) == len(ON_THE_PAGE) + 1  # and the differences of steps
    assert "<h2>Findings" in text
    assert text.index("<h2>Findings") < text.index("<h2>Figures") < text.index("<h2>Tables")
    assert text.count('class="legend"') == 1
    assert not any(shown.startswith("outcome.success") for shown in shown), "success is 1 in all runs"
    assert "Success is 1 in all 12 runs" in text


def test_a_page_with_episodes_links_to_the_page_of_each_run(quorum: Quorum, tmp_path: Path) -> None:
    real_sweep(tmp_path / "s", [("env=squeeze", "n=2", "max_steps=4", f"seed={seed}") for seed in range(2)])
    done = quorum(
        "report", str(tmp_path / "s"), "--episodes", "--metric", "steps", "--out", str(tmp_path / "page.html")
    )
    assert done.returncode == 0, done.stderr
    found = Page()
    found.feed((tmp_path / "page.html").read_text())
    links = [unquote(a["href"] or "") for tag, a in found.tags if tag == "a"]
    pages = [link for link in links if link.endswith(".html")]
    assert len(pages) == 2
    assert all("</html>" in (tmp_path / link).read_text() for link in pages)
    assert len(links) == 4
    assert all((tmp_path / link).is_file() for link in links)
    command = next(text for text in found.text if "quorum report" in text)
    assert "--episodes" in command
    assert f"--out {tmp_path / 'page.html'}" in command
    assert len(read_results(tmp_path / "s").rows) == 2


def test_the_estimates_are_in_full(written: Path) -> None:
    rows = list(csv.DictReader(io.StringIO((written / "estimates.csv").read_text())))
    row = next(r for r in rows if (r["metric"], r["arm"], r["n"]) == ("outcome.steps", "plain", "8"))
    assert (row["runs"], float(row["mean"]), float(row["median"]), row["better"]) == ("3", 86.0, 86.0, "lower")
    assert float(row["mean_low"]) < 86 < float(row["mean_high"])
    assert row["simulated"] == "true"


def test_latex_is_balanced_and_escaped(sweep: Path) -> None:
    comparison = compare([read_results(sweep)], Question(baseline="plain"))
    text = tables_as_latex(tables(comparison), notes(comparison), 1)
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    assert body.count(r"\begin{table}") == body.count(r"\end{table}") == body.count(r"\bottomrule") > 3
    assert "\\input{" not in body
    assert r"\textbackslash{}input\{z\} \% \_" in body
    for tabular in re.findall(r"\\begin\{tabular\}\{@\{\}(\w+)@\{\}\}(.*?)\\end\{tabular\}", body, re.DOTALL):
        for line in re.findall(r"^  (\{\}.*) \\\\$", tabular[1], re.MULTILINE):
            assert len(re.findall(r"(?<!\\)&", line)) == len(tabular[0]) - 1


def test_markdown_has_one_line_a_row(sweep: Path) -> None:
    table = Table("a\nb", ("x", "y|z"), (("1\n2", "<b>"),))
    text = as_markdown([table], ["note *1*"])
    assert text == "- note \\*1\\*\n\n### a b\n\n| x | y\\|z |\n| --- | ---: |\n| 1 2 | \\<b\\> |\n"


class Page(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def page(sweep: Path) -> Page:
    target = sweep / "report.html"
    write_report(
        read_results(sweep),
        compare([read_results(sweep)], Question(baseline="plain")),
        Output(target, "--out", force=True),
    )
    found = Page()
    found.feed(target.read_text())
    return found


def test_the_page_needs_nothing_from_elsewhere(page: Page) -> None:
    policy = next(a["content"] for tag, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "script" not in policy
    assert not [tag for tag, _ in page.tags if tag in ("script", "link", "img", "iframe", "object", "base", "form")]
    for _, attributes in page.tags:
        assert "src" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        address = attributes.get("href", attributes.get("xlink:href", "")) or ""
        assert not address.startswith(("http:", "https:", "javascript:", "data:", "//")), address


def test_untrusted_text_stays_text(page: Page) -> None:
    whole = " ".join(page.text)
    assert f"quorum sweep {HOSTILE}" in whole
    assert whole.count("<script>alert(1)</script>") > 10


def test_the_links_lead_to_the_traces(page: Page, sweep: Path) -> None:
    links = [a["href"] for tag, a in page.tags if tag == "a"]
    assert len(links) == 12
    assert all((sweep / unquote(link or "")).is_file() for link in links)


def test_ids_are_the_pages_own_and_unique(page: Page) -> None:
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids)) > 100


def test_the_page_is_the_same_each_time(sweep: Path, page: Page) -> None:
    before = (sweep / "report.html").read_bytes()
    write_report(
        read_results(sweep),
        compare([read_results(sweep)], Question(baseline="plain")),
        Output(sweep / "report.html", "--out", force=True),
    )
    assert (sweep / "report.html").read_bytes() == before


def test_the_commands_compare_and_report(sweep: Path, quorum: Quorum, tmp_path: Path) -> None:
    done = quorum("compare", str(sweep), "--metric", "steps", "--baseline", "plain", "--out", "compared", "--json")
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["by"] == ["arm"]
    assert len(printed["differences"]) == 2
    assert (tmp_path / "compared" / "figures" / "outcome.steps.svg").exists()
    assert (tmp_path / "compared" / "figure.pdf").exists()
    done = quorum("report", str(sweep), "--out", "page.html")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["compare", "nowhere"], "error: nowhere: there is no such folder"),
        (["compare", "SWEEP", "--by", "armm"], "Did you mean 'arm'?"),
        (["compare", "SWEEP", "--out", "/proc/figures"], "error: --out /proc/figures: nothing can be written to /proc"),
        (["report", "SWEEP", "--out", "missing/page.html"], "there is no folder missing"),
        (["results", "SWEEP", "--csv", "--json"], "give one of them"),
    ],
)
def test_a_mistake_is_one_message(sweep: Path, quorum: Quorum, arguments: list[str], message: str) -> None:
    done = quorum(*(str(sweep) if part == "SWEEP" else part for part in arguments))
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("width", [20, 60, 79, 80, 81, 82, 100])
def test_no_cell_is_cut_however_wide_the_terminal_is(width: int) -> None:
    row = ("debate", "8", "+1.25 [-3.50, 5.50]", "0.562", "0.562", "0.56 [0.32, 0.80]")
    table = Table("t", ("topology", "boards", "difference", "p", "p (Holm)", "P(better)"), (row,))
    console = Console(width=width, file=io.StringIO())
    print_tables([table], [], console)
    lines = console.file.getvalue().splitlines()
    (line,) = (line for line in lines if "debate" in line)
    assert [cell.strip() for cell in line.strip("│ ").split("│")] == list(row)
    assert line.rstrip().endswith("│")


def test_a_report_tells_which_traces_are_not_whole(tmp_path: Path) -> None:
    real_sweep(tmp_path / "s", [("env=squeeze", "n=2", "max_steps=4", f"seed={seed}") for seed in range(2)])
    damaged = min(path for path in (tmp_path / "s").iterdir() if path.is_dir())
    lines = (damaged / "trace.jsonl").read_bytes().splitlines(keepends=True)
    (damaged / "trace.jsonl").write_bytes(b"".join(lines[: len(lines) // 2]))
    results = read_results(tmp_path / "s")
    page = tmp_path / "s" / "report.html"
    write_report(results, compare([results], Question()), Output(page, "--out"))
    assert page.read_text().count("trace.jsonl: damaged: it is not what the run wrote") == 1
