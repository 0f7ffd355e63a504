"""How many threads are worth it just now.

Two threads that share a busy machine wait for each other: a loop of 0.1 ms can take 5 ms. The bytes do not
depend on the number of threads, so the loop is free to look at the clock and choose.
"""

import time

CHUNK_SECONDS = 0.02  # how long one choice is observed
RETRY = 50  # chunks after which the other choice is tried again


class ThreadTuner:
    """Times steps in chunks, with one thread and with all, and keeps to the quicker choice."""

    def __init__(self) -> None:
        from pliant.kernels import jit

        self._use_threads = jit.use_threads
        self.most = jit.threads_in_use()
        self.current = self.most
        self._seconds: dict[int, float] = {}
        self._chunk, self._count, self._since_retry = 1, 0, 0
        self._cold = 2  # the first steps load compiled code
        self._start = time.perf_counter()

    def begin(self, steps: int) -> None:
        """Called where a run of ``steps`` steps begins: what came before does not count."""
        self._chunk = max(1, min(self._chunk, steps))
        self._count, self._start = 0, time.perf_counter()

    def tick(self) -> None:
        """Called after every step."""
        if self.most == 1:
            return
        self._count += 1
        if self._count >= self._chunk:
            self._judge()

    def _judge(self) -> None:
        now = time.perf_counter()
        if self._cold:
            self._cold -= 1
            self._count, self._start = 0, now
            return
        per_step = (now - self._start) / self._count
        self._seconds[self.current] = per_step
        self._since_retry += 1
        other = 1 if self.current == self.most else self.most
        if other not in self._seconds or self._since_retry >= RETRY:
            self._since_retry = 0
            self._use(other)
        elif self._seconds[other] < 0.9 * per_step:
            self._use(other)
        self._chunk = max(1, int(CHUNK_SECONDS / per_step))
        self._count, self._start = 0, time.perf_counter()

    def _use(self, threads: int) -> None:
        self.current = threads
        self._use_threads(threads)
