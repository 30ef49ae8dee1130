from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from quorum.configuration import compose as composing
from quorum.configuration.templates import Template
from quorum_base.user_errors import UserError
from tests.composing import compose
from tests.conftest import PLUGINS

CORRIDOR = PLUGINS / "corridor_configs"


def test_the_common_knobs_flow_into_the_groups() -> None:
    plain = compose(["n=8", "max_steps=70", "env.blocks={1: 3, 2: 1}"])
    assert (plain["n"], plain["env"]["n"], plain["env"]["max_steps"]) == (8, 8, 70)
    assert plain["env"]["blocks"] == {1: 3, 2: 1}
    assert type(plain) is dict
    assert type(plain["env"]) is dict


def test_a_group_file_may_set_common_knobs_and_the_command_line_wins() -> None:
    plain = compose(["env=corridor_short"], CORRIDOR)
    assert (plain["n"], plain["max_steps"], plain["env"]["n"]) == (2, 7, 2)
    plain = compose(["max_steps=9", "n=3", "env=corridor_short"], CORRIDOR)
    assert (plain["n"], plain["max_steps"], plain["env"]["n"]) == (3, 9, 3)


@pytest.mark.parametrize("name", ["with space", "it's", "a,b[c]{d}", "b\\c", "d\\", "e\\'f"])
def test_the_folder_of_third_party_options_may_have_any_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name / "env").mkdir(parents=True)
    (tmp_path / name / "env" / "mine.yaml").write_text("# Mine.\nname: mine\n")
    assert compose(["env=mine"], tmp_path / name)["env"] == {"name": "mine"}


def test_what_ships_is_not_replaced_by_a_file_of_the_same_name(tmp_path: Path) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "cube.yaml").write_text("name: other\n")
    assert compose([], tmp_path)["env"]["name"] == "cube"


def test_threads_may_compose_at_the_same_time() -> None:
    with ThreadPoolExecutor(6) as pool:
        found = list(pool.map(lambda n: compose([f"n={n}"])["env"]["n"], range(1, 25)))
    assert found == list(range(1, 25))


REFUSED = {
    "nn=8": r"^nn: there is no such key\nDid you mean 'n'\? Keys: n, seed, ",
    "blocks=3": r"^blocks: .*\nDid you mean 'env.blocks'\?",
    "env.sidee=3": r"^env.sidee: .*\nDid you mean 'side'\? Keys of env: name, n, side, ",
    "topology.foo=1": r"^topology.foo: there is no such key\nKeys of topology: name\.",
    "n.x=1": r"^n.x: there is no such key\nn is a single value\.",
    "foo/bar=1": r"^foo/bar: there is no such key",
    "env=cubee": r"^env: there is no option 'cubee'\nDid you mean 'cube'\? Options of env: .*\bcube, cube_coop2\b",
    "env=../config": r"^env: '../config' is not the name of an option",
    "env=null": r"^env: null is not the name of an option\nOptions of env: .*\bcube, cube_coop2\b",
    "env={name: cube}": r"^env: this map is not the name of an option",
    "env=[cube]": r"^env: \['cube'\] is not the name of an option",
    "+env=cube": r"^\+env: every experiment has this group already; write env=OPTION",
    "++env=cube": r"^\+env: every experiment has this group already; write env=OPTION",
    "env@x=cube": r"^env@x: a group has a fixed place; write env=OPTION",
    "~foo": r"^~foo: there is no such key",
    "n=${foo}": r"^n: interpolation key 'foo' not found",
    "llm=openai": r"^llm.model: missing mandatory value: model\nGive llm.model=VALUE: name of the model",
    "n=???": r"^n: missing mandatory value",
    "n": r"^'n' is not KEY=VALUE\nFor example",
    "": r"^'' is not KEY=VALUE",
    "=3": r"^'=3' has no key before the '='",
    "n==": r"^'n==' cannot be read: a quote or a bracket is left open, or a special character",
    'n="8': r"^'n=\"8' cannot be read: a quote or a bracket is left open",
    "n=[1,2": r"cannot be read: a quote or a bracket is left open",
    "n=8 seed=3": r"cannot be read: .*\nWrite one KEY=VALUE per argument",
    "n=twice(3)": r"^'n=twice\(3\)' cannot be read: 'twice\(3\)': Unknown function 'twice'",
    "n=2,4": r"^n: an episode takes one value, but '2,4' gives several",
    "seed=range(0,3)": r"^seed: an episode takes one value, but 'range\(0,3\)' gives several",
    "env=glob(*)": r"^env: an episode takes one value",
    "n=shuffle(2,4)": r"^n: shuffle\(\) draws without a seed",
    "seed=shuffle(range(0,3))": r"^seed: shuffle\(\) draws without a seed",
    "n=interval(0,1)": r"^n: interval\(\) gives no list of values",
    "hydra.verbose=true": r"^hydra.verbose: Hydra's own settings have no effect here",
    "hydra/launcher=basic": r"^hydra/launcher: Hydra's own settings",
}


@pytest.mark.parametrize("argument", REFUSED)
def test_a_wrong_argument_is_reported_in_our_words(argument: str) -> None:
    with pytest.raises(UserError, match=REFUSED[argument]) as caught:
        compose([argument])
    reported = str(caught.value)
    assert not any(word in reported for word in ("multirun", "hydra.cc", "struct", "Lexer", "EOF", "provider="))


def test_a_key_without_a_value_hides_no_unknown_key() -> None:
    with pytest.raises(UserError, match=r"^env\.observation: there is no such key\nKeys of env: name, n, rows"):
        compose(["llm=openai", "env=transport", "env.observation=text"])


def test_a_folder_of_options_that_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--config-dir .*nowhere: no such folder"):
        compose([], tmp_path / "nowhere")


def test_a_file_that_is_not_yaml_is_reported(tmp_path: Path) -> None:
    (tmp_path / "env").mkdir()
    (tmp_path / "env" / "bad.yaml").write_text("name: [\n")
    with pytest.raises(UserError, match=r"bad\.yaml:2: it is not valid YAML"):
        compose(["env=bad"], tmp_path)


@pytest.mark.parametrize(
    ("words", "reported"),
    [
        (["n=4", "n=8"], "n is given twice: n=4 and n=8\nLeave one of them out."),
        (["n=4", "seed=1", "++n=4"], "n is given twice: n=4 and ++n=4"),
        (["env=cube", "env=crafter"], "env is given twice: env=cube and env=crafter"),
        (["env.blocks={1: 2}", "env.blocks={1: 3}"], "env.blocks is given twice"),
        (["~prompts.folder", "prompts.folder=x"], "prompts.folder is given twice"),
    ],
)
def test_a_key_that_is_given_twice_is_refused(words: list[str], reported: str) -> None:
    with pytest.raises(UserError) as caught:
        compose(words)
    assert str(caught.value).startswith(reported)


def test_threads_that_compose_at_once_are_all_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the process keeps so few templates that each thread drops those of the others."""

    class Slow(dict[tuple[object, ...], Template]):
        def __delitem__(self, key: tuple[object, ...]) -> None:
            time.sleep(0.3)  # in which another thread may drop the same one
            super().__delitem__(key)

    monkeypatch.setattr(composing, "_TEMPLATES", Slow())
    monkeypatch.setattr(composing, "_MOST_TEMPLATES", 1)
    asked = [[f"topology={team}", f"agents={mind}"] for team in ("debate", "chain") for mind in ("naive", "negotiator")]
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(compose, asked))
    assert found == [compose(words) for words in asked]
