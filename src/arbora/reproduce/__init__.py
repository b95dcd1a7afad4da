"""Every table of the papers, run again: ``arbora reproduce``.

A table is data (`arbora.reproduce.table.Table`): data sets, methods, metrics and what is known beforehand. Each cell
runs in a process of its own and leaves one JSON file; pages of the documentation are made from those files.
"""
