"""The order of the examples: from what most people have to what few need."""

ORDER = (
    "plot_digits.py",
    "plot_documents.py",
    "plot_cells.py",
    "plot_graphs.py",
    "plot_classifier.py",
    "plot_joint_training.py",
    "plot_stream.py",
    "plot_million.py",
    "plot_dask.py",
    "plot_bertopic.py",
)


class ReadingOrder:
    """Sphinx-gallery's sort key: the place in `ORDER`, then the name."""

    def __init__(self, folder=None):
        self.folder = folder

    def __repr__(self):
        """Sphinx compares settings by their text."""
        return "ReadingOrder"

    def __call__(self, name):
        """The key of one file."""
        return (ORDER.index(name) if name in ORDER else len(ORDER), name)
