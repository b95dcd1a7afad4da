"""Nobody asks what kind a similarity is: what it can do is in the protocol, so that a user's own works everywhere."""

import re
from pathlib import Path

import arbora

SOURCE = Path(arbora.__file__).parent
KINDS = r"(Dense|Feature|Gaussian|Graph|Knn)Similarity"
# where kinds are made, and where the fastest engine for one is chosen
ALLOWED = ("similarity/", "search/engines.py")


def test_no_isinstance_on_kinds_of_similarities_outside_their_package():
    asked = re.compile(
        rf"isinstance\([^()]*(\([^()]*\))?[^()]*{KINDS}|hasattr\([^()]*\"(csr|features|matrix)\""
    )
    found = [
        f"{path.relative_to(SOURCE)}: {match.group(0)}"
        for path in sorted(SOURCE.rglob("*.py"))
        if not str(path.relative_to(SOURCE)).startswith(ALLOWED)
        for match in asked.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []
