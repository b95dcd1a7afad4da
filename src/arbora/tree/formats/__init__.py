"""Trees as text and files: one module per format, each with ``read`` and ``write``."""
