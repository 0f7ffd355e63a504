"""Child processes whose memory is of interest."""

import os
import subprocess
import time

PAUSE = 0.01  # s between two looks at a child


def ended(process: "subprocess.Popen[bytes]") -> tuple[int, float]:
    """Wait for a child: its exit code and the largest memory that it had [MB].

    What the system keeps for a child that has ended counts this process too, of which it began as a copy; so
    the child is looked at while it runs, where /proc tells.
    """
    memory = 0.0
    try:
        while True:
            found, status, used = os.wait4(process.pid, os.WNOHANG)
            if found:
                break
            memory = max(memory, _high_water(process.pid))
            time.sleep(PAUSE)
    except BaseException:
        process.kill()
        process.wait()
        raise
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, memory or used.ru_maxrss / 1e3


def _high_water(pid: int) -> float:
    """The most memory that a process has had so far [MB]; 0 where that cannot be told."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
            line = next((line for line in file if line.startswith("VmHWM")), "")
    except OSError:
        return 0.0
    words = line.split()
    return float(words[1]) * 1024 / 1e6 if len(words) > 1 else 0.0
