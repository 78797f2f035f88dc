"""What eight variates cost the AVX-512 tier in instructions, counted in the compiled loops themselves.

    python benchmarks/speed_instructions.py

Needs objdump (binutils, which comes with the compiler). The loops are those for p from 1/3 and light weights: one has
the AES rounds, one the polynomial, and eight variates are one register of 512 bits in each. Instructions that a forward
jump can skip are left out: those are for X outside the window.
"""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from dataclasses import dataclass

from stablesketch import _native

__all__ = ["counted", "markdown"]


@dataclass(frozen=True)
class Instruction:
    address: int
    name: str
    operands: str


# (what it is for, pattern of "name operands", vector operations of each: all of them run on ports 0 and 5)
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


def counted() -> list[tuple[str, float, float]]:
    """(what for, instructions, vector operations) for eight variates."""
    code = disassembled()
    aes, polynomial = loops(code, r"vaesenclast .*%zmm"), loops(code, r"vperm[it]2pd .*%zmm")
    for pair in zip(aes, polynomial, strict=True):
        kept = [always_run(body) for body in pair]
        # 2^5 bins an octave, so offsets are doubled (native/kernel_avx512.cpp); two limbs.
        doubled = any(re.search(r"\(%\w+,%\w+,2\),%zmm", i.operands) for i in kept[1])
        if doubled and sum(i.name == "vpmadd52luq" for i in kept[1]) == 2:
            break
    else:
        raise SystemExit("The loops of the AVX-512 tier are not what this script expects.")
    instructions: defaultdict[str, float] = defaultdict(float)
    operations: defaultdict[str, float] = defaultdict(float)
    for body, mark, each in zip(kept, ("vaesenclast", "vperm[it]2pd"), (1, 4), strict=True):
        registers = (
            sum(bool(re.match(mark, i.name)) for i in body) / each
        )  # registers of eight variates in one turn of the loop
        for i in body:
            name, _, cost = next(kind for kind in KINDS if re.match(kind[1], f"{i.name} {i.operands}"))
            instructions[name] += 1 / registers
            operations[name] += cost / registers
    order = list(dict.fromkeys(name for name, _, _ in KINDS))
    return [(name, instructions[name], operations[name]) for name in order if instructions[name]]


def markdown() -> str:
    rows = counted()
    total = ("together", sum(row[1] for row in rows), sum(row[2] for row in rows))
    lines = [f"| {name} | {each:.3g} | {vector:.3g} |" for name, each, vector in [*rows, total]]
    return "\n".join(["| for eight variates | instructions | on ports 0 and 5 |", "|---|---|---|", *lines])


if __name__ == "__main__":
    print(markdown())
