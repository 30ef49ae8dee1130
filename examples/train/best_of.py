"""Examples for a third student and its control: answers of LISTENER's own episodes, the best ones and random ones.

    python ../gguf_server.py --lora students/listener.gguf --slots 8      # in another terminal
    python best_of.py http://localhost:8080/v1 --out ../../runs/train
    python finetune.py ../../runs/train/third.jsonl --start students/listener.gguf ...

LISTENER plays each board several times at temperature 1. Of the boards on which these episodes differ in reward, the
answers of the best one become examples in `third.jsonl`, in the form that `finetune.py` reads. This is expert iteration
(Anthony and others 2017, Thinking Fast and Slow with Deep Learning and Tree Search) with the best of K draws as the
expert. `control.jsonl` has those of a random one of the same episodes: a student of these learned as much from its own
answers, and nothing from what they led to.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import quorum

TEAM = ("n=2", "max_steps=100", "memory.messages=4", "agents=naive", "prompts=short", "llm.structured=prompt")
HELD_OUT = range(1100)
"""Boards that the students are judged on, and those that taught LISTENER."""


def chosen(episodes: Iterable[Any], kept: Counter[str]) -> Iterator[tuple[Any, Any]]:
    """Yield the best episode of each board, the first of equal ones, and a random one, unless all are equally good.

    Args:
        episodes: episodes (`quorum.train.episodes.Episode`), those of a board one after the other.
        kept: counts boards, and those that are left out as ties.
    """
    for board, draws in groupby(episodes, lambda episode: episode.board):
        played = [(next(iter(episode.seats.values())).reward.team, episode) for episode in draws]
        rewards = [reward for reward, _ in played]
        kept["boards"] += 1
        kept["ties"] += min(rewards) == max(rewards)
        if min(rewards) < max(rewards):
            yield max(played, key=lambda pair: pair[0])[1], random.Random(board).choice(played)[1]


def examples(episode: Any) -> Iterator[Mapping[str, Any]]:
    """Yield each answer of an episode with its prompt, except malformed ones that were requested again."""
    for name, seat in episode.seats.items():
        for call, following in pairwise([*seat.calls, None]):
            answer = {"role": "assistant", "content": call.text}
            if following is None or answer not in following.request.messages:
                yield {
                    "prompt": call.request.messages,
                    "completion": [answer],
                    "board": episode.board,
                    "draw": episode.draw,
                    "agent": name,
                    "turn": call.request.turn,
                    "reward": seat.reward.team,
                }


def main() -> None:
    """Read the command line, play and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address", help="LISTENER's server, with its /v1")
    parser.add_argument("--out", type=Path, required=True, help="folder for third.jsonl and control.jsonl")
    parser.add_argument("--topology", default="debate", help="debate by default")
    parser.add_argument("--boards", type=int, default=40, help="boards, from 1100 on (default: 40)")
    parser.add_argument("--draws", type=int, default=4, help="episodes of each board (default: 4)")
    given = parser.parse_args()
    boards = range(HELD_OUT.stop, HELD_OUT.stop + given.boards)
    team = (*TEAM, f"topology={given.topology}", "llm.max_tokens=200", "llm.max_concurrency=8", "llm.cache=false")
    played = quorum.rollouts(
        *team, policy=given.address, model="listener", boards=boards, group=given.draws, held_out=HELD_OUT
    )
    kept: Counter[str] = Counter()
    found: dict[str, list[Mapping[str, Any]]] = {"third": [], "control": []}
    try:
        for pair in chosen(played, kept):
            for own, episode in zip(found.values(), pair, strict=True):
                own.extend(examples(episode))
    except quorum.UserError as error:
        parser.error(str(error))
    given.out.mkdir(parents=True, exist_ok=True)
    for name, own in found.items():
        file = given.out / f"{name}.jsonl"
        fresh = file.with_name(file.name + ".new")
        fresh.write_text("".join(json.dumps(one) + "\n" for one in own), encoding="utf-8")
        os.replace(fresh, file)
        print(f"{file}: {len(own)} examples")
    print(f"{kept['boards']} boards, {kept['ties']} of them ties")


if __name__ == "__main__":
    main()
