"""One meaning of n_jobs; work in threads, and work that Ctrl-C can leave."""

import _thread
import sys
import threading
import time

import numpy as np
import pytest
import threadpoolctl

from arbora._base.threads import (
    allowed_threads,
    allowing_threads,
    count_cores,
    count_threads,
    in_background,
    in_turns,
    limited_libraries,
    limited_threads,
    share_out,
)


def test_none_and_minus_one_mean_all_cores():
    assert count_threads(None) == count_threads(-1) == count_cores() >= 1
    assert count_threads(-2) == max(1, count_cores() - 1) and count_threads(7) == 7
    assert count_threads(-1000) == 1


@pytest.mark.parametrize(
    ("bad", "error"), [(0, ValueError), ("a", TypeError), (1.5, TypeError), (True, TypeError)]
)
def test_what_is_no_number_of_threads_is_refused(bad, error):
    with pytest.raises(error, match="n_jobs"):
        count_threads(bad)


@pytest.mark.parametrize("n_threads", [1, 3, 50])
def test_shares_cover_every_item_once(n_threads):
    done = np.zeros(20, dtype=int)

    def work(first, last):
        done[first:last] += 1

    share_out(work, 20, n_threads)
    assert (done == 1).all()
    share_out(work, 20, n_threads, at_once=3)
    assert (done == 2).all()
    share_out(work, 0, n_threads)


@pytest.mark.parametrize("n_threads", [1, 2, 7])
def test_results_of_turns_are_in_the_order_of_the_items(n_threads):
    shares = []
    assert in_turns(lambda k: k * k, range(5), n_threads, shares.append) == [0, 1, 4, 9, 16]
    assert shares == sorted(shares) and set(shares) <= {0.2, 0.4, 0.6, 0.8, 1.0}
    assert in_turns(abs, [], n_threads) == []


def test_the_callers_thread_takes_turns_and_its_settings_hold_in_all():
    both = threading.Barrier(2, timeout=10)

    def work(k):
        both.wait()
        return threading.current_thread() is threading.main_thread(), np.geterr()["divide"], allowed_threads()

    with np.errstate(divide="raise"), allowing_threads(5):
        found = in_turns(work, [0, 1], 2)
    assert set(found) == {(True, "raise", 5), (False, "raise", 5)}


@pytest.mark.parametrize("n_threads", [1, 2])
def test_all_threads_stop_after_the_present_piece_when_one_fails(n_threads):
    done, is_over = [], threading.Event()

    def work(first, last):
        done.append(first)
        if first == 0:
            raise KeyboardInterrupt
        is_over.wait(0.01)

    with pytest.raises(KeyboardInterrupt):
        share_out(work, 20_000, n_threads, at_once=1)
    assert len(done) < 1000


def test_limits_are_taken_back():
    import numba

    before = numba.get_num_threads()
    with limited_threads(1) as n_threads:
        assert n_threads == numba.get_num_threads() == 1
    assert numba.get_num_threads() == before


def test_libraries_are_looked_up_once_until_something_is_imported(monkeypatch):
    def blas_threads():
        return [info["num_threads"] for info in threadpoolctl.threadpool_info() if info["user_api"] == "blas"]

    before = blas_threads()
    with limited_libraries(1, "blas"):
        assert set(blas_threads()) <= {1}
    assert blas_threads() == before
    monkeypatch.setattr(threadpoolctl, "ThreadpoolController", lambda: pytest.fail("looked up again"))
    with limited_libraries(1, "blas"):
        pass
    monkeypatch.setitem(sys.modules, "imported_after_the_limits", sys)
    with pytest.raises(pytest.fail.Exception, match="looked up again"):
        limited_libraries(1, "blas")


def test_background_work_hands_over_its_result_its_errors_and_its_settings():
    assert in_background(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        in_background(lambda: 1 // 0)
    with np.errstate(divide="ignore"):
        assert in_background(lambda: np.geterr()["divide"]) == "ignore"


def test_background_work_is_left_at_once_by_ctrl_c():
    began = threading.Event()

    def work():
        began.set()
        time.sleep(120)

    def press():
        began.wait(60)
        _thread.interrupt_main()

    threading.Thread(target=press, daemon=True).start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        in_background(work)
    # a small part of the work, and much more than a busy machine delays
    assert time.perf_counter() - start < 60


def test_in_a_thread_the_work_is_simply_done():
    found = []
    thread = threading.Thread(target=lambda: found.append(in_background(threading.current_thread)))
    thread.start()
    thread.join()
    assert found == [thread]


def test_work_without_its_own_number_of_threads_follows_the_call_around_it():
    assert allowed_threads() == count_cores()
    with allowing_threads(3):
        assert allowed_threads() == 3
        with allowing_threads(1):
            assert allowed_threads() == 1
        assert allowed_threads() == 3
    assert allowed_threads() == count_cores()


def test_an_error_gives_the_number_of_threads_back():
    with pytest.raises(KeyError), allowing_threads(7):
        raise KeyError
    assert allowed_threads() == count_cores()
