"""Translates the options `--model`, `--base-url`, `--n` and `--seeds` into `KEY=VALUE` arguments."""

from __future__ import annotations

from collections.abc import Sequence

from quorum.configuration.hints import model_words, quoted, span
from quorum.configuration.option_folders import ConfigDir
from quorum.configuration.secrets import refuse_secret_argument
from quorum_base.user_errors import UserError


def translated(
    words: Sequence[str],
    config_dir: ConfigDir = (),
    *,
    model: str | None,
    base_url: str | None,
    n: str | None,
    seeds: str | None,
) -> list[str]:
    """Return the arguments of a command, followed by those that its options stand for.

    Args:
        words: `KEY=VALUE` arguments.
        config_dir: folders with more providers.
        model: `PROVIDER/NAME`.
        base_url: address of the server.
        n: team sizes, such as `2,4,8`.
        seeds: boards, such as `0-9,12`.

    Raises:
        UserError: an option cannot be read or contains an API key, or an argument sets the same key.
    """
    for key, text in (("llm.model", model), ("llm.base_url", base_url), ("n", n), ("seed", seeds)):
        refuse_secret_argument(f"{key}={text}")  # before a message shows it
    found: dict[str, str] = {}
    if model is not None:
        several = [model_words(one.strip(), config_dir) for one in model.split(",")]
        if len({provider for provider, *_ in several}) > 1:
            raise UserError(
                f"--model {model}: a grid cannot vary the provider together with the model's name",
                "Run a sweep for each, and compare both: quorum compare SWEEP SWEEP --by model.",
            )
        names = ",".join(name.partition("=")[2] for _, *rest in several for name in rest)
        found |= {several[0][0]: f"--model {model}"} | ({f"llm.model={names}": f"--model {model}"} if names else {})
    if base_url is not None:
        found[f"llm.base_url={quoted(base_url)}"] = f"--base-url {base_url}"
    for option, key, text in (("--n", "n", n), ("--seeds", "seed", seeds)):
        if text is not None:
            if not (values := span(text)):
                raise UserError(
                    f"{option} {text}: not a list of numbers", f"For example: {option} 2,4,8 or {option} 0-9."
                )
            found[f"{key}={values}"] = f"{option} {text}"
    given = {word.lstrip("+~").partition("=")[0].strip(): word for word in words}
    for word, option in found.items():
        if (other := given.get(key := word.partition("=")[0])) is not None:
            raise UserError(f"{option} and {other} both set {key}", f"Give one of them: {word} or {other}.")
    return [*words, *found]
