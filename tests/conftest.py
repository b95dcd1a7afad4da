"""Settings shared by all tests."""

from hypothesis import settings

# The first example of a test may compile a kernel, and CI machines are noisy: time says nothing here.
settings.register_profile("arbora", deadline=None, max_examples=60, print_blob=True)
settings.load_profile("arbora")
