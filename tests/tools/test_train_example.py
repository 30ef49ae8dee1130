"""The files of examples/train against llama.cpp: equal tokens, equal predictions; and a restart changes nothing."""

import json
import random
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

pytestmark = [pytest.mark.tools, pytest.mark.filterwarnings("default")]  # peft and transformers warn
torch = pytest.importorskip("torch")
EXAMPLES = Path(__file__).parents[2] / "examples"
sys.path.insert(0, str(EXAMPLES / "train"))


def post(address, path, body):
    request = urllib.request.Request(
        f"{address}/{path}", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=300) as answer:
        return json.load(answer)


def serving(*arguments):
    command = [sys.executable, EXAMPLES / "gguf_server.py", "--port", "0", "--context", "1024", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    address = process.stdout.readline().strip().removesuffix("/v1")
    assert address.startswith("http"), "the server did not start"
    return process, address


def stopped(process):
    process.terminate()
    process.wait(30)
    process.stdout.close()


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Eight examples that a model can only learn by heart or by reading ids."""
    file, draw = tmp_path_factory.mktemp("data") / "toy.jsonl", random.Random(1)
    rows = []
    for index in range(8):
        ids = [f"b{draw.randrange(20)}" for _ in range(4)]
        blocks = "\n".join(f"{block}  at ({draw.randrange(20)}, {draw.randrange(20)})" for block in ids)
        prompt = [{"role": "system", "content": "You move blocks."}, {"role": "user", "content": f"{blocks}\nAnswer."}]
        answer = json.dumps({"action": "push", "block": ids[index % 4], "say": f"To {ids[index % 4]}  12"})
        rows.append({"prompt": prompt, "completion": [{"role": "assistant", "content": answer}], "board": index})
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def base_folder(tmp_path_factory):
    from weights import base

    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("base")
    base(folder)
    return folder


@pytest.fixture(scope="module")
def student(tmp_path_factory, data, base_folder):
    from finetune import Settings, finetune

    out = tmp_path_factory.mktemp("student")
    finetune(data, out, base_folder, Settings(64, warmup=2), every=4)
    return out


@pytest.fixture(scope="module")
def untrained(base_folder):
    process, address = serving()
    yield address
    stopped(process)


@pytest.fixture(scope="module")
def trained(tmp_path_factory, student, base_folder):
    from lora_gguf import write_adapter

    file = tmp_path_factory.mktemp("gguf") / "student.gguf"
    write_adapter(student, base_folder, file)
    assert file.stat().st_size < 6e6
    process, address = serving("--lora", str(file), "--slots", "2")
    yield address
    stopped(process)


def difference(address, prompt, model, tokenizer):
    """Return llama.cpp's greedy answer, and how far log-probabilities of its five likeliest tokens differ, in nats."""
    asked = {"messages": prompt, "temperature": 0, "max_tokens": 24, "logprobs": True, "top_logprobs": 5}
    answer = post(address, "v1/chat/completions", asked)
    places = answer["choices"][0]["logprobs"]["content"]
    text = tokenizer.apply_chat_template(prompt, add_generation_prompt=True, tokenize=False)
    before = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert answer["usage"]["prompt_tokens"] == len(before)
    with torch.no_grad():
        logits = model(torch.tensor([before + [place["id"] for place in places]])).logits[0, len(before) - 1 :]
    here = logits.log_softmax(-1)
    gaps = [
        abs(top["logprob"] - here[index, top["id"]].item())
        for index, place in enumerate(places)
        for top in place["top_logprobs"]
    ]
    return sum(gaps) / len(gaps), answer["choices"][0]["message"]["content"]


def prompts(data):
    return [json.loads(line) for line in data.read_text(encoding="utf-8").splitlines()]


def test_text_becomes_the_same_tokens_as_in_llama_cpp(untrained, base_folder):
    from transformers import AutoTokenizer

    tokenizer, draw = AutoTokenizer.from_pretrained(base_folder), random.Random(3)
    pieces = ["block", "b12", " ", "  ", "\n", "\n\n", "\t", "-3", "(14, 5)", " 7", "é", "→", '{"a":', "I'll", "  12"]
    for _ in range(60):
        text = "".join(draw.choices(pieces, k=20))
        there = post(untrained, "tokenize", {"content": text, "add_special": False, "parse_special": True})["tokens"]
        assert tokenizer(text, add_special_tokens=False)["input_ids"] == there, text


@pytest.mark.parametrize("system", [[], [{"role": "system", "content": "Short."}], [{"role": "system", "content": ""}]])
def test_a_prompt_is_the_same_text_as_in_llama_cpp(untrained, base_folder, system):
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(base_folder)
    chat = [*system, {"role": "user", "content": " a\n\n b "}]
    here = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
    assert post(untrained, "apply-template", {"messages": chat})["prompt"] == here


def test_the_unpacked_model_predicts_what_llama_cpp_predicts(untrained, base_folder, data):
    from weights import base

    model, tokenizer = base(base_folder)
    gap, _ = difference(untrained, prompts(data)[0]["prompt"], model.float(), tokenizer)
    assert gap < 0.3


def test_llama_cpp_applies_the_adapter_as_it_was_trained(trained, student, base_folder, data):
    from peft import PeftModel
    from weights import base

    model, tokenizer = base(base_folder)
    learned = PeftModel.from_pretrained(model.float(), student)
    for row in prompts(data)[:3]:
        gap, text = difference(trained, row["prompt"], learned, tokenizer)
        assert gap < 0.3
        assert row["completion"][0]["content"].startswith(text[:20])


def test_an_interrupted_run_ends_like_an_uninterrupted_one(tmp_path, base_folder, data, monkeypatch):
    from finetune import Settings, Training, finetune

    settings, step = Settings(16, seed=4, warmup=1), Training.step
    whole = finetune(data, tmp_path / "whole", base_folder, settings, every=2)

    def interrupted(training, examples):
        if training.update == 3:
            raise KeyboardInterrupt
        return step(training, examples)

    monkeypatch.setattr(Training, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        finetune(data, tmp_path / "parts", base_folder, settings, every=2)
    monkeypatch.undo()
    parts = finetune(data, tmp_path / "parts", base_folder, settings, every=2)
    assert [row["loss"] for row in parts.curve] == [row["loss"] for row in whole.curve]
    adapters = [tmp_path / run / "adapter_model.safetensors" for run in ("whole", "parts")]
    assert adapters[0].read_bytes() == adapters[1].read_bytes()
    with pytest.raises(SystemExit, match="seed: 4, now 5"):
        finetune(data, tmp_path / "parts", base_folder, Settings(16, seed=5, warmup=1), every=2)


def test_an_adapter_is_read_back_from_its_gguf_file(tmp_path, student, base_folder):
    from lora_gguf import read_adapter, write_adapter
    from safetensors.torch import load_file
    from transformers import AutoConfig

    file = tmp_path / "student.gguf"
    write_adapter(student, base_folder, file)
    trained = load_file(student / "adapter_model.safetensors")
    found = read_adapter(file, trained, AutoConfig.from_pretrained(base_folder))
    assert found.keys() == trained.keys()
    assert all(torch.equal(found[name], matrix.half().float()) for name, matrix in trained.items())


def test_a_file_that_is_no_adapter_of_the_model_is_named(tmp_path, base_folder):
    from lora_gguf import read_adapter
    from transformers import AutoConfig
    from weights import shipped

    config, matrix = (
        AutoConfig.from_pretrained(base_folder),
        "base_model.model.model.layers.0.mlp.up_proj.lora_A.weight",
    )
    with pytest.raises(SystemExit, match=r"not an adapter of this model: it has no blk\.0\.ffn_up\.weight\.lora_a"):
        read_adapter(shipped(), [matrix], config)
    (tmp_path / "empty.gguf").write_bytes(b"no GGUF at all, but long enough for a header")
    with pytest.raises(SystemExit, match=r"empty\.gguf: not a GGUF file"):
        read_adapter(tmp_path / "empty.gguf", [matrix], config)


def test_a_third_student_continues_from_the_adapter_of_another(tmp_path, student, base_folder, data):
    from finetune import Settings, finetune

    start = student / "adapter_model.safetensors"
    settings = Settings(4, rate=1e-4, warmup=0)
    third = finetune(data, tmp_path / "third", base_folder, settings, every=1, start=start)
    new = finetune(data, tmp_path / "new", base_folder, settings, every=1)
    learned = [json.loads((tmp_path / name / "training.json").read_text())["start"] for name in ("third", "new")]
    assert third.curve[0]["loss"] < new.curve[0]["loss"] / 2
    assert [learned[0] is None, learned[1]] == [False, None]


def test_examples_in_one_row_do_not_see_each_other(base_folder, data):
    from finetune import answer_loss, read_examples
    from weights import base

    model, tokenizer = base(base_folder)
    model.set_attn_implementation("packed")
    examples = read_examples(data, tokenizer)[:3]
    with torch.no_grad():
        together = answer_loss(model, examples).item()
        apart = [answer_loss(model, [example]).item() * len(example.answer) for example in examples]
    assert together == pytest.approx(sum(apart) / sum(len(example.answer) for example in examples), abs=0.02)


def test_lengths_of_prompts_are_those_that_the_server_counts(tmp_path, untrained, base_folder, data):
    from lengths import by_size, table
    from transformers import AutoTokenizer

    file = tmp_path / "sized.jsonl"
    rows = prompts(data)
    file.write_text("".join(json.dumps({**row, "n": 2 + index % 2}) + "\n" for index, row in enumerate(rows)))
    found = list(by_size(file, AutoTokenizer.from_pretrained(base_folder)))
    with pytest.raises(SystemExit, match=r"jsonl:1: no team size"):
        list(by_size(data, AutoTokenizer.from_pretrained(base_folder)))
    asked = {"messages": rows[0]["prompt"], "max_tokens": 1}
    assert found[0] == (2, post(untrained, "v1/chat/completions", asked)["usage"]["prompt_tokens"])
    assert [n for n, _ in found] == [2, 3] * 4
    assert table({3: [5, 8], 2: [7]}) == (
        "n = 2: 1 prompts, 7 tokens on average, 7 at most\nn = 3: 2 prompts, 6 tokens on average, 8 at most"
    )


def test_a_line_that_is_no_example_is_named(tmp_path, base_folder):
    from finetune import read_examples
    from transformers import AutoTokenizer

    (tmp_path / "wrong.jsonl").write_text('{"prompt": []}\n', encoding="utf-8")
    with pytest.raises(SystemExit, match=r"wrong\.jsonl:1: .*completion"):
        read_examples(tmp_path / "wrong.jsonl", AutoTokenizer.from_pretrained(base_folder))
