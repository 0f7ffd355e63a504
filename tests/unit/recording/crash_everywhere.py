"""python crash_everywhere.py FOLDER EVERY: write the same short run again and again, in FOLDER/N/cut.pliant,
ended without warning at the N-th time that it touches a file. FOLDER/N/reported lists frames that counted.
"""

import itertools
import os
import sys
from dataclasses import replace
from pathlib import Path

import sample_run as sample

from pliant.run.store import BodyRecord

TOUCHES = {"open", "os.rename", "os.mkdir", "os.remove", "os.truncate", "shutil.rmtree", "os.rmdir"}
DRAFTS = ("draft-", ".pliant.tmp-")  # seen by no one until they are renamed
FRAMES = 5


def bodies() -> tuple[list[BodyRecord], list[BodyRecord]]:
    """Before and after a change of topology; without surfaces, to be quick."""
    beam, shard = (
        replace(body, structure=replace(body.structure, carrier=None, groups={}))
        for body in (sample.body("beam", 0), sample.body("shard", 8, 2.0))
    )
    return [beam], [beam, shard]


def write(folder: Path, one: list[BodyRecord], two: list[BodyRecord]) -> None:
    reported = os.open(folder / "reported", os.O_CREAT | os.O_WRONLY)
    writer = sample.create(folder / "cut.pliant", one, FRAMES)
    os.write(reported, b"created\n")
    writer.write_topology(0, one, 0)
    for index in range(FRAMES):
        if index == 3:
            writer.write_topology(1, two, 3)
        sample.write_frames(writer, one if index < 3 else two, int(index >= 3), range(index, index + 1))
        os.write(reported, f"{index}\n".encode())
        if index in (1, 3):
            writer.write_checkpoint(index, sample.frame_arrays(one, index))
    writer.finish("done")
    os.write(reported, b"done\n")


def crash_at(touch: int) -> None:
    count = itertools.count()

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event not in TOUCHES or (event != "os.rename" and any(d in str(arguments[0]) for d in DRAFTS)):
            return
        if next(count) == touch:
            os._exit(9)

    sys.addaudithook(hook)


def main(folder: Path, every: int) -> None:
    # Imported before the forks: modules are files too, and not the ones this is about.
    import numcodecs.zstd  # type: ignore[import-untyped]  # noqa: F401
    import zarr.codecs  # noqa: F401

    one, two = bodies()
    for touch in itertools.count(0, every):
        place = folder / str(touch)
        place.mkdir()
        child = os.fork()
        if child == 0:
            try:
                crash_at(touch)
                write(place, one, two)
            except BaseException:
                sys.excepthook(*sys.exc_info())
                os._exit(1)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != 9:
            sys.exit(code)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
