"""RenderMan RIB: a complete picture per frame, with a camera, two lights and the shown surfaces."""

from typing import BinaryIO

import numpy as np

from pliant.core.typing import AnyArray, Array
from pliant.exporters.job import SURFACES, Exporter, Job, Piece, per_frame
from pliant.exporters.surfaces import vertex_normals
from pliant.mesh.mesh import Surface
from pliant.run.store import Frame
from pliant.scene.camera import Eye

WIDTH, HEIGHT = 1280, 720
_LOOKED_AT = 16


def _plan(job: Job) -> list[Piece]:
    eyes, light = job.eyes() or [_fitted(job)], _light(job.place.up)
    cameras = dict(zip(job.frames, map(_camera, eyes), strict=False))
    still = _camera(eyes[0])

    def write(frame: Frame, file: BinaryIO) -> None:
        from pliant.render.render_options import body_rgb

        picture = f"frame_{frame.index:04d}.tiff"
        text = [
            "##RenderMan RIB-Structure 1.1\nversion 3.04\n",
            f"# frame {frame.index}, {frame.time:.9g} s, lengths in {job.place.unit}\n",
            f"FrameBegin {frame.index}\n",
            f'Display "{picture}" "file" "rgba"\nFormat {WIDTH} {HEIGHT} 1\nPixelSamples 4 4\n',
            cameras.get(frame.index, still),
            "WorldBegin\n",
            'LightSource "ambientlight" 1 "float intensity" [0.25]\n',
            'LightSource "distantlight" 2 "float intensity" [0.9] ',
            f'"point from" [{light}] "point to" [0 0 0]\n',
        ]
        file.write("".join(text).encode())
        for number, name in enumerate(job.bodies_of(frame)):
            rgb = [part / 255.0 for part in body_rgb(number)]
            file.write(f"AttributeBegin\nColor [{_numbers(rgb)}]\n".encode())
            file.write(
                f'Attribute "identifier" "string name" [{_quoted(name)}]\nSurface "plastic"\n'.encode()
            )
            file.write(_mesh(frame.surface(name)))
            file.write(b"AttributeEnd\n")
        file.write(b"WorldEnd\nFrameEnd\n")

    return per_frame(job, write)


def _light(up: str) -> str:
    """Where the light comes from: above, and to the left in front."""
    from pliant.render.camera import axes

    right, near, upward = axes(up)
    return _numbers(upward + 0.7 * near - 0.5 * right)


def _fitted(job: Job) -> Eye:
    """A camera that sees all that moves in the frames asked for."""
    from pliant.render.camera import direction, fitted

    spots = np.unique(np.linspace(0, len(job.frames) - 1, _LOOKED_AT).round().astype(int))
    clouds = [job.frame(job.frames[spot]).positions for spot in spots]
    way, up = direction("iso", job.place.up)
    target, distance = fitted(np.concatenate(clouds), way, up, WIDTH / HEIGHT, 1.0)
    return Eye(target + distance * way, target, up)


def _camera(eye: Eye) -> str:
    """RIB looks along +z, left-handed; its fov is that of the shorter side of the picture."""
    frame = eye.axes() * [[1.0], [1.0], [-1.0]]  # rows: right, up and away from the camera
    matrix = np.zeros((4, 4))
    matrix[:3, :3], matrix[3, :3], matrix[3, 3] = frame.T, -frame @ eye.position, 1.0
    distance = float(np.linalg.norm(eye.position - eye.target))
    clip = f"Clipping {1e-3 * distance:.6g} {1e3 * distance:.6g}\n"
    view = f'Projection "perspective" "float fov" [{eye.angle:g}]\n'
    return f"{clip}{view}ConcatTransform [{_numbers(matrix.ravel())}]\n"


def _mesh(surface: Surface) -> bytes:
    count, normals = len(surface.triangles), vertex_normals(surface.points, surface.triangles)
    corners = " ".join(map(str, surface.triangles.ravel().tolist()))
    text = [
        f"PointsPolygons [{' '.join(['3'] * count)}]\n[{corners}]\n",
        f'"P" [{_numbers(surface.points.ravel())}]\n"N" [{_numbers(normals.ravel(), 6)}]\n',
    ]
    if surface.uv is not None and surface.uv_triangles is not None:
        texture: Array = surface.uv[surface.uv_triangles.ravel()]
        text.append(f'"facevarying float[2] st" [{_numbers(texture.ravel())}]\n')
    return "".join(text).encode()


def _numbers(values: AnyArray | list[float], digits: int = 9) -> str:
    flat = np.asarray(values, float).ravel().tolist()
    return (f"%.{digits}g " * len(flat) % tuple(flat)).rstrip()


def _quoted(name: str) -> str:
    plain = name.encode("ascii", "replace").decode()
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ") + '"'


RIB = Exporter(".rib", "render meshes with a camera, a file per frame", SURFACES | {"start"}, _plan)
