import contextlib
import os
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from trees import trees

from arbora import Tree
from arbora._base import files
from arbora.errors import FormatError
from arbora.tree.formats import npz

names = st.text(st.characters(exclude_categories=("Cs",)), max_size=8)


def full_tree():
    return Tree(
        [3, 3, 4, 4, -1],
        3,
        height=[0, 0, 0, 1, 2],
        support=[np.nan, np.nan, np.nan, 0.5, 1],
        name=["a", "木", "it's", "", "root"],
        order=[2, 1, 0],
    )


@given(tree=trees(max_leaves=12, unary=0.2, heights=True), data=st.data())
def test_a_saved_tree_is_loaded_unchanged(tmp_path_factory, tree, data):
    tree = tree.replace(name=data.draw(st.lists(names, min_size=tree.n_nodes, max_size=tree.n_nodes)))
    path = tmp_path_factory.mktemp("trees") / "tree.npz"
    for asked in (tree, tree.replace(height=None, name=None)):
        asked.save(path)
        assert Tree.load(path) == asked


def test_everything_survives_the_order_too(tmp_path):
    path = tmp_path / "any name at all"
    full_tree().save(path)
    back = Tree.load(str(path))
    assert back == full_tree()
    assert back.leaf_order.tolist() == full_tree().leaf_order.tolist()


def test_every_truncation_is_refused(tmp_path):
    whole, cut = tmp_path / "whole.npz", tmp_path / "cut.npz"
    full_tree().save(whole)
    raw = whole.read_bytes()
    for size in range(0, len(raw), 37):
        cut.write_bytes(raw[:size])
        with pytest.raises(FormatError):
            Tree.load(cut)


def test_damage_inside_the_file_is_noticed(tmp_path):
    path = tmp_path / "tree.npz"
    full_tree().save(path)
    raw = bytearray(path.read_bytes())
    at = raw.index(full_tree().parent.tobytes())
    raw[at] ^= 0xFF
    path.write_bytes(raw)
    with pytest.raises(FormatError, match="damaged"):
        Tree.load(path)


def test_no_flipped_byte_changes_a_tree_unnoticed(tmp_path):
    path = tmp_path / "tree.npz"
    full_tree().save(path)
    raw = path.read_bytes()
    for at in range(0, len(raw), 7):
        damaged = bytearray(raw)
        damaged[at] ^= 0x81
        path.write_bytes(damaged)
        with contextlib.suppress(FormatError):  # some bytes nothing depends on, such as dates
            assert Tree.load(path) == full_tree()


def test_foreign_files_are_refused(tmp_path):
    path = tmp_path / "file"
    path.write_text("no tree")
    with pytest.raises(FormatError, match="not a file that arbora saved"):
        Tree.load(path)
    np.savez(path.with_suffix(".npz"), x=np.arange(3))
    with pytest.raises(FormatError, match="'x'"):
        Tree.load(path.with_suffix(".npz"))
    np.save(path.with_suffix(".npy"), np.arange(3))
    with pytest.raises(FormatError, match="not a file that arbora saved"):
        Tree.load(path.with_suffix(".npy"))
    with pytest.raises(FileNotFoundError):
        Tree.load(tmp_path / "absent")


def test_a_later_version_is_refused_by_name(tmp_path, monkeypatch):
    path = tmp_path / "tree.npz"
    monkeypatch.setattr(files, "VERSION", 7)
    full_tree().save(path)
    monkeypatch.undo()
    with pytest.raises(FormatError, match="version 7"):
        Tree.load(path)


def header(arrays):
    return {"format": npz.MARKER, "version": files.VERSION, "n_arrays": len(arrays)}


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("exploded",)


def test_nothing_is_unpickled(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arrays = {"n_leaves": 1, "parent": np.array([Bomb()])}
    np.savez("pickled.npz", **header(arrays), **arrays)
    (tmp_path / "bare.pkl").write_bytes(pickle.dumps(Bomb()))
    for name in ("pickled.npz", "bare.pkl"):
        with pytest.raises(FormatError):
            Tree.load(name)
    assert not (tmp_path / "exploded").exists()


def test_arrays_that_are_no_tree_are_refused(tmp_path):
    path = tmp_path / "bad.npz"
    arrays = {"n_leaves": 2, "parent": [0, 1, 2]}
    np.savez(path, **header(arrays), **arrays)
    with pytest.raises(FormatError, match="damaged"):
        Tree.load(path)


def test_a_failed_save_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "tree.npz"
    full_tree().save(path)

    def fail(*_, **__):
        raise OSError("disk full")

    monkeypatch.setattr(files.np, "savez", fail)
    with pytest.raises(OSError, match="disk full"):
        Tree([2, 2, -1], 2).save(path)
    monkeypatch.undo()
    assert Tree.load(path) == full_tree()
    assert os.listdir(tmp_path) == ["tree.npz"]


def test_a_saved_file_has_the_usual_permissions(tmp_path):
    (tmp_path / "plain").write_text("")
    full_tree().save(tmp_path / "tree.npz")
    assert (tmp_path / "tree.npz").stat().st_mode == (tmp_path / "plain").stat().st_mode
