"""Files are whole or absent."""

import os
import shutil
import subprocess
import sys
import threading
from collections import namedtuple
from pathlib import Path

import pytest
from bnpzoo.zoo.files import check_writable, claim, read_object, remove_leftovers, replace_on_success
from bnpzoo.zoo.folders import checked_new

from tests.helpers.disks import files_of_at_most


def test_replaces_when_all_is_written(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replace_on_success(path) as temporary:
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".txt"
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
def test_leaves_the_old_file_on_failure(tmp_path, failure):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def write_half():
        with replace_on_success(path) as temporary:
            temporary.write_text("half of the n")
            raise failure

    with pytest.raises(failure):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_names_the_file_for_which_there_is_no_room(tmp_path):
    path = tmp_path / "a.txt"
    with files_of_at_most(2), pytest.raises(OSError, match=r"File too large: '\S*a\.txt'"):
        write(path)
    assert not list(tmp_path.iterdir())


def test_names_a_folder_that_is_absent(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"), replace_on_success(tmp_path / "absent" / "a.txt"):
        pass


def test_a_folder_is_one_run_s(tmp_path):
    claim(tmp_path / "run", {"seed": 1, "sizes": (2, 3), "once": "asked"})
    claim(tmp_path / "run", {"seed": 1, "sizes": (2, 3)})
    with pytest.raises(ValueError, match="another run, which differs in more, seed; expected an empty"):
        claim(tmp_path / "run", {"seed": 2, "sizes": (2, 3), "more": None})


def write(path, text="new"):
    with replace_on_success(path) as temporary:
        temporary.write_text(text)


def test_the_target_of_a_link_is_replaced_and_not_the_link(tmp_path):
    target, link = tmp_path / "target.txt", tmp_path / "link.txt"
    link.symlink_to(target)
    for text in ("first", "second"):
        write(link, text)
        assert link.is_symlink()
        assert target.read_text() == text
    assert sorted(tmp_path.iterdir()) == [link, target]


def test_a_fifo_is_written_to(tmp_path):
    fifo, read = tmp_path / "fifo.txt", []
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: read.append(fifo.read_text()))
    reader.start()
    write(fifo)
    reader.join()
    assert read == ["new"]
    assert fifo.is_fifo()
    assert list(tmp_path.iterdir()) == [fifo]


def test_a_device_is_written_to():
    leader, follower = os.openpty()
    device = Path(os.ttyname(follower))
    write(device)
    assert os.read(leader, 10) == b"new"
    assert device.is_char_device()
    os.close(leader)
    os.close(follower)


def test_leftovers_of_killed_processes_are_removed(tmp_path):
    script = (
        "import os, sys\n"
        "from bnpzoo.zoo.files import replace_on_success\n"
        "with replace_on_success(sys.argv[1]) as temporary:\n"
        "    temporary.write_text('half')\n"
        "    os.kill(os.getpid(), 9)\n"
    )
    for name in ("a.txt", "b.txt"):
        subprocess.run([sys.executable, "-c", script, tmp_path / name], check=False)
    (tmp_path / ".a.notes.txt").write_text("ours")
    assert len(list(tmp_path.iterdir())) == 3
    with replace_on_success(tmp_path / "a.txt") as temporary:
        temporary.write_text("new")
        remove_leftovers(tmp_path)  # this process lives
    assert {path.name for path in tmp_path.iterdir()} == {"a.txt", ".a.notes.txt"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "expected the name of a file, found an empty one"),
        ("absent/a.nc", "expected the folder .*absent to exist"),
        ("folder", "expected a file, found a folder"),
        ("loop", "found links that lead nowhere"),
        ("x" * 300, "File name too long"),
    ],
)
def test_what_cannot_be_written_is_found_beforehand(tmp_path, monkeypatch, name, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match=message):
        check_writable(name)
    with pytest.raises(OSError, match=message):
        write(name)
    assert {path.name for path in tmp_path.iterdir()} == {"folder", "loop"}


@pytest.mark.parametrize("check", [check_writable, checked_new])
def test_room_is_asked_for_beforehand(tmp_path, monkeypatch, check):
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(1000))
    check(tmp_path / "a", 1000)
    with pytest.raises(OSError, match="a: expected room for about 1,001 bytes, found 1,000"):
        check(tmp_path / "a", 1001)


@pytest.mark.parametrize("text", ["null", "[]", "3", "{", "", "[" * 100_000])
def test_an_identity_that_is_no_object_is_one_line(tmp_path, text):
    path = tmp_path / "run.json"
    path.write_text(text)
    for read in (lambda: read_object(path), lambda: claim(tmp_path, {"seed": 1})):
        with pytest.raises(ValueError, match="expected an object of JSON") as caught:
            read()
        assert "\n" not in str(caught.value)
