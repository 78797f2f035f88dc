"""The report of a release: true sentences, nothing that should not be there, and commands that work."""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from outcomes import outcome_of

import stablesketch as ss
from stablesketch.cli.app import run
from stablesketch.page import unbroken
from stablesketch.privacy.advice import suspicion
from stablesketch.release.outcome import GroupRelease
from stablesketch.release.shares import Share
from stablesketch.report import Context, Named, registry_entry, report_page
from stablesketch.report.commands import commands
from stablesketch.report.sentences import Explained
from stablesketch.statistic import Subject
from stablesketch.text.spoken import at_most

CONTEXT = Context("2026-03-02", "0.1.0", Subject("app"))
OF_PEOPLE = replace(CONTEXT, subject=Subject("app", person=True))
REPLACE = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, pairs=10_000, relation="replace"), size=50, mechanism="bare")
PERSONS = ss.plan(
    ss.Moment(0.5),
    ss.Privacy(1.0, 1e-6, pairs=0, relation="add_remove", pairs_per_person=5, max_value=3),
    size=50,
    mechanism="bare",
)
NOISY = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6), size=50)
TABLE = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, pairs_per_person=2, groups=2), size=50)
EXACT = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, pairs=10_000, relation="replace"), mechanism="exact")


def released(plan: ss.Plan, value: float = 5_000.0) -> ss.Release:
    privacy = plan.privacy
    return ss.Release(
        value, 0.8 * value, 1.2 * value, 0.95, "F_0.5", 0.5, plan.epsilon, plan.delta, privacy.relation,
        10_000 if privacy.relation == "replace" else None, privacy.pairs_per_person, privacy.max_value, plan.mechanism,
        plan.size, plan.floor,
    )  # fmt: skip


def page(plan: ss.Plan, context: Context = CONTEXT) -> str:
    return html.unescape(report_page(outcome_of(plan, [released(plan)]), context))


def test_it_says_the_number_the_price_and_the_plan() -> None:
    text = page(REPLACE)
    assert "The 10,000 rows are as varied as 2,500 equally common values of app" in text
    assert "between 1,600 and 3,600 at 95% confidence" in text
    assert f"ε = {at_most(REPLACE.epsilon)} and δ = 1e-06" in text
    assert "How many rows there are (10,000). It is public." in text
    assert "They say nothing about a population that the data were sampled from." in text


def attached(text: str, name: str) -> str:
    """A file within the page."""
    (content,) = re.findall(f'<a download="{name}" href="data:application/json;base64,([^"]+)">', text)
    return base64.b64decode(content).decode()


def test_release_and_plan_are_attached() -> None:
    text = page(REPLACE)
    assert ss.Release.from_json(attached(text, "release.json")) == released(REPLACE)
    assert ss.Plan.from_json(attached(text, "plan.json")) == REPLACE
    groups = [GroupRelease((name,), released(PERSONS)) for name in ("日本", "b")]
    content = json.loads(attached(report_page(outcome_of(PERSONS, groups, grouped=True), CONTEXT), "release.json"))
    assert [each["group"] for each in content] == ["日本", "b"]


def test_it_names_data_period_and_release_and_speaks_of_keys_as_users_do() -> None:
    named = Named(dataset="App <store>", period="October 2026", label="first", noun="apps")
    text = page(REPLACE, replace(CONTEXT, named=named, subject=Subject("app", noun="apps")))
    assert "Data: App <store>. Period: October 2026. Release: first. Made on 2026-03-02" in text
    assert "The 10,000 rows are as varied as 2,500 equally common apps: between" in text
    assert "<h1>How varied are the apps?</h1>" in text
    people = replace(CONTEXT, named=named, subject=Subject("app", noun="apps", person=True))
    hill = ss.plan(ss.Hill(0.5), ss.Privacy(1.0, 1e-6, pairs_per_person=5), size=50)
    said = replace(released(PERSONS, 250.0), statistic=str(hill.statistic), max_value=1)
    page_of_people = report_page(outcome_of(hill, [said]), people)
    assert "The rows are as varied as 250 equally used apps: between 200 and 300 at 95% confidence" in page_of_people
    assert "Data: App &lt;store&gt;." in page_of_people


def test_the_headline_of_groups_is_a_sentence() -> None:
    named = replace(CONTEXT, subject=Subject("app", noun="apps"), by="country")
    groups = [GroupRelease((name,), released(NOISY, value)) for name, value in (("FR", 90.0), ("DE", 2_500.0))]
    both = report_page(outcome_of(NOISY, groups, grouped=True), named)
    assert "<h1>How varied are the apps, by country?</h1>" in both
    assert "Of 2 groups, DE has the largest F_0.5. For DE, the variety of apps, measured as F_0.5, is" in both
    assert "F_0.5 grows with the number of rows" in both
    one = report_page(outcome_of(NOISY, groups[:1], grouped=True), named)
    assert '<p class="said">For FR, the variety of apps' in one


@pytest.mark.parametrize(
    ("names", "listed", "shown"),
    [
        (["b", "a", "c"], True, ["b", "a", "c"]),
        (["b", "a", "c"], False, ["c", "a", "b"]),
        (["8", "9", "10"], False, ["8", "9", "10"]),
        (["2026-01", "2026-02", "2026-03"], False, ["2026-01", "2026-02", "2026-03"]),
    ],
)
def test_groups_that_are_listed_or_numbers_stay_in_order(names: list[str], listed: bool, shown: list[str]) -> None:
    """The others come with the largest first."""
    asked = ss.question(ss.Moment(0.5), NOISY.privacy, key="app", by="day", groups=names if listed else None)
    groups = [GroupRelease((name,), released(NOISY, 100.0 + 10.0 * (i % 3 != 0) + i)) for i, name in enumerate(names)]
    outcome = outcome_of(NOISY, groups, grouped=True, question=asked)
    expected = sorted(groups, key=lambda one: -one.release.value) if not outcome.in_order else groups
    table = re.search(r'<tbody class="named">(.*?)</tbody>', report_page(outcome, CONTEXT))
    assert table is not None
    assert re.findall(r'<th scope="row">(.*?)</th>', table[1]) == [one.name for one in expected] == shown
    (axes,) = outcome.plot().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == shown


def test_profiles_of_groups_have_a_line_each() -> None:
    plan = ss.plan(ss.Profile([0, 2]), ss.Privacy(1.0, 1e-6), size=70)
    points = ss.Point(0.0, 412.3, 380.0, 440.1), ss.Point(2.0, 4.44, 3.81, 5.64)
    own = replace(released(NOISY), statistic=str(plan.statistic), points=points)
    text = report_page(outcome_of(plan, [GroupRelease(("FR",), own)], grouped=True), CONTEXT)
    assert '<th class="number" scope="col">order 0, 95% limits</th>' in text
    assert '<td class="number">412 (380 to 440)</td><td class="number">4.44 (3.81 to 5.64)</td>' in text


def test_who_is_protected_needs_no_explanation() -> None:
    same = "this page would have come out much the same. A suspicion of 50%"

    def most(plan: ss.Plan) -> str:
        but = "except with a chance of at most 1 in 90,000"
        return f"becomes at most {suspicion(released(plan).epsilon, plan.delta)} by reading it, {but}."

    assert suspicion(1.0) == "73.2%"  # 0.7311 rounded up
    assert suspicion(1.0, 1e-9) == "75%"  # 0.7494: odds 1.1 times as large
    about = f"{same} that someone is in the data {most(PERSONS)} One about what they did becomes at most "
    assert f"With or without any one person's data, {about}" in page(PERSONS, OF_PEOPLE)
    assert f"Whatever any one record had said, {same} about what it says {most(REPLACE)}" in page(REPLACE)
    assert f"With or without any one record, {same} that it is in the data {most(NOISY)} A person with several" in page(
        NOISY
    )
    assert f"With or without any 5 records of one person, {same} that they are in the data {most(PERSONS)}" in page(
        PERSONS
    )


@pytest.mark.parametrize(
    ("epsilon", "delta", "said"),
    [
        (1.0, 1e-9, "becomes at most 89.1% by reading it, except with a chance of at most 1 in 24,000,000."),
        (0.5, 0.0, "becomes at most 73.2% by reading it."),  # e / (1 + e), rounded up
        (20.0, 1e-9, "becomes at most 100% by reading it. That is little protection."),
        (8.0, 1e-9, "becomes at most 100% by reading it, except with a chance of at most 1 in 30,000. That is little"),
        (1000.0, 1e-9, "becomes at most 100% by reading it. That is little protection."),
    ],
)
def test_what_somebody_did_is_hidden_at_twice_epsilon(epsilon: float, delta: float, said: str) -> None:
    """Two things that one person may have done are two steps of add_remove apart: 2 ε and (1 + e^ε) δ.

    At ε = 1, 11 (1 + e) 1e-9 is 1 in 24.4 million.
    """
    own = replace(released(PERSONS), epsilon=epsilon, delta=delta)
    text = html.unescape(report_page(outcome_of(PERSONS, [own]), OF_PEOPLE))
    assert f"One about what they did {said}" in text
    assert epsilon < 1000.0 or "at most e^1000 times as likely" in text
    if epsilon == 1.0:
        assert said.startswith(f"becomes at most {suspicion(2.0 * epsilon, delta)}")


def test_what_was_asked_for_stands_beside_what_was_used() -> None:
    used = replace(released(NOISY), epsilon=0.9858)
    text = report_page(outcome_of(NOISY, [used]), CONTEXT)
    assert f"At most ε = {at_most(NOISY.privacy.epsilon)} was asked for; 0.9858 was used." in text
    same = report_page(outcome_of(NOISY, [replace(used, epsilon=NOISY.privacy.epsilon)]), CONTEXT)
    assert "was asked for" not in same


def test_a_large_epsilon_is_not_called_protection() -> None:
    text = report_page(outcome_of(NOISY, [replace(released(NOISY), epsilon=100.0)]), CONTEXT)
    assert "this page could have come out quite differently. A suspicion of 50%" in text
    assert (
        "becomes at most 100% by reading it, except with a chance of at most 1 in 90,000. That is little protection."
        in text
    )
    assert "much the same" not in text


@pytest.mark.parametrize("epsilon", [0.8999999999999999, 0.90000001, 1 / 3, 0.30000000000000004, 2.7])
def test_one_epsilon_never_below_the_truth_and_never_with_all_digits(epsilon: float) -> None:
    own = replace(released(NOISY), epsilon=epsilon)
    outcome = outcome_of(NOISY, [own], shares=(Share("names", 0.1, 0.0), Share("values", epsilon, 1e-9)))
    text = html.unescape(re.sub(r'href="[^"]*"|<svg.*?</svg>', "", report_page(outcome, CONTEXT), flags=re.DOTALL))
    shown = re.findall(r"ε = ([0-9.e-]*[0-9])", text)
    assert shown.count(at_most(epsilon)) == 3  # the price, the share of the values, and what both cost together
    assert all(len(each) <= 6 for each in shown)
    assert float(at_most(epsilon)) >= epsilon
    assert "99999" not in text


def test_the_effective_number_of_equal_keys_is_their_number() -> None:
    """100 keys of 100 pairs each: F = 100 · 100^p, whatever p."""
    for p in (0.05, 0.25, 0.5, 0.9):
        assert ss.Moment(p).effective(100 * 100**p, released(REPLACE)) == pytest.approx(100)
    assert ss.Moment(0.95).effective(100.0, released(REPLACE)) is None
    for unknown in (replace(released(REPLACE), pairs=None), replace(released(REPLACE), max_value=2)):
        assert ss.Moment(0.5).effective(100.0, unknown) is None


def test_a_private_number_of_pairs_is_nowhere() -> None:
    text = page(PERSONS, OF_PEOPLE)
    assert "measured as F_0.5, is about 5,000: between 4,000 and 6,000" in text
    assert "Whether any one person is in the data at all" in text
    assert "add_remove: 1 person added or removed, with all that they did (at most 5 rows are used)" in text
    assert "times as likely because of one person being in the data" in text
    assert "How many rows there are" not in text
    assert "whole numbers from 1 to 3" in text
    assert "How far cannot be published" in text
    assert "more than 5 rows" not in text  # people are bounded, so having more rows is no weakness


@pytest.mark.parametrize(
    ("statistic", "moved"),
    [
        (ss.Hill(1), "can move the value either way"), (ss.Profile(), "can move the value either way"),
        (ss.Shannon(), "can move the value either way"), (ss.Moment(0.5), "can only lower the value"),
        (ss.Distinct(), "can only lower the value"),
    ],
    ids=str,
)  # fmt: skip
def test_how_far_rows_that_are_not_used_move_a_value(statistic: ss.Hill | ss.Moment, moved: str) -> None:
    """Fewer rows of a key lower every moment and every count; shares of keys may become more or less even."""
    said = (
        f"Leaving out the other rows {moved}; the limits do not include that. How far cannot be published, because "
        "one person with very many rows could decide it; those who hold the data can compute it."
    )
    plan = ss.plan(statistic, ss.Privacy(1.0, 1e-6, pairs_per_person=5))
    assert (
        said
        in Explained(plan, plan.privacy, released(plan), (), 0, person=True, groups_per_person=1, pair="row").limits()
    )
    of_rows = Explained(plan, plan.privacy, released(plan), (), 0, person=False, groups_per_person=1, pair="row")
    assert "Leaving out" not in of_rows.limits()


_AMOUNTS = pa.table({"who": [f"w{i % 300}" for i in range(3_000)], "user": [f"u{i % 40}" for i in range(3_000)],
                     "amount": [1 + i % 50 * (i % 50) for i in range(3_000)]})  # fmt: skip
_ANY_WAY = "can move the value either way; the limits do not include that."


@pytest.mark.parametrize(
    ("statistic", "how", "said"),
    [
        (
            ss.Atkinson(0.5), {"clip": True, "max_value": 1_000},
            "the value of the data, with totals above 1,000 counted as 1,000, before sketch and noise. They say "
            f"nothing about a population that the data were sampled from. Counting larger totals as 1,000 {_ANY_WAY}",
        ),
        (
            ss.Moment(0.5), {"clip": True, "max_value": 1_000},
            "the value of the data, with values above 1,000 counted as 1,000, before sketch and noise. They say "
            "nothing about a population that the data were sampled from. Counting larger values as 1,000 can only "
            "lower the value; the limits do not include that. How far cannot be published, because one very large "
            "value could decide it; those who hold the data can compute it.",
        ),
        (
            ss.Hill(0.5), {"clip": True, "max_value": 900, "person": "who"},
            "Leaving out the other rows and counting larger values as 900 can move the value either way; the limits do "
            "not include that. How far cannot be published, because one person with very many rows or one very large "
            "value could decide it;",
        ),
        (
            ss.Hill(0.5), {"clip": True, "max_value": 900, "person": "who"},
            "the value of the rows used, at most 1 of each person, with values above 900 counted as 900, before",
        ),
        (ss.Hill(0.5), {"auto_max_value": ss.AutoMaxValue()}, "of the data, with values above M counted as M, before"),
        (ss.Moment(0.5), {"max_value": 3_000}, "the value of the data, before sketch and noise."),
    ],
    ids=["totals", "values", "people moved", "people", "auto", "not clipped"],
)  # fmt: skip
def test_limits_are_of_clipped_values_where_values_are_clipped(
    statistic: ss.Statistic, how: dict[str, Any], said: str
) -> None:
    """The page and the registry said "the value of the data", whatever was clipped."""
    most = {"max_value": how.pop("max_value")} if "max_value" in how else {}
    found = ss.release(_AMOUNTS, statistic, ss.Privacy(2.0, 1e-6, **most), key="user", value="amount", **how)
    said = said.replace("M", f"{found.privacy.max_value:,}")
    text = html.unescape(report_page(found, Context.of(found)))
    assert said in text
    assert said in registry_entry(found, Context.of(found))
    clips = "clip" in how or "auto_max_value" in how
    assert (f"to {found.privacy.max_value:,}; larger ones count as {found.privacy.max_value:,}<" in text) == clips


def test_a_stored_sketch_does_not_say_how_its_data_were_read() -> None:
    outcome = outcome_of(NOISY, [released(NOISY)])
    assert "the value of the pairs collected, before sketch and noise." in report_page(outcome, Context.of(outcome))


@pytest.mark.parametrize(("pairs", "counted"), [({}, True), ({"pairs": 3_000}, False)])
def test_pairs_that_were_counted_are_not_called_promised(pairs: dict[str, int], counted: bool) -> None:
    asked = ss.Privacy(1.0, 1e-6, relation="replace", **pairs)
    found = ss.release(_AMOUNTS, ss.Moment(0.5), asked, key="user", mechanism="bare", size=50)
    text = html.unescape(report_page(found, Context.of(found)))
    entry = registry_entry(found, Context.of(found))
    row = '<th scope="row">counted</th><td>3,000 rows; under replace their number is public</td>'
    promised = '<th scope="row">promised</th><td>at least 3,000 pairs</td>'
    assert (row in text, promised in text) == (counted, not counted)
    assert ("counted: 3,000 rows; under" in entry, "promised" in entry) == (counted, not counted)
    assert "--pairs 3000" in html.unescape(re.sub("<.*?>", "", text))
    assert ("In the first command, --pairs is the number of rows that were counted." in text) == counted


def test_individuals_are_not_rows_of_a_person() -> None:
    """A plant, or a microbe, is no row that somebody has."""
    text = page(ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, unit="individual"), size=50))
    assert "Several individuals together are protected less." in text
    assert "More than one individual together: the more individuals, the less they are protected." in text
    assert "A person with" not in text


def test_rows_are_not_people() -> None:
    assert "A person with more than one row: the more rows, the less they are protected." in page(REPLACE)


def test_a_value_below_the_noise_is_not_made_to_mean_something() -> None:
    low = replace(released(REPLACE), value=-3.0, low=0.0, high=40.0)
    assert "too small to distinguish from the noise" in report_page(outcome_of(REPLACE, [low]), CONTEXT)


def test_one_delta_on_the_whole_page_that_of_everything() -> None:
    """The plan of a table is for a part of δ: the rest was spent on the names of groups."""
    own = replace(released(TABLE), delta=2e-6)
    shares = (Share("names", 0.1, 1e-6), Share("values", 1.0, 1e-6))
    outcome = outcome_of(TABLE, [GroupRelease(("a",), own), GroupRelease(("b",), own)], grouped=True, shares=shares)
    for text in (html.unescape(report_page(outcome, CONTEXT)), registry_entry(outcome, CONTEXT)):
        assert "except with a chance of at most 1 in 45,000" in text
        assert "1 in 1,000,000" not in text


def test_groups_are_a_table_and_names_are_escaped() -> None:
    rows = [
        GroupRelease(("<script>alert(1)</script>", 'a"b'), released(PERSONS, 100.0)),
        GroupRelease(("FR", "x"), released(PERSONS, 9_000.0)),
    ]
    context = Context("2026-03-02", "0.1.0", Subject("<b>", person=True), by="country and </title>")
    text = report_page(outcome_of(PERSONS, rows, grouped=True), context)
    assert "<script" not in text
    assert "<b>" not in text
    assert text.partition("</head>")[0].count("</title>") == 1
    assert "country and </title>" not in text
    assert html.unescape(text).count('<script>alert(1)</script>, a"b') >= 1
    assert text.index(">FR, x<") < text.index("alert(1)")  # the larger first; pictures carry no names as text
    assert "Of 2 groups, FR, x has the largest F_" in html.unescape(text)
    assert "for the whole table" in text


def test_nothing_is_fetched_and_no_script_runs() -> None:
    text = page(REPLACE)
    assert "<script" not in text
    assert "default-src 'none'" in text
    assert set(re.findall(r"https?://[^\"'\s)]+", text)) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }


def test_it_says_how_an_estimate_with_noise_is_private() -> None:
    text = page(NOISY)
    assert "The stream was folded into 50 numbers" in text
    assert "weights of the positive stable law of order 0.5. F_0.5 was estimated from them. No key was stored." in text
    assert f"from the discrete Laplace law of scale {NOISY.noise:.3g}, and added to the estimate." in text
    assert "This is private for any stream, short or long: an estimate is the true value times a random factor" in text
    assert "Whether any one row is in the data at all." in text
    assert not re.search('floor(?!&quot;|")|[Pp]hantom(?!s)|[Pp]romise|long enough', text)  # JSON has such fields


def test_bare_pages_have_their_own_words() -> None:
    text = page(PERSONS)
    assert "phantom keys of a known mass" in text
    assert "promised" in text
    assert "private for any stream" not in text


def test_a_table_protects_what_was_asked_not_what_it_was_planned_for() -> None:
    """A replaced pair that may leave its group is planned as two pairs in two groups."""
    own = replace(released(TABLE), relation="replace", pairs_per_person=1)
    groups = [GroupRelease((name,), own) for name in ("a", "b")]
    asked = ss.question(
        ss.Moment(0.5), ss.Privacy(1.0, 1e-6, relation="replace"), key="app", by="g", groups=["a", "b"], size=50
    )
    text = html.unescape(report_page(outcome_of(TABLE, groups, grouped=True, question=asked), CONTEXT))
    assert "What any one row said: key and value. It could have been anything else." in text
    assert "replace: 1 pair replaced by others" in text
    assert "at most ε = 1, δ = 1e-06 in all" in text
    assert unbroken("stablesketch plan") not in text  # the command line makes no plan of one group


@pytest.mark.parametrize("how", [{"relation": "replace"}, {"person": "who", "groups_per_person": 2}])
def test_a_table_whose_groups_share_epsilon_says_what_was_asked_for_all_of_them(how: dict[str, object]) -> None:
    """Bare groups have half of it each. The page said that at most 0.5 was asked for, and more was used."""
    rows = {"app": [f"app {i % 40}" for i in range(4_000)], "g": ["a", "b"] * 2_000, "who": list(range(4_000))}
    c = 2 if "person" in how else 1
    asked = ss.Privacy(1.0, 1e-6, relation=how.pop("relation", "add_remove"), pairs_per_person=c, pairs=1_000)  # type: ignore[arg-type]
    found = ss.release(
        pa.table(rows), ss.Moment(0.5), asked, key="app", by="g", groups=["a", "b"], mechanism="bare", size=20, **how
    )
    assert found.plan.privacy.epsilon < 1.0
    text = html.unescape(report_page(found, Context.of(found)))
    assert "at most ε = 1, δ = 1e-06 in all" in text
    assert f"At most ε = 1 was asked for; {at_most(found['a'].epsilon)} was used." in text
    entry = registry_entry(found, Context.of(found))
    assert "at most ε = 1, δ = 1e-06 in all" in entry


def test_numbers_have_separators_wherever_they_stand() -> None:
    plan = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, pairs_per_person=2_000), size=50)
    text = page(plan)
    assert "any 2,000 pairs of one person" in text or "any 2,000 rows of one person" in text
    assert not re.search(r"(?<![\d.])2000\b", re.sub(r"<pre.*?</pre>|<a download.*?</a>", "", text, flags=re.DOTALL))


def test_the_same_release_gives_the_same_page() -> None:
    assert page(REPLACE) == page(REPLACE)


def test_nothing_released_is_nothing_to_report() -> None:
    with pytest.raises(ss.ArgumentError, match="must have at least one release"):
        report_page(outcome_of(PERSONS, [], grouped=True), CONTEXT)


@pytest.mark.parametrize("plan", [NOISY, REPLACE, PERSONS, EXACT], ids=["noisy", "replace", "persons", "exact"])
def test_the_commands_of_the_page_make_the_same_plan(
    plan: ss.Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    first, second, third = commands(plan)
    assert all(unbroken(command) in page(plan) for command in (first, second, third))
    assert run(shlex.split(first)[1:]) == 0
    assert (tmp_path / "plan.json").read_text().strip() == plan.to_json()
    assert run(shlex.split(second)[1:]) == 0
    assert str(plan) in capsys.readouterr().out
    # A sound plan is refuted with odds of one in a million.
    assert run([*shlex.split(third)[1:], "--trials", "100", "--confidence", "0.999999"]) == 0


def test_a_plan_that_samples_says_so() -> None:
    plan = ss.plan(
        ss.Moment(0.5),
        ss.Privacy(1.0, 1e-6, pairs=100_000, relation="replace"),
        size=50,
        sampling=0.5,
        mechanism="bare",
    )
    text = page(plan)
    assert "kept with a probability of 0.5" in text
    assert unbroken("stablesketch plan") not in text  # the command line makes no such plan
    assert attached(text, "plan.json").strip() == plan.to_json()
