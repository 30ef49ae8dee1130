"""The answer to a turn that asks an agent to describe itself: its offers and needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from itertools import chain
from typing import Annotated, Any

import orjson
from pydantic import Field

from maeil.actions import Vocabulary
from maeil.mind import Act, Note, View
from maeil.plans import Plan
from maeil.world import World
from quorum.agents.answer_parts import AnswerPart, Asked
from quorum.agents.prompting.answers import Part
from quorum.agents.prompting.examples import Example
from quorum.agents.prompting.schemas import tasks_of, with_targets
from quorum.methods.dytopo.describe import DESCRIBE, needs_note
from quorum.methods.dytopo.descriptors import Descriptor, Need, Offer

Text = Annotated[str, Field(max_length=400)]
"""One or two sentences: DyTopo allows at most 256 tokens."""
Tasks = Annotated[list[Annotated[str, Field(min_length=1, max_length=60)]], Field(max_length=8)]
"""Task names, as the world gives them."""


class NeedAnswer(Part):
    """What an agent lacks or wants to know."""

    text: Text
    tasks: Tasks


class OfferAnswer(NeedAnswer):
    """What an agent can do or share."""

    free: bool


class DescribePart(AnswerPart):
    """The keys `offers` and `needs`, in words and as task names."""

    name = DESCRIBE
    keys = ("offers", "needs")

    def types(self, view: View) -> Mapping[str, Any]:  # noqa: ARG002
        """Return the types of both keys."""
        return {"offers": OfferAnswer, "needs": NeedAnswer}

    def narrowed(self, schema: Mapping[str, Any], view: View, world: World | None) -> Mapping[str, Any]:
        """Restrict task names in the schema to the targets of open tasks, because other names could match nothing."""
        agent = view.agent if world is not None and view.agent < len(world.agents) else None
        tasks = tasks_of(world, agent, view) if world is not None else None
        for name in (OfferAnswer.__name__, NeedAnswer.__name__):
            schema = with_targets(schema, name, list(dict.fromkeys(chain(*(tasks or {}).values()))))
        return schema

    def example(self, example: Example, view: View) -> Mapping[str, Any]:  # noqa: ARG002
        """Return plausible offers and needs of an agent that follows the example plan."""
        tasks = (example.plan.task.target,) if example.plan.task is not None else ()
        about = f" at {tasks[0]}" if tasks else ""
        offer, need = Offer(f"I am free, and can help{about}.", tasks), Need(f"I lack one more{about}.", tasks)
        return {"offers": asdict(offer), "needs": asdict(need)}

    def read(self, answer: Any, view: View) -> Descriptor:  # noqa: ARG002
        """Build a descriptor from both keys."""
        offers, needs = answer.offers, answer.needs
        return Descriptor(Offer(offers.text, tuple(offers.tasks), offers.free), Need(needs.text, tuple(needs.tasks)))

    def write(self, said: Descriptor, view: View) -> Mapping[str, Any]:  # noqa: ARG002
        """Write both keys."""
        return {"offers": asdict(said.offers), "needs": asdict(said.needs)}

    def texts(self, said: Descriptor) -> Sequence[str]:
        """Return the text of the offer and of the need."""
        return said.offers.words, said.needs.words

    def embedded(self, said: Descriptor, vectors: Sequence[tuple[float, ...]]) -> Descriptor:
        """Return the descriptor with its embeddings."""
        offered, needed = vectors
        return replace(said, offered=offered, needed=needed)

    def note(self, blocks: Mapping[str, str], index: Mapping[str, int], vocabulary: Vocabulary) -> Note | None:  # noqa: ARG002
        """Parse the needs of others."""
        if "needs" not in blocks:
            return None
        shown = orjson.loads(blocks["needs"]).items()
        return needs_note(tuple((index[name], Need(one["text"], tuple(one["tasks"]))) for name, one in shown), [*index])

    def says(self, asked: Asked) -> Descriptor:
        """Return the description from the world's role `describe`, or else one derived from the agent's next plan."""
        view = asked.view
        said = asked.role("describe", lambda _view: None)(view)
        if said is not None:
            return Descriptor(Offer(**{"free": view.plan is None, **said["offers"]}), Need(**said["needs"]))
        to_plan = replace(view, turn=replace(view.turn, acts=frozenset({Act.PLAN})))
        decision = asked.speaker.answer(to_plan, asked.chooser).decision
        task = decision.task if isinstance(decision, Plan) else view.plan.task if view.plan is not None else None
        tasks = (task.target,) if task is not None else ()
        about = " ".join(tasks) or "nothing yet"
        offer = Offer(f"I work on {about}.", tasks, free=view.plan is None)
        return Descriptor(offer, Need(f"Who else works on {about}?", tasks))


part = DescribePart()
