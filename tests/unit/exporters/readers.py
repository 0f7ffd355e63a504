"""Readers for formats that no installed program reads whole: GLB with its animation, and RIB."""

import re
from pathlib import Path
from typing import Any

import numpy as np

TYPES = {5126: np.float32, 5125: np.uint32}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


class Glb:
    """What a player does with a file: meshes, weights over time, nodes that come and go."""

    def __init__(self, path: Path) -> None:
        import pygltflib

        self.tree = pygltflib.GLTF2().load(str(path))
        self.data = self.tree.binary_blob()

    def array(self, number: int) -> Any:
        accessor = self.tree.accessors[number]
        view = self.tree.bufferViews[accessor.bufferView]
        kind, width = TYPES[accessor.componentType], WIDTHS[accessor.type]
        values = np.frombuffer(self.data, kind, accessor.count * width, view.byteOffset).reshape(-1, width)
        if accessor.min:
            np.testing.assert_allclose(accessor.min, values.min(axis=0), rtol=1e-6, atol=1e-9)
            np.testing.assert_allclose(accessor.max, values.max(axis=0), rtol=1e-6, atol=1e-9)
        return values

    def points(self, node: int) -> Any:
        """Positions of a node's mesh without its targets."""
        primitive = self.tree.meshes[self.tree.nodes[node].mesh].primitives[0]
        return self.array(primitive.attributes.POSITION).astype(float)

    def channel(self, node: int, path: str) -> tuple[Any, Any] | None:
        for channel in self.tree.animations[0].channels:
            if (channel.target.node, channel.target.path) == (node, path):
                sampler = self.tree.animations[0].samplers[channel.sampler]
                return self.array(sampler.input)[:, 0], self.array(sampler.output)
        return None

    def shown(self, node: int, time: float) -> Any:
        """Positions of a node's mesh at a time that is a key; None where it is shrunk to nothing."""
        scale = self.channel(node, "scale")
        if scale is not None and not scale[1][np.searchsorted(scale[0], time + 1e-6) - 1].any():
            return None
        primitive = self.tree.meshes[self.tree.nodes[node].mesh].primitives[0]
        points = self.points(node)
        found = self.channel(node, "weights")
        if found is None:
            return points
        times, weights = found
        weights = weights.reshape(len(times), -1)
        for weight, target in zip(weights[np.abs(times - time).argmin()], primitive.targets, strict=True):
            points = points + weight * self.array(target["POSITION"])
        return points


TOKEN = re.compile(
    r'\s+|#[^\n]*|"(?:\\.|[^"\\])*"|\[|\]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[A-Za-z]\w*'
)
NESTED = {"FrameBegin": "FrameEnd", "WorldBegin": "WorldEnd", "AttributeBegin": "AttributeEnd"}
KNOWN = {*NESTED, *NESTED.values(), "version", "Display", "Format", "PixelSamples", "Projection", "Clipping",
         "ConcatTransform", "LightSource", "Color", "Attribute", "Surface", "PointsPolygons"}  # fmt: skip


def requests(path: Path) -> list[tuple[str, list[Any]]]:
    """The requests of a file with their arguments; AssertionError for anything that is not RIB."""
    text, at = path.read_text(), 0
    found: list[tuple[str, list[Any]]] = []
    inside: list[Any] | None = None
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match, f"not RIB: {text[at : at + 40]!r}"
        at, token = match.end(), match.group()
        if token.isspace() or token.startswith("#"):
            continue
        if token == "[":
            assert inside is None
            inside = []
        elif token == "]":
            assert inside is not None
            found[-1][1].append(inside)
            inside = None
        elif token[0].isalpha():
            assert token in KNOWN, token
            assert inside is None
            found.append((token, []))
        else:
            value = token[1:-1] if token[0] == '"' else float(token)
            (found[-1][1] if inside is None else inside).append(value)
    open_blocks: list[str] = []
    for name, _ in found:
        if name in NESTED:
            open_blocks.append(NESTED[name])
        elif name in NESTED.values():
            assert open_blocks.pop() == name
    assert not open_blocks
    return found
