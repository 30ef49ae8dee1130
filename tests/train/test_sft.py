"""`quorum export --to sft`: the accepted answers with their exact prompts, each once, on one side of the boards."""

from __future__ import annotations

import json
import shutil
import stat
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from maeil.trace.events import CUT_SHORT
from quorum.agents.llm.recording import unfolded
from quorum.runs import Row, read_results
from quorum.train.answers import LeftOut, recorded
from quorum.train.sft import COLUMNS, best_draws
from quorum.view.export.command import export
from quorum.view.export.selection import Split
from quorum_base.user_errors import UserError
from tests.conftest import Quorum
from tests.folders import configuration, real_sweep, write_plan, write_run
from tests.view.export.exported import seal, write_lines

yaml = pytest.importorskip("yaml")
jsonschema = pytest.importorskip("jsonschema")
pytest.importorskip("duckdb")
FAULTY = (
    "agents=naive",
    "topology=debate",
    "n=2",
    "max_steps=12",
    "llm.malformed=0.2",
    "llm.invalid=0.2",
    "prompts=terse",
)
"""Boards 1 and 9 are on different sides of a split of 0.1."""
ALL: Mapping[str, Any] = {"agents": "", "turns": "", "best": None, "prompts": "", "split": None}


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "talk"
    real_sweep(folder, [[*FAULTY, "seed=1"], [*FAULTY, "seed=1", "draw=1"], [*FAULTY, "seed=9"]])
    return folder


@pytest.fixture
def sweep(played: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(played, tmp_path / "talk"))


def examples(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def written(sweep: Path, **options: Any) -> tuple[list[dict[str, Any]], list[str]]:
    """Export, and return the examples of all files, and the remarks."""
    folder, remarks = export(sweep, "sft", None, calls=False, force=False, options={**ALL, **options})
    return [example for file in sorted(folder.glob("*.jsonl")) for example in examples(file)], list(remarks)


def calls(run: Path) -> list[dict[str, Any]]:
    return list(unfolded((run / "calls.jsonl").read_bytes().splitlines(keepends=True)))


def said(messages: list[dict[str, Any]]) -> str:
    return json.dumps([[message["role"], message["content"]] for message in messages])


def is_valid(call: dict[str, Any]) -> bool:
    """Whether an answer has its schema, by another implementation."""
    try:
        jsonschema.validate(json.loads(call["reply"]["text"]), call["request"]["answer"]["schema"])
    except (ValueError, jsonschema.ValidationError):
        return False
    return True


def card(sweep: Path) -> tuple[dict[str, Any], str]:
    _, head, text = (sweep / "export-sft" / "README.md").read_text().split("---\n", 2)
    return yaml.safe_load(head), text


def test_an_example_is_an_accepted_answer_and_the_prompt_that_it_answered(sweep: Path) -> None:
    found, remarks = written(sweep)
    assert remarks == []
    accepted: set[tuple[str, str]] = set()
    refused = malformed = 0
    for row in read_results(sweep).rows:
        valid = [call for call in calls(row.folder) if is_valid(call)]
        malformed += len(calls(row.folder)) - len(valid)
        events = [json.loads(line) for line in (row.folder / "trace.jsonl").read_text().splitlines()]
        names = events[0]["agents"]
        ends = [event for event in events if event["event"] == "thought_end"]
        for name in names:  # independent of the steps: the answers of an agent are in the order of its thoughts
            own = [call for call in valid if call["agent"] == name]
            thoughts = [end for end in ends if names[end["agent"]] == name and "parse_failure" not in str(end)]
            assert len(own) == len(thoughts)
            for call, end in zip(own, thoughts, strict=True):
                refused += bool(end["refused"])
                if not end["refused"]:
                    accepted.add((said(call["request"]["messages"]), call["reply"]["text"]))
    assert malformed > 0
    assert {(said(example["prompt"]), example["completion"][0]["content"]) for example in found} == accepted
    assert len(found) == len(accepted)
    assert {len(example["completion"]) for example in found} == {1}
    _, text = card(sweep)
    assert f"- `{LeftOut.MALFORMED}`: {malformed}\n" in text
    assert (f"- `{LeftOut.REFUSED}`: {refused}\n" in text) == (refused > 0)


def test_a_repaired_answer_comes_with_the_malformed_one_in_its_prompt(sweep: Path) -> None:
    found, _ = written(sweep)
    again = [example for example in found if example["repairs"]]
    assert again
    for example in found:
        quoted = [message for message in example["prompt"] if message["content"].startswith("This answer cannot be")]
        assert len(quoted) == bool(example["repairs"])


def test_the_columns_are_those_of_the_run(sweep: Path) -> None:
    found, _ = written(sweep)
    rows = {row.name: row for row in read_results(sweep).rows}
    assert {example["run"] for example in found} == rows.keys()
    for example in found:
        row = rows[example["run"]]
        assert example.keys() == {"prompt", "completion", *COLUMNS}
        assert (example["board"], example["n"], example["world"], example["topology"]) == (
            row.seed,
            2,
            "cube",
            "debate",
        )
        assert (example["outcome"], example["success"]) == ("truncated", False)
        assert (example["steps"], example["return"]) == (12, row.metrics["outcome.return"])
        assert example["completion_rate"] == row.metrics["outcome.completion"]
        assert (example["model"], example["simulated"], example["credit"]) == ("simulated", True, None)
    assert {turn for example in found for turn in example["turn"].split(",")} >= {"plan", "talk"}


def test_the_card_counts_and_only_the_user_can_read_the_files(sweep: Path) -> None:
    found, _ = written(sweep, split=Split(0.1))
    head, text = card(sweep)
    files = {part["split"]: part["path"] for part in head["configs"][0]["data_files"]}
    assert files == {"train": "train.jsonl", "eval": "eval.jsonl"}
    assert [feature["name"] for feature in head["dataset_info"]["features"]] == ["prompt", "completion", *COLUMNS]
    assert head["license"] == "unknown"
    train, eval_ = (examples(sweep / "export-sft" / file) for file in files.values())
    assert f"| `train.jsonl` | {len(train)} | 2 | 1 |" in text
    assert f"| `eval.jsonl` | {len(eval_)} | 1 | 1 |" in text
    assert f"rules, wrote {len(found)} of the {len(found)} answers" in text
    assert {stat.S_IMODE(file.stat().st_mode) for file in (sweep / "export-sft").iterdir()} == {0o600}


def test_a_board_is_on_one_side_and_stays_there(sweep: Path) -> None:
    written(sweep, split=Split(0.1))
    train, held_out = (examples(sweep / "export-sft" / name) for name in ("train.jsonl", "eval.jsonl"))
    assert ({example["board"] for example in train}, {example["board"] for example in held_out}) == ({1}, {9})
    assert len({example["run"] for example in train}) == 2
    copy = Path(shutil.copytree(read_results(sweep).rows[0].folder, sweep / "another"))
    seal(copy, hash="1" * 64, seed=2)
    written(sweep, split=Split(0.1))
    assert examples(sweep / "export-sft" / "eval.jsonl") == held_out


def test_an_export_without_a_split_leaves_no_side_of_an_earlier_one(sweep: Path) -> None:
    written(sweep, split=Split(0.1))
    written(sweep)
    assert sorted(file.name for file in (sweep / "export-sft").iterdir()) == ["README.md", "train.jsonl"]


@pytest.mark.parametrize(("share", "way_out"), [(0.01, "above 0.0"), (0.9999, "below 0.")])
def test_a_split_without_boards_on_a_side_is_refused_with_a_share_that_has_some(
    share: float, way_out: str, sweep: Path
) -> None:
    with pytest.raises(
        UserError, match=f"none of the 2 boards is for {'evaluation' if share < 0.5 else 'training'}"
    ) as refused:
        written(sweep, split=Split(share))
    assert way_out in refused.value.hint
    assert not list((sweep / "export-sft").glob("*"))


def test_the_same_prompt_and_answer_is_exported_once(sweep: Path) -> None:
    before, _ = written(sweep)
    copy = Path(shutil.copytree(read_results(sweep).rows[0].folder, sweep / "another"))
    seal(copy, hash="1" * 64)
    after, _ = written(sweep)
    assert after == before
    accepted = sum(len(list(recorded(row, Counter()))) for row in read_results(sweep).rows)
    assert accepted > len(before)
    assert f"- `the same prompt and answer as another`: {accepted - len(before)}\n" in card(sweep)[1]


def test_agents_and_turns_are_selected(sweep: Path, quorum: Quorum) -> None:
    everything, _ = written(sweep)
    wanted = [e for e in everything if e["agent"] == "agent_1" and {"talk", "refused"} & {*e["turn"].split(",")}]
    assert 0 < len(wanted) < len(everything)
    words = ("export", str(sweep), "--to", "sft")
    done = quorum(*words, "--agents", "agent_1", "--turns", "talk,refused", "--out", "some")
    assert (done.returncode, done.stdout) == (0, "export: some\n"), done.stderr
    assert examples(sweep.parent / "some" / "train.jsonl") == wanted
    done = quorum(*words, "--where", "draw = 1", "--out", "drawn")
    assert done.returncode == 0, done.stderr
    assert {example["run"] for example in examples(sweep.parent / "drawn" / "train.jsonl")} == {
        row.name for row in read_results(sweep).rows if row.factors["draw"] == 1
    }


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--to", "sft", "--agents", "agent_7"), "--agents agent_7: no run has an answer of it"),
        (("--to", "sft", "--turns", "plans"), "Did you mean 'plan'?"),
        (("--to", "sft", "--prompts", "shrt"), "Did you mean 'short'?"),
        (("--to", "parquet", "--best", "1"), "--best: --to parquet does not take this option"),
        (("--to", "hf", "--split", "boards=.1"), "choose another format: sft"),
        (("--to", "sft", "--where", "outcome.success"), "no run meets this condition"),
    ],
)
def test_a_mistake_is_named_and_leaves_nothing(
    words: tuple[str, ...], message: str, sweep: Path, quorum: Quorum
) -> None:
    done = quorum("export", str(sweep), *words, "--out", "new")
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr
    assert sorted(path.name for path in sweep.parent.iterdir()) == ["talk"]


def test_the_best_draws_succeed_and_take_the_fewest_steps(tmp_path: Path) -> None:
    folder = tmp_path / "draws"
    ends = {0: (0, 0.9, 10), 1: (1, 1, 30), 2: (1, 1, 20), 3: (0, 0.5, 5), 4: (None, None, 1), 5: (0, 1, 2)}
    cells: list[tuple[str, str, str | None]] = []
    for topology in ("individual", "debate"):
        for draw, (success, completion, steps) in ends.items():
            metrics = {"outcome.success": success, "outcome.completion": completion, "outcome.steps": steps}
            name, own = f"{topology}-{draw}", f"{len(cells):064}"
            plain = configuration(topology__name=topology) | {"draw": draw}
            write_run(folder, metrics, name=name, meta={"configuration": plain, "hash": own})
            cells.append((name, own, None))
    write_plan(folder, cells)
    rows = read_results(folder).rows
    assert len(rows) == len(cells)

    def kept(most: int) -> list[str]:
        return [row.name for row in best_draws(rows, most)]

    assert kept(1) == ["individual-2", "debate-2"]
    assert kept(3) == [f"{topology}-{draw}" for topology in ("individual", "debate") for draw in (1, 2, 5)]
    assert kept(9) == [row.name for row in rows]


def test_draws_of_a_board_are_ranked_together_however_their_model_was_reached(tmp_path: Path) -> None:
    for draw in range(2):
        plain = configuration(llm__tries=draw + 1) | {"draw": draw}
        metrics = {"outcome.success": 1, "outcome.completion": 1, "outcome.steps": 20 - draw}
        meta = {"models": ["m"], "configuration": plain, "hash": f"{draw:064}"}
        write_run(tmp_path, metrics, name=f"draw-{draw}", meta=meta)
    assert [row.name for row in best_draws(read_results(tmp_path).rows, 1)] == ["draw-1"]


def one_run(sweep: Path) -> Row:
    return read_results(sweep).rows[0]


def change(run: Path, thought: Mapping[str, Any], call: int = -1, **request: Any) -> None:
    """Change the first thought of a run that was accepted, and the call of the first one."""
    events = [json.loads(line) for line in (run / "trace.jsonl").read_text().splitlines()]
    first = next(event for event in events if event["event"] == "thought_end" and not event["refused"])
    first.update(thought)
    write_lines(run / "trace.jsonl", events)
    if call >= 0:
        records = calls(run)
        records[call] |= request
        write_lines(run / "calls.jsonl", records)
    seal(run)


def test_a_refused_or_interrupted_thought_has_no_accepted_answer(sweep: Path) -> None:
    row = one_run(sweep)
    before = Counter[str]()
    whole = len(list(recorded(row, before)))
    for reason, refusal in ((LeftOut.REFUSED, "the block is gone"), (LeftOut.UNFINISHED, CUT_SHORT)):
        change(row.folder, {"refused": [refusal]})
        now = Counter[str]()
        whole -= 1
        assert len(list(recorded(row, now))) == whole
        assert now[reason] == before[reason] + 1
        before = now


def test_a_failed_call_one_with_pictures_and_one_that_is_not_in_the_trace_are_left_out(sweep: Path) -> None:
    row = one_run(sweep)
    records = calls(row.folder)
    before = Counter[str]()
    whole = [answer.turn.answer for answer in recorded(row, before)]
    place, record = next((n, r) for n, r in enumerate(records) if r["reply"]["text"] in whole)
    failed = {key: value for key, value in record.items() if key != "reply"} | {"failure": {"kind": "Cancelled"}}
    shown = json.loads(json.dumps(record))
    shown["request"]["messages"][-1]["pictures"] = [{"hash": "0" * 64, "width": 1, "height": 1}]
    other = json.loads(json.dumps(record))
    other["reply"]["usage"]["completion"] += 1
    for reason, changed in ((LeftOut.FAILED, failed), (LeftOut.PICTURES, shown), (LeftOut.UNMATCHED, other)):
        write_lines(row.folder / "calls.jsonl", [*records[:place], changed, *records[place + 1 :]])
        seal(row.folder)
        now = Counter[str]()
        assert len(list(recorded(row, now))) == len(whole) - 1
        assert now[reason] == before[reason] + 1
    extra = {**record, "t": 10_000}
    write_lines(row.folder / "calls.jsonl", [*records, extra])
    seal(row.folder)
    now = Counter[str]()
    assert len(list(recorded(row, now))) == len(whole)
    assert now[LeftOut.UNMATCHED] == 1


HOSTILE: list[list[Any]] = [
    [{"agent": "agent_0"}],
    [[1]],
    [{"agent": "agent_0", "t": 0, "request": {"messages": [{"role": 1}], "answer": None}, "reply": 5}],
    [{"agent": "agent_0", "t": 0, "request": {"messages": [], "like": [9, 9, 9], "answer": None}}],
]


@pytest.mark.parametrize("damage", HOSTILE)
def test_a_hostile_run_is_left_out_and_named(damage: list[Any], sweep: Path, tmp_path: Path) -> None:
    bad, *good = read_results(sweep).rows
    write_lines(bad.folder / "calls.jsonl", damage)
    seal(bad.folder)
    found, (remark,) = written(sweep)
    assert remark.startswith(f"{bad.name} is left out: ")
    assert "calls.jsonl: damaged" in remark
    assert {example["run"] for example in found} == {row.name for row in good}
    for row in good:
        shutil.rmtree(row.folder)
    with pytest.raises(UserError, match="no run has an answer to export") as refused:
        export(sweep, "sft", tmp_path / "new", calls=False, force=False, options=ALL)
    assert bad.name in refused.value.hint
    assert not (tmp_path / "new").exists()


def test_a_team_of_rules_teaches_in_another_set_of_prompts_and_has_credit(tmp_path: Path, quorum: Quorum) -> None:
    real_sweep(tmp_path / "rules", [["agents=heuristic", "topology=individual", "n=2", "seed=1"]])
    with pytest.raises(UserError, match="no run has an answer") as refused:
        written(tmp_path / "rules")
    assert "--prompts short" in refused.value.hint
    assert "it asked no language model" in refused.value.hint
    found, _ = written(tmp_path / "rules", prompts="short")
    assert {(e["model"], e["simulated"], e["success"], e["credit"]) for e in found} == {
        ("heuristic (rules)", False, True, None)
    }
    row = one_run(tmp_path / "rules")
    done = quorum("credit", str(row.folder), "--write")
    assert done.returncode == 0, done.stderr
    credited, _ = written(tmp_path / "rules", prompts="short")
    worth = {example["agent"]: example["credit"] for example in credited}
    mean = one_run(tmp_path / "rules").metrics["credit.difference"]
    assert set(worth) == {"agent_0", "agent_1"}
    assert sum(worth.values()) / 2 == pytest.approx(mean)
    assert {key: value for key, value in credited[0].items() if key != "credit"} == {
        key: value for key, value in found[0].items() if key != "credit"
    }
