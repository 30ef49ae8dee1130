import pytest

from maeil.errors import InvalidThought
from tests.maeil.corridor import Corridor, Rest, Walk

vocabulary = Corridor.vocabulary


def test_an_action_parses_from_plain_data_and_reads_as_a_call():
    action = vocabulary.parse({"action": "walk", "steps": 2})
    assert action == Walk(steps=2)
    assert str(action) == "walk(steps=2, fails_at=null)"
    assert action.arguments() == {"steps": 2, "fails_at": None}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ({"action": "fly"}, "unknown action 'fly'; the actions are: walk, rest"),
        ({}, "unknown action None"),
        ({"action": "walk", "steps": "far"}, "walk: steps: Input should be a valid integer"),
        ({"action": "walk", "speed": 2}, "walk: speed: Extra inputs"),
    ],
)
def test_what_is_no_action_is_refused_with_its_place(data, reason):
    with pytest.raises(InvalidThought, match=reason):
        vocabulary.parse(data)


def test_a_vocabulary_knows_its_own_actions_only():
    class Fly(Walk):
        pass

    assert Walk() in vocabulary
    assert Fly() not in vocabulary
    assert list(vocabulary) == [Walk, Rest]
