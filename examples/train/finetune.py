"""Trains a LoRA of SmolLM2 on the answers that `quorum export --to sft` writes.

    python finetune.py DATA.jsonl --out runs/train/listener

A line of the data is an example in the conversational prompt-completion form, which TRL reads too: `prompt` and
`completion` are lists of messages, each with a `role` and a `content`. Other columns are ignored.

The folder then holds the adapter as PEFT writes it, the loss curve (`loss.csv`), what made them (`training.json`), and
a checkpoint. The same command continues after an interruption, and gives exactly the result of an uninterrupted run.

One thread does all the work: on a busy machine several threads mostly wait for each other. So train two models at the
same time in two processes.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import ctypes
import hashlib
import json
import math
import os
import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch
from lora_gguf import read_adapter
from peft import LoraConfig, PeftModel, get_peft_model, get_peft_model_state_dict, set_peft_model_state_dict
from peft.helpers import disable_input_dtype_casting
from torch import Tensor
from torch.nn import functional
from transformers import AttentionInterface
from weights import base

BASE = "HuggingFaceTB/SmolLM2-135M-Instruct, Q4_1"
LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
LONGEST = 2048
"""Largest number of tokens in an example. Memory grows with it: about 1.5 GB for 1,000 tokens in a batch."""


M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
"""Parameters of `mallopt` in glibc's malloc.h."""


@dataclass(frozen=True)
class Settings:
    """Settings that decide the result of training, apart from the data."""

    examples: int
    """Number of examples to train on; examples repeat, each time in another order, if the data has fewer."""
    seed: int = 0
    """Seed of the order of the examples and of the adapter's initial values."""
    rank: int = 8
    alpha: int = 16
    """The adapter's output is multiplied by alpha / rank."""
    batch: int = 4
    """Number of examples in an update."""
    start: str | None = None
    """SHA-256 of the adapter to continue from; None for a new one."""
    rate: float = 1e-3
    """Highest learning rate of AdamW."""
    warmup: int = 20
    """Number of updates in which the rate grows to the highest one; then it falls linearly to zero."""
    compile: bool = False
    """Whether torch compiles the layers: a minute at the start, then a third less CPU time. Needs a C++ compiler."""

    @property
    def updates(self) -> int:
        """Number of updates."""
        return math.ceil(self.examples / self.batch)

    def rate_at(self, update: int) -> float:
        """Return the learning rate of an update, counted from 0."""
        rising = (update + 1) / self.warmup if self.warmup else 1.0
        falling = (self.updates - update) / max(self.updates - self.warmup, 1)
        return self.rate * min(rising, falling, 1.0)


@dataclass(frozen=True)
class Example:
    """Token ids of a prompt as a server gets it, and of the answer with the token that ends it."""

    prompt: list[int]
    answer: list[int]


def read_examples(data: Path, tokenizer: Any) -> list[Example]:
    """Read the data.

    The chat template is that of the GGUF file, which the server applies too. It adds a system message if a prompt has
    none. Prompt and answer become tokens separately, because a server never sees them as one text.

    Raises:
        SystemExit: a line is no example, or too long.
    """

    def tokens(text: str) -> list[int]:
        ids: list[int] = tokenizer(text, add_special_tokens=False)["input_ids"]
        return ids

    examples = []
    with data.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                [answer] = row["completion"]
                prompt = tokenizer.apply_chat_template(row["prompt"], add_generation_prompt=True, tokenize=False)
                example = Example(tokens(prompt), tokens(answer["content"] + tokenizer.eos_token))
            except Exception as wrong:  # whatever a template makes of an unknown form
                raise SystemExit(f"{data}:{number}: not a prompt and a completion of one message: {wrong!r}") from None
            if len(example.prompt) + len(example.answer) > LONGEST:
                raise SystemExit(f"{data}:{number}: more than {LONGEST} tokens; use shorter prompts or raise LONGEST")
            examples.append(example)
    if not examples:
        raise SystemExit(f"{data}: no examples")
    return examples


def batches(examples: list[Example], settings: Settings, start: int) -> Iterator[list[Example]]:
    """Yield the examples of each update from `start` on. The order depends on the seed alone."""
    order: list[int] = []
    for epoch in range(math.ceil(settings.examples / len(examples))):
        order += random.Random(f"{settings.seed}/{epoch}").sample(range(len(examples)), len(examples))
    order = order[: settings.examples]
    for update in range(start, settings.updates):
        yield [examples[index] for index in order[update * settings.batch : (update + 1) * settings.batch]]


def packed_attention(
    module: Any, query: Tensor, key: Tensor, value: Tensor, _mask: None, *, lengths: list[int], **_: Any
) -> tuple[Tensor, None]:
    """Causal attention within each of several sequences that lie in one row, one after the other, without padding.

    Args:
        module: layer that calls.
        query: (1, heads, tokens, dim).
        key: (1, key-value heads, tokens, dim).
        value: as key.
        lengths: number of tokens in each sequence.

    Returns:
        (1, tokens, heads, dim), and no attention weights.
    """
    groups = module.num_key_value_groups
    parts = zip(query.split(lengths, 2), key.split(lengths, 2), value.split(lengths, 2), strict=True)
    outputs = [
        functional.scaled_dot_product_attention(
            q, k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1), is_causal=True
        )
        for q, k, v in parts
    ]
    return torch.cat(outputs, 2).transpose(1, 2), None


AttentionInterface.register("packed", packed_attention)


def answer_loss(model: Any, examples: list[Example]) -> Tensor:
    """Return the mean loss of an answer's token, in nats, over all answers of a batch.

    The row of the batch has no padding, and logits are computed only where they predict a token of an answer.
    """
    lengths = [len(example.prompt) + len(example.answer) for example in examples]
    row = torch.tensor([token for example in examples for token in (*example.prompt, *example.answer)])
    answered = torch.tensor(
        [given for example in examples for given in [False] * len(example.prompt) + [True] * len(example.answer)]
    )
    positions = torch.cat([torch.arange(length) for length in lengths])
    causal = model.get_base_model() if isinstance(model, PeftModel) else model
    with torch.autocast("cpu", torch.bfloat16):
        states = causal.model(row[None], position_ids=positions[None], use_cache=False, lengths=lengths)
        predicting = answered.roll(-1)
        logits = causal.lm_head(states.last_hidden_state[0, predicting])
    return functional.cross_entropy(logits.float(), row[answered])


class Training:
    """A model in training, and what a checkpoint keeps of it."""

    def __init__(self, model: Any, settings: Settings, digest: str, start: Path | None = None) -> None:
        torch.manual_seed(settings.seed)
        self.settings, self.digest = settings, digest
        model.set_attn_implementation("packed")
        adapter = LoraConfig(r=settings.rank, lora_alpha=settings.alpha, target_modules=LINEAR, task_type="CAUSAL_LM")
        self.model = get_peft_model(model, adapter)  # adapters in float32, the rest stays in bfloat16
        self.model.train()
        if settings.compile:
            for layer in self.model.get_base_model().model.layers:
                layer.compile(dynamic=True)
        trained = [parameter for parameter in self.model.parameters() if parameter.requires_grad]
        self.optimizer = torch.optim.AdamW(trained, lr=settings.rate, weight_decay=0.0)
        self.trained = trained
        self.update, self.seconds = 0, 0.0
        if start is not None:
            matrices = read_adapter(start, get_peft_model_state_dict(self.model), self.model.get_base_model().config)
            set_peft_model_state_dict(self.model, matrices)
        self.curve: list[dict[str, float]] = []
        """Rows of the loss curve."""

    def step(self, examples: list[Example]) -> float:
        """Do one update; return the loss before it."""
        started = time.process_time()
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.rate_at(self.update)
        with disable_input_dtype_casting(self.model):  # autocast does it
            loss = answer_loss(self.model, examples)
            loss.backward()
        torch.nn.utils.clip_grad_norm_(self.trained, 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.update += 1
        self.seconds += time.process_time() - started
        return loss.item()

    def identity(self) -> dict[str, Any]:
        """Return what has to be equal for a checkpoint to continue, and for a run to be repeated."""
        return {**asdict(self.settings), "base": BASE, "data": self.digest}

    def save(self, folder: Path) -> None:
        """Write the checkpoint and the loss curve. A process that is killed in between leaves the older checkpoint."""
        fresh = folder / "checkpoint.pt.new"
        state = {
            "identity": self.identity(),
            "adapter": get_peft_model_state_dict(self.model),
            "optimizer": self.optimizer.state_dict(),
            "update": self.update,
            "seconds": self.seconds,
            "curve": self.curve,
        }
        torch.save(state, fresh)
        os.replace(fresh, folder / "checkpoint.pt")
        with (folder / "loss.csv").open("w", newline="", encoding="utf-8") as file:
            table = csv.DictWriter(file, ["examples", "loss", "cpu_seconds"])
            table.writeheader()
            table.writerows(self.curve)

    def load(self, folder: Path) -> None:
        """Continue from the folder's checkpoint.

        Raises:
            SystemExit: the checkpoint has other settings or data.
        """
        state = torch.load(folder / "checkpoint.pt", weights_only=True)
        now, then = self.identity(), state["identity"]
        other = [f"{key}: {then.get(key)}, now {value}" for key, value in now.items() if then.get(key) != value]
        if other:
            raise SystemExit(f"{folder} was trained with other settings ({'; '.join(other)}); use another folder")
        set_peft_model_state_dict(self.model, state["adapter"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.update, self.seconds, self.curve = state["update"], state["seconds"], state["curve"]


def finetune(
    data: Path, out: Path, folder: Path, settings: Settings, every: int, *, start: Path | None = None
) -> Training:
    """Train, or continue to train, the base model of `folder` on `data`; write everything to `out`.

    Args:
        data: JSONL file of examples.
        out: folder of the results.
        folder: unpacked base model; made if it does not exist.
        settings: all that decides the result, apart from the data.
        every: number of updates between two checkpoints, and in a row of the loss curve.
        start: file of the adapter to continue from (`adapter_model.safetensors`, or a GGUF file); None: a new one.
    """
    model, tokenizer = base(folder)
    examples = read_examples(data, tokenizer)
    settings = replace(settings, start=digest(start) if start is not None else None)
    training = Training(model, settings, digest(data), start)
    out.mkdir(parents=True, exist_ok=True)
    if (out / "checkpoint.pt").exists():
        training.load(out)
    losses = []
    for batch in batches(examples, settings, training.update):
        losses.append(training.step(batch))
        if training.update % every == 0 or training.update == settings.updates:
            seen = min(training.update * settings.batch, settings.examples)
            row = {"examples": seen, "loss": sum(losses) / len(losses), "cpu_seconds": round(training.seconds, 1)}
            training.curve.append(row)
            training.save(out)
            print("{examples} examples: loss {loss:.3f}, {cpu_seconds:.0f} s of CPU".format_map(row), flush=True)
            losses = []
    training.model.save_pretrained(out)
    made = {**training.identity(), "license": "apache-2.0", "cpu_seconds": round(training.seconds, 1)}
    (out / "training.json").write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    return training


def digest(file: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def keep_memory() -> None:
    """Have the C library reuse large blocks of memory, where it is glibc: new pages cost a fifth of the CPU time."""
    with contextlib.suppress(OSError, AttributeError, TypeError):
        library = ctypes.CDLL(None)
        for parameter, value in ((M_MMAP_THRESHOLD, 1 << 30), (M_TRIM_THRESHOLD, (1 << 31) - 1)):
            library.mallopt(parameter, value)


def main() -> None:
    """Read the command line and train."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="JSONL file of examples")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--base", type=Path, default=Path("runs/train/base"), help="folder of the unpacked base model")
    parser.add_argument("--examples", type=int, default=1000, help="examples to train on (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="order of the examples and first values (default: 0)")
    parser.add_argument("--every", type=int, default=10, help="updates between checkpoints (default: 10)")
    parser.add_argument("--rate", type=float, default=1e-3, help="highest learning rate (default: 1e-3)")
    parser.add_argument("--start", type=Path, help="folder or GGUF file of the adapter to continue (default: none)")
    parser.add_argument("--compile", action="store_true", help="a third faster; needs a C++ compiler")
    given = parser.parse_args()
    start = given.start / "adapter_model.safetensors" if given.start and given.start.is_dir() else given.start
    for needed in filter(None, (given.data, start)):
        if not needed.is_file():
            parser.error(f"{needed}: no such file")
    if min(given.examples, given.every) < 1:
        parser.error("--examples and --every are at least 1")
    torch.set_num_threads(1)
    keep_memory()
    settings = Settings(given.examples, given.seed, rate=given.rate, compile=given.compile)
    finetune(given.data, given.out, given.base, settings, given.every, start=start)


if __name__ == "__main__":
    main()
