"""Is the package ready to be published? `make release-check` runs this.

Builds the source distribution and the wheel, lets twine check them, and tries the wheel in empty environments outside
this folder: first the core alone, then with each extra, one environment each. `--python` tries another interpreter.

    python release/check.py                          # core and every extra
    python release/check.py --only core view         # some of them
    python release/check.py --only core --python ~/.pyenv/versions/3.12.1/bin/python
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CORE = """
import sys
import numpy as np
import arbora as ab
assert not {"torch", "matplotlib", "pandas", "dask"} & set(sys.modules), "import arbora loads an extra"
rng = np.random.default_rng(0)
y = np.repeat(np.arange(3), 20)
X = 5 * rng.normal(size=(3, 4))[y] + rng.normal(size=(60, 4))
tree = ab.cluster(X, random_state=0)
assert ab.metrics.clustering_accuracy(y, tree.cut(n_clusters=3)) > 0.9
assert tree.to_html("page.html").stat().st_size > 10_000
for name in ab.__all__:
    getattr(ab, name)
"""
POINTS = """
import numpy as np
import arbora as ab
rng = np.random.default_rng(0)
y = np.repeat(np.arange(3), 40)
X = 8 * rng.normal(size=(3, 4))[y] + rng.normal(size=(120, 4))
"""
# What each extra is for, in a few lines that fail without it.
EXTRAS = {
    "torch": """
import torch
leaves = torch.tensor([[0.8, 0.1], [0.8, -0.1], [-0.8, 0.0]], requires_grad=True)
ab.nn.HypHCLoss()(leaves, torch.tensor([[0, 1, 2]]), torch.tensor([[1.0, 0.2, 0.1]])).backward()
assert leaves.grad.abs().sum() > 0
assert ab.TURTLE(3, max_steps=20, random_state=0).fit(X).labels_.shape == y.shape
""",
    "view": """
ab.linkage(X).plot().figure.savefig("tree.png")
""",
    "formats": """
ab.linkage(X).to_frame().to_parquet("tree.parquet")
""",
    "dask": """
import dask.array as da
from distributed import Client

if __name__ == "__main__":
    with Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None):
        tree = ab.cluster(da.from_array(X, chunks=(30, 4)), random_state=0)
    assert ab.metrics.clustering_accuracy(y, tree.cut(n_clusters=3)) > 0.9
""",
    "baselines": """
assert ab.metrics.dendrogram_purity(ab.baselines.fit("umap-ward", X, random_state=0), y) > 0.9
assert ab.metrics.dendrogram_purity(ab.baselines.fit("fast-hdbscan", X), y) > 0.9
assert ab.baselines.fit("evoc", X, random_state=0).n_leaves == len(X)
import higra
""",
}


def run(*command: str | Path, folder: Path | None = None) -> None:
    """Run a command, show it, and stop where it fails."""
    print("$", " ".join(map(str, command))[:160], flush=True)
    subprocess.run([str(part) for part in command], check=True, cwd=folder)


def build(folder: Path) -> Path:
    """The wheel, after twine has found nothing wrong with it and the source distribution."""
    run(sys.executable, "-m", "build", "--outdir", folder, ROOT)
    run(sys.executable, "-m", "twine", "check", "--strict", *sorted(folder.iterdir()))
    return next(folder.glob("*.whl"))


def try_wheel(wheel: Path, extra: str, python: str) -> None:
    """Install the wheel with one extra into an empty environment, and use it from an empty folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(python, "-m", "venv", folder / "env")
        inside = folder / "env" / "bin" / "python"
        wanted = str(wheel) if extra == "core" else f"{wheel}[{extra}]"
        run(inside, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", wanted)
        program = folder / "try.py"
        program.write_text(CORE if extra == "core" else POINTS + EXTRAS[extra], encoding="utf-8")
        run(inside, program, folder=folder)
        print(f"{extra}: works", flush=True)


def main() -> None:
    """Build, check, try."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=["core", *EXTRAS], default=["core", *EXTRAS])
    parser.add_argument("--python", default=sys.executable, help="interpreter of the empty environments")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        wheel = build(Path(name))
        for extra in options.only:
            try_wheel(wheel, extra, options.python)


if __name__ == "__main__":
    main()
