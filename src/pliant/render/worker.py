"""A child process that draws: ``python -m pliant.render.worker``.

Loads the graphics libraries, then reads a pickled (Plan, [Shot, ...]) from stdin and writes each picture to
stdout as its height and width and its bytes. An error ends it: a height of zero, a length and the pickled
exception. So does a parent (``worker_pool``) that closes stdin without a plan.
"""

import os
import pickle
import struct
import sys

HEAD = struct.Struct("<II")


def main() -> None:
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever libraries print is no picture
    try:
        from pliant.render.pyvista_scene import PyvistaScene, open_graphics

        open_graphics()
        plan, shots = pickle.load(sys.stdin.buffer)
        stage = PyvistaScene(plan)
        for shot in shots:
            image = stage.picture(shot)
            out.write(HEAD.pack(*image.shape[:2]) + image.tobytes())
            out.flush()
        stage.close()
    except (BrokenPipeError, EOFError):
        os._exit(0)  # the parent has seen enough, or wants nothing
    except Exception as error:
        data = pickle.dumps(_sendable(error))
        out.write(HEAD.pack(0, len(data)) + data)
        out.flush()
    out.close()
    os._exit(0)  # graphics drivers may crash while Python takes itself apart


def _sendable(error: Exception) -> Exception:
    try:
        pickle.loads(pickle.dumps(error))
        return error
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
