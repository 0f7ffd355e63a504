"""Pictures and movies as files, each appearing when it is complete."""

import subprocess
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from pliant.core.environment import need
from pliant.core.errors import InputError, StorageError
from pliant.core.typing import AnyArray
from pliant.mesh.io.atomic import replacing

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
