"""Stored collectors: the kept ones can be read; whatever is damaged or forged is refused with a typed error."""

from __future__ import annotations

import contextlib
import hashlib
import json
import struct

import pytest
from collector_fixtures import BARE, EXACT, FIRST, FIXTURES, FOLDER, NOISY, RELEASED, SECOND, fresh, make, released
from hypothesis import given, settings
from hypothesis import strategies as st
from plan_texts import first_content, second_content, text_of
from plan_texts import forged as forged_plan

import stablesketch as ss
from stablesketch.format.framing import Kind
from stablesketch.sketch.entropy_sketch import EntropySketch

CHECKSUM = 8
PREFIX = 12
BLOBS = {name: (FOLDER / f"{name}.ssk").read_bytes() for name in FIXTURES}
WORDS = BLOBS["collector-noisy-words"]
BEFORE = [*FIRST, *SECOND]  # their plans are written otherwise now
TODAY = [name for name in FIXTURES if name not in BEFORE]
OF_ALL = ["collector-words", "collector-noisy-words", "collector-exact-words", "collector-asked-words"]


def sealed(body: bytes) -> bytes:
    return body + hashlib.sha256(body).digest()[:CHECKSUM]


def forged(
    *,
    version: int = 1,
    kind: int = 2,
    plan: str | None = None,
    shards: tuple[bytes, ...] = (b"a",),
    state: bytes | None = None,
) -> bytes:
    """A blob by the specification of docs/wire-format.md, not by the code that writes them."""
    text = (NOISY.to_json() if plan is None else plan).encode()
    inner = make("collector-noisy-words")._held().to_bytes() if state is None else state
    parts = [b"\x89SSK\r\n\x1a\n", struct.pack("<HHI", version, kind, len(text)), text, struct.pack("<I", len(shards))]
    parts += [struct.pack("<H", len(name)) + name for name in shards]
    return sealed(b"".join([*parts, struct.pack("<Q", len(inner)), inner]))


# --- kept blobs ---


@pytest.mark.parametrize("name", FIXTURES)
def test_kept_blobs_are_read(name: str) -> None:
    collector, expected = ss.Collector.from_bytes(BLOBS[name], fresh()), make(name)
    assert collector.plan == expected.plan == FIXTURES[name][0]
    assert collector.shards == expected.shards
    assert collector.expected == expected.expected
    assert collector.to_bytes() == expected.to_bytes()


@pytest.mark.parametrize("name", TODAY)
def test_kept_blobs_are_written_alike(name: str) -> None:
    assert make(name).to_bytes() == BLOBS[name]


@pytest.mark.parametrize("name", BEFORE)
def test_blobs_from_before_differ_in_their_plan_alone(name: str) -> None:
    """What is written of them today has the same state behind a plan of format 3, which is JSON."""
    again = ss.Collector.from_bytes(BLOBS[name], fresh()).to_bytes()
    assert (b'"format":"stablesketch-plan/1"' in BLOBS[name]) == (name in FIRST)
    assert b"Infinity" not in again
    assert b'"format":"stablesketch-plan/3"' in again
    assert _behind_the_plan(BLOBS[name]) == _behind_the_plan(again)


@pytest.mark.parametrize("name", json.loads(RELEASED.read_text()))
def test_kept_blobs_release_what_they_would_have(name: str) -> None:
    """Those of the first version what it released; rounding may differ in the last places from machine to machine."""
    expected = json.loads(RELEASED.read_text())[name]
    found = released(name, ss.Collector.from_bytes(BLOBS[name], fresh()))
    assert found[: len(expected)] == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert found == released(name, make(name))


def test_what_is_released_is_known_of_every_blob_whose_noise_is_not_the_operating_systems() -> None:
    assert set(FIXTURES) - set(json.loads(RELEASED.read_text())) == {"collector-exact", "collector-exact-merged"}


def test_no_kept_blob_is_left_out() -> None:
    assert {path.stem for path in FOLDER.glob("collector-*.ssk")} == set(FIXTURES)


def test_the_names_of_the_shards() -> None:
    assert ss.Collector.from_bytes(BLOBS["collector-merged"], fresh()).shards == {"sum", "zürich", "Ålesund", "アリカ"}


def test_the_specification_writes_the_same() -> None:
    assert forged(shards=(b"eu-1",)) == make("collector-noisy-words").to_bytes()


@pytest.mark.parametrize("name", FIXTURES)
def test_no_blob_holds_the_secret(name: str) -> None:
    for secret in (
        fresh()._bits._together(),
        fresh()._bits._together().hex().encode(),
        fresh().derive("grid offset", 8),
    ):
        assert secret not in BLOBS[name]


# --- what is refused ---


@pytest.mark.parametrize("name", FIXTURES)
def test_another_secret(name: str) -> None:
    with pytest.raises(ss.SecretMismatch, match="Load that secret"):
        ss.Collector.from_bytes(BLOBS[name], ss.Secret.from_bytes(bytes(32)))


def test_wrong_arguments() -> None:
    with pytest.raises(ss.ArgumentTypeError, match=r"Collector\.to_bytes"):
        ss.Collector.from_bytes("blob", fresh())  # type: ignore[arg-type]
    for secret in (None, bytes(32)):
        with pytest.raises(ss.ArgumentTypeError, match="must be a Secret"):
            ss.Collector.from_bytes(WORDS, secret)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", OF_ALL)
def test_a_blob_cut_anywhere(name: str) -> None:
    blob = BLOBS[name]
    for length in range(len(blob)):
        with pytest.raises(ss.BlobError):
            ss.Collector.from_bytes(blob[:length], fresh())
    with pytest.raises(ss.BlobError):
        ss.Collector.from_bytes(blob + b"\0", fresh())


@pytest.mark.parametrize("name", ["collector-nothing", "collector-noisy-nothing", "collector-exact"])
def test_a_flip_of_any_bit(name: str) -> None:
    blob = BLOBS[name]
    for bit in range(8 * len(blob)):
        flipped = bytearray(blob)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ss.BlobError):
            ss.Collector.from_bytes(bytes(flipped), fresh())


@pytest.mark.parametrize(
    "foreign", [b"", b"\0", b"hello", b"\x89PNG\r\n\x1a\n" + bytes(50), WORDS[1:], WORDS.hex().encode()]
)
def test_foreign_bytes(foreign: bytes) -> None:
    with pytest.raises(ss.ForeignBlob, match="not a collector"):
        ss.Collector.from_bytes(foreign, fresh())


def test_a_sketch_is_no_collector_and_the_other_way_round() -> None:
    with pytest.raises(ss.BlobError, match=r"kind 1.*Sketch\.from_bytes"):
        ss.Collector.from_bytes(ss.Sketch(0.5, 5, fresh(), law="symmetric").to_bytes(), fresh())
    with pytest.raises(ss.BlobError, match="kind 2"):
        ss.Sketch.from_bytes(WORDS, fresh())


def test_later_versions() -> None:
    with pytest.raises(ss.UnsupportedVersion, match="wire format 2"):
        ss.Collector.from_bytes(forged(version=2), fresh())


def changed(plan: ss.Plan, **fields: object) -> str:
    return forged_plan(plan, **fields)


def first_plan(**fields: object) -> str:
    """The form that version 0.1.0 wrote."""
    return text_of({**first_content(BARE), **fields})


FORGED: dict[str, tuple[bytes, str]] = {
    "version 0": (forged(version=0), "version 0"),
    "kind 5": (forged(kind=5), "kind 5"),
    "no shard": (forged(shards=()), "corrupt data"),
    "a shard without a name": (forged(shards=(b"",)), "corrupt data"),
    "a shard twice": (forged(shards=(b"a", b"a")), "corrupt data"),
    "shards out of order": (forged(shards=(b"b", b"a")), "corrupt data"),
    "a shard that is no text": (forged(shards=(b"\xff",)), "UTF-8"),
    "bytes at the end": (sealed(forged()[:-CHECKSUM] + b"\0"), "corrupt data"),
    "a plan with spaces": (forged(plan=json.dumps(json.loads(NOISY.to_json()))), "canonical"),
    "a plan of another size": (forged(plan=changed(NOISY, size=8)), " 8 one-sided.* 16 one-sided"),
    "a plan of another order": (forged(plan=changed(NOISY, statistic={"name": "moment", "p": 0.75})), r"p = 0\.75"),
    "a plan without a grid": (forged(plan=changed(NOISY, step=0.0)), "no grid"),
    "a plan with a NaN": (forged(plan=changed(NOISY, step=float("nan"))), "step"),
    "a plan below zero": (forged(plan=changed(NOISY, epsilon=-1.0)), "epsilon"),
    "a plan above what was asked": (forged(plan=changed(NOISY, epsilon=21.0)), "costs more than was asked"),
    "a plan of another mechanism": (forged(plan=changed(NOISY, mechanism="magic")), "mechanism"),
    "a plan that is none": (forged(plan="{}"), "plan"),
    "no plan": (forged(plan=""), "plan"),
    "a plan without noise": (forged(plan=changed(NOISY, noise=0.0)), "noise"),
    "a plan that cuts everything": (forged(plan=changed(NOISY, cap=0.0)), "cap"),
    "a bare plan with noise": (forged(plan=changed(BARE, noise=1.0)), "noise"),
    "a bare plan and one-sided entries": (forged(plan=BARE.to_json()), "one-sided"),
    "a noisy plan and symmetric entries": (forged(state=make("collector-words")._held().to_bytes()), "symmetric"),
    "a noisy plan and entropy's entries": (forged(state=EntropySketch(16, fresh()).to_bytes()), "header"),
    "a first plan with noise": (
        forged(plan=text_of({**second_content(NOISY), "format": "stablesketch-plan/1"})),
        "noise",
    ),
    "a first plan that is bare": (forged(plan=first_plan(mechanism="bare")), "mechanism"),
    "an exact plan and a sketch": (forged(plan=EXACT.to_json()), ""),
    "a sketch plan and a histogram": (forged(state=make("collector-exact")._held().to_bytes()), "not a sketch"),
    "no state": (forged(state=b""), "not a sketch"),
}


@pytest.mark.parametrize("name", FORGED)
def test_forged_blobs_whose_checksum_fits(name: str) -> None:
    blob, says = FORGED[name]
    with pytest.raises((ss.BlobError, ss.SecretMismatch), match=says or None):
        ss.Collector.from_bytes(blob, fresh())


def histogram(*rows: tuple[int, bytes], count: int | None = None) -> bytes:
    header = struct.pack("<8sQ", fresh().fingerprint, len(rows) if count is None else count) + b"\x01\x02"
    return forged(plan=EXACT.to_json(), state=header + b"".join(struct.pack("<Q", key) + total for key, total in rows))


def test_the_state_of_the_exact_mechanism_is_canonical_too() -> None:
    one, two = b"\x01\x01", b"\x01\x02"
    good = histogram((5, one), (9, two))
    assert ss.Collector.from_bytes(good, fresh()).to_bytes() == good
    for wrong in (
        histogram((9, one), (5, two)),
        histogram((5, one), (5, two)),
        histogram((5, b"\x00")),
        histogram((5, b"\x02\x01\x00")),
        histogram((5, one), count=2),
        histogram((5, one), count=0),
        histogram((5, one), count=2**64 - 1),
        forged(plan=EXACT.to_json(), state=fresh().fingerprint),
    ):
        with pytest.raises(ss.BlobError):
            ss.Collector.from_bytes(wrong, fresh())


# --- whatever comes in ---


def _plan_text(blob: bytes) -> str:
    return blob[16 : 16 + struct.unpack_from("<I", blob, PREFIX)[0]].decode()


def _behind_the_plan(blob: bytes) -> bytes:
    return blob[16 + struct.unpack_from("<I", blob, PREFIX)[0] : -CHECKSUM]


def survives(blob: bytes) -> None:
    """Either a typed error, or a collector that writes exactly these bytes: nothing in between. One whose plan was
    written otherwise has its plan, and no more, written as today."""
    try:
        collector = ss.Collector.from_bytes(blob, fresh())
    except ss.StablesketchError:
        return
    written = collector.to_bytes()
    if b"stablesketch-plan/3" not in blob:
        again = ss.Collector.from_bytes(written, fresh())
        assert again.plan == collector.plan
        assert collector.plan.is_written_as(_plan_text(blob))
        assert _behind_the_plan(written) == _behind_the_plan(blob)
        blob, written = written, again.to_bytes()
    assert written == blob


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=200))
def test_random_bytes(blob: bytes) -> None:
    survives(blob)
    survives(b"\x89SSK\r\n\x1a\n" + blob)
    survives(sealed(WORDS[:PREFIX] + blob))
    survives(forged(state=blob))
    survives(forged(plan=EXACT.to_json(), state=fresh().fingerprint + blob))


@settings(deadline=None, max_examples=300)
@given(
    name=st.sampled_from(sorted(BLOBS)),
    edits=st.lists(
        st.tuples(st.integers(0, 2_000), st.sampled_from(["set", "insert", "remove"]), st.integers(0, 255)), max_size=4
    ),
)
def test_blobs_with_bytes_set_inserted_and_removed(name: str, edits: list[tuple[int, str, int]]) -> None:
    """With a checksum that fits, so that the fuzz gets past it; the sketch within has one too, and keeps its p."""
    body = bytearray(BLOBS[name][:-CHECKSUM])
    for at, edit, value in edits:
        at %= len(body)
        if edit == "set":
            body[at] = value
        elif edit == "insert":
            body.insert(at, value)
        else:
            del body[at]
    survives(bytes(body))
    survives(sealed(bytes(body)))


@settings(deadline=None, max_examples=100)
@given(st.text(alphabet='{}[]",:.0123456789eE+-nulltruefasNaIfity', max_size=60), st.sampled_from(["value", "raw"]))
def test_plans_of_any_text(text: str, way: str) -> None:
    plan = text if way == "raw" else NOISY.to_json().replace(str(NOISY.step), text, 1)
    survives(forged(plan=plan))
    with contextlib.suppress(ss.BlobError):
        ss.Plan.from_json(plan)


def test_the_magic_is_that_of_all_blobs() -> None:
    assert Kind.COLLECTOR == 2
    assert WORDS[:8] == ss.Sketch(0.5, 5, fresh(), law="symmetric").to_bytes()[:8]
