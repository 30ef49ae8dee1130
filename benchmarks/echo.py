"""What copies of the prompt's example deliver on the boards of the recorded real model: python -m benchmarks.echo.

It takes half a minute. Each row is a way to choose the block of the copied plan: drawn among the blocks of the board,
ten times (`llm=echo`), or always the last block that the schema lists. The table compares boards cleared and steps with
those of SmolLM2-135M in `examples/smollm2`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from quorum.agents.simulated.chance import EchoModel
from quorum.configuration.cell import Cell
from quorum.episode.runner import Result, run_cell
from quorum.runs import read_results

TEAM = ("n=1", "env.side=8", "env.blocks={1: 2}", "agents=naive", "prompts=terse", "max_steps=60", "budget.calls=6")
"""The configuration of the recorded sweep, apart from seed and model."""
RECORDED = Path(__file__).resolve().parents[1] / "examples" / "smollm2"
BOARDS, DRAWS = range(12), range(10)


class _Last:
    """Chooses the last of all options."""

    def integers(self, options: int) -> int:
        """Return the index of the last option."""
        return options - 1


@contextmanager
def last_block() -> Iterator[None]:
    """Make `llm=echo` take the last option wherever it would draw one."""
    with patch.object(EchoModel, "_generator", lambda *_: _Last()):
        yield


def play(draw: int, out: Path) -> list[Result]:
    """Play the boards with `llm=echo`."""
    return [run_cell(Cell.compose([*TEAM, "llm=echo", f"seed={seed}", f"draw={draw}"]), out) for seed in BOARDS]


def main() -> None:
    """Print the table."""
    real = {row.seed: row.metrics for row in read_results(RECORDED).rows if not row.floor}
    with TemporaryDirectory() as folder:
        drawn = [play(draw, Path(folder)) for draw in DRAWS]
        with last_block():
            last = play(0, Path(folder) / "last")
    cleared = [sum(result.metrics["outcome.success"] == 1 for result in own) for own in drawn]
    alike = sum(
        result.metrics["outcome.success"] == real[seed]["outcome.success"] == 1
        and result.metrics["outcome.steps"] == real[seed]["outcome.steps"]
        for seed, result in zip(BOARDS, last, strict=True)
    )
    print("| answers | boards cleared of 12 |\n|---|---|")
    print(f"| SmolLM2-135M | {sum(one['outcome.success'] == 1 for one in real.values())} |")
    print(f"| echo, ten draws | {sum(cleared) / len(cleared):.1f} ({min(cleared)} to {max(cleared)}) |")
    print(f"| echo of the last block | {sum(one.metrics['outcome.success'] == 1 for one in last)} |")
    print(f"\nThe echo of the last block takes the model's steps on {alike} of the boards that the model cleared.")


if __name__ == "__main__":
    main()
