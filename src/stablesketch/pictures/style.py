"""One style for all pictures: colours that everyone can tell apart, type that is readable at half size, the same words.

The colours are those of Okabe and Ito. They also differ in lightness, so they stay distinct in grey; lines that cross
also differ in their dashes. Nothing here imports matplotlib before a picture is drawn.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import re
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from ..errors import LibraryMissing
from ..text.spoken import at_most, short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ..statistic.published import Release

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#8CC8EC"
INK, GREY, GRID, WHITE = "#1A1A1A", "#555555", "#DDDDDD", "#FFFFFF"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, INK)
LINES = ("-", "--", "-.", ":")
WIDTH = 8.0  # inches: words stay legible on a phone, which shows it at half size
_LINE = 100  # characters across two panels
_BESIDE = 40  # characters of a label beside one panel, which is less high than wide

_STYLE: dict[str, Any] = {
    "font.size": 13,
    "axes.titlesize": 14,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "text.parse_math": False,  # a dollar in the name of a group is a dollar
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "lines.linewidth": 2.5,
    "legend.fontsize": 12,
    "legend.frameon": False,
    "svg.fonttype": "path",
    "svg.hashsalt": "stablesketch",  # the same numbers give the same bytes
}


# Fonts with Chinese, Japanese and Korean letters, which the first font lacks: common ones on Linux, macOS and Windows.
_CJK = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans CJK KR", "Noto Sans SC", "Noto Sans JP", "Noto Sans KR",
    "Source Han Sans SC", "WenQuanYi Micro Hei", "WenQuanYi Zen Hei", "Droid Sans Fallback", "IPAGothic", "NanumGothic",
    "PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo", "Arial Unicode MS", "Microsoft YaHei", "Yu Gothic",
    "Malgun Gothic",
)  # fmt: skip


_CJK_FILES = re.compile(
    "cjk|sans-?(sc|jp|kr)|hansans|wqy|fallback|ipag|nanum|pingfang|hiragino|gothic|unicode|yahei|msyh"
)


def fonts() -> list[str]:
    """The font that comes with matplotlib, so that pictures are the same everywhere; then those of this machine."""
    return ["DejaVu Sans", *(_cjk_fonts() or _newer_cjk_fonts())]


def _cjk_fonts() -> list[str]:
    from matplotlib.font_manager import fontManager  # only once matplotlib is known to be installed

    here = set(fontManager.get_font_names())
    return [name for name in _CJK if name in here]


@functools.cache
def _newer_cjk_fonts() -> list[str]:
    """Fonts installed after matplotlib listed those of this machine, which it does only once."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    listed = {font.fname for font in fontManager.ttflist}
    for path in findSystemFonts():
        if path not in listed and _CJK_FILES.search(Path(path).name.lower()):
            with contextlib.suppress(OSError, RuntimeError):  # not a font, or of a kind that it cannot read
                fontManager.addfont(path)
    return _cjk_fonts()


def need_matplotlib() -> Any:
    """matplotlib, which only pictures need."""
    try:
        import matplotlib
    except ImportError:
        raise LibraryMissing("pictures need matplotlib. Run: pip install 'stablesketch[cli]'") from None
    return matplotlib


def in_style(draw: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Makes a function draw or save in this style. It leaves the settings of matplotlib unchanged."""

    @functools.wraps(draw)
    def styled(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        finder = logging.getLogger("matplotlib.font_manager")
        level, style = finder.level, need_matplotlib().rc_context({**_STYLE, "font.family": fonts()})
        finder.setLevel(logging.ERROR)  # users need not know that a font has no bold face
        try:
            with style:
                return draw(*args, **kwargs)
        finally:
            finder.setLevel(level)

    return styled


@in_style
def canvas(width: float, height: float, columns: int = 1, rows: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure in inches, and its axes from left to right, row by row. No window is opened."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(rows, columns, squeeze=False).flat)


def panels(count: int) -> tuple[Figure, list[Axes]]:
    """A figure with two panels side by side, or with three in two rows: in one row they would be too small to read."""
    figure, axes = canvas(11.0, 5.2 if count == 2 else 9.2, 2, (count + 1) // 2)
    for spare in axes[count:]:
        spare.remove()
    return figure, axes[:count]


def titled_panels(figure: Figure, *sentences: str) -> None:
    """Puts a title above all panels: every sentence begins a line, and is broken where the picture ends."""
    lines = [line for sentence in sentences for line in textwrap.wrap(sentence, _LINE)]
    figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=15, color=INK)


def log_axes(
    axes: Axes, title: str, xlabel: str, ylabel: str = "", *, percent: bool,
    within: tuple[float, float] | None = None,
) -> None:  # fmt: skip
    """Makes both axes logarithmic, errors optionally in percent, and adds a title and a legend.

    A long label beside the panel is broken at its last comma.
    """
    if len(ylabel) > _BESIDE:
        ylabel = ",\n".join(ylabel.rsplit(", ", 1))
    axes.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel)
    if within is not None:
        axes.set_xlim(within)
    axes.set_title(title)
    axes.legend(loc="lower left" if within else "best")
    plain_ticks(axes, x=True)
    plain_ticks(axes, y=True, percent=percent)


def plain_ticks(axes: Axes, x: bool = False, y: bool = False, percent: bool = False) -> None:
    """Numbers on logarithmic axes as people write them: 0.1, 1, 1,000; or percent."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    def said(value: float, _: object = None) -> str:
        if percent:
            return f"{100 * value:,.3g}%" if value < 10 else f"{value:,.0f}×"
        return f"{value:,.0f}" if 1 <= value < 1e6 else f"{value:g}" if value < 1 else short(value)

    for wanted, axis in ((x, axes.xaxis), (y, axes.yaxis)):
        if wanted:
            low, high = sorted(axis.get_view_interval())
            subs = (1.0, 2.0, 5.0) if high < 100 * low else (1.0, 3.0) if high < 2000 * low else (1.0,)
            axis.set_major_locator(LogLocator(subs=subs, numticks=6))
            axis.set_major_formatter(FuncFormatter(said))
            axis.set_minor_formatter(NullFormatter())


def price_line(release: Release, where: str = "") -> str:
    """The line below every picture of releases: its confidence, `where` it holds, and its price."""
    holds = f",\n{where}; " if where else ";\n"
    return (
        f"bars hold the truth in {100 * release.confidence:g} of 100 releases{holds}ε = {at_most(release.epsilon)}, "
        f"δ = {at_most(release.delta, 3)}"
    )


def short_name(name: str, most: int = 28) -> str:
    """The name of a group, shortened to fit beside a picture."""
    return name if len(name) <= most else f"{name[: most - 1]}…"


def titled(figure: Figure, title: str) -> None:
    """Puts the title across the whole width, for axes with names at their left."""
    figure.suptitle(title, x=0.01, ha="left", fontsize=14, weight="bold", color=INK)


def capital(name: str) -> str:
    """The text with a capital first letter."""
    return name[:1].upper() + name[1:]
