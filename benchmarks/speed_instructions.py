"""What eight variates cost the AVX-512 tier in instructions, counted in the compiled loop itself.

    python benchmarks/speed_instructions.py

Needs objdump (binutils, which comes with the compiler). The loop is that for p from 1/3 and light weights: a
turn adds eight variates, one register of 512 bits. Instructions that a forward jump can skip are left out: those are
for X outside the window.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from dataclasses import dataclass

from stablesketch import _native

__all__ = ["counted", "markdown"]


@dataclass(frozen=True)
class Instruction:
    address: int
    name: str
    operands: str


# (what it is for, pattern of "name operands", vector operations of each: each takes one of two places a cycle)
KINDS: list[tuple[str, str, int]] = [
    ("AES rounds", r"vaesenc", 1),
    ("rows of the table: loads", r"vmov[au]p[ds] .*\(%\w+,%\w+,2\),%zmm", 0),
    ("rows of the table: turned, lanes to registers", r"vunpck|vperm|vshuf", 1),
    ("doubles: multiply, add, compare", r"v(mul|add|sub|cmp\w*)pd", 1),
    ("limbs times weights, summed", r"vpmadd52", 1),
    ("doubles to integers and back", r"vcvt", 1),
    ("masks to plain registers", r"kmov|kortest", 1),
    ("copies of registers", r"vmov\w+ %\wmm\d+,%\wmm\d+$", 0),
    ("other loads and stores", r"vmov|vbroadcast", 0),
    ("integers and bits", r"vp", 1),
    ("plain instructions", r"", 0),
]


def disassembled() -> list[Instruction]:
    command = ["objdump", "--disassemble", "--no-show-raw-insn", _native.__file__]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.findall(r"^\s*([0-9a-f]+):\t(\S+) *([^#\n]*)", output, re.MULTILINE)
    return [Instruction(int(address, 16), name, operands.strip()) for address, name, operands in found]


def target(instruction: Instruction) -> int | None:
    match = re.match(r"([0-9a-f]+)\b", instruction.operands)
    return int(match.group(1), 16) if instruction.name.startswith("j") and match else None


def loops(code: list[Instruction], holding: str) -> list[list[Instruction]]:
    """The innermost loops with an instruction that matches, in the order of the program."""
    place = {instruction.address: index for index, instruction in enumerate(code)}
    found: dict[int, list[Instruction]] = {}
    for index, instruction in enumerate(code):
        start = place.get(target(instruction) or -1, index)
        if index - 2_000 < start < index:
            body = code[start : index + 1]
            marks = [i.address for i in body if re.match(holding, f"{i.name} {i.operands}")]
            if marks and (marks[0] not in found or len(body) < len(found[marks[0]])):
                found[marks[0]] = body
    distinct = {body[0].address: body for body in found.values()}
    return [distinct[address] for address in sorted(distinct)]


def always_run(body: list[Instruction]) -> list[Instruction]:
    """Without what forward jumps within the loop can skip."""
    skipped_to, kept = 0, []
    for instruction in body:
        if instruction.address >= skipped_to:
            kept.append(instruction)
            goal = target(instruction)
            if goal is not None and instruction.address < goal <= body[-1].address:
                skipped_to = goal
    return kept


def counted() -> list[tuple[str, int, int]]:
    """(what for, instructions, vector operations) for eight variates."""
    for body in loops(disassembled(), r"vpmadd52luq .*%zmm"):
        kept = always_run(body)
        # 2^5 bins an octave, so offsets are doubled (native/kernel_avx512.cpp); two limbs; one group in a turn.
        doubled = any(re.search(r"\(%\w+,%\w+,2\),%zmm", i.operands) for i in kept)
        count = Counter(i.name for i in kept)
        if doubled and count["vpmadd52luq"] == 2 and count["vaesenclast"] == 1:
            break
    else:
        raise SystemExit("The loop of the AVX-512 tier is not what this script expects.")
    instructions: Counter[str] = Counter()
    operations: Counter[str] = Counter()
    for i in kept:
        name, _, cost = next(kind for kind in KINDS if re.match(kind[1], f"{i.name} {i.operands}"))
        instructions[name] += 1
        operations[name] += cost
    order = list(dict.fromkeys(name for name, _, _ in KINDS))
    return [(name, instructions[name], operations[name]) for name in order if instructions[name]]


def markdown() -> str:
    rows = counted()
    total = ("together", sum(row[1] for row in rows), sum(row[2] for row in rows))
    lines = [f"| {name} | {each} | {vector} |" for name, each, vector in [*rows, total]]
    return "\n".join(["| for eight variates | instructions | operations on 512 bits |", "|---|---|---|", *lines])


if __name__ == "__main__":
    print(markdown())
