"""The stage: bodies, obstacles and lights, drawn by PyVista into an image. Loads in child processes."""

from typing import Any

import numpy as np
import pyvista as pv
from PIL import Image
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkRenderingCore import vtkWindowToImageFilter

from pliant.contact.obstacle_shape import BOX, CAPSULE, SPHERE, ObstacleShape
from pliant.core.tables import Table
from pliant.core.typing import AnyArray, Array
from pliant.render.colour_maps import colour_map, whole_numbers
from pliant.render.files import written
from pliant.render.floor import SMOOTHING, draw_floor
from pliant.render.geometry import Drawn, Shaper
from pliant.render.plan import Panel, Plan, Shot
from pliant.render.render_options import BACKGROUNDS, BODY_COLOURS, ROLE_COLOURS
from pliant.run.store import Frame, Run
from pliant.scene.camera import Eye

ABREAST = 4  # panels in a row
OBSTACLE = {"ambient": 0.25, "diffuse": 0.75, "specular": 0.15, "specular_power": 40}
MATTE = {"ambient": 0.52, "diffuse": 0.55, "specular": 0.0}
GLOSSY = {"ambient": 0.26, "diffuse": 0.86, "specular": 0.28, "specular_power": 22}


def open_graphics() -> None:
    """Open a small window off the screen and draw into it: drivers load their libraries at the first one."""
    plotter = _plotter(16, 16)
    plotter.add_mesh(pv.Sphere(theta_resolution=6, phi_resolution=6), smooth_shading=True)
    plotter.render_window.Render()
    plotter.close()


class PyvistaScene:
    """Draws shots of a plan; frames do not depend on those drawn before."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.look = plan, plan.look
        self.runs = [Run(panel.path) for panel in plan.panels]
        self.sense = [_sense(plan, panel) for panel in plan.panels]
        self.shaper = [Shaper(plan.look, sense) for sense in self.sense]
        width, height = plan.look.size
        self.plotter = _plotter(SMOOTHING * width, SMOOTHING * height)
        top, bottom, _, self.ink = BACKGROUNDS[plan.look.background]
        self.plotter.set_background(bottom, top=top)

    def picture(self, shot: Shot) -> AnyArray:
        """The finished picture (h, w, 3), panels side by side, in rows of ABREAST where there are more."""
        images = [self._panel(k, shot) for k in range(len(self.runs))]
        columns = min(ABREAST, len(images))
        for k, image in enumerate(images):
            if k % columns:
                image[:, :2] = self.ink
            if k >= columns:
                image[:2] = self.ink
        while len(images) % columns:
            images.append(np.full_like(images[0], images[0][0, -1]))
        rows = [np.concatenate(images[k : k + columns], axis=1) for k in range(0, len(images), columns)]
        return np.concatenate(rows, axis=0)

    def close(self) -> None:
        self.plotter.close()

    def _panel(self, k: int, shot: Shot) -> AnyArray:
        run, panel = self.runs[k], self.plan.panels[k]
        number = min(round(shot.time * float(run.manifest["fps"])), len(run) - 1)
        frame = run.frames[number]
        self.plotter.clear_actors()
        self.plotter.remove_all_lights()
        moved = centre(frame) - centre(run.frames[0]) if panel.camera.follow else np.zeros(3)
        eye = panel.camera.eye(frame.time, shot.phase, moved)
        light = self._lights(panel)
        bodies, obstacles = self._bodies(frame, k), self._obstacles(panel, frame.time)
        draw_floor(self.plotter, self.look, panel, bodies, obstacles, light, moved)
        self._look_through(eye)
        return self._finish(self._shoot(), panel, frame, k)

    def _shoot(self) -> AnyArray:
        """Draw, and take the mean over the pixels drawn for each pixel shown."""
        self.plotter.render_window.Render()
        grab = vtkWindowToImageFilter()
        grab.SetInput(self.plotter.render_window)
        grab.ShouldRerenderOff()
        grab.ReadFrontBufferOff()
        grab.Update()
        data = grab.GetOutput()
        width, height, _ = data.GetDimensions()
        pixels = vtk_to_numpy(data.GetPointData().GetScalars()).reshape(height, width, -1)[::-1, :, :3]
        return np.asarray(Image.fromarray(np.ascontiguousarray(pixels)).reduce(SMOOTHING))

    def _finish(self, image: AnyArray, panel: Panel, frame: Frame, k: int) -> AnyArray:
        small = self.plan.small
        bar = self.plan.bar if k == len(self.runs) - 1 and not small else None
        time = f"t = {frame.time:.3f} s" if self.look.time else ""
        return written(image, self.ink, "" if small else panel.caption, time, bar).copy()

    def _look_through(self, eye: Eye) -> None:
        camera = self.plotter.camera
        camera.position, camera.focal_point, camera.up = eye.position, eye.target, eye.up
        camera.view_angle = eye.angle
        self.plotter.reset_camera_clipping_range()

    def _lights(self, panel: Panel) -> Array:
        """A key light from the upper left, a fill light and a rim light; gives the way the key light goes."""
        camera = panel.camera
        up, way = camera.up, camera.way
        flat = way - up * (way @ up)
        near = flat / np.linalg.norm(flat) if np.linalg.norm(flat) > 1e-6 else -camera.picture_up
        left = -np.cross(up, near)
        far = 100.0 * panel.reach
        for place, strength in (
            (1.15 * up + 0.75 * near + 0.75 * left, 0.72),
            (0.25 * up + 1.0 * near - 0.9 * left, 0.30),
            (0.7 * up - 1.0 * near - 0.4 * left, 0.32),
        ):
            self.plotter.add_light(
                pv.Light(
                    position=panel.middle + far * place,
                    focal_point=panel.middle,
                    intensity=strength,
                    light_type="scene light",
                )
            )
        key = 1.15 * up + 0.75 * near + 0.75 * left
        return np.asarray(-key / np.linalg.norm(key))

    def _bodies(self, frame: Frame, k: int) -> list[tuple[Array, AnyArray]]:
        casters: list[tuple[Array, AnyArray]] = []
        wanted = self.look.bodies
        for number, record in enumerate(frame.bodies):
            if wanted is not None and record.name not in wanted:
                continue
            colour = BODY_COLOURS[number % len(BODY_COLOURS)]
            for drawn in self.shaper[k].shapes(frame, record.name):
                self._draw(drawn, colour, record.structure.spacing, self.sense[k])
            if record.structure.carrier is not None:
                surface = frame.surface(record.name)
                casters.append((surface.points, surface.triangles))
        return casters

    def _draw(self, drawn: Drawn, colour: str, spacing: float, sense: float) -> None:
        width = drawn.corners.shape[1]
        if not len(drawn.points):
            return  # all of it lies before the section
        if drawn.volume is not None:
            mesh = self._opened(drawn, sense)
        else:
            mesh = _mesh(drawn)
            if drawn.values is not None:
                mesh.point_data["values"] = drawn.values
            if drawn.tints is not None:
                mesh.point_data["tints"] = drawn.tints
        if not mesh.n_cells:
            return
        options: Table = dict(GLOSSY)
        if drawn.tints is not None:
            options |= {"scalars": "tints", "rgb": True}
        elif drawn.values is not None and self.plan.limits is not None:
            options |= MATTE | {"scalars": "values", "clim": self.plan.limits}
            numbers = whole_numbers(self.look.colour or "", self.plan.limits)
            options["cmap"] = colour_map(self.look.map, None if numbers is None else len(numbers))
            options["n_colors"] = 256 if numbers is None else len(numbers)
            options |= {"interpolate_before_map": True, "nan_color": "#B8B8B8"}
        elif width == 2:
            options |= {"color": "#3A4452" if self.look.style == "edges" else colour}
        else:
            options |= {"color": colour}
        if width == 2:
            wide = 1.2 if drawn.tints is None else 3.0
            options |= {"line_width": SMOOTHING * wide, "lighting": False}
        if width == 1:
            mesh = mesh.glyph(geom=pv.Icosphere(radius=0.38 * spacing, nsub=2), scale=False, orient=False)
        smooth = drawn.normals is not None or width == 1
        self.plotter.add_mesh(mesh, show_scalar_bar=False, smooth_shading=smooth, **options)

    def _opened(self, drawn: Drawn, sense: float) -> Any:
        """The surface of the tets, cut open at the section."""
        assert drawn.volume is not None
        grid = pv.UnstructuredGrid({pv.CellType.TETRA: drawn.volume}, drawn.points)
        if drawn.values is not None:
            grid.point_data["values"] = drawn.values
        if self.look.section is not None:
            axis, at = self.look.section
            grid = grid.clip(normal=sense * np.eye(3)[axis], origin=np.eye(3)[axis] * at)
        return grid.extract_surface(algorithm="dataset_surface")

    def _obstacles(self, panel: Panel, time: float) -> list[tuple[Array, AnyArray]]:
        casters = []
        for shape in panel.setting.shapes:
            if not shape.exists_at(time):
                continue
            mesh = _obstacle_mesh(shape, time)
            colour = ROLE_COLOURS[shape.role]
            self.plotter.add_mesh(
                mesh, color=colour, smooth_shading=shape.shape in (SPHERE, CAPSULE), **OBSTACLE
            )
            casters.append((np.asarray(mesh.points, float), mesh.triangulate().regular_faces))
        return casters


def _plotter(width: int, height: int) -> Any:
    """A window off the screen. Without multisampling, which takes half the time of drawing in software and
    shows no difference at ``SMOOTHING`` pixels per pixel."""
    plotter: Any = pv.Plotter(off_screen=True, window_size=[width, height], lighting=None)
    plotter.render_window.SetMultiSamples(0)
    return plotter


def _sense(plan: Plan, panel: Panel) -> float:
    """1 where what lies below the section is shown, -1 for above: the far side, so that one looks inside."""
    if plan.look.section is None:
        return 1.0
    return -1.0 if panel.camera.way[plan.look.section[0]] < -0.05 else 1.0


def centre(frame: Frame) -> Array:
    """The middle of all particles (3,) [m]."""
    return np.asarray(frame.positions.mean(axis=0))


def _mesh(drawn: Drawn) -> Any:
    width = drawn.corners.shape[1]
    cells = np.column_stack([np.full(len(drawn.corners), width), drawn.corners]).ravel()
    if width == 1:
        return pv.PolyData(drawn.points)
    mesh = pv.PolyData(drawn.points, faces=cells) if width == 3 else pv.PolyData(drawn.points, lines=cells)
    if drawn.normals is not None:
        mesh.point_data.active_normals = drawn.normals.astype(np.float32)
    return mesh


def _obstacle_mesh(shape: ObstacleShape, time: float) -> Any:
    if shape.motion is not None:
        corners = shape.motion.triangles
        faces = np.column_stack([np.full(len(corners), 3), corners]).ravel()
        return pv.PolyData(shape.motion.at(time), faces=faces)
    place = np.asarray(shape.path.at(time), float)
    a, b, c = shape.size
    if shape.shape == SPHERE:
        mesh = pv.Sphere(radius=a, theta_resolution=64, phi_resolution=64)
    elif shape.shape == BOX:
        mesh = pv.Box(bounds=(-a, a, -b, b, -c, c))
    else:
        mesh = pv.Capsule(radius=a, cylinder_length=2.0 * b, direction=(0, 0, 1), resolution=48)
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = shape.frame, place
    return mesh.transform(matrix, inplace=False)
