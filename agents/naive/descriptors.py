"""Offers and needs in prompts and answers: their form, and how they are written and read."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from maeil.extensions.describe.descriptors import Descriptor, Need, Offer
from quorum.agents.prompting.answers import Part
from quorum.agents.prompting.examples import Example

Text = Annotated[str, Field(max_length=400)]
"""A sentence or two: DyTopo has 256 tokens at most."""
Tasks = Annotated[list[Annotated[str, Field(min_length=1, max_length=60)]], Field(max_length=8)]
"""Names, as the world gives them."""


class OfferAnswer(Part):
    """What one can do or tell."""

    text: Text
    tasks: Tasks
    free: bool


class NeedAnswer(Part):
    """What one lacks or wants to know."""

    text: Text
    tasks: Tasks


def read_descriptor(offers: OfferAnswer, needs: NeedAnswer) -> Descriptor:
    """Make a descriptor of the two parts of an answer."""
    return Descriptor(
        Offer(offers.text, tuple(offers.tasks), offers.free),
        Need(needs.text, tuple(needs.tasks)),
    )


def write_descriptor(descriptor: Descriptor) -> dict[str, Any]:
    """Write a descriptor as the two keys of an answer: the inverse of `read_descriptor`."""
    offers = descriptor.offers
    return {
        "offers": {"text": offers.text, "tasks": list(offers.tasks), "free": offers.free},
        "needs": _need(descriptor.needs),
    }


def example_descriptor(example: Example) -> Descriptor:
    """Return what an agent might offer and need that has a world's example in mind."""
    tasks = (example.plan.task.target,) if example.plan.task is not None else ()
    about = f" at {tasks[0]}" if tasks else ""
    return Descriptor(Offer(f"I am free, and can help{about}.", tasks), Need(f"I lack one more{about}.", tasks))


def _need(need: Need) -> dict[str, Any]:
    return {"text": need.text, "tasks": list(need.tasks)}
