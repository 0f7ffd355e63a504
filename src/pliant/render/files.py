"""Pictures and movies as files, each appearing when it is complete."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import InputError, StorageError
from pliant.extras import need
from pliant.mesh.formats.atomic import replacing
from pliant.typing import AnyArray

BLOCK = 16  # movies come in blocks of so many pixels


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

    first = np.ascontiguousarray(next(images))
    height, width = first.shape[:2]
    options: dict[str, Any]
    if path.suffix.lower() == ".gif":
        tree = "split[a][b];[a]palettegen=stats_mode=diff[p];[b][p]paletteuse=dither=bayer:bayer_scale=4"
        options = {"codec": "gif", "pix_fmt_out": "pal8", "output_params": ["-vf", tree, "-loop", "0"]}
    else:
        options = {
            "codec": "libx264",
            "quality": None,
            "output_params": ["-crf", "17", "-movflags", "+faststart"],
        }
    with replacing(path) as temporary:
        writer = imageio_ffmpeg.write_frames(
            str(temporary), (width, height), fps=fps, macro_block_size=1, ffmpeg_log_level="error", **options
        )
        writer.send(None)
        try:
            writer.send(first)
            for image in images:
                writer.send(np.ascontiguousarray(image))
        finally:
            writer.close()


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
