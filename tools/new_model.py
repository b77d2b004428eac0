"""Start a model from the skeleton.

    python tools/new_model.py my_model

copies ``examples/skeleton`` into the rooms. The words ``skeleton`` and ``Skeleton``, in names of files and in
them, become the model's own. What it writes is a whole model, of topics of groups, to be changed step by
step; the line to add to the registry is printed.
"""

import argparse
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
SKELETON = ROOT / "examples" / "skeleton"


def class_name(model_id: str) -> str:
    """Name of the class of a model."""
    return "".join(part.capitalize() for part in model_id.split("_"))


def registry_line(model_id: str) -> str:
    """Line of the registry, ``zoo/models/__init__.py``, that adds a model."""
    name = class_name(model_id)
    return f"from .{model_id} import {name} as {name}"


def start(model_id: str, root: Path = ROOT) -> list[Path]:
    """Write the files of a new model.

    Parameters
    ----------
    model_id : str
        Words in lower case with underscores between them.
    root : Path
        Where the rooms are.

    Returns
    -------
    list of Path

    Raises
    ------
    ValueError
        It is no name of a model.
    FileExistsError
        There is such a file already; nothing has been written.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", model_id):
        raise ValueError(f"name: expected words in lower case, joined by _, found {model_id!r}")

    def named(text: str) -> str:
        return text.replace("skeleton", model_id).replace("Skeleton", class_name(model_id))

    sources = [path for path in sorted(SKELETON.rglob("*")) if path.suffix in (".py", ".stan")]
    files = {root / named(path.relative_to(SKELETON).as_posix()): path for path in sources}
    for path in files:
        if path.exists():
            raise FileExistsError(f"{path}: expected no such file, found one")
    for path, source in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(named(source.read_text("utf-8")), encoding="utf-8")
    return list(files)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Start a model from the skeleton.")
    parser.add_argument("name", help="its id, such as my_model")
    name = parser.parse_args().name
    try:
        written = start(name)
    except (ValueError, FileExistsError) as error:
        parser.error(str(error))
    for path in written:
        print(path.relative_to(ROOT))
    print(f"Add to zoo/models/__init__.py:  {registry_line(name)}")
