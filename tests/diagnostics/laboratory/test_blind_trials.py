"""Blind mutants: before which rungs and tests a change of a model is put."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from bnpzoo.diagnostics.laboratory.blind import trials_of_models
from bnpzoo.diagnostics.laboratory.blind.targets import PackageModel
from bnpzoo.zoo.inference.stan_engines import engines


def test_blocks_of_references_are_put_before_tests_of_no_model():
    target = PackageModel("hdp")
    sticks = next(site[0] for site in target.sites if site[0].definition == "StickWeights.sample")
    of_no_model = [trial for trial in target.trials() if "not hdp" in " ".join(trial.arguments)]
    assert any(trial.sees(sticks) for trial in of_no_model)


@pytest.mark.skipif(not engines(), reason="needs CmdStan or PyStan")
@pytest.mark.slow
def test_changes_of_a_stan_program_are_put_before_its_twin(request):
    """Which is a heavy test for most models, and must not take its figures from the books."""
    [trial] = [one for one in PackageModel("shdp").trials() if "twins" in " ".join(one.arguments)]
    assert "--anew" in trial.arguments
    asked = [sys.executable, *trial.arguments, "--collect-only"]
    environment = os.environ | {"PYTEST_ADDOPTS": ""}  # -v there would take back their -q
    found = subprocess.run(
        asked, cwd=request.config.rootpath, env=environment, capture_output=True, text=True, check=True
    )
    names = [name.partition("::")[2] for name in found.stdout.splitlines() if "::" in name]
    assert names == [f"test_twins_have_one_density_and_save_the_same[{engines()[0].name}-shdp]"]


def test_changes_of_a_model_are_put_before_tests_that_name_it_by_its_id():
    target = PackageModel("sparse_transfer")
    own = next(site[0] for site in target.sites if site[0].file == "zoo/models/sparse_transfer.py")
    assert any(t.name.endswith("buffet/test_generator.py") and t.sees(own) for t in target.trials())


def test_which_model_a_file_of_tests_is_about():
    names = ("sparse_transfer", "sparse_transfer_joint", "sbp", "mt_hdp", "chains", "was")
    found = [trials_of_models._is_about(Path(f"test_{name}.py")) for name in names]
    assert found == ["sparse_transfer", "sparse_transfer", "sbp", "mt_hdp", "", "was"]


def test_changes_of_a_family_are_put_before_the_tests_of_its_folder():
    target = PackageModel("hdsp")
    answers = next(site[0] for site in target.sites if site[0].file == "zoo/families/scaling/missing.py")
    seen = {trial.name for trial in target.trials() if trial.sees(answers)}
    assert "tests/zoo/families/scaling/test_missing.py" in seen
    assert not any(name.startswith("tests/zoo/families/hdp") for name in seen)


def test_each_rung_of_each_variant_is_a_trial_by_itself():
    target = PackageModel("hdp")
    own = {(case.rung, case.variant) for case in target.cases if case.rung != "sbc"}
    names = [trial.name for trial in target.trials()]
    assert len(own) > 4
    assert all(names.count(f"{rung} ({variant})") == 1 for rung, variant in own)


def test_changes_of_a_branch_that_is_a_cousins_are_put_before_its_rungs():
    """``update_sticks`` has one for three levels, which ``hdp`` has not."""
    target = PackageModel("hdp")
    changes = {site[0].definition: site[0] for site in target.sites}
    cousins = [trial for trial in target.trials() if trial.name.startswith("joint and oracle of ")]
    assert "joint and oracle of mt_hdp" in {
        trial.name for trial in cousins if trial.sees(changes["update_sticks"])
    }
    assert "joint and oracle of hdp" not in {trial.name for trial in cousins}
    assert not any(trial.sees(changes["crt_by_jumps"]) for trial in cousins), "all models have it"


def test_changes_of_what_models_share_are_put_before_tests_of_all():
    """``CollapsedTopicModel.quantities`` has a branch for topics that open, of which ``tpyp`` has none."""
    target = PackageModel("tpyp")
    changes = {site[0].definition: site[0] for site in target.sites}
    of_stan = next(site[0] for site in target.sites if site[0].file.startswith("stan/"))
    of_all = [trial for trial in target.trials() if trial.name.endswith(" of all models")]
    assert {trial.arguments[-1] for trial in of_all} == set(trials_of_models.OF_ALL_MODELS)
    for trial in of_all:
        assert trial.in_reserve
        assert trial.sees(changes["CollapsedTopicModel.quantities"])
        assert trial.sees(changes["slice_sample"])
        assert not trial.sees(of_stan)


def test_a_model_is_another_to_itself_with_other_topics():
    """All its samplers are: some are not there with these topics."""
    trials = {trial.name: trial for trial in PackageModel("lda", "belief-network").trials()}
    told = " ".join(trials["joint and oracle of lda"].arguments)
    assert all(f'"{variant}"' in told for variant in ("sparse", "dense", "parallel"))
    assert '"parallel"' not in " ".join(trials["joint and oracle of pfa"].arguments)


def test_a_model_is_another_to_itself_in_another_form():
    """``update_vectors`` has a branch for topics without a number, which ``icd`` has by default."""
    target = PackageModel("icd")
    changed = next(site[0] for site in target.sites if site[0].definition == "update_vectors")
    trials = {trial.name: trial for trial in target.trials()}
    for form in ("icd (n_topics=0)", "was (n_topics=0)"):
        assert trials[f"joint and oracle of {form}"].in_reserve
        assert trials[f"joint and oracle of {form}"].sees(changed)
    assert "joint and oracle of icd" not in trials


def test_cousins_have_the_same_topics_and_samplers_that_the_model_lacks():
    """``lda`` under a belief network lacks the sampler of which the last ``_draw_topics`` is."""
    target = PackageModel("lda", "belief-network")
    drawn = next(site[0] for site in target.sites if site[0].definition == "_draw_topics")
    trials = {trial.name: trial for trial in target.trials()}
    cousin = trials["joint and oracle of pfa × belief-network"]
    assert cousin.in_reserve
    assert cousin.sees(drawn)
    assert '"parallel"' in " ".join(cousin.arguments)
    assert not any("pitman-yor" in name for name in trials if name.startswith("joint and oracle of "))


def test_changes_of_a_branch_that_is_of_other_topics_are_put_before_tests_with_these(request):
    """``hyperparameter_quantities`` has one for vectors over topics, of which ``hdp`` by itself has none."""
    target = PackageModel("hdp")
    changed = next(
        site[0] for site in target.sites if site[0].definition == "TwoSidedModel.hyperparameter_quantities"
    )
    file = "tests/models/test_models.py"
    [trial] = [one for one in target.trials() if one.name == f"{file} with pitman-yor topics"]
    assert trial.in_reserve
    assert trial.sees(changed)
    asked = [sys.executable, *trial.arguments, "--collect-only"]
    environment = os.environ | {"PYTEST_ADDOPTS": ""}  # -v there would take back their -q
    found = subprocess.run(
        asked, cwd=request.config.rootpath, env=environment, capture_output=True, text=True, check=True
    )
    ids = {name.partition("[")[2] for name in found.stdout.splitlines() if "::" in name}
    assert all(name.startswith("hdp with pitman-yor topics") for name in ids), ids
    assert ids
