"""Which environments of PettingZoo run: a table of libraries, versions and verbs, shown in docs/pettingzoo.md.

python benchmarks/worlds.py > table.md
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from maeil.trace.events import StepTaken, ThoughtStart
from quorum.cli import app
from quorum.runs.run_folder import RunFolder, runs_inside

ROOT = Path(__file__).resolve().parents[1]


class Entry(NamedTuple):
    """An environment of the table.

    Attributes:
        library: distribution of the environment.
        environment: the value of `env.id`.
        kind: parallel or turns.
        n: number of agents.
        words: further parts of the configuration.
        zero_sum: whether it is a game of turns, played to its own end, in which one wins what the other loses.
    """

    library: str
    environment: str
    kind: str
    n: int
    words: tuple[str, ...] = ()
    zero_sum: bool = False


FORAGING = f"--config-dir={ROOT / 'examples' / 'configs'}"
ENTRIES = (
    Entry("mpe2", "mpe2.simple_spread_v3", "parallel", 3),
    Entry("mpe2", "mpe2.simple_spread_v3:env", "turns", 3),
    Entry("mpe2", "mpe2.simple_spread_v3", "parallel", 3, ("env.kwargs.continuous_actions=true",)),
    Entry("mpe2", "mpe2.simple_speaker_listener_v4", "parallel", 2),
    Entry("mpe2", "mpe2.simple_tag_v3", "parallel", 4),
    Entry("pettingzoo", "pettingzoo.classic.connect_four_v3", "turns", 2, zero_sum=True),
    Entry("pettingzoo", "pettingzoo.classic.tictactoe_v3", "turns", 2, zero_sum=True),
    Entry("pettingzoo", "pettingzoo.classic.rps_v2", "parallel", 2),
    Entry("pettingzoo", "pettingzoo.butterfly.cooperative_pong_v6", "parallel", 2),
    Entry("lbforaging", "foragers:Foraging", "parallel", 2, ("env=foragers", FORAGING)),
    Entry("a user's own", "zoo_games:Rescue", "parallel", 2),
)


def quorum(*words: str) -> None:
    """Run the command.

    Raises:
        RuntimeError: the exit code is not 0.
    """
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        code = app(list(words), prog_name="quorum", standalone_mode=False)
    if code:
        raise RuntimeError(f"exit code {code}")


def try_all(entry: Entry) -> dict[str, str]:
    """Return the result of each verb: `yes`, or the message."""
    module = entry.environment.partition(":")[0]
    words = list(entry.words)
    if "env=foragers" not in words:
        words += [
            "env=pettingzoo",
            f"env.id={entry.environment}",
            f"n={entry.n}",
            f"max_steps={100 if entry.zero_sum else 30}",
        ]
    trusted = ["--plugin", module]
    run = ["run", *words, "agents=naive", "--quiet"]
    steps = {
        "naive": lambda: quorum(*run, "topology=individual"),
        "debate": lambda: quorum(*run, "topology=debate"),
        "centralized": lambda: quorum(*run, "topology=centralized"),
        "view": lambda: quorum("view", first(), "--export", "page.html", "--force", *trusted),
        "film": lambda: quorum("replay", first(), "--out", "film.gif", "--force", *trusted),
        "compare": lambda: quorum("compare", "runs"),
        "branch": lambda: quorum("branch", first(), "--at", "0", "topology=debate", "--quiet", *trusted),
        "blame": lambda: quorum(
            "blame", first(), "--reference", "random", "--success", "score>=1000000", "--no-shares", *trusted
        ),
    }
    if entry.zero_sum:
        steps |= {"won and lost": lambda: played_out(entry.environment, [*run, "topology=individual"])}
    found = {}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for verb, step in steps.items():
            try:
                step()
                found[verb] = "yes"
            except Exception as error:
                found[verb] = f"no: {' '.join(str(error).split())}"
    return found


def played_out(environment: str, run: Sequence[str], seeds: int = 4) -> None:
    """Play games to their end, and compare each trace with the library's own game, which gets the same moves.

    Raises:
        RuntimeError: a game does not end by itself, the rewards are not those of its winner and loser, or a mind gets a
            turn while it is off turn.
    """
    for seed in range(seeds):
        quorum(*run, f"seed={seed}", "--out", "games")
    winners = []
    for path in runs_inside(Path("games")):
        folder = RunFolder(path)
        steps, metrics = [*folder.trace().of(StepTaken)], folder.metrics()
        game = import_module(environment).env()
        game.reset()
        movers = []
        for step in steps:
            require(not any(game.terminations.values()), f"{path.name}: it continues after its end")
            movers.append(game.possible_agents.index(game.agent_selection))
            who = [agent for agent, move in enumerate(step.joint) if move is not None]
            require(who == movers[-1:], f"{path.name}: agents {who} move in the turn of {game.agent_selection}")
            game.step(step.joint[movers[-1]])
        require(all(game.terminations.values()), f"{path.name}: the game has not ended")
        require(not any(game.truncations.values()), f"{path.name}: the game is cut off")
        require(folder.meta().outcome == "ended", f"{path.name}: the outcome is {folder.meta().outcome}")
        for stamped in folder.trace().among(ThoughtStart):
            asked = stamped.event.agent
            require(asked == movers[stamped.t], f"{path.name}: agent {asked} gets a turn off turn at {stamped.t}")
        own = [game.rewards[agent] for agent in game.possible_agents]
        got = list(steps[-1].rewards or [steps[-1].reward] * len(own))
        require(got == own, f"{path.name}: the last step gives {got}, and the game {own}")
        if sorted(own) == [-1, 1]:
            require(own[movers[-1]] == 1, f"{path.name}: the last to move has not won")
            ends = metrics["outcome.lowest_return"], metrics["outcome.highest_return"], metrics["outcome.return"]
            require(ends == (-1, 1, 0), f"{path.name}: the returns are {ends}")
            winners.append(movers[-1])
        else:
            require(own == [0, 0], f"{path.name}: the rewards are {own}")
    require(bool(winners), "nobody has won")


def require(holds: bool, otherwise: str) -> None:
    """Raise RuntimeError if something does not hold."""
    if not holds:
        raise RuntimeError(otherwise)


def first() -> str:
    """Return the folder of the first run."""
    return str(min(runs_inside(Path("runs")), key=lambda path: ("individual" not in path.name, path.name)))


def main() -> None:
    """Print the table; the exit code is 1 if something does not run."""
    sys.path[:0] = [str(ROOT / "examples"), str(ROOT / "tests" / "plugins")]
    os.environ["SDL_VIDEODRIVER"] = "dummy"
    print("| library | version | environment | kind | agents | what ran |\n|---|---|---|---|---|---|")
    broken = []
    for entry in ENTRIES:
        found = try_all(entry)
        ran = ", ".join(verb for verb, said in found.items() if said == "yes")
        held = "" if entry.library.startswith("a ") else version(entry.library)
        more = f", `{entry.words[0]}`" if entry.words and "=" in entry.words[0] else ""
        print(
            f"| {entry.library} | {held} | `{entry.environment}`{more} | {entry.kind} | {entry.n} | {ran} |", flush=True
        )
        broken += [f"{entry.environment}: {verb}: {said}" for verb, said in found.items() if said != "yes"]
    print("\n".join(broken), file=sys.stderr)
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
