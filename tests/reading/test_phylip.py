"""PHYLIP's distance matrices in every form in which programs write them."""

import numpy as np
import pytest

import arbora as ab
from arbora.errors import FormatError

D = np.array([[0, 1, 4, 5], [1, 0, 3, 6], [4, 3, 0, 2.5], [5, 6, 2.5, 0]])
WORDS = ["ant", "bee", "cat", "12"]


def rows(names, form):
    for k, name in enumerate(names):
        shown = {"square": D[k], "lower": D[k, :k], "lower diagonal": D[k, : k + 1], "upper": D[k, k + 1 :]}[
            form
        ]
        yield name + "  " + " ".join(f"{one:.4f}" for one in shown)


def written(tmp_path, lines, name="d.phy"):
    path = tmp_path / name
    path.write_text("\n".join([f"  {len(D)}", *lines]) + "\n")
    return path


@pytest.mark.parametrize("form", ["square", "lower", "lower diagonal", "upper"])
@pytest.mark.parametrize("name", ["d.phy", "d.txt", "d"])
def test_square_and_triangles_are_distances_with_names(tmp_path, form, name):
    names = ["ant", "bee", "cat", "dog"]
    data = ab.read(written(tmp_path, rows(names, form), name))
    assert data.kind == "distances" and data.format == "phylip"
    assert np.array_equal(data.values, D) and data.names == names
    assert ab.cluster(data, random_state=0).leaf_names == names


def test_names_that_fill_ten_characters_may_hold_blanks(tmp_path):
    names = ["Homo sap.", "Pan trog.", "Mus", "Rattus r."]
    path = written(tmp_path, rows([f"{name:<10}" for name in names], "square"))
    assert ab.read(path).names == names


def test_long_rows_continue_on_the_next_line_and_numbers_can_be_names(tmp_path):
    lines = []
    for line in rows(WORDS, "square"):
        parts = line.split()
        lines += [" ".join(parts[:3]), "   " + " ".join(parts[3:])]
    data = ab.read(written(tmp_path, lines))
    assert np.array_equal(data.values, D) and data.names == WORDS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (" 3 20\nA ACGT\nB ACGT\nC AGGT\n", "alignment"),
        ("3\nA 0 1 2\nB 1 0 3\n", "announces 3 points"),
        ("2\nA 0 1\nB 2 0\n", "symmetric"),
        ("points\nA 0 1\n", "number of points"),
    ],
)
def test_what_is_no_matrix_is_refused(tmp_path, text, message):
    path = tmp_path / "x.phy"
    path.write_text(text)
    with pytest.raises((FormatError, ValueError), match=message):
        ab.read(path)
