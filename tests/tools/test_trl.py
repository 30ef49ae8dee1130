"""The data sets for trainers load in `datasets`, and TRL takes a step on each. Run by `.ci/run`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from gguf_server import shipped

import quorum
from tests.conftest import environment, forked

pytestmark = [pytest.mark.tools, pytest.mark.filterwarnings("default")]
TEAM = ("agents=naive", "topology=individual", "n=2", "prompts=terse", "llm.temperature=8", "llm.poor=0.5")
STEP = {"max_steps": 1, "per_device_train_batch_size": 2, "use_cpu": True, "bf16": False}
QUIET = {"report_to": "none", "save_strategy": "no", "disable_tqdm": True, "logging_steps": 1}


@pytest.fixture(scope="module", autouse=True)
def _offline() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trl") / "runs"
    for board in (0, 2):
        quorum.run(*TEAM, "max_steps=70", f"seed={board}", out=folder)
    return folder


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """Return the tokenizer of SmolLM2, with the chat template."""
    from transformers import AutoTokenizer

    weights = shipped()
    assert weights is not None
    return AutoTokenizer.from_pretrained(weights.parent, gguf_file=weights.name)


@pytest.fixture
def model(tokenizer: Any) -> Any:
    """Return a small Llama model with random weights."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
    ids = {name: getattr(tokenizer, name) for name in ("bos_token_id", "eos_token_id", "pad_token_id")}
    return LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), **sizes, **ids))


def loaded(runs: Path, tmp_path: Path, *words: str) -> Any:
    """Export with the command, and load the first two rows as `datasets` does for any folder."""
    from datasets import load_dataset

    out = tmp_path / "data"
    done = forked(("export", str(runs), *words, "--out", str(out)), tmp_path, environment())
    assert done.returncode == 0, done.stderr
    return load_dataset(str(out), split="train", cache_dir=str(tmp_path / "cache")).select(range(2))


def likelihood(model: Any, tokenizer: Any, row: Mapping[str, Any], answer: str) -> tuple[float, int]:
    """Return the log-probability of an answer after its prompt, and its number of tokens."""
    import torch

    prompt = tokenizer.apply_chat_template(row["prompt"], add_generation_prompt=True, return_dict=False)
    whole = torch.tensor([tokenizer.apply_chat_template(row["prompt"] + row[answer], return_dict=False)])
    with torch.no_grad():
        scores = model(whole).logits.log_softmax(-1)[0, :-1].gather(1, whole[0, 1:, None])[:, 0]
    return float(scores[len(prompt) - 1 :].sum()), whole.shape[1] - len(prompt)


def lora() -> Any:
    from peft import LoraConfig

    return LoraConfig(r=4, target_modules="all-linear", task_type="CAUSAL_LM")


def moved(trainer: Any) -> bool:
    """Return whether a step has changed the adapter, whose second matrices are zero at first."""
    adapters = [value for name, value in trainer.model.named_parameters() if "lora_B" in name]
    assert adapters
    return all(bool(value.any()) for value in adapters)


def test_sft_learns_the_answers_and_not_the_prompts(runs: Path, model: Any, tokenizer: Any, tmp_path: Path) -> None:
    from trl import SFTConfig, SFTTrainer

    rows = loaded(runs, tmp_path, "--to", "sft")
    found = [likelihood(model, tokenizer, row, "completion") for row in rows]
    config = SFTConfig(**STEP, **QUIET, output_dir=str(tmp_path), max_length=None)
    trainer = SFTTrainer(model, args=config, train_dataset=rows, processing_class=tokenizer, peft_config=lora())
    trainer.train()
    expected = -sum(score for score, _ in found) / sum(count for _, count in found)
    assert trainer.state.log_history[0]["loss"] == pytest.approx(expected, rel=1e-4)
    assert moved(trainer)


def test_dpo_prefers_the_chosen_answers(runs: Path, model: Any, tokenizer: Any, tmp_path: Path) -> None:
    from trl import DPOConfig, DPOTrainer

    rows = loaded(runs, tmp_path, "--to", "preferences", "--measure", "decisions=3,answers=3,draws=6")
    found = {side: [likelihood(model, tokenizer, row, side)[0] for row in rows] for side in ("chosen", "rejected")}
    config = DPOConfig(**STEP, **QUIET, output_dir=str(tmp_path), max_length=None, learning_rate=1e-3)
    trainer = DPOTrainer(model, args=config, train_dataset=rows, processing_class=tokenizer, peft_config=lora())
    trainer.train()
    for side, scores in found.items():
        assert trainer.state.log_history[0][f"logps/{side}"] == pytest.approx(sum(scores) / 2, rel=1e-4)
    assert moved(trainer)
