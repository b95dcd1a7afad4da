"""The page on new views, drawn by the lines that it shows."""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import arbora as ab

tree = ab.cluster(load_wine().data, random_state=0)
# figures run where they are, without a __file__
page = Path("..", "extending", "view.rst")
block = re.search(r"\.\. code-block:: python\n((?:\n|   .*\n)+)", page.read_text(encoding="utf-8"))
lines = "\n".join(line[3:] for line in block[1].splitlines())
exec(lines, {"plt": plt, "np": np, "tree": tree})
plt.gcf().set_size_inches(4.5, 4.5)
