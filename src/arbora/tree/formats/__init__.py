"""Trees as text and files: one module a format, each with ``read`` and ``write``."""
