"""``python -m pliant.cli.supervised PARENT VERB ...``: commands in a child that ends with its parent.

Where a worker of a sweep is killed, the system sends its child SIGTERM: the run stops between two steps, and
whoever takes the point over resumes it. (Linux; elsewhere the child goes on, and others wait for it.)
"""

import os
import signal
import sys

from pliant.cli.main import INTERRUPTED, run

PR_SET_PDEATHSIG = 1


def end_with(parent: int) -> bool:
    """Let the system end this process when ``parent`` ends; False where the parent is gone already."""
    if sys.platform != "linux":
        return True
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    return os.getppid() == parent


if __name__ == "__main__":
    sys.exit(run(sys.argv[2:]) if end_with(int(sys.argv[1])) else INTERRUPTED)
