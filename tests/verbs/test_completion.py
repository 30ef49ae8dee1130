"""Completion: what may come next, and that each shell's script, asked in that shell, offers it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from quorum.verbs.completion import candidates, completion
from quorum_base.user_errors import UserError
from tests.conftest import PATIENCE, ROOT


def offered(*words: str) -> list[str]:
    return [word for word, _ in candidates(words)]


def test_the_first_word_is_a_verb_that_is_not_hidden() -> None:
    assert {"run", "sweep", "list"} <= set(offered(""))
    assert {"complete", "completion"}.isdisjoint(offered(""))
    assert offered("swe") == ["sweep"]
    assert offered("nonsense", "x") == []


def test_options_are_those_of_the_verb() -> None:
    assert offered("run", "--budget") == ["--budget-usd", "--budget-tokens", "--budget-calls"]
    assert "--baseline" in offered("compare", "--")
    assert "--baseline" not in offered("run", "--")


def test_groups_of_a_sweep_are_offered_to_a_sweep_alone() -> None:
    assert "experiment=" in offered("sweep", "exp")
    assert offered("run", "exp") == []
    assert "env=" in offered("run", "")


def test_options_of_a_group_and_the_last_of_several() -> None:
    assert offered("run", "env=cube") == ["env=cube", "env=cube_coop2"]
    assert "env=cube,crafter_coop" in offered("sweep", "env=cube,crafter")
    assert offered("run", "env=cube,crafter") == []


def test_keys_of_all_experiments_are_offered() -> None:
    assert offered("run", "memory.") == [f"memory.{key}=" for key in ("messages", "exchanges", "keep", "store")]
    assert offered("view", "memory.") == []


def test_figures_are_offered_to_reproduce_and_then_its_keys() -> None:
    assert offered("reproduce", "emcoop") == ["emcoop-rq1", "emcoop-rq2", "emcoop-rq3"]
    assert offered("reproduce", "emcoop-rq1", "llm=simulated_f") == ["llm=simulated_faults"]


def test_questions_are_offered_to_study_and_then_its_keys() -> None:
    assert offered("study", "t") == ["talk", "team", "topology"]
    assert offered("study", "talk", "llm=simulated_f") == ["llm=simulated_faults"]


def test_choices_of_an_argument_and_of_an_option_are_those_of_the_help() -> None:
    assert offered("new", "") == ["world", "mind", "topology", "metric"]
    assert offered("new", "world", "") == []
    assert offered("export", "runs/talk", "--to", "") == [
        "sft", "parquet", "inspect", "hf", "otlp", "who-when", "preferences",
    ]  # fmt: skip
    assert offered("credit", "--of", "m") == ["message"]
    assert offered("check", "") != []
    assert offered("export", "") == []


def test_an_unknown_shell_is_one_message_that_names_those_there_are() -> None:
    with pytest.raises(UserError, match="csh: there is no script for this shell"):
        completion("csh")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in whose PATH `quorum` is this checkout's."""
    command = tmp_path / "bin" / "quorum"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m quorum "$@"\n')
    command.chmod(command.stat().st_mode | stat.S_IXUSR)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    return {
        **os.environ,
        "PATH": path,
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path),
    }


def _run(shell: str, lines: str, environment: dict[str, str]) -> list[str]:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}: apt install {shell}")
    done = subprocess.run(
        [shell, "-c", lines], capture_output=True, text=True, env=environment, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def _bash(line: str, environment: dict[str, str]) -> list[str]:
    return _run(
        "bash",
        f'eval "$(quorum completion bash)"; COMP_LINE={line!r}; COMP_POINT=${{#COMP_LINE}};'
        ' _quorum; printf "%s\\n" "${COMPREPLY[@]}"',
        environment,
    )


def test_bash_offers_what_stands_behind_the_sign_at_which_it_splits(environment: dict[str, str]) -> None:
    assert "sweep" in _bash("quorum sw", environment)
    assert _bash("quorum run env=squ", environment) == ["squeeze"]
    assert _bash("quorum run memory.k", environment) == ["memory.keep="]
    assert "env=" in _bash("quorum run ", environment)
    assert _bash("quorum nonsense ", environment) == [""]


def _zsh(words: list[str], environment: dict[str, str]) -> list[str]:
    # compadd only works inside of a completion widget: this one prints the array that it gets
    given = " ".join(f"'{word}'" for word in words)
    return _run(
        "zsh",
        'compdef() { : }; _files() { print files }; compadd() { print -l -- "${(@P)@[-1]}" };'
        ' eval "$(quorum completion zsh)";'
        f" words=({given}); CURRENT={len(words)}; _quorum; true",
        environment,
    )


def test_zsh_offers_the_words(environment: dict[str, str]) -> None:
    assert _zsh(["quorum", "swe"], environment) == ["sweep"]
    assert _zsh(["quorum", "run", "env=squ"], environment) == ["env=squeeze"]
    assert "env=" in _zsh(["quorum", "run", ""], environment)
    assert _zsh(["quorum", "view", ""], environment) == ["files"]


def test_fish_offers_the_words_with_what_they_are(environment: dict[str, str]) -> None:
    ask = "quorum completion fish | source; complete -C {!r}"
    assert _run("fish", ask.format("quorum swe"), environment) == [
        "sweep\tRun a grid of episodes, or the part of it without results."
    ]
    (line,) = _run("fish", ask.format("quorum run env=squ"), environment)
    assert line.startswith("env=squeeze\tThe Gaussian squeeze")
