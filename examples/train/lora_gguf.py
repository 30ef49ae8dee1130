"""Writes a LoRA of PEFT as a GGUF adapter, which llama.cpp applies to the packaged weights when it loads them.

    python lora_gguf.py runs/train/listener listener.gguf
    python ../gguf_server.py --lora listener.gguf

The format is that of llama.cpp's `convert_lora_to_gguf.py`.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterable
from pathlib import Path

import gguf
import torch
from safetensors.torch import load_file
from torch import Tensor
from transformers import AutoConfig, LlamaConfig
from weights import from_gguf, gguf_name, rotary_heads, to_gguf

PREFIX = "base_model.model."
"""What PEFT puts before the name of a module."""


def in_file(matrix: str, config: LlamaConfig) -> tuple[str, int | None]:
    """Return a matrix's name in GGUF, and the number of heads whose rows have another order there; None: none have.

    Args:
        matrix: its name in PEFT: a module, `lora_A`, (rank, in), or `lora_B`, (out, rank), and `weight`.
        config: the base model.
    """
    module, half, _ = matrix.removeprefix(PREFIX).rsplit(".", 2)
    heads = rotary_heads(config).get(module.rsplit(".", 1)[1]) if half == "lora_B" else None
    return f"{gguf_name(module, config.num_hidden_layers)}.weight.{half.lower()}", heads


def read_adapter(file: Path, matrices: Iterable[str], config: LlamaConfig) -> dict[str, Tensor]:
    """Return the matrices of an adapter by their names in PEFT, from a file of PEFT's or a GGUF file.

    A GGUF file has them in float16, rounded.

    Args:
        file: `adapter_model.safetensors`, or a file that `write_adapter` wrote.
        matrices: their names.
        config: the base model.

    Raises:
        SystemExit: the file is not GGUF, or lacks a matrix.
    """
    if file.suffix == ".safetensors":
        return load_file(file)
    try:
        packed = {tensor.name: torch.tensor(tensor.data).float() for tensor in gguf.GGUFReader(file).tensors}
    except ValueError as error:
        raise SystemExit(f"{file}: not a GGUF file: {error}") from None
    found = {}
    for matrix in matrices:
        name, heads = in_file(matrix, config)
        if name not in packed:
            raise SystemExit(f"{file}: not an adapter of this model: it has no {name}")
        found[matrix] = from_gguf(packed[name], heads) if heads else packed[name]
    return found


def write_adapter(folder: Path, base: Path, file: Path) -> None:
    """Write the adapter in a folder as GGUF, in float16.

    Args:
        folder: folder with `adapter_model.safetensors`, `adapter_config.json` and, optionally, `training.json`, which
            becomes the adapter's description.
        base: folder of the unpacked base model.
        file: GGUF file to write.
    """
    config = AutoConfig.from_pretrained(base)
    settings = json.loads((folder / "adapter_config.json").read_text(encoding="utf-8"))
    fresh = file.with_name(file.name + ".new")
    writer = gguf.GGUFWriter(fresh, "llama")
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, settings["lora_alpha"])
    writer.add_name(file.stem)
    writer.add_license("apache-2.0")
    writer.add_base_model_count(1)
    writer.add_base_model_name(0, "SmolLM2 135M Instruct")
    writer.add_base_model_organization(0, "HuggingFaceTB")
    writer.add_base_model_repo_url(0, "https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct")
    training = folder / "training.json"
    if training.is_file():
        writer.add_description(training.read_text(encoding="utf-8"))
    for name, matrix in load_file(folder / "adapter_model.safetensors").items():
        packed, heads = in_file(name, config)
        rows = to_gguf(matrix, heads) if heads else matrix
        writer.add_tensor(packed, rows.to(torch.float16).contiguous().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.replace(fresh, file)


def main() -> None:
    """Read the command line and write the adapter."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="results of finetune.py")
    parser.add_argument("file", type=Path, help="GGUF file to write")
    parser.add_argument("--base", type=Path, default=Path("runs/train/base"), help="folder of the unpacked base model")
    given = parser.parse_args()
    for needed in (given.folder / "adapter_model.safetensors", given.base / "config.json"):
        if not needed.is_file():
            parser.error(f"{needed}: no such file; run finetune.py")
    write_adapter(given.folder, given.base, given.file)


if __name__ == "__main__":
    main()
