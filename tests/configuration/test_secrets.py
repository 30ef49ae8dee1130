"""No key comes into a configuration, whichever way it is given, and no message shows one."""

from __future__ import annotations

from pathlib import Path

import pytest

from quorum.configuration.cell import Cell
from quorum.configuration.option_folders import ConfigDir
from quorum.sweeps.command import choose_engine, show_plan
from quorum.sweeps.plan import plan
from quorum.sweeps.run import SweepRequest
from quorum_base.user_errors import UserError

CANARY = "canary0123456789"
VLLM = ("agents=naive", "llm=vllm")


@pytest.fixture(autouse=True)
def _variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MY_API_KEY", "SOME_PLACE"):
        monkeypatch.setenv(name, CANARY)
    monkeypatch.setenv("NAME_OF_IT", "MY_API_KEY")
    monkeypatch.setenv("SHORT_KEY", "debate")


def refused(*words: str, config_dir: ConfigDir = ()) -> str:
    reported = []
    for function in (Cell.compose, plan):
        with pytest.raises(UserError) as caught:
            function(list(words), config_dir)
        reported.append(str(caught.value))
    assert CANARY not in "".join(reported)
    assert reported[0] == reported[1]
    return reported[0]


@pytest.mark.parametrize(
    "value",
    [
        "${oc.env:SOME_PLACE}", "${oc.env:SOME_PLACE,none}", "a-${ oc.env:SOME_PLACE }",
        "${oc.decode:${oc.env:SOME_PLACE}}", "${oc.${env.vocabulary}:SOME_PLACE}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("key", ["llm.model", "env.layout", "llm.base_url", "seed"])
def test_what_is_read_from_the_environment_is_refused(key: str, value: str) -> None:
    words = [*VLLM, f"{key}='{value}'"] if key == "llm.model" else [*VLLM, "llm.model=a", f"{key}='{value}'"]
    assert f"{key}: it is read from the environment" in refused(*words)


def test_what_a_file_of_the_user_reads_from_the_environment_is_refused(tmp_path: Path) -> None:
    (tmp_path / "llm").mkdir()
    (tmp_path / "llm" / "mine.yaml").write_text("defaults: [vllm, _self_]\nmodel: ${oc.env:SOME_PLACE}\n")
    assert refused("agents=naive", "llm=mine", config_dir=tmp_path).startswith("llm.model: it is read from")


def test_the_name_of_the_variable_of_a_key_may_come_from_the_environment() -> None:
    cell = Cell.compose([*VLLM, "llm.model=a", "llm.api_key_env='${oc.env:NAME_OF_IT}'"])
    assert cell.configuration.llm.key_variable == "MY_API_KEY"


@pytest.mark.parametrize(
    "key", ["llm.model", "llm.agents.agent_0.model", "env.layout", "agents.prompts.rules", "max_steps"]
)
def test_the_value_of_a_variable_of_a_key_is_refused_wherever_it_stands(key: str) -> None:
    model = () if key == "llm.model" else ("llm.model=a",)
    reported = refused(*VLLM, *model, f"{key}=some/{CANARY}")
    assert reported.startswith(
        f"{key}: the value (not shown here) contains that of the environment variable MY_API_KEY"
    )


def test_a_key_that_a_file_or_a_resolver_of_a_plugin_gives_is_refused(tmp_path: Path) -> None:
    (tmp_path / "llm").mkdir()
    (tmp_path / "llm" / "mine.yaml").write_text(f"defaults: [vllm, _self_]\nmodel: {CANARY}\n")
    assert "llm.model: the value (not shown here)" in refused("agents=naive", "llm=mine", config_dir=tmp_path)


@pytest.mark.parametrize("words", [(CANARY,), (f"{CANARY}=1",), (f"n=2 {CANARY}",)])
def test_an_argument_that_is_a_key_is_not_shown(words: tuple[str, ...]) -> None:
    assert "MY_API_KEY" in refused(*words)


@pytest.mark.parametrize(
    "name", ["sk-0123456789", "sk-ant-api03-x_y-z0123", "gsk_0123456789abc", "openai/sk-proj-0123456"]
)
def test_a_model_name_that_looks_like_a_key_is_refused(name: str) -> None:
    reported = refused(*VLLM, f"llm.model={name}")
    assert reported.startswith("llm.model: the value (not shown here) looks like a key")
    assert name not in reported
    assert name not in refused(*VLLM, "llm.model=a", f"+llm.agents.agent_0.model={name}")


@pytest.mark.parametrize(
    "name", ["gpt-5-mini", "mask-sk-rna", "meta-llama/Llama-3-70b", "risk-averse-model-7b", "debate"]
)
def test_other_names_are_names(name: str) -> None:
    assert Cell.compose([*VLLM, f"llm.model={name}"]).configuration.llm.label == name


def test_the_engine_and_a_dry_run_refuse_them_too(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="it is read from the environment"):
        choose_engine(["engine=slurm", "engine.partition='${oc.env:SOME_PLACE}'"])
    with pytest.raises(UserError, match=r"not shown here") as caught:
        show_plan(SweepRequest((*VLLM, f"llm.model={CANARY},a"), tmp_path))
    assert CANARY not in str(caught.value)
    assert list(tmp_path.iterdir()) == []
