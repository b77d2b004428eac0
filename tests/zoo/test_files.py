"""Files are whole or absent."""

import pytest
from bnpzoo.zoo.files import claim, replace_on_success


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


def test_names_a_folder_that_is_absent(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"), replace_on_success(tmp_path / "absent" / "a.txt"):
        pass


def test_a_folder_is_one_run_s(tmp_path):
    claim(tmp_path / "run", {"seed": 1, "sizes": (2, 3), "once": "asked"})
    claim(tmp_path / "run", {"seed": 1, "sizes": (2, 3)})
    with pytest.raises(ValueError, match="another run, which differs in more, seed; expected an empty"):
        claim(tmp_path / "run", {"seed": 2, "sizes": (2, 3), "more": None})
