"""Trains a student further on pairs of answers whose difference was measured: DPO, with TRL.

    pip install trl datasets
    python prefer.py PAIRS.jsonl --start runs/train/listener/adapter --out runs/train/third/adapter

A line of PAIRS is what `quorum export --to preferences` writes. The reference model is the student before this training
(Rafailov and others 2023, Direct Preference Optimization, equation 7).
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import torch
from datasets import load_dataset
from finetune import BASE, keep_memory
from peft import PeftModel
from trl import DPOConfig, DPOTrainer
from weights import base


def prefer(pairs: Path, start: Path, out: Path, folder: Path, *, beta: float, rate: float, seed: int) -> None:
    """Train once on each pair, in updates of four pairs; write the adapter, the loss curve and what made them.

    Args:
        pairs: JSONL file of pairs.
        start: folder of the student's adapter.
        out: folder of the results.
        folder: unpacked base model; made if it does not exist.
        beta: how strongly the student is held to what it was before; TRL's default is 0.1.
        rate: highest learning rate of AdamW; it falls linearly to zero.
        seed: order of the pairs.
    """
    model, tokenizer = base(folder)
    student = PeftModel.from_pretrained(model, start, is_trainable=True)
    settings = DPOConfig(
        output_dir=str(out / "trl"),
        beta=beta,
        learning_rate=rate,
        seed=seed,
        num_train_epochs=1,
        per_device_train_batch_size=4,
        max_length=None,  # whole prompts
        gradient_checkpointing=False,
        use_cpu=True,
        bf16=True,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
    )
    rows = load_dataset("json", data_files=str(pairs), split="train").select_columns(["prompt", "chosen", "rejected"])
    trainer = DPOTrainer(student, args=settings, train_dataset=rows, processing_class=tokenizer)
    trainer.train()
    trainer.model.save_pretrained(out, selected_adapters=["default"])
    curve = [entry for entry in trainer.state.log_history if "loss" in entry]
    lines = [f"{index * 4},{entry['loss']},{entry['rewards/accuracies']}" for index, entry in enumerate(curve, 1)]
    (out / "loss.csv").write_text("\n".join(["pairs,loss,accuracy", *lines]) + "\n", encoding="utf-8")
    digests = {"data": pairs, "start": start / "adapter_model.safetensors"}
    made = {
        **{"base": BASE, "pairs": len(rows), "beta": beta, "rate": rate, "seed": seed, "license": "apache-2.0"},
        **{name: hashlib.sha256(file.read_bytes()).hexdigest() for name, file in digests.items()},
    }
    (out / "training.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path, help="JSONL file of pairs")
    parser.add_argument("--start", type=Path, required=True, help="folder of the student's adapter")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--base", type=Path, default=Path("runs/train/base"), help="folder of the unpacked base model")
    parser.add_argument("--beta", type=float, default=0.1, help="0.1 by default; more stays closer to the start")
    parser.add_argument("--rate", type=float, default=1e-4, help="highest learning rate (default: 1e-4)")
    parser.add_argument("--seed", type=int, default=0, help="order of the pairs (default: 0)")
    given = parser.parse_args()
    for needed in (given.pairs, given.start / "adapter_model.safetensors"):
        if not needed.is_file():
            parser.error(f"{needed}: no such file")
    torch.set_num_threads(1)
    keep_memory()
    prefer(given.pairs, given.start, given.out, given.base, beta=given.beta, rate=given.rate, seed=given.seed)


if __name__ == "__main__":
    main()
