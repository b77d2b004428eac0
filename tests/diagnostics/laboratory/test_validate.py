"""Cases, the archive of verdicts, the kill matrix, the report and the evidence page."""

import dataclasses
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import xarray as xr
from bnpzoo.diagnostics.laboratory import ladder, validate
from bnpzoo.diagnostics.laboratory.archive import Archive, Books, Record, kill_matrix, strongest
from bnpzoo.diagnostics.laboratory.forms import FORMS, forms
from bnpzoo.diagnostics.laboratory.geweke import geweke
from bnpzoo.diagnostics.laboratory.ladder import BUDGETS, DESIGN, RUNGS, Case, CaseSubject
from bnpzoo.diagnostics.laboratory.mutants.registry import MUTANTS, mutants_of
from bnpzoo.diagnostics.laboratory.sbc import sbc
from bnpzoo.diagnostics.laboratory.verdict import Verdict
from bnpzoo.diagnostics.reports import evidence
from bnpzoo.diagnostics.reports.validation import write_validation_report
from bnpzoo.zoo.contract import Probes
from bnpzoo.zoo.models import MODELS, get
from judging import judge
from markupsafe import escape


@pytest.fixture
def climbed(monkeypatch):
    """Cases that were really judged; the verdict on a mutant is a rejection by the rung oracle."""
    judged = []

    def climb(case, store=None, progress=None):
        judged.append(case)
        if progress is not None:
            progress(1, 1)
        status = "rejected" if case.mutant and case.rung == "oracle" else "passed"
        table = xr.Dataset({"p_value": ("quantity", [0.25])}, {"quantity": ["<i>x</i> | y"]})
        figures = dict.fromkeys(("conditionals", "largest", "chains", "draws", "samples", "rounds"), 3.0)
        return Verdict(case.rung, case.subject, status, "As <b>expected</b>.", 1e-5, table, figures)

    monkeypatch.setattr(validate, "climb", climb)
    return judged


def test_cases_of_a_model():
    found = [(case.variant, case.rung) for case in validate.cases_of("hdp")]
    of_all = product(get("hdp").kernels, BUDGETS["ci"])
    more_than_tokens = {("whole-tables", "joint"), ("parallel", "joint")}  # is drawn before a token moves
    assert found == [case for case in of_all if case not in more_than_tokens]
    assert [c.rung for c in validate.cases_of("hdp", ["sbc", "joint"], "dense")] == ["joint", "sbc"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ldaa",), r"no model 'ldaa' \(did you mean 'lda'\?\); there are lda"),
        (("lda", ["jont"]), r"no rung 'jont' \(did you mean 'joint'\?\); there are joint"),
        (("lda", None, "fast"), "no variant of lda 'fast'; there are sparse, dense"),
        (("lda", None, None, "huge"), "no budget 'huge'; there are ci, full, long"),
    ],
)
def test_cases_that_are_not(arguments, message):
    with pytest.raises(ValueError, match=message):
        validate.cases_of(*arguments)


@pytest.mark.slow
def test_every_case_has_settings_and_a_small_model():
    for budget in BUDGETS:
        for case in validate.round_of(budget):
            assert case.settings
            assert case.make_model().card.id == case.model
    assert MODELS["lda"]().n_topics > Case("lda", "sparse", "sbc").make_model().n_topics


def test_a_round_has_forms_of_a_model_that_are_other_models():
    told = [case for case in validate.round_of("ci") if case.options and not case.mutant]
    assert {(case.model, case.topics, case.options) for case in told} == set(FORMS)
    of_was = [case.rung for case in told if case.name_of_model == "was (forward=True)"]
    assert of_was == ["joint", "sequential", "oracle", "geweke", "sbc", "reference"]


def test_every_mutant_is_in_a_round_and_once_a_model_unless_it_needs_a_form():
    told = {(case.name_of_model, case.mutant) for case in validate.round_of("ci") if case.mutant}
    assert {mutant for _, mutant in told} == {mutant.id for mutant in MUTANTS}
    of_lda = [model for model, mutant in told if mutant == "stale-mass" and model.startswith("lda")]
    assert "lda" in of_lda
    assert "lda (symmetric=False)" not in of_lda
    assert ("lda (symmetric=False)", "alpha-of-all-topics") in told
    assert ("icd (n_topics=0)", "topics-kappa-by-topics") in told


def test_nothing_is_judged_twice(tmp_path, climbed):
    wanted = validate.cases_of("lda", ["joint", "geweke"])
    first = validate.validate(wanted, tmp_path)
    again = validate.validate(wanted, tmp_path)
    assert climbed == wanted
    assert [str(v) for v in first] == [str(v) for v in again]
    validate.validate(validate.cases_of("lda", ["joint", "geweke"], seed=1), tmp_path)
    assert len(climbed) == 2 * len(wanted)


def test_a_change_of_settings_is_judged_anew(tmp_path, climbed, monkeypatch):
    wanted = validate.cases_of("lda", ["joint"], "sparse")
    validate.validate(wanted, tmp_path)
    monkeypatch.setitem(ladder.BUDGETS["ci"], "joint", {"states": 7})
    validate.validate(wanted, tmp_path)
    assert len(climbed) == 2


def test_what_a_verdict_depends_on():
    case = Case("hdp", "sparse", "sbc")
    others = [
        dataclasses.replace(case, **change)
        for change in ({"variant": "dense"}, {"seed": 1}, {"budget": "full"}, {"mutant": "stale-mass"})
    ]
    assert len({one.fingerprint for one in (case, *others)}) == 5


def test_verdicts_survive_the_archive(tmp_path):
    case = Case("lda", "sparse", "joint")
    archive = Archive(tmp_path / "new" / "folder")
    table = xr.Dataset({"difference": ("quantity", [1e-12, np.inf])}, {"quantity": ["a", "b"]})
    draws = xr.Dataset({"x": (("chain", "draw"), np.eye(3))})
    verdict = Verdict(
        "joint", case.subject, "rejected", "No.", 0.0, table, {"largest": np.inf}, {"draws": draws}
    )
    record = archive.put(case, verdict, 1.234)
    assert (record.status, record.seconds) == ("rejected", 1.2)
    assert archive.find(case) == record
    assert [*archive.records()] == [record]
    assert record.is_current
    assert not dataclasses.replace(record, case=dataclasses.replace(case, mutant="no more")).is_current
    read = archive.verdict(case)
    assert str(read) == str(verdict)
    assert read.figures == verdict.figures
    xr.testing.assert_identical(read.table, table)
    xr.testing.assert_identical(read.groups["draws"], draws)


def test_a_file_that_is_no_record(tmp_path):
    (tmp_path / "lda.sparse.joint.ci.json").write_text("{}")
    with pytest.raises(ValueError, match=r"lda.sparse.joint.ci.json: expected the record of a verdict"):
        list(Archive(tmp_path).records())


def test_mutants_until_they_are_killed(tmp_path, climbed):
    wanted = validate.mutant_cases("lda", ["joint", "sequential", "oracle", "geweke"])
    records = list(validate.until_killed(wanted, Archive(tmp_path)))
    assert {record.case.rung for record in records} == {"joint", "sequential", "oracle"}
    assert validate.survivors(records) == []
    survived = [record for record in records if record.case.rung != "oracle"]
    assert "stale-mass" in validate.survivors(survived)
    matrix = kill_matrix(records)
    assert matrix[0]["status"] == {"joint": "passed", "sequential": "passed", "oracle": "rejected"}
    assert all(row["killed"] for row in matrix)


def test_the_report_is_one_safe_page(tmp_path, climbed):
    subject = CaseSubject(Case("lda", "sparse", "sbc"))
    subject.probes = Probes.of(DESIGN.corpus(np.zeros(18, int)), most=1)  # eight quantities
    verdicts = [
        geweke(subject, draws=100, chains=5, transitions=5),
        sbc(subject, replications=20, draws=7, thin=1),
        *validate.validate(validate.cases_of("lda", ["joint"], "sparse"), tmp_path),
    ]
    mutants = validate.until_killed(validate.mutant_cases("lda", ["joint"]), Archive(tmp_path))
    page = tmp_path / "page.html"
    write_validation_report(page, verdicts, list(mutants))
    html = page.read_text()
    assert html.count("<figure>") == html.count('viewBox="0 0 630 252"') == 2
    assert "&lt;i&gt;x&lt;/i&gt;" in html
    assert "<b>" not in html
    assert "survives" in html
    assert all(f'<td class="prose">{escape(verdict.message)}</td>' in html for verdict in verdicts)
    assert "http" not in html.replace("http-equiv", "").replace("http://www.w3.org", "")


@pytest.mark.slow
def test_the_report_draws_more_panels_than_arviz_would(tmp_path):
    ranks = np.random.default_rng(0).random((43, 1, 20))
    groups = {"prior_sbc": xr.Dataset({f"x{i}": (("chain", "draw"), own) for i, own in enumerate(ranks)})}
    verdict = Verdict("sbc", "lda/sparse", "passed", "As expected.", 1e-5, xr.Dataset(), {}, groups)
    write_validation_report(tmp_path / "page.html", [verdict])
    assert (tmp_path / "page.html").read_text().count("<figure>") == 1


def test_the_evidence_page_tells_what_is_stored(tmp_path, climbed, monkeypatch):
    wanted = validate.cases_of("hdp", ["joint", "sequential"], "sparse")
    wanted += validate.mutant_cases("hdp", ["joint", "oracle"], "sparse")
    archive = Archive(tmp_path)
    records = [validate.judge_case(case, archive) for case in wanted]
    page = evidence.evidence_page(archive.records())
    assert page.count("popovertarget") == 2
    assert '<button class="mark passed" popovertarget="hdp-sparse-joint-ci"' in page
    assert f"3 conditionals, within 3. Budget ci, {records[0].date[:10]}, " in page
    assert "&lt;b&gt;expected" in page
    model = get("hdp")
    n = sum((mutant.variant or next(iter(model.kernels))) == "sparse" for mutant in mutants_of(model))
    assert f"{n} of {n} are killed on at least one rung." in page
    assert f"<td>{n}/{n}</td>" in page
    assert "<th>stale-mass<small>" in page
    inside = page[page.index('<div class="evidence">') : page.index("## Mutants")]
    assert "\n\n" not in inside.strip()  # where Markdown would begin again
    for rung in ("joint", "sequential"):
        monkeypatch.setitem(ladder.BUDGETS["ci"], rung, {"changed": 1})
    later = evidence.evidence_page(archive.records())
    assert later.count('class="mark old" popovertarget') == 2
    assert 'class="mark passed" popovertarget' not in later
    monkeypatch.setitem(ladder.BUDGETS["ci"], "oracle", {"changed": 1})
    last = evidence.evidence_page(archive.records())
    assert f"None has a current verdict. Of {n} others {n} were killed before a change" in last
    assert f"<summary>hdp: {n} judged before a change</summary>" in last
    assert 'title="oracle: killed before a change">○</span>' in last
    assert "†</span>" not in last


def test_mutants_that_have_not_met_all_rungs_are_no_survivors(tmp_path, climbed):
    archive = Archive(tmp_path)
    rungs = [rung for rung in ladder.BUDGETS["ci"] if rung != "joint"]
    stale, other = (
        [
            dataclasses.replace(validate.judge_case(case, archive), status="passed")
            for case in validate.mutant_cases("lda", rungs, "sparse")
            if case.mutant == mutant
        ]
        for mutant in ("stale-mass", "own-total-kept")
    )
    page = evidence.evidence_page([*stale[:2], *other])
    told = "0 of 2 are killed on at least one rung, 1 has passed those that it has met, and not met all"
    assert f"{told}; 1 passed all; of these, noticed by nothing else: own-total-kept (lda)." in page
    assert "**own-total-kept** (lda): nothing" in page
    assert "<td>0/2<small>1 open</small></td>" in page


def test_the_evidence_page_when_nothing_is_stored():
    page = evidence.evidence_page([])
    assert "None was run." in page
    samplers = [
        (model, variant, rung)
        for model, topics, options in forms()
        for made in [Case(model, "", "", topics=topics, options=options).model_as_told()]
        for variant in made.kernels
        for rung in RUNGS
        if validate.applies(made, variant, rung)
    ]
    assert page.count(": not run") == len(samplers)


def test_the_books_keep_verdicts_for_long(tmp_path, climbed, monkeypatch):
    monkeypatch.setattr("bnpzoo.diagnostics.laboratory.archive.BOOKS", tmp_path / "books")
    wanted = [*validate.cases_of("lda", ["joint"]), *validate.cases_of("hdp", ["joint"])]
    validate.validate(wanted, tmp_path / "out")
    page = tmp_path / "evidence.md"
    assert evidence.main(["--store", str(tmp_path / "out"), "--page", str(page)]) == 0
    assert {path.name for path in (tmp_path / "books").iterdir()} == {"lda.jsonl", "hdp.jsonl"}
    assert page.read_text() == evidence.evidence_page(Books().records())
    assert {record.case for record in Books().records("lda")} == set(wanted[:2])
    assert set(validate.known_of(wanted, tmp_path / "another")) == set(wanted)
    monkeypatch.setitem(ladder.BUDGETS["ci"], "joint", {"changed": 1})
    assert validate.known_of(wanted, tmp_path / "another") == {}
    assert strongest(Books().records()) == {}


TWINS = """\
<testsuites><testsuite>
  <testcase name="a"><properties>{}</properties></testcase>
  <testcase name="b"><properties>{}</properties></testcase>
  <testcase name="c"><properties>{}</properties><failure message="wrong"/></testcase>
  <testcase name="d"/>
</testsuite></testsuites>
"""


def properties(**told):
    return "".join(f'<property name="{name}" value="{value}"/>' for name, value in told.items())


ONE = {
    "program": "lda",
    "fingerprint": "abc",
    "points": 50,
    "density": 1e-12,
    "gradient": 2e-11,
    "saved": 0.0,
}


def told_of(*programs):
    """Report of tests, the last of which has failed."""
    *passed, failed = programs
    return TWINS.format(
        *(properties(**ONE | {"program": name}) for name in passed), properties(program=failed)
    )


def test_figures_of_the_twins(tmp_path):
    report = tmp_path / "heavy.xml"
    report.write_text(told_of("lda", "hdp", "pfa"))
    found = evidence.bridge_of(report)
    assert found == {name: {k: ONE[k] for k in ONE if k != "program"} for name in ("lda", "hdp")} | {
        "pfa": None
    }
    assert "| lda | 50 | 1e-12 | 2e-11 | 0e+00 |" in evidence.evidence_page([], bridge={"lda": found["lda"]})
    report.write_text("no report")
    with pytest.raises(ValueError, match=r"heavy\.xml: expected a report of tests"):
        evidence.bridge_of(report)


def test_figures_of_twins_are_kept_until_they_are_told_apart(tmp_path, monkeypatch):
    """What a run did not compare stays in the books; what has failed goes from them."""
    monkeypatch.setattr("bnpzoo.diagnostics.laboratory.archive.BOOKS", tmp_path / "books")
    (tmp_path / "out").mkdir()
    report, told = tmp_path / "out" / "heavy.zoo.xml", ["--store", str(tmp_path / "out"), "--page"]

    def entered(*programs):
        report.write_text(told_of(*programs))
        assert evidence.main([*told, str(tmp_path / "page.md")]) == 0
        return set(evidence.bridge_in(Books()))

    assert evidence.bridge_in(Books()) == {}
    assert entered("lda", "hdp", "pfa") == {"lda", "hdp"}
    assert entered("gbn", "hdsp", "hdp") == {"lda", "gbn", "hdsp"}


def test_verdicts_that_are_stored_are_taken_while_they_are_current(monkeypatch):
    case, other = validate.cases_of("lda", ["joint"])[:2]
    monkeypatch.setattr("judging.ladder", SimpleNamespace(climb=lambda case, store: "climbed"))
    current = Record(case, "passed", "", {}, "2026-11-28", 1.0, "0.1.0", case.fingerprint)
    assert judge(case, {case: current}) is current
    assert judge(other, {case: current}) == "climbed"
    assert judge(case, {case: dataclasses.replace(current, fingerprint="of yesterday")}) == "climbed"


def test_what_takes_too_long_is_not_begun(tmp_path, climbed):
    wanted, records = validate.cases_of("lda", ["joint"]), []
    validate.judge_all(wanted, tmp_path, 1, records.append, minutes=0.0)
    assert records == []
    validate.judge_all(wanted, tmp_path, 1, records.append)
    assert [record.case for record in records] == wanted


def test_a_mutant_that_is_dead_meets_no_further_rung(tmp_path, climbed, monkeypatch):
    def climb(case, *_):
        return Verdict(
            case.rung, case.subject, "rejected" if case.mutant else "passed", "", 0.0, xr.Dataset()
        )

    monkeypatch.setattr(validate, "climb", climb)
    right, wrong = validate.cases_of("lda", variant="dense"), validate.mutant_cases("lda", variant="dense")
    records = []
    assert len(wrong) > 1
    validate.judge_all([*right, *wrong], tmp_path, 1, records.append)
    assert [record.case for record in records] == [*right, wrong[0]]
    assert validate.still_open([*right, *wrong], records) == []
    assert validate.still_open([*right, *wrong], records[:1]) == [*right[1:], *wrong]
