"""Ten hostile tries at each thing that keeps the studio to its user."""

import base64
import http.client
import json
import os
import socket
import stat
import struct
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import Any

import pytest
from serving import Served

from pliant.core.errors import MeshError
from pliant.mesh.io import read_volume, vtu
from pliant.studio import browser, messages, notebook, serve, temporary

sync = pytest.importorskip("websockets.sync.client")


def get(studio: Served, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=20)
    given = {key.replace("_", "-"): value for key, value in headers.items()}
    connection.request("GET", path, headers=given)
    answer = connection.getresponse()
    found = answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read()
    connection.close()
    return found


def directives(headers: dict[str, str]) -> dict[str, str]:
    parts = (each.strip().partition(" ") for each in headers["content-security-policy"].split(";"))
    return {name: value for name, _, value in parts}


def test_the_token_is_on_no_command_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url: opened.append(url) or True)
    for number in range(10):
        token = f"secret{number}-_<&\"'"
        path = browser.open_page(f"http://127.0.0.1:1/?token={token}")
        assert "secret" not in opened[-1]
        assert opened[-1].startswith("file://")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        text = path.read_text()
        assert f"secret{number}" in text
        assert text.count("<script") == 0


def test_the_token_leaves_the_address_bar_and_survives_a_reload(page: Any, studio: Served) -> None:
    page.goto(studio.url + "&quick")
    page.wait_for_function("() => window.studio?.app.store.state.connected")
    assert studio.token not in page.url
    assert studio.token not in page.evaluate("() => document.documentElement.outerHTML")
    page.reload()
    page.wait_for_function("() => window.studio?.app.store.state.connected")
    assert studio.token not in page.url


def test_nobody_frames_the_studio(studio: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = ["/", f"/?token={studio.token}", f"/?token={studio.token}&embedded", "/?embedded", "/studio.js"]
    tries += ["/?from=http://evil.example", "/?frame-ancestors=*", "/studio.css", "/icon.svg", "//"]
    for path in tries:
        status, headers, _ = get(studio, path, Origin="http://evil.example", Referer="http://evil.example/")
        if status == 200:
            assert directives(headers)["frame-ancestors"] == "'none'", path
    monkeypatch.delenv("PLIANT_NOTEBOOK_ORIGIN", raising=False)
    assert all("localhost:" in each or "127.0.0.1:" in each for each in notebook._notebook_origins()[:-1])
    hostile = ["*", "http://*", "https:", "'self'", "http://a b", "http://a;script-src *", "javascript:x"]
    for value in [*hostile, "http://a\n", "data:", "http://a/b"]:
        monkeypatch.setenv("PLIANT_NOTEBOOK_ORIGIN", value)
        assert value not in notebook._notebook_origins()
    monkeypatch.setenv("PLIANT_NOTEBOOK_ORIGIN", "https://hub.example:8443")
    assert notebook._notebook_origins() == ["https://hub.example:8443"]


def test_the_page_talks_to_its_studio_alone(studio: Served) -> None:
    own = f"127.0.0.1:{studio.port}"
    hosts = [own, f"localhost:{studio.port}", "evil.example", f"evil.example:{studio.port}", "127.0.0.1"]
    hosts += [
        "127.0.0.1:1",
        f"{own}.evil.example",
        f"{own} http://evil.example",
        "localhost",
        f"[::1]:{studio.port}",
    ]
    for host in hosts:
        status, headers, _ = get(studio, "/", Host=host)
        if host in (own, f"localhost:{studio.port}", f"[::1]:{studio.port}"):
            assert status == 200
            assert directives(headers)["connect-src"] == f"http://{host} ws://{host}"
            assert directives(headers)["default-src"] == "'none'"
        else:
            assert status in (400, 403), host


def test_downloads_need_the_token(studio: Served) -> None:
    tries: list[tuple[str, dict[str, str]]] = [
        ("/download/x", {}),
        ("/download/x", {"X_Pliant_Token": "wrong"}),
        ("/download/x", {"X_Pliant_Token": studio.token}),
        ("/download/..%2f..%2fbeam.toml", {"X_Pliant_Token": studio.token}),
        ("/download/../beam.toml", {"X_Pliant_Token": studio.token}),
        ("/download/beam.toml", {"X_Pliant_Token": studio.token}),
        ("/download/%00", {"X_Pliant_Token": studio.token}),
        ("/download/", {"X_Pliant_Token": studio.token}),
        ("/download//etc/passwd", {"X_Pliant_Token": studio.token}),
        ("/download/x", {"X_Pliant_Token": studio.token, "Host": "evil.example"}),
    ]
    for path, headers in tries:
        assert get(studio, path, **headers)[0] in (403, 404), (path, headers)


def bomb(path: Path, size: int, blocks: int, kind: str) -> Path:
    """A VTU file whose points are ``blocks`` times ``size`` zeros, compressed."""
    import lzma

    pack = zlib.compress if kind == "ZLib" else lzma.compress
    one = pack(bytes(size))
    head = struct.pack(f"<{3 + blocks}I", blocks, size, 0, *[len(one)] * blocks)
    data = base64.b64encode(head).decode() + base64.b64encode(one * blocks).decode()
    array = f'<DataArray type="Float64" NumberOfComponents="3" format="binary">{data}</DataArray>'
    path.write_text(
        f'<?xml version="1.0"?><VTKFile type="UnstructuredGrid" version="0.1" byte_order="LittleEndian" '
        f'header_type="UInt32" compressor="vtk{kind}DataCompressor"><UnstructuredGrid>'
        f'<Piece NumberOfPoints="{size * blocks // 24}" NumberOfCells="0"><Points>{array}</Points>'
        f"<Cells></Cells></Piece></UnstructuredGrid></VTKFile>"
    )
    return path


@pytest.mark.parametrize("kind", ["ZLib", "LZMA"])
@pytest.mark.parametrize("blocks", [1, 2, 5, 20, 100])
def test_decompression_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocks: int, kind: str
) -> None:
    """Twelve million bytes out of some thousand, in one block or many, where one million is allowed."""
    monkeypatch.setattr(vtu, "SPARE_BYTES", 1_000_000)
    monkeypatch.setattr(vtu, "DENSEST", 1)
    path = bomb(tmp_path / "bomb.vtu", 12_000_000 // blocks // 24 * 24, blocks, kind)
    with pytest.raises(MeshError, match="far larger than the file"):
        read_volume(path)


def test_a_large_bomb_takes_little_memory(tmp_path: Path) -> None:
    """Four gigabytes in 4 MB: refused, with less than one gigabyte more than the program itself takes."""
    path = bomb(tmp_path / "bomb.vtu", 960_000_000, 4, "ZLib")
    assert path.stat().st_size < 8e6
    code = (
        "import resource, sys\nfrom pliant.mesh.io import read_volume\n"
        "from pliant.core.errors import MeshError\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    read_volume(sys.argv[1])\nexcept MeshError as error:\n    print('refused', end=' ')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=120, check=True
    )
    word, used = done.stdout.split()
    assert word == "refused"
    assert int(used) < 1_000_000, "kilobytes"


DEEP = ["[" * 5000, "{" * 5000, '{"a":' * 300 + "1" + "}" * 300, '["x",' * 100 + "1" + "]" * 100]
DEEP += ['{"do": "edit", "path": ["title"], "value": ' + "[" * 40 + "]" * 40 + "}", "[{" * 200]
DEEP += ['"' + "\\" * 3 + '"' + "[" * 50, "[" * 25 + "]" * 25, '{"do":"add","table":' + '{"a":' * 60]
DEEP += ["[" * 400_000]


@pytest.mark.parametrize("number", range(len(DEEP)))
def test_deep_messages_are_refused_before_they_are_parsed(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def parsed(text: str) -> Any:
        raise AssertionError("it was parsed")

    monkeypatch.setattr(json, "loads", parsed)
    with pytest.raises(ValueError, match="nested too deeply"):
        messages.read(DEEP[number])


def test_brackets_in_texts_are_no_depth() -> None:
    found = messages.read(json.dumps({"do": "edit", "path": ["title"], "value": "[" * 500 + '\\"{'}))
    assert isinstance(found, messages.Edit)


def test_connections_are_limited_and_pages_still_come_in_afterwards(studio: Served) -> None:
    crowd = [socket.create_connection(("127.0.0.1", studio.port)) for _ in range(serve.MOST_SOCKETS + 40)]
    time.sleep(1.0)
    closed = 0
    for each in crowd:
        each.setblocking(False)
        try:
            closed += each.recv(1) == b""
        except BlockingIOError:
            pass
        except ConnectionError:
            closed += 1
    assert closed >= 40
    for each in crowd:
        each.close()
    time.sleep(0.5)
    for _ in range(10):
        assert get(studio, f"/?token={studio.token}")[0] == 200


def test_connections_that_say_nothing_are_closed(studio: Served) -> None:
    silent = []
    for start in (b"", b"G", b"GET ", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: x", b"\r\n") * 2:
        silent.append(socket.create_connection(("127.0.0.1", studio.port)))
        silent[-1].sendall(start)
    time.sleep(serve.PATIENCE + 1.5)
    for each in silent:
        each.settimeout(5)
        try:
            while each.recv(4096):
                pass
        except ConnectionResetError:
            pass
        each.close()


def test_folders_of_killed_studios_go_and_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    dead = tmp_path / f"pliant-studio-{child.pid}-takes-abc"
    (dead / "take-1.pliant").mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    kept = [
        tmp_path / f"pliant-studio-{os.getpid()}-takes-abc",
        tmp_path / f"pliant-studio-{os.getppid()}-open-abc",
        tmp_path / "pliant-studio-notes",
        tmp_path / "pliant-studio--takes-abc",
        tmp_path / f"pliant-studio-x{child.pid}-takes-abc",
        tmp_path / f"pliant-studio-{child.pid}",
        tmp_path / f"pliant-studio-{child.pid}-..-abc",
        tmp_path / f"other-pliant-studio-{child.pid}-takes-abc",
        tmp_path / "pliant-studio-1-takes-abc",
    ]
    for folder in kept:
        folder.mkdir()
    link = tmp_path / f"pliant-studio-{child.pid}-takes-link"
    link.symlink_to(outside)
    assert temporary.remove_leftovers() == [dead]
    assert not dead.exists()
    assert all(folder.is_dir() for folder in [*kept, outside])
    assert link.is_symlink()
    assert temporary.temporary_folder("takes").name.startswith(f"pliant-studio-{os.getpid()}-takes-")


def test_it_listens_on_loopback_alone(studio: Served) -> None:
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    places = {
        row[1].split(":")[0] for row in listening if row[3] == "0A" and row[1].endswith(f":{studio.port:04X}")
    }
    assert places == {"0100007F"}
