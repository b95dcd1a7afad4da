"""``python -m arbora`` is the ``arbora`` command."""

from arbora.cli import main

main()
