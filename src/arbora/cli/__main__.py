"""``python -m arbora.cli`` is the ``arbora`` command."""

from arbora.cli import main

main()
