"""`--verbose` and `--debug`: what is logged, that it is asked for, and that it holds no key."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from quorum.agents.simulated import SimulatedSettings
from quorum.agents.simulated.model import SimulatedModel
from quorum.verbs.app import all_verbs, command_of
from tests.conftest import CORRIDOR, Quorum, command, environment
from tests.loopback import Fault, FaultKind
from tests.serving import served

BRAIN = SimulatedModel(SimulatedSettings(**{**dict.fromkeys(SimulatedSettings.model_fields, 0), "seed": 0}))
CANARY = "sk-canary-7f3a9c51e2d84b60"


def test_every_verb_has_both_options() -> None:
    options = {name: {option for part in command_of(name).params for option in part.opts} for name in all_verbs()}
    assert {"run", "sweep", "list", "study"} <= options.keys()
    assert all({"--verbose", "--debug"} <= found for found in options.values())


def test_nothing_is_logged_unless_it_is_asked_for(quorum: Quorum) -> None:
    done = quorum("run", *CORRIDOR, "--json")
    assert done.stderr.splitlines() == [f"running {json.loads(done.stdout)['name']}"]


def test_verbose_tells_what_is_composed_built_and_written_on_standard_error(quorum: Quorum) -> None:
    done = quorum("run", *CORRIDOR, "--json", "--verbose")
    data = json.loads(done.stdout)
    reported = ("imported the plug-in walker", f"composed {data['name']}", "built ", "begins", "ended", "wrote runs")
    places = [done.stderr.index(part) for part in reported]
    assert places == sorted(places)
    assert "DEBUG" not in done.stderr


def test_debug_tells_every_event_and_every_call(quorum: Quorum) -> None:
    done = quorum("run", "agents=naive", "n=1", "max_steps=3", "--debug", "--quiet")
    assert "maeil.trace.recorder: t=0 t_hat=0 episode_start" in done.stderr
    assert "agent_0 asks in step 0: " in done.stderr
    assert "simulated answers agent_0: " in done.stderr


def test_debug_shows_where_a_mistake_was_found_and_no_other_text_of_an_exception(quorum: Quorum) -> None:
    plain = quorum("show", "blocks=3")
    done = quorum("show", "blocks=3", "--debug")
    assert (plain.returncode, done.returncode) == (2, 2)
    assert "compose.py" not in plain.stderr
    assert done.stderr.startswith(plain.stderr)
    assert "compose.py" in done.stderr
    assert "Could not override" not in done.stderr  # the text of Hydra's exception, which quotes what was typed


def test_worker_processes_log_too_and_no_record_holds_a_key(tmp_path: Path) -> None:
    asked = ("agents=naive", "n=1", "max_steps=2", "llm=openai", "llm.model=simulated", "llm.cache=false")
    fault = Fault(FaultKind.SERVER_ERROR, text=CANARY)
    with served(BRAIN, faults=[fault]) as addresses:
        where = (f"llm.base_url={addresses.openai}", "llm.api_key_env=CANARY_KEY", "engine.workers=1")
        words, variables = command("sweep", *asked, *where, "--debug"), environment(CANARY_KEY=CANARY)
        done = subprocess.run(words, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert "a call failed; the next try is in" in done.stderr
    assert "simulated answers agent_0" in done.stderr
    assert CANARY not in done.stderr + done.stdout


def test_a_key_that_stands_in_the_wrong_place_is_not_shown_either(quorum: Quorum) -> None:
    for word in (f"llm.api_key_env={CANARY}", f"llm.api_key={CANARY}"):
        done = quorum("run", "llm=openai", "llm.model=x", word, "--debug")
        assert done.returncode == 2
        assert CANARY not in done.stderr


def test_an_unknown_level_is_a_mistake(quorum: Quorum) -> None:
    done = quorum("list", QUORUM_LOG="loud")
    assert (done.returncode, done.stderr) == (
        2,
        "error: QUORUM_LOG=loud: there is no such level\nLevels: info, debug.\n",
    )
