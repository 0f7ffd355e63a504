"""A studio in a process of its own."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

SIZE = {"width": 1280, "height": 720}
ROOT = Path(__file__).resolve().parents[2]
BEAM = """
schema = 1
title = "Beam"
[time]
duration = 12.0
fps = 25
[[bodies]]
name = "beam"
shape = { box = { size = [0.4, 0.1, 0.1], divisions = [8, 2, 2] } }
material = { young = 5e4, poisson = 0.3, density = 1000 }
position = [0, 0, 0.2]
[[actions]]
type = "damping"
rate = 3
"""


@dataclass
class Served:
    """A running studio: its address with the token, its folder, its process."""

    url: str
    folder: Path
    process: Any

    @property
    def token(self) -> str:
        return self.url.split("token=")[1]

    @property
    def port(self) -> int:
        return int(self.url.split(":")[2].split("/")[0])


def start(folder: Path, *arguments: str) -> Served:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NUMBA_NUM_THREADS": "1"}
    with TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "pliant", "studio", "--no-open", "--workspace", str(folder), *arguments],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        assert process.stdout is not None
        found = re.search(r"http\S+", process.stdout.readline())
        if not found:
            process.kill()
            process.communicate()
            errors.seek(0)
            raise AssertionError(f"the studio did not start: {errors.read()}")
    return Served(found[0], folder, process)
