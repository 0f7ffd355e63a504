"""Finished pictures and movies: what is written on them, and files that appear when they are complete."""

import subprocess
import tempfile
from collections.abc import Iterator
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from pliant.core.environment import need
from pliant.core.errors import InputError, StorageError
from pliant.core.typing import AnyArray
from pliant.mesh.io.atomic import replacing


@lru_cache(maxsize=16)
def font(size: int, bold: bool = False) -> Any:
    """The font that comes with matplotlib, ``size`` pixels high."""
    from matplotlib import font_manager
    from PIL import ImageFont

    name = "DejaVu Sans:bold" if bold else "DejaVu Sans"
    return ImageFont.truetype(font_manager.findfont(name), size)


def letter_size(height: int) -> int:
    """Pixels of the letters on a picture of this height."""
    return max(10, round(height / 34))


def written(
    image: AnyArray, colour: tuple[int, int, int], title: str, time: str, bar: "ColourBar | None"
) -> AnyArray:
    """The picture (h, w, 3) with its title at the top, its time at the bottom and its colour bar."""
    from PIL import Image, ImageDraw

    canvas = Image.fromarray(image)
    pen = ImageDraw.Draw(canvas)
    height, width = image.shape[:2]
    size = letter_size(height)
    edge = round(0.9 * size)
    if title:
        pen.text((edge, edge), _fitting(title, width - 2 * edge, size), fill=colour, font=font(size, True))
    if time:
        pen.text((edge, height - edge), time, fill=colour, font=font(size), anchor="ls")
    if bar is not None:
        bar.draw(canvas, pen, colour)
    return np.asarray(canvas)


def mounted(
    sheet: AnyArray,
    paper: tuple[float, ...],
    colour: tuple[int, int, int],
    title: str,
    bar: "ColourBar | None",
) -> AnyArray:
    """A sheet of pictures (h, w, 3) with its title above and its colour bar on the right, if it has any."""
    from PIL import Image

    height, width = sheet.shape[:2]
    size = letter_size(height)
    head = round(2.6 * size) if title else 0
    side = bar.room(head + height) if bar is not None else 0
    if not head and not side:
        return sheet
    canvas = Image.new("RGB", (width + side, head + height), tuple(round(255 * part) for part in paper))
    canvas.paste(Image.fromarray(sheet), (0, head))
    return written(np.asarray(canvas), colour, title, "", bar)


def _fitting(text: str, room: int, size: int) -> str:
    while len(text) > 4 and font(size, True).getlength(text) > room:
        text = text[:-2].rstrip(" .…") + "…"
    return text


class ColourBar:
    """A colour bar at the right edge: name and unit above, the range beside it."""

    def __init__(self, name: str, unit: str, limits: tuple[float, float], colours: str) -> None:
        self.name, self.unit = name.replace("-", " "), unit
        self.limits, self.colours = limits, colours

    def _parts(self, height: int) -> tuple[int, str, list[float], list[str]]:
        """Size of letters, label, ticks and their texts."""
        from matplotlib.ticker import MaxNLocator

        size = max(9, round(0.85 * letter_size(height)))
        low, high = self.limits
        scale, power = scaled(max(abs(low), abs(high)), self.unit)
        ticks = [t for t in MaxNLocator(5).tick_values(low, high) if low <= t <= high]
        label = f"{self.name} [{power}]" if power else self.name
        return size, label, ticks, [f"{tick / scale:.4g}" for tick in ticks]

    def room(self, height: int) -> int:
        """Pixels that the bar takes from the right edge of a picture of this height."""
        size, label, _, texts = self._parts(height)
        numbers: float = max((font(size).getlength(text) for text in texts), default=0.0)
        widest: float = max(font(size).getlength(label), numbers + 1.5 * size + 6)
        return round(widest + 2 * size)

    def draw(self, canvas: Any, pen: Any, colour: tuple[int, int, int]) -> None:
        from PIL import Image

        from pliant.render.colour_maps import colour_map

        width, height = canvas.size
        size, label, ticks, texts = self._parts(height)
        low, high = self.limits
        room = max((font(size).getlength(text) for text in texts), default=0)
        top, bottom = round(0.24 * height), round(0.80 * height)
        thick = max(6, round(0.9 * size))
        left = round(width - size - room - 0.5 * size - thick)
        ramp = np.linspace(1.0, 0.0, bottom - top)
        colours = (255.0 * colour_map(self.colours)(ramp)[:, None, :3]).astype(np.uint8)
        canvas.paste(Image.fromarray(np.repeat(colours, thick, axis=1)), (left, top))
        pen.rectangle((left - 1, top - 1, left + thick, bottom), outline=colour)
        for tick, text in zip(ticks, texts, strict=True):
            y = bottom - round((tick - low) / (high - low) * (bottom - top - 1)) - 1
            pen.line((left + thick - 3, y, left + thick + 3, y), fill=colour)
            pen.text((left + thick + 0.5 * size, y), text, fill=colour, font=font(size), anchor="lm")
        pen.text((width - size, top - 0.9 * size), label, fill=colour, font=font(size), anchor="rs")


def scaled(largest: float, unit: str) -> tuple[float, str]:
    """A factor that makes numbers up to ``largest`` short, and the unit with its prefix or power of ten."""
    exponent = 3 * int(np.floor(np.log10(largest) / 3.0)) if 0.0 < largest < np.inf else 0
    if exponent == 0 or (not unit and -3 <= exponent <= 3):
        return 1.0, unit
    prefixes = {-9: "n", -6: "µ", -3: "m", 3: "k", 6: "M", 9: "G"}
    if unit and exponent in prefixes and unit[0] in "mPNJW":
        return 10.0**exponent, prefixes[exponent] + unit
    digits = str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return 10.0**exponent, f"10{digits} {unit}".rstrip()


BLOCK = 16  # movies come in blocks of so many pixels
_MP4 = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "17", "-movflags", "+faststart"]
_PALETTE = "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=bayer:bayer_scale=4"
_GIF = ["-vf", _PALETTE, "-loop", "0"]


def check_free(path: Path, force: bool) -> None:
    """InputError where a file would be written over without ``force``."""
    if path.is_dir() or (path.exists() and not force):
        raise InputError(f"{path} exists already.", hint="Use --force to write over it.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"Cannot write {path}: {error.strerror or error}.") from error


def write_png(path: Path, image: AnyArray) -> None:
    """A picture (h, w, 3) as PNG."""
    from PIL import Image

    with replacing(path) as temporary:
        Image.fromarray(image).save(temporary, format="PNG", optimize=True)


def write_movie(path: Path, images: Iterator[AnyArray], fps: float) -> None:
    """Pictures as MP4 (H.264, plays anywhere) or GIF, by the suffix; all of one size."""
    need("Writing movies", "imageio_ffmpeg")
    import imageio_ffmpeg

    first = next(images)
    size = f"{first.shape[1]}x{first.shape[0]}"
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", size, "-r", f"{fps:.6g}", "-i", "-"]
    how = _GIF if path.suffix.lower() == ".gif" else _MP4
    program = [imageio_ffmpeg.get_ffmpeg_exe(), "-y", "-loglevel", "error", *source, *how]
    with replacing(path) as temporary, tempfile.TemporaryFile() as log:
        with subprocess.Popen([*program, str(temporary)], stdin=subprocess.PIPE, stderr=log) as process:
            assert process.stdin is not None
            try:
                for image in chain([first], images):
                    process.stdin.write(np.ascontiguousarray(image).tobytes())
                process.stdin.close()
            except BrokenPipeError:
                pass  # it ended early: its last words say why
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            log.seek(0)
            words = log.read(300).decode(errors="replace").strip() or f"ffmpeg: {process.returncode}"
            raise StorageError(f"Cannot write {path}: {words.splitlines()[0]}")


def tiled(images: Iterator[AnyArray], columns: int, gap: int = 4) -> AnyArray:
    """Pictures of one size row by row, with white between them."""
    found = list(images)
    height, width = found[0].shape[:2]
    rows = -(-len(found) // columns)
    sheet = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, 3), 255, np.uint8)
    for number, image in enumerate(found):
        top, left = number // columns * (height + gap), number % columns * (width + gap)
        sheet[top : top + height, left : left + width] = image
    return sheet
