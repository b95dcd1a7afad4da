"""What `n_jobs` means, everywhere, and work shared among threads."""

from __future__ import annotations

import contextlib
import contextvars
import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from arbora._base.params import check_whole

Item = TypeVar("Item")
Result = TypeVar("Result")
_SECONDS_BETWEEN_SIGNALS = 0.1
_SECONDS_BETWEEN_LOOKS = 0.005
# handed out one after the other: the last ones are short
_SHARES_PER_THREAD = 4


def count_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def count_threads(n_jobs: int | None) -> int:
    """Threads that `n_jobs` asks for: None and -1 all cores, -2 all but one, and so on.

    Unlike in scikit-learn None means all: no result of arbora depends on the number of threads.

    Examples
    --------
    >>> from arbora._base.threads import count_threads
    >>> count_threads(3)
    3
    """
    if n_jobs is None:
        return count_cores()
    n_jobs = check_whole(n_jobs, "n_jobs", least=None)
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0. Use None or -1 for all cores.")
    return n_jobs if n_jobs > 0 else max(1, count_cores() + 1 + n_jobs)


# threads that work within a call may use; None where nobody said
_allowed: contextvars.ContextVar[int | None] = contextvars.ContextVar("allowed_threads", default=None)


@contextlib.contextmanager
def allowing_threads(n_threads: int) -> Iterator[None]:
    """Inside, what has no `n_jobs` of its own uses at most this many threads (`allowed_threads`)."""
    token = _allowed.set(n_threads)
    try:
        yield
    finally:
        _allowed.reset(token)


def allowed_threads() -> int:
    """Threads for work that has no `n_jobs` of its own: those of the call around it, else all cores.

    Examples
    --------
    >>> from arbora._base.threads import allowed_threads, allowing_threads
    >>> with allowing_threads(1):
    ...     allowed_threads()
    1
    """
    n_threads = _allowed.get()
    return count_cores() if n_threads is None else n_threads


def share_out(
    work: Callable[[int, int], None], n_items: int, n_threads: int, at_once: int | None = None
) -> None:
    """Call ``work(first, last)`` for contiguous shares of `n_items`, in threads.

    Each thread has one share, or, with `at_once`, takes that many items whenever it is free: where a share can take
    long, or longer than others. All threads stop after their present call when one fails or Ctrl-C is pressed.
    """
    n_calls = min(n_threads, n_items) if at_once is None else -(-n_items // at_once)
    bounds = np.linspace(0, n_items, max(1, n_calls) + 1).astype(np.int64)
    if at_once is not None:
        bounds[1:-1] = at_once * np.arange(1, len(bounds) - 1)
    shares = list(pairwise(bounds.tolist()))
    in_turns(lambda share: work(*share), shares, n_threads)


def in_turns(
    work: Callable[[Item], Result],
    items: Sequence[Item],
    n_threads: int,
    report: Callable[[float], None] | None = None,
) -> list[Result]:
    """Results of all items; threads take the next one whenever they are free, and the caller's thread is one of them.

    The caller's settings, such as `numpy.errstate`, hold in all threads. All stop after their present item when one
    fails or Ctrl-C is pressed. `report` is called from the caller's thread only, with the share that has begun.

    Examples
    --------
    >>> from arbora._base.threads import in_turns
    >>> in_turns(abs, [1, -2, 3], 2)
    [1, 2, 3]
    """
    results: list[Any] = [None] * len(items)
    problems: list[BaseException] = []
    waiting, lock = iter(range(len(items))), threading.Lock()

    def take_turns(note: Callable[[float], None] | None = None) -> None:
        try:
            while not problems:
                with lock:
                    at = next(waiting, None)
                if at is None:
                    break
                results[at] = work(items[at])
                if note is not None:
                    note((at + 1) / len(items))
        # whatever it is, the caller gets it
        except BaseException as problem:
            problems.append(problem)

    others = [
        threading.Thread(target=contextvars.copy_context().run, args=(take_turns,))
        for _ in range(min(n_threads, len(items)) - 1)
    ]
    try:
        for thread in others:
            thread.start()
        take_turns(report)
        for thread in others:
            thread.join()
    # Ctrl-C between turns: the others see it, and end before the caller does
    except BaseException as problem:
        problems.append(problem)
        while any(thread.is_alive() for thread in others):
            time.sleep(_SECONDS_BETWEEN_LOOKS)
    if problems:
        raise problems[0]
    return results


def fair_share(n_items: int, n_threads: int) -> int:
    """How many items `share_out` hands out at once so that no thread waits long for the last one to finish.

    Examples
    --------
    >>> from arbora._base.threads import fair_share
    >>> fair_share(1000, 2), fair_share(0, 2)
    (125, 1)
    """
    return max(1, -(-n_items // (_SHARES_PER_THREAD * n_threads)))


def limited_libraries(n_threads: int, kind: str | None = None) -> Any:
    """Inside, libraries ("blas", "openmp" or both) use at most this many threads.

    Which there are is looked up again only after imports: it takes milliseconds, and is wanted several times per call.

    Examples
    --------
    >>> from arbora._base.threads import limited_libraries
    >>> with limited_libraries(1, "blas"):
    ...     pass
    """
    return _libraries(len(sys.modules)).limit(limits=n_threads, user_api=kind)


@functools.lru_cache(maxsize=1)
def _libraries(n_modules: int) -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


@contextlib.contextmanager
def limited_threads(n_jobs: int | None) -> Iterator[int]:
    """Let compiled loops, BLAS and OpenMP libraries use no more threads than `n_jobs` says; yields that number.

    Libraries left to themselves start a thread per core each, which spin while they wait for each other as soon as
    other processes want the cores.
    """
    import numba

    n_threads = count_threads(n_jobs)
    before = numba.get_num_threads()
    most: int = vars(numba.config)["NUMBA_NUM_THREADS"]
    numba.set_num_threads(min(n_threads, most))
    try:
        with limited_libraries(n_threads):
            yield n_threads
    finally:
        numba.set_num_threads(before)


def in_background(work: Callable[[], Result]) -> Result:
    """Do work that a library does in one uninterruptible call, so that Ctrl-C is answered at once.

    The main thread waits for it and can be interrupted; the library then finishes in the background, its result
    unused. Elsewhere than in the main thread, which alone receives signals, the work is simply done.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    results: list[Result] = []
    problems: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        # whatever it is, the caller gets it
        except BaseException as problem:
            problems.append(problem)

    # the caller's settings, such as numpy.errstate, hold in the thread too
    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(_SECONDS_BETWEEN_SIGNALS)
    if problems:
        raise problems[0]
    return results[0]
