from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.size import Budget, Part, count, excesses, lines_of_code, parts_of, product_files, read_budget


def _write(root: Path, **files: str) -> None:
    for name, text in files.items():
        file = root / name.replace("__", "/").replace("_py", ".py")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def test_no_part_of_the_product_and_not_the_whole_is_above_its_ceiling() -> None:
    budget = read_budget()
    found = excesses(budget, count(budget.parts))
    assert not found, "\n".join(found)


def test_every_file_of_the_product_belongs_to_exactly_one_part() -> None:
    budget = read_budget()
    owners = parts_of(product_files(), budget.parts)
    assert {str(file): names for file, names in owners.items() if len(names) != 1} == {}
    assert {name for names in owners.values() for name in names} == {part.name for part in budget.parts}


def test_every_path_of_the_budget_names_something() -> None:
    root = Path(__file__).resolve().parents[1]
    assert [path for part in read_budget().parts for path in part.paths if not any(root.glob(path))] == []


def test_a_part_above_its_ceiling_is_reported_with_the_way_out(tmp_path: Path) -> None:
    _write(tmp_path, world__kernel_py="a = 1\nb = 2\n", quorum__loop_py="c = 3\n")
    parts = [Part("core", 1, ["quorum"]), Part("world", 1, ["world"])]
    found = excesses(Budget(3, parts), count(parts, tmp_path))
    assert len(found) == 1
    assert found[0].startswith("world has 2 lines, 1 above its ceiling of 1: ")
    assert "tests/budget.toml" in found[0]
    assert "docs/decisions.md" in found[0]
    assert [text.partition(" has ")[0] for text in excesses(Budget(2, parts), count(parts, tmp_path))] == [
        "world",
        "the whole",
    ]


def test_the_longest_path_decides_and_two_equal_ones_or_none_are_found(tmp_path: Path) -> None:
    _write(tmp_path, quorum__a_py="", quorum__view__b_py="", quorum__view__c_py="", world__d_py="")
    parts = [Part("core", 0, ["quorum", "quorum/view/b.py"]), Part("view", 0, ["quorum/v*", "quorum/view/b.py"])]
    found = parts_of(product_files(tmp_path), parts, tmp_path)
    assert {str(file.relative_to(tmp_path)): names for file, names in found.items()} == {
        "quorum/a.py": ["core"],
        "quorum/view/b.py": ["core", "view"],
        "quorum/view/c.py": ["view"],
        "world/d.py": [],
    }


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("a.py", '"""A module\nof two lines."""\n\n# why\ndef f():\n    """Do."""\n    return """x\n# y"""\n', 2),
        ("a.js", "// why\n/* a\n * b */\nlet a = 1; // why\n", 1),
        ("a.css", "/* why */\n#board { color: red }\n", 1),
        ("a.yaml", "# why\n\na: 1  # one\n", 1),
        ("a.jinja", "{# why #}\n# A heading\n", 1),
    ],
)
def test_blank_lines_comments_and_docstrings_do_not_count(name: str, text: str, lines: int, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert lines_of_code(tmp_path / name) == lines


def test_tests_links_and_hidden_folders_are_not_the_product(tmp_path: Path) -> None:
    _write(tmp_path, quorum__a_py="", tests__b_py="")
    _write(tmp_path, **{".venv__c_py": ""})
    (tmp_path / "agents").symlink_to("quorum")
    assert [file.name for file in product_files(tmp_path)] == ["a.py"]
