"""Without PyTorch every part that needs it names the pip line, and nothing else fails."""

import subprocess
import sys

import pytest

BLOCKED = """
import sys
class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "torch":
            raise ModuleNotFoundError("No module named " + name, name=name)
sys.meta_path.insert(0, NotInstalled())
import numpy as np
import arbora as ab
from arbora.errors import MissingExtraError
X = np.random.default_rng(0).normal(size=(20, 3))
graph = ab.similarity.knn(X, n_neighbors=3)
try:
    {statement}
except MissingExtraError as error:
    assert "pip install 'arbora[torch]'" in str(error), error
    print("named")
"""


@pytest.mark.parametrize(
    "statement",
    [
        "ab.nn.HypHCLoss",
        "ab.nn.SoftTSD",
        "from arbora.nn.ghhc_loss import GHHCLoss",
        "ab.HypHC(dimension=3, max_epochs=1, n_triples=10).fit(X)",
        "ab.FPH(optimizer='softmax', n_internal=3, max_epochs=1).fit(graph)",
        "import arbora.tasks.classification",
        "import arbora.hyperbolic.optim",
    ],
)
def test_what_needs_pytorch_says_how_to_install_it(statement):
    program = BLOCKED.format(statement=statement)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "named"


def test_the_defaults_of_all_families_need_no_pytorch():
    statement = (
        "ab.HypHC(max_epochs=1, n_triples=10).fit(X); ab.FPH(n_internal=3, max_epochs=1).fit(graph); "
        "ab.GHHC(n_internal=3, max_steps=1).fit(X); print('fitted')"
    )
    program = BLOCKED.format(statement=statement)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "fitted"
