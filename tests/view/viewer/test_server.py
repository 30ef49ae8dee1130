"""What the server refuses, over real HTTP, and how the command begins and ends."""

from __future__ import annotations

import http.client
import json
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import uvicorn

from quorum.process.http import Connections, server_config
from quorum.storage.outputs import Output
from quorum.view.viewer.command import export, view
from quorum.view.viewer.library import Library
from quorum.view.viewer.server import application
from quorum_base.user_errors import UserError
from tests.conftest import PATIENCE, Quorum, command, environment
from tests.view.viewer.conftest import TOKEN, served

SECRET = "the content of a file outside"


@pytest.fixture(scope="module")
def folder(episodes: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs with every kind of link that leads out of it."""
    outside = tmp_path_factory.mktemp("outside")
    shutil.copytree(episodes["squeeze"], outside / "private-run")
    (outside / "secret.txt").write_text(SECRET)
    folder = tmp_path_factory.mktemp("served") / "runs"
    shutil.copytree(episodes["squeeze"], folder / "fine")
    (folder / "linked-run").symlink_to(outside / "private-run")
    for name in ("trace.jsonl", "calls.jsonl", "meta.json"):
        target = folder / f"linked-{name.partition('.')[0]}"
        shutil.copytree(episodes["squeeze"], target)
        (target / name).unlink(missing_ok=True)
        (target / name).symlink_to(outside / "secret.txt")
    return folder


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[int]:
    with served(folder) as address:
        found = urlsplit(address).port
        assert found is not None
        yield found


def ask(port: int, path: str, method: str = "GET", **headers: str) -> tuple[int, http.client.HTTPMessage, str]:
    """Send a request with its path as it stands: a client library would mend it."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.putrequest(method, path, skip_host="host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def test_the_page_is_there_for_who_has_the_token(port: int) -> None:
    for path in (
        "",
        "run/fine",
        "static/quorum.js",
        "static/main.js",
        "static/style.css",
        "api/sweep",
        "api/run/fine/episode",
    ):
        status, headers, _ = ask(port, f"/{TOKEN}/{path}")
        assert status == 200, path
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
    page = ask(port, f"/{TOKEN}/run/fine")[2]
    assert re.findall(r"<script[^>]*>(.*?)</script>", page) == [""], "no script stands in the page"
    assert "style=" not in page


@pytest.mark.parametrize(
    "path",
    ["/", "", "/run/fine", "/api/sweep", "/favicon.ico", f"/{TOKEN}x/", f"/{TOKEN[:-1]}/", f"/{TOKEN}", f"//{TOKEN}/"],
)
def test_without_the_token_nothing_is_answered(port: int, path: str) -> None:
    status, headers, text = ask(port, path or "/")
    assert status == 403
    assert TOKEN not in text
    assert "content-security-policy" in headers


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1.nip.io:{port}", ""])
def test_a_foreign_host_is_refused(port: int, host: str) -> None:
    assert ask(port, f"/{TOKEN}/", host=host.format(port=port))[0] == 403


def test_this_machine_by_its_names_is_answered(port: int) -> None:
    for name in ("localhost", "127.0.0.1"):
        assert ask(port, f"/{TOKEN}/", host=f"{name}:{port}")[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_only_reading_is_allowed(port: int, method: str) -> None:
    assert ask(port, f"/{TOKEN}/api/sweep", method)[0] == 405


@pytest.mark.parametrize(
    "path",
    [
        "api/run/../episode", "api/run/%2e%2e/episode", "api/run/..%2f..%2fetc/episode",
        "api/run/fine%2f..%2ffine/episode",
        "api/run/./episode", "api/run/%2fetc/episode", "api/run/fine%00/episode", "api/run/linked-run/episode",
        "run/linked-run", "run/..", "run/%2e%2e%2f%2e%2e", "static/../page.py", "static/%2e%2e%2fpage.py",
        "static/page.py", "../../../../etc/passwd", "api/run/fine/call/-1", "api/run/fine/call/99999", "api/nothing",
        "api/run/sweep.json/episode",
    ],
)  # fmt: skip
def test_paths_that_lead_elsewhere_are_refused(port: int, path: str) -> None:
    status, _, text = ask(port, f"/{TOKEN}/{path}")
    assert status in (400, 403, 404)
    assert "root:" not in text
    assert "def " not in text


@pytest.mark.parametrize("place", ["page", "film", "ways", "call"])
@pytest.mark.parametrize("number", ["9" * 5_000, "9" * 19, "1e999", "NaN", "-1", "%EF%BC%91", "0x1", ""])
def test_a_number_that_no_run_has_is_not_found(port: int, place: str, number: str) -> None:
    assert ask(port, f"/{TOKEN}/api/run/fine/{place}/{number}")[0] == 404


@pytest.mark.parametrize("name", ["linked-trace", "linked-calls", "linked-meta"])
def test_links_among_the_files_of_a_run_are_not_followed(port: int, name: str) -> None:
    status, _, text = ask(port, f"/{TOKEN}/api/run/{name}/episode")
    assert status == 200
    assert "link" in text
    assert SECRET not in text
    assert SECRET not in ask(port, f"/{TOKEN}/api/run/{name}/search?q=the")[2]


def test_a_linked_run_is_named_and_not_followed(port: int) -> None:
    sweep = json.loads(ask(port, f"/{TOKEN}/api/sweep")[2])
    assert "linked-run" not in [line["run"] for line in sweep["rows"]]
    assert "linked-run: it is a link, which is not followed" in sweep["problems"]


def test_the_command_prints_an_address_and_ends_at_ctrl_c(episodes: dict[str, Path], tmp_path: Path) -> None:
    server = subprocess.Popen(
        command("view", str(episodes["squeeze"]), "--no-browser"),
        cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        address = urlsplit(server.stdout.readline().strip())
        assert address.hostname == "127.0.0.1"
        assert re.fullmatch(r"/[\w-]{32}/", address.path)
        assert address.port is not None
        assert ask(address.port, address.path)[0] == 200
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=PATIENCE)
        assert server.returncode in (0, 130)
        assert errors == ""
    finally:
        server.kill()
        server.wait()


@contextmanager
def impatient(folder: Path) -> Iterator[int]:
    """Serve a folder as the command does, with connections that wait for a moment only; give the port."""
    connections = Connections()
    connections.head_seconds = connections.stall_seconds = 0.3
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        taken = listener.getsockname()[1]
        server = uvicorn.Server(server_config(application(Library.of(folder), TOKEN, taken), connections))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            yield taken
        finally:
            server.should_exit = True
            thread.join(PATIENCE)


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET / HT", b"GET / HTTP/1.1\r\nhost: a\r\nx: ", b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n"],
)
def test_a_request_that_takes_its_time_is_not_waited_for(sent: bytes, folder: Path) -> None:
    with impatient(folder) as taken, socket.create_connection(("127.0.0.1", taken), timeout=PATIENCE) as client:
        client.sendall(sent)
        while client.recv(4096):
            pass


def _sent(client: socket.socket, data: bytes, times: int) -> int:
    """Send data so many times, and return how often until the connection ended."""
    for number in range(times):
        try:
            client.sendall(data)
        except OSError:
            return number
        time.sleep(0.03)
    return times


def test_a_client_that_sends_a_byte_now_and_then_is_not_waited_for(folder: Path) -> None:
    with impatient(folder) as taken, socket.create_connection(("127.0.0.1", taken), timeout=PATIENCE) as client:
        assert _sent(client, b"G", 100) < 100


def test_an_answer_that_is_not_taken_is_not_kept(folder: Path) -> None:
    with impatient(folder) as taken, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        client.connect(("127.0.0.1", taken))
        client.settimeout(10)
        asked = f"GET /{TOKEN}/static/episode.js HTTP/1.1\r\nhost: 127.0.0.1:{taken}\r\n\r\n".encode()
        assert _sent(client, asked * 50, 1000) < 1000


def test_the_token_is_not_among_the_arguments_of_the_browser(episodes: dict[str, Path], tmp_path: Path) -> None:
    reported = tmp_path / "reported"
    browser = tmp_path / "browser"
    script = [
        'file="${1#file://}"',
        f'(echo "$1"; stat -c %a "$file"; cat "$file") > {reported}.half',
        f"mv {reported}.half {reported}",
    ]
    browser.write_text("\n".join(["#!/bin/sh", *script, ""]))
    browser.chmod(0o700)
    server = subprocess.Popen(
        command("view", str(episodes["squeeze"])),
        cwd=tmp_path, env=environment(BROWSER=f"{browser} %s"), stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert server.stdout is not None
        address = server.stdout.readline().strip()
        deadline = time.monotonic() + PATIENCE
        while not reported.exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        argument, mode, page = reported.read_text().splitlines()
        assert urlsplit(address).path.strip("/") not in argument
        assert (mode, address in page) == ("600", True)
        found = urlsplit(address)
        assert found.port is not None
        assert ask(found.port, found.path)[0] == 200
        server.send_signal(signal.SIGINT)
        server.wait(30)
        assert not Path(urlsplit(argument).path).exists()
    finally:
        server.kill()
        server.stdout.close()
        server.wait()


def test_mistakes_are_reported_by_what_is_wrong(episodes: dict[str, Path], tmp_path: Path, port: int) -> None:
    run = episodes["squeeze"]
    (tmp_path / "empty").mkdir()
    nowhere = tmp_path / "no" / "page.html"

    def look(folder: Path, port: int = 0) -> None:
        view([folder], port, browser=False, echo=lambda _: pytest.fail("it was served"))

    for mistake, wanted in (
        (lambda: look(tmp_path / "nowhere"), "there is no such folder"),
        (lambda: look(tmp_path / "empty"), "it holds no runs"),
        (lambda: look(run / "meta.json"), "it is a file"),
        (lambda: look(run, port), f"--port {port}: "),
        (lambda: look(run, 99_999), "--port 99999: "),
        (lambda: export([run], Output(nowhere, "--export")), "there is no folder"),
    ):
        with pytest.raises(UserError) as reported:
            mistake()
        assert wanted in str(reported.value)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty"]


def test_the_command_exports_and_tells_mistakes_without_a_traceback(
    quorum: Quorum, episodes: dict[str, Path], tmp_path: Path
) -> None:
    done = quorum("view", str(episodes["squeeze"]), "--export", "page.html")
    assert (done.returncode, done.stdout) == (0, "page: page.html\n")
    assert (tmp_path / "page.html").stat().st_size > 10_000
    done = quorum("view", "nowhere", "--no-browser")
    assert done.returncode == 2
    assert done.stderr.startswith("error: nowhere: there is no such folder\n")
