"""Colours of pictures and pages: everyone can distinguish them, on paper and on a dark page."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

import stablesketch as ss
from stablesketch.pictures import style


def luminance(colour: str) -> float:
    """Relative luminance of sRGB, by its definition in the web's accessibility guidelines."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def as_seen(colour: str, matrix: tuple[tuple[float, ...], ...]) -> tuple[float, ...]:
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return tuple(sum(a * c for a, c in zip(row, linear, strict=True)) for row in matrix)


# Full colour blindness of three kinds, in linear RGB: the matrices of Machado, Oliveira and Fernandes (2009).
EYES = {
    "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritan": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


@pytest.mark.parametrize("eyes", EYES)
def test_colours_that_meet_in_one_picture_are_told_apart_by_everyone(eyes: str) -> None:
    meeting = (style.BLUE, style.VERMILION, style.INK, style.SKY)
    for one, other in itertools.combinations(meeting, 2):
        seen = zip(as_seen(one, EYES[eyes]), as_seen(other, EYES[eyes]), strict=True)
        assert max(abs(a - b) for a, b in seen) > 0.1, (one, other)


def test_lines_and_words_stand_out_on_paper_and_on_a_dark_page() -> None:
    css = (Path(ss.__file__).parent / "page" / "style.css").read_text(encoding="utf-8")
    themes = re.findall(r":root \{(.*?)\}", css, re.DOTALL)
    assert len(themes) == 3  # light, dark, print
    for theme in themes:
        colours = dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", theme))
        for name in ("ink", "quiet"):
            assert contrast(colours[name], colours["paper"]) >= 4.5, name
        for name in ("blue", "vermilion", "green"):
            assert contrast(colours[name], colours["paper"]) >= 3.0, name
    assert contrast(style.BLUE, "#FFFFFF") >= 4.5
    assert contrast(style.VERMILION, "#FFFFFF") >= 3.0
