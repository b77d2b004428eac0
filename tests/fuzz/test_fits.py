"""Fits: bytes that are damaged, trees that are not as they were written."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from bnpzoo.zoo.inference import ResultsError, corpus_of, latents_of, load, model_of, save
from bnpzoo.zoo.inference.fits import SEAL
from hypothesis import given
from hypothesis import strategies as st
from malformed import arrays, damaged, numbers, words


def taken(path):
    """Fit in a file, or None where it is refused in one line."""
    try:
        return load(path)
    except ResultsError as error:
        message = str(error)
    assert message
    assert "\n" not in message
    return None


USES = ("topics", "differences", "evaluate", "compare", "report")


def use(run, command, path, other, corpus_file, here):
    """Give a fit to a command that reads one."""
    run(
        command,
        path,
        *{
            "topics": ["--words", 3],
            "differences": ["--csv", here / "table.csv"],
            "evaluate": [corpus_file, "--json"],
            "compare": [other],
            "report": [other, "--out", here / "report.html"],
        }[command],
    )
    assert not [file.name for file in here.iterdir() if file.name.startswith(".")]


def _as_written(tree: xr.DataTree, path: Path, sealed: bool) -> bool:
    """Write a tree; False where that cannot be done."""
    try:
        if sealed:
            save(tree, path)
        else:
            tree.to_netcdf(path, engine="h5netcdf")
    except Exception:  # not every tree is one that netCDF can hold
        return False
    return True


def test_an_example_that_fails_is_told(fits):
    """It was not while fits were shown in full: Hypothesis warned of that, and warnings are errors."""

    @given(st.just(0))
    def fails(fits, zero):
        return len(fits) / zero

    with pytest.raises(ZeroDivisionError):
        fails(fits)


@given(st.sampled_from(["lda", "hdp", "hpyp"]), st.data())
@pytest.mark.slow
def test_damaged_bytes(fits, name, data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.nc"
        save(fits[name][0], path)
        path.write_bytes(data.draw(damaged(path.read_bytes()) | st.binary(max_size=60)))
        found = taken(path)
        assert found is None or found.equals(fits[name][0])


@given(st.sampled_from(["lda", "hdp", "hpyp"]), st.data())
@pytest.mark.slow
def test_damaged_bytes_without_a_seal(fits, run, name, data):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.nc"
        save(fits[name][0], path)
        sound = path.read_bytes()
        path.write_bytes(data.draw(damaged(sound[: sound.rindex(SEAL)])))
        if taken(path) is not None:
            run("topics", path)


@st.composite
def changed(draw, tree):
    """Draw a fit with something missing, renamed, or of other values; and whether its corpus is another."""
    tree = tree.copy(deep=True)
    is_other = False
    for _ in range(draw(st.integers(1, 2))):
        kind = draw(
            st.sampled_from(["group", "variable", "attribute", "value", "value", "value", "axes", "words"])
        )
        group = draw(st.sampled_from(sorted(tree.children) or [None]))
        if group is None:
            break
        dataset = tree[group].to_dataset()
        name = draw(st.sampled_from(sorted(map(str, dataset.data_vars)) or [None]))
        if kind == "group":
            del tree[group]
        elif kind == "attribute":
            key = draw(st.sampled_from(sorted(tree.attrs)))
            if draw(st.booleans()):
                del tree.attrs[key]
            else:
                tree.attrs[key] = draw(words | numbers | st.just(np.arange(3)))
        elif kind == "words" and "observed_data" in tree.children:
            observed = tree["observed_data"].to_dataset()
            if "words" in observed and observed["words"].values.any():
                tree["observed_data"] = observed.assign(words=observed["words"] * 0)
                is_other = True
        elif name is not None and kind == "variable":
            tree[group] = dataset.drop_vars(name)
        elif name is not None and kind == "axes":
            own = dataset[name]
            dims = draw(st.permutations(own.dims))
            tree[group] = dataset.drop_vars(name).assign({name: own.transpose(*dims)})
        elif name is not None and kind == "value":
            own = dataset[name]
            values = draw(arrays(own.values))
            dims = own.dims if values.shape == own.shape else [f"axis {i}" for i in range(values.ndim)]
            tree[group] = dataset.drop_vars(name).assign({name: (dims, values)})
    return tree, is_other


@given(st.sampled_from(["lda", "hdp", "hpyp"]), st.data())
@pytest.mark.slow
def test_changed_trees(fits, run, corpus_file, name, data):
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        path, other = here / "fit.nc", here / "other.nc"
        save(fits[name][1], other)
        tree, is_other = data.draw(changed(fits[name][0]))
        if not _as_written(tree, path, data.draw(st.booleans())):
            return
        found = taken(path)
        assert found is None or not is_other
        use(run, data.draw(st.sampled_from(USES)), path, other, corpus_file, here)


@given(st.sampled_from(["lda", "hdp", "hpyp"]), st.randoms(use_true_random=False))
def test_labels_of_topics_mean_nothing(fits, name, random):
    tree = fits[name][0]
    model, corpus = model_of(tree), corpus_of(tree)
    for _, _, latents in latents_of(tree):
        order = list(range(model.n_topics_of(latents)))
        random.shuffle(order)
        new = np.argsort(order)
        renamed = dict(latents) | {"z": new[latents["z"]]}
        if "root" in latents:
            renamed["root"] = latents["root"][[*order, -1]]
        if "b" in latents:
            renamed["b"] = latents["b"][order]
        before, after = model.quantities(latents, corpus), model.quantities(renamed, corpus)
        for quantity, value in before.items():
            if quantity != "b":
                np.testing.assert_allclose(after[quantity], value, rtol=1e-9, err_msg=quantity)
