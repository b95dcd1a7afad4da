"""Settings shared by all tests."""

import os
import signal
import threading

from hypothesis import settings

# The first example of a test may compile a kernel, and CI machines are noisy: time says nothing here. CI draws the same
# examples every time, so that a change is judged by what it changed; at home every run looks further.
in_ci = bool(os.environ.get("CI"))
settings.register_profile("arbora", deadline=None, max_examples=60, print_blob=True, derandomize=in_ci)
settings.load_profile("arbora")

# Shells start what runs in the background with Ctrl-C ignored; some tests press it.
if (
    threading.current_thread() is threading.main_thread()
    and signal.getsignal(signal.SIGINT) is signal.SIG_IGN
):
    signal.signal(signal.SIGINT, signal.default_int_handler)
