"""What the entries of a sketch reveal: the paper's accounting compared with the exact one, in one table.

    python benchmarks/privacy_table.py [--delta 1e-6] [--markdown]

For streams of n pairs with values up to M, one pair replaced, and a sketch of `size` entries:

- the paper's ρ (keys among 2^20) and basic composition, ε = (size/p) ln ρ;
- the exact ρ, ((n-1)^p + M^p)/n^p, and basic composition, which is the ε for δ = 0;
- the exact ρ and the exact curve: the reported ε at the given δ (never too small), and its certified lower end.
"""

from __future__ import annotations

import argparse

from stablesketch import paper
from stablesketch.privacy import Privacy, PrivacyCurve, sensitivity

HEADINGS = ("n, M, p, size", "paper's ρ, basic", "exact ρ", "exact ρ, basic", "exact curve", "certainly not below")
# n, M, p, size.
STREAMS = (
    (10**6, 1, 0.5, 50),
    (10**6, 1, 0.25, 50),
    (10**6, 1000, 1.0, 50),
    (2**15, 16, 0.5, 50),
    (10**6, 1, 0.1, 50),
    (10**6, 1000, 0.75, 200),
    (10**9, 1, 0.5, 1000),
)
KEYS = 2**20


def row(name: str, paper_epsilon: str, p: float, size: int, rho: float, delta: float) -> tuple[str, ...]:
    curve = PrivacyCurve(p, size, rho)
    low, high = curve.bracket(delta)
    return (name, paper_epsilon, f"{rho:.7g}", f"{curve.pure_epsilon:.4g}", f"{high:.5g}", f"{low:.5g}")


def rows(delta: float) -> list[tuple[str, ...]]:
    out = []
    for n, M, p, size in STREAMS:
        rho = sensitivity(p, Privacy(1.0, delta, n, M, relation="replace"))
        out.append(row(f"{n}, {M}, {p:g}, {size}", f"{paper.epsilon(n, KEYS, M, p, size):.4g}", p, size, rho, delta))
    out.append(row("p = 1, ρ = 1.01, size 200", "", 1.0, 200, 1.01, delta))
    return out


def table(lines: list[tuple[str, ...]], *, markdown: bool) -> str:
    if markdown:
        shown = [HEADINGS, tuple("---" for _ in HEADINGS), *lines]
        return "\n".join("| " + " | ".join(line) + " |" for line in shown)
    widths = [max(len(line[k]) for line in [HEADINGS, *lines]) for k in range(len(HEADINGS))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in [HEADINGS, *lines]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Privacy of a sketch: the paper's accounting and the exact one.")
    parser.add_argument("--delta", type=float, default=1e-6, help="the δ of the curve (default 1e-6)")
    parser.add_argument("--markdown", action="store_true", help="print the table as markdown")
    options = parser.parse_args()
    print(table(rows(options.delta), markdown=options.markdown))


if __name__ == "__main__":
    main()
