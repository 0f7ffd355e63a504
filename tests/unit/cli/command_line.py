"""What the tests of commands share."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """What a command gave: exit code, stdout, stderr."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Pliant = Callable[..., Result]

SCENE = """\
schema = 1
title = "A small cube falls"
[time]
duration = 0.1
fps = 50
[[bodies]]
name = "cube"
shape = { box = { size = [1, 1, 1], divisions = [2, 2, 2] } }
position = [0, 0, 1]
[[actions]]
type = "gravity"
"""
