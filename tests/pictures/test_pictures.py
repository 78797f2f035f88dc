"""Pictures: the same bytes from the same numbers, readable by everyone, and nothing left behind."""

from __future__ import annotations

import itertools
import math
import random
import re
import shlex
import sys
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import stablesketch as ss
from stablesketch.cli.app import run
from stablesketch.pictures import drawn_measurement, picture_bytes, plan_picture, release_picture, style
from stablesketch.pictures.bare_plan_picture import Neighbourhood, bare_neighbourhood
from stablesketch.pictures.finding import ANYTHING
from stablesketch.pictures.plan_picture import neighbourhood
from stablesketch.release.outcome import GroupRelease
from stablesketch.statistic import Statistic, Subject
from stablesketch.text import spoken

PLAN = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6), size=50)
AT = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6), size=50, expected=400.0)
AROUND = Neighbourhood(
    sketch=PLAN,
    by_epsilon=[(0.1, 18.0), (1.0, 1.8), (10.0, 0.2)],
    exact_by_epsilon=[(0.1, 14.0), (1.0, 1.4), (10.0, 0.14)],
    by_size=[(50, 0.1), (500, 0.03)],
    by_size_alone=[(50, 0.1), (500, 0.03)],
)
BARE = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6, pairs=2_000, relation="replace"), size=50, mechanism="bare")
AROUND_BARE = Neighbourhood(
    sketch=BARE,
    by_epsilon=[(0.1, 1.2), (1.0, 0.3), (10.0, 0.2)],
    exact_by_epsilon=[(0.1, 0.3), (10.0, 0.003)],
    by_size=[(50, 0.3), (500, 0.2)],
    by_size_alone=[(50, 0.2), (500, 0.05)],
)


def release(value: float = 1_234.5, low: float = 1_000.0, high: float = 1_500.0) -> ss.Release:
    return ss.Release(
        value, low, high, 0.95, "F_0.5", 0.5, 0.9, 1e-9, "add_remove", None, 5, 1, "sketch", 50, 100.0
    )  # fmt: skip


def groups(count: int) -> list[GroupRelease]:
    return [GroupRelease((f"group {i}",), release(100.0 + (7 * i) % count, 50.0, 300.0)) for i in range(count)]


def profile(scale: float = 1.0, orders: tuple[float, ...] = (0.0, 0.5, 1.0)) -> ss.Release:
    values = [scale * (900.0 - 800.0 * order) for order in orders]
    points = tuple(ss.Point(q, v, 0.9 * v, 1.2 * v) for q, v in zip(orders, values, strict=True))
    return replace(release(*values[:1]), statistic="Hill numbers of orders 0, 0.5, 1", points=points)


def profiles(count: int) -> list[GroupRelease]:
    return [GroupRelease((f"group {i}",), profile(1.0 + i)) for i in range(count)]


FIGURES = {
    "plan": lambda: plan_picture(PLAN, AROUND),
    "plan where a value is expected": lambda: plan_picture(AT, replace(AROUND, sketch=AT)),
    "bare plan": lambda: plan_picture(BARE, AROUND_BARE),
    "one": lambda: release_picture([release()]),
    "groups": lambda: release_picture(groups(6)),
    "many": lambda: release_picture(groups(61)),
    "profile": lambda: release_picture([profile()]),
    "profiles": lambda: release_picture(profiles(4)),
}


def drawn(name: str, kind: str) -> bytes:
    return picture_bytes(FIGURES[name](), Path(f"x.{kind}"), "A title", "In words & <more>")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("plan", "svg"),
        ("bare plan", "svg"),
        ("one", "png"),
        ("one", "svg"),
        ("one", "html"),
        ("groups", "svg"),
        ("many", "svg"),
        ("profile", "svg"),
        ("profiles", "svg"),
    ],
)
def test_the_same_numbers_give_the_same_bytes(name: str, kind: str) -> None:
    first = drawn(name, kind)
    assert first == drawn(name, kind)
    start = {"png": b"\x89PNG", "svg": b"<?xml", "html": b"<!doctype html>"}[kind]
    assert first.startswith(start)


@pytest.mark.parametrize("name", FIGURES)
def test_a_page_fetches_nothing_and_says_what_is_seen(name: str) -> None:
    text = drawn(name, "html").decode()
    assert 'aria-label="In words &amp; &lt;more&gt;"' in text
    assert "<script" not in text
    addresses = set(re.findall(r"https?://[^\"'\s)]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}  # names, never fetched
    assert not re.search(r"#0072b2|#1a1a1a", text.partition("<svg")[2], re.IGNORECASE)  # they follow the page
    ElementTree.fromstring(text[text.index("<svg") : text.index("</svg>") + 6].replace("xlink:href", "href"))


@pytest.mark.parametrize("name", FIGURES)
def test_an_svg_has_no_ground_and_is_dark_where_its_reader_prefers_that(name: str) -> None:
    text = drawn(name, "svg").decode()
    root = ElementTree.fromstring(text)
    dark = dict(re.findall(r'\[style\*="((?:fill|stroke): #\w{6})"\] \{ \w+: (#\w{6}) !important }', text))
    used = {found for each in root.iter() for found in re.findall(r"(?:fill|stroke): #\w{6}", each.get("style", ""))}
    lasting = {f"{what}: {colour.lower()}" for what in ("fill", "stroke") for colour in (style.PURPLE, style.ORANGE)}
    assert used - lasting <= set(dark)
    assert "fill: #ffffff" not in used


def test_another_kind_is_refused() -> None:
    with pytest.raises(ss.ArgumentError, match=r"\.png, \.svg or \.html"):
        picture_bytes(FIGURES["one"](), Path("x.jpg"), "", "")


def test_settings_of_matplotlib_are_left_alone() -> None:
    before = dict(matplotlib.rcParams)
    drawn("groups", "svg")
    assert dict(matplotlib.rcParams) == before
    assert "matplotlib.pyplot" not in sys.modules or not matplotlib.pyplot.get_fignums()


def test_groups_are_in_order_and_named() -> None:
    (axes,) = release_picture(groups(6)).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    values = {", ".join(one.group): one.release.value for one in groups(6)}
    assert sorted(names) == sorted(values)
    assert [values[name] for name in names] == sorted(values.values(), reverse=True)
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first is on top


def test_many_groups_are_all_there_without_names() -> None:
    (axes,) = release_picture(groups(61)).axes
    assert "61 groups" in axes.get_xlabel()
    assert len(axes.lines[0].get_xdata()) == 61


def test_a_profile_shows_every_order_with_its_limits() -> None:
    (axes,) = release_picture([profile()]).axes
    assert axes.lines[0].get_xydata().tolist() == [[0.0, 900.0], [0.5, 500.0], [1.0, 100.0]]
    collection, _, _ = axes.collections  # it has no band
    bars = [path.vertices[:, 1].tolist() for path in collection.get_paths()]
    assert bars == [pytest.approx([0.9 * v, 1.2 * v]) for v in (900.0, 500.0, 100.0)]
    assert {text.get_text() for text in axes.texts} == {"900", "500", "100"}
    assert axes.get_yscale() == "log"  # it spans more than a decade
    assert "of 100 releases,\nat each order by itself; ε = " in axes.get_xlabel()  # ε is for all orders
    assert axes.get_ylabel() == "value"
    (known,) = release_picture([profile()], statistic=ss.Profile([0, 0.5, 1])).axes
    assert known.get_ylabel() == "effective number of keys"
    (named,) = release_picture([profile()], statistic=ss.Profile([0, 0.5, 1]), subject=Subject(noun="species")).axes
    assert named.get_ylabel() == "effective number of species"
    (few,) = release_picture([profile(orders=(0.0, 0.5))]).axes
    assert few.get_yscale() == "linear"


def test_the_band_is_that_of_all_orders_at_once() -> None:
    without = profile()
    points = tuple(replace(point, band_low=0.7 * point.value, band_high=1.5 * point.value) for point in without.points)
    (axes,) = release_picture([replace(without, points=points)]).axes
    heights = {round(y) for y in axes.collections[0].get_paths()[0].vertices[:, 1].tolist()}
    assert heights == {round(share * v) for share in (0.7, 1.5) for v in (900.0, 500.0, 100.0)}
    assert "bars: at each order by itself; band: at all orders at once" in axes.get_xlabel()
    low, high = axes.get_ylim()
    assert low < 0.7 * 100.0 < 1.5 * 900.0 < high
    endless = tuple(replace(point, band_high=math.inf) for point in points)
    (axes,) = release_picture([replace(without, points=endless)]).axes
    assert axes.get_ylim()[1] < 2_000.0


def test_a_profile_is_printed_with_all_its_orders() -> None:
    without = profile()
    lines = str(without).splitlines()
    assert lines[0].startswith("Hill numbers of orders 0, 0.5, 1  (ε = ")
    assert [line.split() for line in lines[1:]] == [
        ["order", "value", "95%", "from", "to"], ["0", "900", "810", "1,080"], ["0.5", "500", "450", "600"],
        ["1", "100", "90", "120"],
    ]  # fmt: skip
    points = tuple(replace(point, band_low=0.5 * point.value, band_high=math.inf) for point in without.points)
    lines = str(replace(without, points=points)).splitlines()
    assert lines[1].split("  ")[-2:] == ["95% at once from", " to"]
    assert lines[2].split() == ["0", "900", "810", "1,080", "450", "inf"]
    assert len(set(map(len, lines[1:]))) == 1


def test_a_few_profiles_are_curves_with_their_names_in_one_picture() -> None:
    (axes,) = release_picture(profiles(4)).axes
    assert len(axes.lines) == 4
    assert [text.get_text().split("  ")[0] for text in axes.texts] == [f"group {i}" for i in range(4)]
    heights = [text.xy[1] for text in axes.texts]
    assert all(b - a > 0.05 for a, b in itertools.pairwise(heights))  # no two lie on each other


@pytest.mark.parametrize("count", [5, 12, 30])
def test_more_profiles_are_a_small_picture_each_to_one_scale(count: int) -> None:
    figure = release_picture(profiles(count))
    shown = [axes for axes in figure.axes if axes.get_visible()]
    assert [axes.get_title(loc="left") for axes in shown] == [f"group {i}" for i in reversed(range(count))]
    for axes, one in zip(shown, reversed(profiles(count)), strict=True):
        curve, all_curves = axes.lines[-1], [list(line.get_ydata()) for line in axes.lines[:-1]]
        assert curve.get_xydata().tolist() == [[point.order, point.value] for point in one.release.points]
        assert sorted(all_curves) == sorted([point.value for point in each.release.points] for each in profiles(count))
        bars, _, _ = axes.collections  # and their ends
        assert len(bars.get_paths()) == 3
    assert len({axes.get_ylim() for axes in shown}) == 1
    assert "ε = 0.9, δ = 1e-09" in figure.get_supxlabel()


def test_of_too_many_profiles_the_first_order_is_shown() -> None:
    (axes,) = release_picture(profiles(31), statistic=ss.Profile([0, 0.5, 1])).axes
    assert axes.get_xlabel().startswith("Hill number of order 0 of 31 groups")


# --- titles say what is seen ---


def table(*limits: tuple[float, float, float]) -> list[GroupRelease]:
    return [GroupRelease((name,), release(*own)) for name, own in zip("abcdef", limits, strict=False)]


def title(
    releases: list[ss.Release] | list[GroupRelease], statistic: Statistic | None = None, subject: Subject = ANYTHING
) -> str:
    figure = release_picture(releases, False, statistic, subject)
    return figure.get_suptitle() or figure.axes[0].get_title(loc="left")


@pytest.mark.parametrize(
    ("statistic", "wanted"),
    [
        (ss.Hill(0.5), "As varied as 1,230 equally used apps"),
        (ss.Simpson("inverse"), "As varied as 1,230 equally used apps"),
        (ss.Distinct(), "About 1,230 different apps"),
        (ss.Shannon(), "Shannon entropy is about 1,230"),
        (ss.Simpson("gini"), "Gini-Simpson index is about 1,230"),
    ],
)
def test_one_number_has_a_title_in_the_words_of_its_users(statistic: Statistic, wanted: str) -> None:
    assert title([release()], statistic, Subject("app", noun="apps", person=True)) == wanted
    assert title([replace(release(), value=0.0)], statistic) == "F_0.5 cannot be distinguished from 0"


def test_without_a_noun_the_title_names_the_column() -> None:
    assert title([release()], ss.Hill(0.5), Subject("app")) == "As varied as 1,230 equally common values of app"
    assert title([release()], ss.Hill(0.5)) == "As varied as 1,230 equally common keys"


@pytest.mark.parametrize("count", [3, 61])
def test_a_picture_of_groups_says_where_values_follow_their_sizes(count: int) -> None:
    found = [GroupRelease((f"g{i}",), release(1_000.0 - i, 999.7 - i, 1_000.2 - i)) for i in range(count)]
    for statistic, cautious in ((ss.Hill(0.5), True), (ss.Moment(0.5), True), (ss.Hill(1.0), False)):
        below = release_picture(found, False, statistic).axes[0].get_xlabel()
        assert ("values grow with the number of rows too:\ncompare only groups of one size" in below) == cautious
        wanted = "g0 has the largest value, about 1,000" if cautious else "g0 comes first with about 1,000"
        assert title(found, statistic) == wanted


@pytest.mark.parametrize("count", [3, 12])
def test_pictures_of_profiles_say_below_which_order_that_is(count: int) -> None:
    figure = release_picture(profiles(count), False, ss.Profile((0.0, 0.5, 1.0)))
    below = figure.get_supxlabel() or figure.axes[0].get_xlabel()
    assert "below order 1 values grow with the number of rows too" in below


def test_the_title_is_the_finding() -> None:
    assert title([release()]) == "F_0.5 is about 1,230"
    assert title([release(-3.0, 0.0, 40.0)]) == "F_0.5 cannot be distinguished from 0"
    assert title([profile()], ss.Profile([0, 0.5, 1])) == "Hill numbers go from 900 at order 0 to 100 at order 1"
    assert title([profile()]) == "Values go from 900 at order 0 to 100 at order 1"
    apart, near = (900.0, 800.0, 1_000.0), (700.0, 600.0, 850.0)
    assert title(table(apart, (100.0, 90.0, 120.0))) == "a comes first with about 900"
    assert title(table(apart, near, (100.0, 90.0, 120.0))) == (
        "a comes first with about 900, but 1 of the other 2 may be as\nlarge"
    )
    assert title(table(apart, near)) == "No group clearly comes first: the largest value is about\n900, of a"
    assert title(profiles(3)) == "Largest value at every order: group 2"
    assert title(profiles(12)) == "At no order does one group clearly have the largest value:\nintervals overlap"
    flat = replace(profile(), points=tuple(replace(one, value=1e3, low=990.0, high=1e3) for one in profile().points))
    both = [*profiles(2), GroupRelease(("flat",), flat)]
    assert (
        title(both) == "Largest value at order 0: group 1; at order 1: flat; not\nclear at order 0.5: intervals overlap"
    )
    low = [replace(profiles(1)[0], group=("low",)), *profiles(12)[9:]]  # all others are clearly above it
    assert title(low) == "At no order does one group clearly have the largest value:\nintervals overlap"


def test_a_font_with_chinese_letters_is_used_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """And none is asked for that is not there, which matplotlib would complain of."""
    from matplotlib import font_manager
    from matplotlib.font_manager import fontManager

    monkeypatch.setattr(font_manager, "findSystemFonts", list)
    monkeypatch.setattr(fontManager, "get_font_names", lambda: ["Arial", "DejaVu Sans"])
    style._newer_cjk_fonts.cache_clear()
    assert style.fonts() == ["DejaVu Sans"]
    named = [GroupRelease(("日本",), release()), GroupRelease(("b",), release())]
    without = picture_bytes(release_picture(named), Path("x.png"), "", "")  # boxes, and no warning
    assert without.startswith(b"\x89PNG")
    monkeypatch.setattr(fontManager, "get_font_names", lambda: ["Yu Gothic", "Noto Sans CJK JP", "DejaVu Sans"])
    assert style.fonts() == ["DejaVu Sans", "Noto Sans CJK JP", "Yu Gothic"]


def test_a_font_that_is_newer_than_the_list_of_matplotlib_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Matplotlib lists fonts once, in a file of its own: one that is installed later was never used."""
    from matplotlib import font_manager
    from matplotlib.font_manager import fontManager

    known = ["DejaVu Sans"]
    listed = fontManager.ttflist[0].fname
    files = [listed, "/fonts/noto/NotoSansCJK-Bold.ttc", "/fonts/NotoSansCJK-Regular.ttc", "/fonts/Lato-Regular.ttf"]

    def added(path: str) -> None:
        if "Bold" in path:
            raise RuntimeError("of a kind that cannot be read")
        known.append({"NotoSansCJK-Regular.ttc": "Noto Sans CJK JP"}[Path(path).name])

    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: files)
    monkeypatch.setattr(fontManager, "get_font_names", lambda: known)
    monkeypatch.setattr(fontManager, "addfont", added)
    style._newer_cjk_fonts.cache_clear()
    assert style.fonts() == ["DejaVu Sans", "Noto Sans CJK JP"]
    style._newer_cjk_fonts.cache_clear()


def test_numbers_below_a_thousand_keep_their_decimals() -> None:
    said = [spoken.short(x) for x in (7.7201, 0.19707, 93.44, 281.31, 999.96, 1_000.4, -3.0, 0.0, 12_345.6, 2e6, 9e12)]
    assert said == [
        "7.72",
        "0.1971",
        "93.44",
        "281.3",
        "1,000",
        "1,000",
        "-3",
        "0",
        "12,346",
        "2 million",
        "9 trillion",
    ]
    entropies = [GroupRelease((name,), release(h, h - 0.1, h + 0.1)) for name, h in (("a", 7.72), ("b", 7.41))]
    (axes,) = release_picture(entropies).axes
    assert [text.get_text() for text in axes.texts] == ["7.72  (7.62 to 7.82)", "7.41  (7.31 to 7.51)"]


def test_a_negative_value_and_a_long_name() -> None:
    names = ["x" * 200, "$\\alpha_{$ $", "日本", "a\nb", "--> <script>", "\u202eright to left"]
    odd = [GroupRelease((name, "ü"), release(-3.0, 0.0, 40.0)) for name in names]
    figure = release_picture(odd)
    for kind in ("svg", "html", "png"):
        content = picture_bytes(figure, Path(f"x.{kind}"), "", "")
        assert b"<script" not in content
    assert "$\\alpha_{$ $, ü" in [label.get_text() for label in figure.axes[0].get_yticklabels()]


def test_every_point_is_a_plan() -> None:
    """Without a value to expect: the noise by ε, as plans have it, and the error of the sketch by size."""
    around = neighbourhood(PLAN)
    assert around.sketch is PLAN
    for epsilon, noise in around.by_epsilon:
        made = ss.plan(ss.Moment(0.5), ss.Privacy(epsilon, 1e-6), size=50)
        assert noise == pytest.approx(2**0.5 * made.noise)
    for size, error in around.by_size:
        assert error == ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6), size=int(size)).error
    exact = ss.plan(ss.Moment(0.5), ss.Privacy(10.0, 1e-6), mechanism="exact")
    assert around.exact_by_epsilon[-1] == pytest.approx((10.0, exact.error))
    assert around.by_size == around.by_size_alone
    left, middle, right = plan_picture(PLAN, around).axes
    assert left.get_ylabel() == "noise on F_0.5, standard deviation"
    assert middle.get_ylabel() == "error as a share of F_0.5"
    assert right.get_xlabel() == "F_0.5 of the stream"


def test_where_a_value_is_expected_errors_include_the_noise() -> None:
    around = neighbourhood(AT)
    assert (1.0, AT.error) in around.by_epsilon
    assert (50, AT.error) in around.by_size
    for (size, error), (_, alone) in zip(around.by_size, around.by_size_alone, strict=True):
        made = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6), size=int(size), expected=400.0)
        assert error == made.error
        assert alone**2 + 2 * (made.noise / 400.0) ** 2 == pytest.approx(error**2)
    exact = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-6), mechanism="exact", expected=400.0)
    assert dict(around.exact_by_epsilon)[1.0] == pytest.approx(exact.error)
    left, middle, right = plan_picture(AT, around).axes
    assert left.get_ylabel() == middle.get_ylabel() == "error at F_0.5 = 400, noise included"
    curve = right.lines[2].get_xydata()
    x, y = curve[50]
    assert y == pytest.approx((around.by_size_alone[1][1] ** 2 + 2 * (AT.noise / x) ** 2) ** 0.5)


@pytest.mark.parametrize("statistic", [ss.Moment(0.5), ss.Hill(0.5), ss.Distinct()], ids=str)
def test_the_exact_mechanism_is_drawn_beside_the_sketch_that_would_be_planned(statistic: Statistic) -> None:
    """It was a sketch of 200, which nobody had chosen."""
    exact = ss.plan(statistic, ss.Privacy(1.0, 1e-6), mechanism="exact")
    one = drawn_measurement(exact)
    planned = drawn_measurement(ss.plan(statistic, ss.Privacy(1.0, 1e-6)))
    around = neighbourhood(exact)
    assert around.sketch.releases_like(planned)
    assert (planned.size, planned.error) in around.by_size
    left, middle, _ = plan_picture(exact, around).axes
    assert left.lines[-1].get_xydata().tolist() == [pytest.approx([one.privacy.epsilon, one.error])]
    assert left.get_legend().get_texts()[0].get_text() == f"sketch of {planned.size:,}, the default"
    assert len(middle.lines) == 1  # the exact table has no size
    assert middle.get_xlabel().endswith(", 64 per key") == (planned.buckets > 1)


def test_an_exact_plan_without_a_sketch_to_compare_with_says_what_is_missing() -> None:
    with pytest.raises(ss.ArgumentError, match=r"plan must exist at ε = 1 to be drawn \(.*δ"):
        plan_picture(ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-60), mechanism="exact"))


def test_every_point_of_a_bare_picture_is_a_plan() -> None:
    """On a small plan: each corner is what `plan` says for that ε or that size."""
    around = bare_neighbourhood(BARE)
    assert (1.0, BARE.error) in around.by_epsilon
    assert (50, BARE.error) in around.by_size
    half, rows = ss.Moment(0.5), BARE.privacy
    for epsilon, error in (around.by_epsilon[0], around.by_epsilon[-1]):
        assert error == ss.plan(half, replace(rows, epsilon=epsilon), size=50, mechanism="bare").error
    size, error = around.by_size[-1]
    assert error == ss.plan(half, rows, size=int(size), mechanism="bare").error
    exact = ss.plan(half, replace(rows, epsilon=10.0), mechanism="exact")
    assert around.exact_by_epsilon[-1] == pytest.approx((10.0, exact.error))


def test_a_plan_that_samples_has_no_picture() -> None:
    sampled = ss.plan(
        ss.Moment(0.5),
        ss.Privacy(1.0, 1e-6, pairs=100_000, relation="replace"),
        size=50,
        sampling=0.5,
        mechanism="bare",
    )
    with pytest.raises(ss.ArgumentError, match="sampl"):
        plan_picture(sampled, AROUND)


ROWS = ss.Privacy(1.0, 1e-6, pairs=2_000, relation="replace")


def test_what_is_computed_from_one_sketch_has_the_picture_of_that_sketch() -> None:
    hill = ss.plan(ss.Hill(0.5), ss.Privacy(1.0, 1e-6), size=50)
    assert drawn_measurement(hill).statistic == ss.Moment(0.5)
    figure = plan_picture(hill, AROUND)
    assert len(figure.axes) == 3


def test_a_picture_of_one_measurement_says_so_and_what_the_whole_plan_was_asked_for() -> None:
    """The title had the ε of F_0.5, 0.9, and the plan said 1 was asked for and 0.9858 reached."""
    hill = ss.plan(ss.Hill(0.5), ss.Privacy(1.0, 1e-6), size=50)
    figure = plan_picture(hill, replace(AROUND, sketch=drawn_measurement(hill)))
    assert figure.get_suptitle().splitlines() == [
        "Plan: Hill number of order 0.5 at ε = 1, δ = 1e-06, adding or removing any one pair",
        "Shown: F_0.5, which it is computed from, at its share of ε, 0.9",
    ]
    assert figure.axes[0].get_xlabel() == "ε of F_0.5"
    shannon = ss.plan(ss.Hill(1), ss.Privacy(1.0, 1e-6), size=128)
    figure = plan_picture(shannon, replace(AROUND, sketch=drawn_measurement(shannon)))
    assert figure.get_suptitle().splitlines()[1] == "Shown: Shannon entropy, which it is computed from"
    assert (figure.axes[0].get_xlabel(), plan_picture(PLAN, AROUND).axes[0].get_xlabel()) == ("ε", "ε")
    bare = ss.plan(ss.Hill(0.5), ROWS, size=50, mechanism="bare")
    figure = plan_picture(bare, replace(AROUND_BARE, sketch=drawn_measurement(bare)))
    assert figure.get_suptitle().startswith("Bare plan: Hill number of order 0.5 at ε = 1, δ = 1e-06, replacing 1 of")


PEOPLE = ss.Privacy(1.0, 1e-9, pairs_per_person=20)
WORDY = {
    "two panels": ss.plan(ss.Hill(1), ss.Privacy(1.0, 1e-9)),
    "two panels of people": ss.plan(ss.Hill(1), PEOPLE, expected=90.0),
    "counts": ss.plan(ss.Distinct(), ss.Privacy(1.0, 1e-9)),
    "counts at a value": ss.plan(ss.Distinct(), ss.Privacy(1.0, 1e-9), expected=123_456.0),
    "values": ss.plan(ss.Atkinson(0.5), ss.Privacy(0.123, 1.23e-9, max_value=1_000_000)),
    "groups": ss.plan(ss.Hill(0.5), replace(PEOPLE, max_value=1_000, groups=10), expected=123_456.0),
    "bare": ss.plan(ss.Hill(0.5), replace(PEOPLE, pairs=100_000, relation="replace"), size=50, mechanism="bare"),
}


@pytest.mark.parametrize("name", WORDY)
def test_no_text_of_a_plan_is_cut_off_or_runs_into_another(name: str) -> None:
    """The title ended in "adding or removing any one p", and a long label reached into it."""
    chosen = WORDY[name]
    around = AROUND_BARE if name == "bare" else AROUND
    figure = plan_picture(chosen, replace(around, sketch=drawn_measurement(chosen)))
    renderer = FigureCanvasAgg(figure).get_renderer()
    style.in_style(figure.draw_without_rendering)()
    axes = [each for each in figure.axes if each.get_visible()]
    texts = [figure._suptitle, *(text for one in axes for text in (one._left_title, one.xaxis.label, one.yaxis.label))]
    shown = [text for text in texts if text is not None and text.get_text()]
    boxes = [(text.get_text(), text.get_window_extent(renderer)) for text in shown]
    assert len(figure.get_suptitle()) > 60
    for text, box in boxes:
        assert figure.bbox.x0 <= box.x0 <= box.x1 <= figure.bbox.x1, text
        assert figure.bbox.y0 <= box.y0 <= box.y1 <= figure.bbox.y1, text
    for (one, its), (other, others) in itertools.combinations(boxes, 2):
        assert not its.overlaps(others), (one, other)


def test_counts_have_registers_and_the_noise_of_the_exact_table() -> None:
    chosen = ss.plan(ss.Distinct(), ss.Privacy(1.0, 1e-6), size=100)
    around = neighbourhood(chosen)
    assert around.by_epsilon == around.exact_by_epsilon
    assert (100, chosen.error) in around.by_size
    left, middle, _ = plan_picture(chosen, around).axes
    assert left.get_ylabel() == "noise on the number of keys,\nstandard deviation"
    assert middle.get_xlabel() == "registers of the sketch"


@pytest.mark.parametrize("pairs", [0, 500])
def test_entropy_has_its_noise_in_a_stream_of_some_length(pairs: int) -> None:
    """Of which nothing else than what is predicted depends: the noise is private for every stream."""
    chosen = ss.plan(ss.Shannon(), ss.Privacy(1.0, 1e-6, pairs), size=100)
    around = neighbourhood(chosen)
    length = pairs or 10_000
    expected = ss.plan(ss.Shannon(), ss.Privacy(1.0, 1e-6, length), size=100)
    assert (around.sketch.noise or 0.0, around.sketch.error) == (expected.noise, expected.error)
    assert (1.0, expected.error) in around.by_epsilon
    assert (1.0, expected.exact_error) in around.exact_by_epsilon
    assert all(error > 0.0 for _, error in around.by_epsilon)
    left, middle = plan_picture(chosen, around).axes
    for axes, at in ((left, 1.0), (middle, 100.0)):
        assert axes.get_ylabel().replace("\n", " ") == f"error in nats, in a stream of {length:,} pairs"
        assert [at, expected.error] in [
            line.get_xydata().tolist()[0] for line in axes.lines if len(line.get_xydata()) == 1
        ]


def test_bare_entropy_has_two_panels_of_plans() -> None:
    chosen = ss.plan(ss.Shannon(), ROWS, size=100, mechanism="bare")
    around = bare_neighbourhood(chosen)
    assert (1.0, chosen.error) in around.by_epsilon
    assert (100, chosen.error) in around.by_size
    epsilon, exact = around.exact_by_epsilon[-1]
    assert (epsilon, exact) == pytest.approx((10.0, chosen.exact_error / 10.0))
    assert len(plan_picture(chosen, around).axes) == 2


def test_a_plan_draws_itself_as_a_release_does(tmp_path: Path) -> None:
    hill = ss.plan(ss.Hill(0.5), ss.Privacy(1.0, 1e-6), size=50)
    path = tmp_path / "plan.svg"
    figure = hill.plot(path)
    assert figure.get_suptitle().startswith("Plan: Hill number of order 0.5 at ε = 1")
    drawn = tmp_path / "typed.svg"
    assert run(shlex.split(f"plan --epsilon 1 --delta 1e-6 --size 50 --plot {drawn}")) == 0
    assert path.read_bytes() == drawn.read_bytes()
    with pytest.raises(ss.ArgumentError, match="path must be a new file"):
        hill.plot(path)
    with pytest.raises(ss.ArgumentError, match=r"must end in \.png, \.svg or \.html"):
        hill.plot(tmp_path / "plan.jpg")
    with pytest.raises(ss.ArgumentError, match="plan must be for a single sketch"):
        ss.plan(ss.Profile([0.5, 1]), ss.Privacy(1.0, 1e-6)).plot()


def test_a_plan_of_several_sketches_has_none_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    several = ss.plan(ss.Profile([0.5, 1]), replace(ROWS, pairs=100_000), size=50, mechanism="bare")
    with pytest.raises(ss.ArgumentError, match="plan must be for a single sketch"):
        plan_picture(several)
    for counted in (ss.Total(), ss.Moment(1.0)):
        with pytest.raises(ss.ArgumentError, match=r"must be for a single sketch.*this has 0"):
            plan_picture(ss.plan(counted, ROWS))
    with pytest.raises(ss.ArgumentError, match="depends on the length of the stream"):
        plan_picture(ss.plan(ss.Shannon(), ROWS, mechanism="exact"))
    asked = shlex.split("plan --statistic profile --order 0.25,0.5 --epsilon 1 --delta 1e-6 --size 50")
    assert run([*asked, "-o", str(tmp_path / "plan.json"), "--plot", str(tmp_path / "plan.svg")]) == 2
    assert "--plot must be for a single sketch" in " ".join(capsys.readouterr().err.split())
    exact = shlex.split("plan --statistic shannon --mechanism exact --epsilon 1 --delta 1e-6 --plot")
    assert run([*exact, str(tmp_path / "plan.svg")]) == 2
    assert "--plot must be for a sketch if the noise depends on" in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


def test_a_price_is_never_rounded_down() -> None:
    rng = random.Random(6)
    for _ in range(2_000):
        value = 10 ** rng.uniform(-12, 5)
        for digits in (2, 3, 4):
            shown = Fraction(spoken.at_most(value, digits))
            assert Fraction(value) <= shown <= Fraction(value) * (1 + Fraction(10) ** (1 - digits))
    assert [spoken.at_most(value) for value in (0.0, 1e-9, 1.0, 2.5, 0.12341)] == ["0", "1e-09", "1", "2.5", "0.1235"]


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ss.LibraryMissing, match=r"pip install 'stablesketch\[cli\]'"):
        release_picture([release()])


def test_limits_are_broader_than_the_dot_and_the_line() -> None:
    """So that they are seen on a logarithmic axis too, where they are short."""
    for figure in (release_picture([profile()]), release_picture(profiles(4)), release_picture(profiles(12))):
        axes = figure.axes[0]
        broad = max(width for bar in axes.collections for width in bar.get_linewidths())
        (dot,) = {line.get_markersize() for line in axes.lines if line.get_marker() == "o"}
        assert broad > 2 * dot
