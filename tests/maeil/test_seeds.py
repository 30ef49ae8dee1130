from maeil.seeds import Seeds


def test_a_stream_depends_on_seed_and_path_alone():
    assert Seeds(3).child("minds").child(1).integer() == Seeds(3, "minds/1").integer()
    places = [Seeds(seed, path).integer() for seed in (0, 1) for path in ("", "minds", "minds/0", "minds/1", "world")]
    assert len(set(places)) == len(places)


def test_streams_are_the_same_on_every_machine():
    assert Seeds(3, "minds/1").integer() == 4267830441429485499
    assert Seeds(3, "minds/1").generator().integers(1000, size=3).tolist() == [49, 193, 897]
