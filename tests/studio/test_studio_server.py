"""The server against odd and hostile visitors; no browser needed."""

import json
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serving import BEAM, Served

from pliant.core.errors import InputError, SceneError
from pliant.studio.document import Document, Project, put
from pliant.studio.frame_messages import pack, unpack
from pliant.studio.workspace import Workspace

sync = pytest.importorskip("websockets.sync.client")
HOSTILE: list[Any] = [
    "",
    "nonsense",
    "[]",
    "{}",
    '{"do": 3}',
    '{"do": "fly"}',
    '{"do": "edit"}',
    '{"do": "edit", "path": [], "value": 1}',
    '{"do": "edit", "path": ["bodies", 99, "x"], "value": 1}',
    '{"do": "edit", "path": ["bodies", 0, "mesh"], "value": "../../../etc/passwd"}',
    '{"do": "edit", "path": ["bodies", 0, "mesh"], "value": "/etc/passwd"}',
    '{"do": "edit", "path": ["__class__"], "value": 1}',
    '{"do": "edit", "path": ["time", "fps"], "value": -1}',
    '{"do": "edit", "path": ["time"], "value": "x"}',
    '{"do": "edit", "path": ["bodies"], "value": 5}',
    '{"do": "edit", "path": ["actions", 0], "value": [null]}',
    '{"do": "edit", "path": ["actions", 0, "rate"], "value": [null, {"a": null}]}',
    '{"do": "open", "kind": "scene", "name": "../beam.toml"}',
    '{"do": "open", "kind": "scene", "name": "/etc/passwd"}',
    '{"do": "open", "kind": "run", "name": ".."}',
    '{"do": "open", "kind": "example", "name": "../../cli/starter"}',
    '{"do": "save", "name": "../evil.toml"}',
    '{"do": "save", "name": "a/b.toml"}',
    '{"do": "save", "name": "evil.py"}',
    '{"do": "save", "name": "..", "take": true}',
    '{"do": "save", "name": "\\u0000.toml"}',
    '{"do": "speed", "speed": NaN}',
    '{"do": "speed", "speed": 1e999}',
    '{"do": "show", "frame": -5}',
    '{"do": "grab", "body": "none", "particle": 0}',
    '{"do": "grab", "body": "beam", "particle": 99999}',
    '{"do": "steer", "id": 7, "to": [0, 0, 0]}',
    '{"do": "steer", "id": 0, "to": [0, 0, "x"]}',
    '{"do": "add", "table": {"type": "os.system"}}',
    '{"do": "add", "table": {}}',
    '{"do": "end", "id": 1000}',
    '{"do": "look", "colour": "nothing", "particles": true}',
    "[" * 5000,
    '{"do": "edit", "path": ["title"], "value": "' + "x" * 900_000 + '"}',
    b"\x00\xff\xfe",
    b"PLF1",
]


def connect(studio: Served, **changes: Any) -> Any:
    host = f"127.0.0.1:{studio.port}"
    values = {"token": studio.token, "origin": f"http://{host}"} | changes
    return sync.connect(
        f"ws://{host}/socket?token={values['token']}",
        origin=values["origin"],
        max_size=None,
        compression=None,
        close_timeout=0.2,  # unread messages are in the way of a polite goodbye
    )


def hear(socket: Any, event: str, seconds: float = 60.0) -> dict[str, Any]:
    """The next text message of a kind; pictures on the way are acknowledged."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        message = socket.recv(timeout=end - time.monotonic())
        if isinstance(message, bytes):
            socket.send('{"do": "ack"}')
        elif (found := json.loads(message))["event"] == event:
            return dict(found)
    raise TimeoutError(event)


def test_only_the_right_token_and_origin_come_in(studio: Served) -> None:
    wrong = [
        {"token": "wrong"},
        {"token": ""},
        {"origin": "http://evil.example"},
        {"origin": None},
        {"origin": f"https://127.0.0.1:{studio.port}"},
        {"origin": "null"},
        {"token": studio.token[:-1]},
        {"token": studio.token.swapcase()},
        {"origin": f"http://127.0.0.1:{studio.port}.evil.example"},
        {"origin": f"http://evil.example@127.0.0.1:{studio.port}"},
        {"origin": f"http://127.0.0.1:{studio.port + 1}"},
    ]
    for changes in wrong:
        with pytest.raises(Exception, match=r"403|rejected"), connect(studio, **changes):
            pass
    with connect(studio) as socket:
        assert hear(socket, "document")["table"]["title"] == "Beam"


def resources(pid: int) -> tuple[int, int, float]:
    """Open files, threads and resident memory [MB] of a process."""
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    files = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    return files, int(status["Threads"]), int(status["VmRSS"].split()[0]) / 1024


def first_picture(socket: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    while not isinstance(message := socket.recv(timeout=60), bytes):
        pass
    return unpack(message)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files by /proc")
def test_hostile_messages_and_reconnects_leave_nothing_behind(studio: Served, tmp_path: Path) -> None:
    before = sorted(path.name for path in tmp_path.rglob("*"))
    pid, sent = studio.process.pid, 0
    with connect(studio) as socket:  # everything that starts late has started
        socket.send('{"do": "build"}')
        first_picture(socket)
    dice, found = random.Random(1), []
    texts = [message for message in HOSTILE if isinstance(message, str)]
    for _ in range(3):
        for last in (*(m for m in HOSTILE if isinstance(m, bytes)), "[]", "{}", "", '{"do": "fly"}'):
            with connect(studio) as socket:
                for message in (*dice.sample(texts, 28), last):  # bytes make the server hang up
                    socket.send(message)
                    sent += 1
                if isinstance(last, str):
                    hear(socket, "notice")
        for _ in range(17):
            with connect(studio) as socket:
                hear(socket, "document")
        with connect(studio) as socket:  # everything that was said has been answered
            socket.send('{"do": "list"}')
            hear(socket, "files")
        found.append(resources(pid))
    assert sent > 500
    assert found[2][0] <= found[0][0] + 2
    assert found[2][1] <= found[0][1]
    assert found[2][2] < found[0][2] + 20.0
    with connect(studio) as socket:
        table = hear(socket, "document")["table"]
        assert table["bodies"][0]["shape"] == {"box": {"size": [0.4, 0.1, 0.1], "divisions": [8, 2, 2]}}
        assert "mesh" not in table["bodies"][0]
        socket.send('{"do": "build"}')
        header, arrays = first_picture(socket)
        assert header["scene"]["bodies"][0]["particles"] == 81
        assert arrays["0/particles"].shape == (81, 3)
        assert arrays["0/corners"].max() < len(arrays["0/origin"])
    after = sorted(path.name for path in tmp_path.rglob("*") if path.name != ".studio-autosave.toml")
    assert after == before


def test_a_page_that_never_draws_does_not_hold_up_the_simulation(studio: Served) -> None:
    with connect(studio) as lazy, connect(studio) as socket:
        socket.send('{"do": "build"}')
        socket.send('{"do": "speed", "speed": 0}')
        socket.send('{"do": "play"}')
        while not hear(socket, "status")["built"]:
            pass
        first = resources(studio.process.pid)[2]
        while hear(socket, "status")["frame"] < 300:
            pass
        assert resources(studio.process.pid)[2] < first + 5.0
        pictures = []
        try:
            while True:
                message = lazy.recv(timeout=1)
                if isinstance(message, bytes):
                    pictures.append(unpack(message)[0]["frame"])
        except TimeoutError:
            pass
        assert len(pictures) == 2


def test_packed_arrays_come_back() -> None:
    given = {"a": np.arange(12.0).reshape(4, 3), "b": np.array([3, 1, 2]), "none": np.zeros((0, 3))}
    header, arrays = unpack(pack({"kind": "frame", "text": "é"}, given))
    assert header == {"kind": "frame", "text": "é"}
    np.testing.assert_array_equal(arrays["a"], given["a"])
    np.testing.assert_array_equal(arrays["b"], given["b"])
    assert arrays["none"].size == 0


def test_a_document_undoes_and_redoes_and_refuses_what_is_no_scene(tmp_path: Path) -> None:
    document = Document(Workspace(tmp_path))
    document.open(BEAM, "beam.toml")
    document.edit(["time", "fps"], 10)
    document.edit(["actions", 1], {"type": "gravity"})
    (tmp_path / "work").mkdir()
    (tmp_path / "out.obj").write_text("v 0 0 0\n")
    for mesh in ("../out.obj", "/etc/passwd", str(tmp_path / "out.obj"), "work/in.obj"):
        for place in (["bodies", 0, "mesh"], ["bodies", 0, "shape"]):
            with pytest.raises(InputError, match="plain file name"):
                document.edit(place, mesh)
    with pytest.raises(SceneError, match="fps"):
        document.edit(["time", "fps"], 0)
    assert document.table["time"]["fps"] == 10
    document.undo()
    document.undo()
    assert document.table["time"]["fps"] == 25
    document.redo()
    assert (document.table["time"]["fps"], len(document.table["actions"])) == (10, 1)
    again = Document(Workspace(tmp_path))
    again.open(document.text, "again.toml")
    assert again.text == document.text


def test_a_scene_without_a_file_is_called_by_its_take(tmp_path: Path) -> None:
    project = Project(Workspace(tmp_path))
    assert "title" not in project.state()["table"], "movies of it have no title"
    project.take_saved("first.toml")
    project.take_saved("second.toml")
    assert project.state()["name"] == "first.toml"
    project.save("own.toml")
    project.take_saved("third.toml")
    assert project.state()["name"] == "own.toml"


def test_put_adds_changes_and_removes() -> None:
    table: dict[str, Any] = {"list": [{"a": 1}]}
    put(table, ["list", 0, "b", "c"], 2)
    put(table, ["list", 1], {"d": 3})
    put(table, ["list", 0, "a"], None)
    assert table == {"list": [{"b": {"c": 2}}, {"d": 3}]}
    put(table, ["list", 0], None)
    assert table == {"list": [{"d": 3}]}
    with pytest.raises(InputError):
        put(table, ["list", 5], 1)


def test_the_workspace_keeps_to_itself(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / "secret.toml").write_text("x = 1")
    (folder / "link.toml").symlink_to(tmp_path / "secret.toml")
    workspace = Workspace(folder)
    for name in (
        "../secret.toml",
        "link.toml",
        "/etc/passwd",
        "a\\..\\b.toml",
        ".toml",
        "a.toml\n",
        "x" * 200 + ".toml",
    ):
        with pytest.raises(InputError):
            workspace.read(name)
    assert workspace.listing() == {"scenes": [], "runs": [], "meshes": []}
    workspace.write("new.toml", "schema = 1\n")
    assert workspace.read("new.toml") == "schema = 1\n"
    assert workspace.free_name("new", ".toml") == "new-2.toml"
