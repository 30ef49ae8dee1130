"""Writes a LoRA of PEFT as a GGUF adapter, which llama.cpp applies to the packaged weights when it loads them.

    python lora_gguf.py runs/train/listener listener.gguf
    python ../gguf_server.py --lora listener.gguf

The format is that of llama.cpp's `convert_lora_to_gguf.py`.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import gguf
import torch
from safetensors.torch import load_file
from transformers import AutoConfig
from weights import gguf_name, rotary_heads, to_gguf

PREFIX = "base_model.model."
"""What PEFT puts before the name of a module."""


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
    heads = rotary_heads(config)
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
        module, half, _ = name.removeprefix(PREFIX).rsplit(".", 2)  # half: lora_A, (rank, in), or lora_B, (out, rank)
        role = module.rsplit(".", 1)[1]
        rows = to_gguf(matrix, heads[role]) if half == "lora_B" and role in heads else matrix
        writer.add_tensor(
            f"{gguf_name(module, config.num_hidden_layers)}.weight.{half.lower()}",
            rows.to(torch.float16).contiguous().numpy(),
        )
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
