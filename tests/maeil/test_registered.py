"""What registers itself by a decorator, and what installed packages declare."""

import sys

import pytest

from quorum_base.registry import Registered


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Install a package that declares a module of things; give what the module does."""

    def install(source: str) -> None:
        info = tmp_path / "things-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: things\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[quorum.things]\nmine = some_things\n")
        (tmp_path / "some_things.py").write_text(source)
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.delitem(sys.modules, "some_things", raising=False)

    return install


def registered(monkeypatch) -> Registered[int]:
    things: Registered[int] = Registered("thing", "quorum.things", "[a-z]+")
    monkeypatch.setattr("quorum_base.registry.THINGS", things, raising=False)
    return things


def test_declared_modules_are_imported_on_the_first_look_and_stand_behind(package, monkeypatch):
    package("from quorum_base import registry\nregistry.THINGS.register('added', len(registry.THINGS))\n")
    things = registered(monkeypatch)
    things.register("ours", 0)
    assert dict(things) == {"ours": 0, "added": 1}
    assert len(things) == 2


@pytest.mark.parametrize("first", ["c.one = 1; c.two = 2; new.one = 0", "new.one = 0; c.one = 1; c.two = 2"])
def test_known_things_keep_their_order_whichever_is_imported_first(first, package, monkeypatch):
    calls = [line.split(" = ") for line in first.split("; ")]
    lines = "\n".join(f"registry.THINGS.register({name!r}, {value})" for name, value in calls)
    package(f"from quorum_base import registry\n{lines}\n")
    things = Registered("thing", "quorum.things", "[a-z.]+", ("a", "b", "c", "d"))
    monkeypatch.setattr("quorum_base.registry.THINGS", things, raising=False)
    for name in ("d.one", "a.one"):
        things.register(name, 0)
    assert list(things) == ["a.one", "c.one", "c.two", "d.one", "new.one"]


def test_a_module_that_cannot_be_imported_is_reported_each_time(package, monkeypatch):
    package("raise ImportError('some_library is missing')\n")
    things = registered(monkeypatch)
    for _ in range(2):
        with pytest.raises(ImportError, match="some_library is missing"):
            things.load()


@pytest.mark.parametrize(
    ("name", "message"), [("one", "there is already a thing 'one'"), ("../x", r"must match \[a-z\]")]
)
def test_a_name_is_taken_once_and_could_be_the_name_of_a_file(name, message):
    things: Registered[int] = Registered("thing", "quorum.things", "[a-z]+")
    things.register("one", 1)
    with pytest.raises(ValueError, match=message):
        things.register(name, 2)
