"""Files are whole or not there; archives say what they are, and damage is refused."""

import os
import stat
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from arbora._base import files
from arbora._base.files import read_archive, write_archive, write_whole, written_whole
from arbora.errors import FormatError

MARKER = "arbora.test"


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_is_written_is_there_and_nothing_else(tmp_path):
    write_whole(tmp_path / "a", b"one")
    write_whole(tmp_path / "a", b"two")
    assert (tmp_path / "a").read_bytes() == b"two" and names_in(tmp_path) == ["a"]


@pytest.mark.parametrize("problem", [KeyboardInterrupt, OSError, ValueError])
def test_a_failure_leaves_the_old_file_and_no_other(problem, tmp_path):
    write_whole(tmp_path / "a", b"old")
    with pytest.raises(problem), written_whole(tmp_path / "a") as file:
        file.write(b"half")
        raise problem("in between")
    assert (tmp_path / "a").read_bytes() == b"old" and names_in(tmp_path) == ["a"]


def test_a_full_disk_is_reported_with_the_name_of_the_file(tmp_path):
    with pytest.raises(OSError, match="No space left") as caught, written_whole(tmp_path / "a"):
        raise OSError(28, "No space left on device")
    assert caught.value.filename == str(tmp_path / "a")


def test_an_error_that_names_another_file_keeps_that_name(tmp_path):
    with pytest.raises(OSError) as caught, written_whole(tmp_path / "a"):
        raise OSError(2, "No such file", "other")
    assert caught.value.filename == "other"


def test_a_folder_is_refused_by_name(tmp_path):
    with pytest.raises(IsADirectoryError, match=r"is a folder. Name a file in it"):
        write_whole(tmp_path, b"")


def test_a_missing_folder_is_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no such folder to write into: '.*absent'$"):
        write_whole(tmp_path / "absent" / "a", b"")


def test_the_file_that_a_link_leads_to_is_replaced_and_the_link_stays(tmp_path):
    (tmp_path / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real").read_bytes() == b"new"


def test_links_in_a_circle_are_refused(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError):
        write_whole(tmp_path / "a", b"")
    assert names_in(tmp_path) == ["a", "b"]


def test_a_pipe_is_written_to_directly(tmp_path):
    import threading

    os.mkfifo(tmp_path / "pipe")
    heard = []
    reader = threading.Thread(target=lambda: heard.append((tmp_path / "pipe").read_bytes()))
    reader.start()
    write_whole(tmp_path / "pipe", b"through")
    reader.join(10)
    assert heard == [b"through"] and stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_a_new_file_has_the_rights_of_any_new_file_and_an_old_one_keeps_its_own(tmp_path):
    mask = os.umask(0o027)
    try:
        write_whole(tmp_path / "new", b"")
        assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
        (tmp_path / "new").chmod(0o604)
        write_whole(tmp_path / "new", b"again")
        assert (tmp_path / "new").stat().st_mode & 0o777 == 0o604
        assert os.umask(0o027) == 0o027, "the mask of the process is as it was"
    finally:
        os.umask(mask)


def test_what_a_killed_process_left_is_removed_and_work_under_way_is_not(tmp_path):
    target = tmp_path / "a"
    ours = files._prefix(target)
    dead = ours.replace(f"-{os.getpid()}.", "-999999999.") + "x.part"
    alive, foreign = ours + "x.part", ".a.ffffff-999999999.x.part"
    for name in (dead, alive, foreign):
        (tmp_path / name).write_bytes(b"")
    write_whole(target, b"new")
    assert names_in(tmp_path) == sorted(["a", alive, foreign])


def test_a_very_long_name_can_be_written(tmp_path):
    name = "n" * 250
    write_whole(tmp_path / name, b"x")
    assert (tmp_path / name).read_bytes() == b"x"


arrays = hnp.arrays(
    st.sampled_from([np.float64, np.float32, np.int64, np.uint8, np.bool_, "<U3", "S4", np.complex64]),
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from("abcd"), arrays, max_size=4))
def test_arrays_of_any_type_and_shape_come_back(tmp_path, content):
    write_archive(tmp_path / "x.npz", MARKER, content)
    found = read_archive(tmp_path / "x.npz", MARKER)
    assert found.keys() == content.keys()
    for name, array in content.items():
        assert found[name].dtype == array.dtype and found[name].shape == array.shape
        np.testing.assert_array_equal(found[name], array)


def test_arrays_in_the_order_of_fortran_come_back(tmp_path):
    array = np.asfortranarray(np.arange(12).reshape(3, 4))
    write_archive(tmp_path / "x", MARKER, {"a": array})
    np.testing.assert_array_equal(read_archive(tmp_path / "x", MARKER)["a"], array)


def test_what_was_read_may_be_changed(tmp_path):
    write_archive(tmp_path / "x", MARKER, {"a": np.zeros(3)})
    array = read_archive(tmp_path / "x", MARKER)["a"]
    array[0] = 1
    assert read_archive(tmp_path / "x", MARKER)["a"][0] == 0


def test_objects_are_not_written(tmp_path):
    with pytest.raises(ValueError, match=r"[Oo]bject"):
        write_archive(tmp_path / "x", MARKER, {"a": np.array([{}], dtype=object)})
    assert names_in(tmp_path) == []


def test_the_file_of_something_else_is_named_with_what_it_holds(tmp_path):
    write_archive(tmp_path / "x", "arbora.other", {"alpha": np.zeros(1)})
    with pytest.raises(FormatError, match=r"is not an arbora.test file. It holds .*alpha"):
        read_archive(tmp_path / "x", MARKER)
    np.savez(tmp_path / "plain.npz", beta=np.zeros(1))
    with pytest.raises(FormatError, match=r"is not an arbora.test file. It holds .*beta"):
        read_archive(tmp_path / "plain.npz", MARKER)


def header(**changes):
    return {"format": np.array(MARKER), "version": np.array(1), "n_arrays": np.array(1), **changes}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (header(version=np.array(2)), "has version 2; this arbora reads up to 1. Update arbora"),
        (header(n_arrays=np.array(3)), "was saved with 3 arrays"),
        (header(n_arrays=np.array("x")), "header does not say what it holds"),
        (header(version=np.zeros(2)), "header does not say what it holds"),
        ({name: value for name, value in header().items() if name != "n_arrays"}, "header does not say"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(content, message, tmp_path):
    np.savez(tmp_path / "x.npz", a=np.zeros(2), **content)
    with pytest.raises(FormatError, match=message):
        read_archive(tmp_path / "x.npz", MARKER)


@pytest.mark.parametrize("name", ["format", "a"])
def test_characters_that_do_not_exist_are_refused(name, tmp_path):
    wrong = np.full(3, 0xFFFFFFFF, dtype=np.uint32).view("<U1")
    np.savez(tmp_path / "x.npz", **{"a": np.array(["é"]), **header(), name: wrong})
    with pytest.raises(FormatError, match=f"array '{name}.npy' holds characters that do not exist"):
        read_archive(tmp_path / "x.npz", MARKER)


def test_packed_arrays_are_refused_before_they_are_unpacked(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", a=np.zeros(1000), **header())
    with pytest.raises(FormatError, match="packed arrays, which arbora does not write"):
        read_archive(tmp_path / "x.npz", MARKER)


def npy_header(shape, dtype="<f8"):
    text = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


@pytest.mark.parametrize(
    ("member", "message"),
    [
        (npy_header((10**15,)), "does not fit its announcement"),
        (npy_header((2**40, 2**40)), "does not fit its announcement"),
        (npy_header((2,), "|O") + bytes(16), "does not fit its announcement"),
        (npy_header((2,)) + bytes(24), "is cut short"),
        (npy_header((2,)) + bytes(8), "is cut short|does not fit"),
        (b"not an array at all", "damaged"),
    ],
)
def test_an_array_that_announces_what_is_not_there_is_refused(member, message, tmp_path):
    np.savez(tmp_path / "x.npz", **header())
    with zipfile.ZipFile(tmp_path / "x.npz", "a") as archive:
        archive.writestr("a.npy", member)
    with pytest.raises(FormatError, match=message):
        read_archive(tmp_path / "x.npz", MARKER)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 800), flip=st.integers(0, 10**6), data=st.data())
def test_damage_anywhere_is_a_format_error_or_harmless(tmp_path, cut, flip, data):
    write_archive(tmp_path / "x", MARKER, {"a": np.arange(20), "b": np.array("text")})
    content = bytearray((tmp_path / "x").read_bytes())
    if data.draw(st.booleans()):
        content = content[: cut % len(content)]
    else:
        content[flip % len(content)] ^= data.draw(st.integers(1, 255))
    (tmp_path / "damaged").write_bytes(bytes(content))
    try:
        found = read_archive(tmp_path / "damaged", MARKER)
    except FormatError:
        return
    # the numbers are guarded by a checksum, so what can be read is what was written
    np.testing.assert_array_equal(found["a"], np.arange(20))


def test_what_is_no_archive_is_refused_and_what_is_absent_is_an_error_of_the_system(tmp_path):
    (tmp_path / "x").write_bytes(b"plain text")
    with pytest.raises(FormatError, match="is not a file that arbora saved, or it was cut short"):
        read_archive(tmp_path / "x", MARKER)
    with pytest.raises(FileNotFoundError):
        read_archive(tmp_path / "absent", MARKER)


def interrupted_at(line, write):
    """Call `write`, with Ctrl-C before the given line that Python runs in it; whether there was such a line."""
    left = line

    def trace(frame, event, _):
        nonlocal left
        if event == "line":
            left -= 1
            if left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        write()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


# a file that Ctrl-C keeps from being named is closed when it is collected
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_before_any_line_leaves_a_whole_file_and_no_other(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    line = 1
    while interrupted_at(line, lambda: write_whole(path, b"new")):
        assert os.listdir(tmp_path) == ["file"], f"interrupted before line {line}"
        assert path.read_bytes() in (b"old", b"new")
        line += 1
    assert path.read_bytes() == b"new"
    assert line > 10
