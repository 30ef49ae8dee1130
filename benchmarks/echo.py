"""What copies of the prompt's example deliver on the boards of the recorded real model: python -m benchmarks.echo.

It takes half a minute. `llm=echo` decides by its draw which block comes first, so it plays with ten draws; the table
also shows the draw that clears most. It compares boards cleared and steps with those of SmolLM2-135M in
`examples/smollm2`.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from quorum.configuration.cell import Cell
from quorum.episode.runner import Result, run_cell
from quorum.runs import read_results

TEAM = ("n=1", "env.side=8", "env.blocks={1: 2}", "agents=naive", "prompts=terse", "max_steps=60", "budget.calls=6")
"""The configuration of the recorded sweep, apart from seed and model."""
RECORDED = Path(__file__).resolve().parents[1] / "examples" / "smollm2"
BOARDS, DRAWS = range(12), range(10)


def play(draw: int, out: Path) -> list[Result]:
    """Play the boards with `llm=echo`."""
    return [run_cell(Cell.compose([*TEAM, "llm=echo", f"seed={seed}", f"draw={draw}"]), out) for seed in BOARDS]


def main() -> None:
    """Print the table."""
    real = {row.seed: row.metrics for row in read_results(RECORDED).rows if not row.floor}
    with TemporaryDirectory() as folder:
        drawn = [play(draw, Path(folder)) for draw in DRAWS]
    cleared = [sum(result.metrics["outcome.success"] == 1 for result in own) for own in drawn]
    best = drawn[cleared.index(max(cleared))]
    alike = sum(
        result.metrics["outcome.success"] == real[seed]["outcome.success"] == 1
        and result.metrics["outcome.steps"] == real[seed]["outcome.steps"]
        for seed, result in zip(BOARDS, best, strict=True)
    )
    print("| answers | boards cleared of 12 |\n|---|---|")
    print(f"| SmolLM2-135M | {sum(one['outcome.success'] == 1 for one in real.values())} |")
    print(f"| echo, mean of ten draws | {sum(cleared) / len(cleared):.1f} |")
    print(f"| echo, the best draw | {max(cleared)} |")
    print(f"\nThe best draw takes the model's steps on {alike} of the boards that the model cleared.")


if __name__ == "__main__":
    main()
