"""python crash_everywhere.py FOLDER EVERY: write the same short run again and again, in FOLDER/N/cut.pliant,
ended without warning at the N-th time that it touches a file. FOLDER/N/reported lists frames that counted.
"""

import itertools
import os
import sys
from pathlib import Path

import sample_run as sample

TOUCHES = {"open", "os.rename", "os.mkdir", "os.remove", "os.truncate", "shutil.rmtree", "os.rmdir"}
FRAMES = 5


def write(folder: Path) -> None:
    one, two = [sample.body("beam", 0)], [sample.body("beam", 0), sample.body("shard", 8, 2.0)]
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

    def hook(event: str, arguments: object) -> None:
        if event in TOUCHES and next(count) == touch:
            os._exit(9)

    sys.addaudithook(hook)


def main(folder: Path, every: int) -> None:
    import zarr.codecs  # noqa: F401  # imported before the forks, so that its own files are not counted

    for touch in itertools.count(0, every):
        place = folder / str(touch)
        place.mkdir()
        child = os.fork()
        if child == 0:
            try:
                crash_at(touch)
                write(place)
            except BaseException:
                sys.excepthook(*sys.exc_info())
                os._exit(1)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != 9:
            sys.exit(code)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
