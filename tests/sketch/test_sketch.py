"""The sketch as a tutorial: read from top to bottom, it shows what a sketch does and what it refuses.

A sketch counts a stream of pairs (key, value) and answers one question: what is F_p, the sum over all keys of
(total of the key)^p? Secrets are fixed here, so every number below is the same in every run.
"""

from __future__ import annotations

import copy
import pickle
from collections import Counter

import numpy as np
import pytest
from sketch_helpers import SECRET, entries_of, numbered_secret

import stablesketch as ss

WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog", "and", "the", "dog", "barks"]


def moment(totals: dict[object, int], p: float) -> float:
    return sum(total**p for total in totals.values())


# --- counting ---


def test_a_new_sketch_is_empty() -> None:
    sketch = ss.Sketch(p=0.5, size=50, law="symmetric")
    assert (sketch.p, sketch.size, sketch.pairs, sketch.total) == (0.5, 50, 0, 0)
    found = sketch.estimate()
    assert (found.value, found.low, found.high) == (0.0, 0.0, 0.0)
    assert repr(sketch) == "<Sketch p=0.5 size=50 pairs=0 total=0>"


def test_update_counts_pairs_of_value_one_or_of_given_values() -> None:
    sketch = ss.Sketch(p=0.5, size=50, law="symmetric")
    sketch.update(WORDS)
    assert (sketch.pairs, sketch.total) == (13, 13)
    sketch.update(["fox", "dog"], [10, 20])
    assert (sketch.pairs, sketch.total) == (15, 43)
    sketch.update(["cat", "cow"], 100)  # one value for all of them
    assert (sketch.pairs, sketch.total) == (17, 243)
    sketch.update([])
    assert (sketch.pairs, sketch.total) == (17, 243)


@pytest.mark.parametrize(
    ("method", "p"),
    [
        *(("pitman", p) for p in (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)),
        *((method, p) for method in ("geometric_mean", "median") for p in (0.05, 0.5, 1.0)),  # each takes a second
    ],
)
def test_estimate_finds_the_moment(p: float, method: str) -> None:
    """The secret is fixed, so the outcome never changes; with one drawn at random a case would fail once in a million,
    or in a hundred for those methods whose law is not known so far out."""
    rng = np.random.default_rng(1)
    keys = rng.zipf(1.5, 5_000) % 1_000
    values = rng.integers(1, 100, len(keys))
    totals: Counter[int] = Counter()
    for key, value in zip(keys.tolist(), values.tolist(), strict=True):
        totals[key] += value
    sketch = ss.Sketch(p, 400, SECRET, law="symmetric")
    sketch.update(keys, values)
    confidence = 1 - 1e-6 if method == "pitman" else 0.99
    found = sketch.estimate(method=method, confidence=confidence)
    assert found.low < moment(totals, p) < found.high
    assert found.low < found.value < found.high < 3 * found.low
    assert (found.method, found.confidence) == (method, confidence)


def test_one_key_has_the_moment_of_its_total() -> None:
    """F_p of one key is total^p, whether it came in one pair or in many; 1e-6 for a random secret."""
    sketch = ss.Sketch(0.25, 1_000, SECRET, law="symmetric")
    sketch.update(["only"] * 16)
    found = sketch.estimate(confidence=1 - 1e-6)
    assert found.low < 2.0 < found.high


def test_at_p_one_the_moment_is_the_total_which_is_known_exactly() -> None:
    sketch = ss.Sketch(1.0, 1_000, SECRET, law="symmetric")
    sketch.update(WORDS, range(1, 14))
    found = sketch.estimate(confidence=1 - 1e-6)
    assert sketch.total == 91
    assert found.low < 91 < found.high


def test_the_entries_are_the_totals_times_a_secret_matrix() -> None:
    """Linearity is the whole trick: the sketch of 3 a's and 2 b's is 3 times that of a plus 2 times that of b."""
    a, b, both = (ss.Sketch(0.3, 20, SECRET, law="symmetric") for _ in range(3))
    a.update(["a"])
    b.update(["b"])
    both.update(["a", "b", "a", "b", "a"])
    assert entries_of(both) == [3 * x + 2 * y for x, y in zip(entries_of(a), entries_of(b), strict=True)]


# --- deleting ---


def test_delete_undoes_an_update_to_the_last_bit() -> None:
    sketch, never = ss.Sketch(0.5, 50, SECRET, law="symmetric"), ss.Sketch(0.5, 50, SECRET, law="symmetric")
    never.update(["stays"])
    sketch.update(["goes", "stays"], [7, 1])
    sketch.delete(["goes"], [7])
    assert sketch.to_bytes() == never.to_bytes()


def test_a_delete_may_arrive_first() -> None:
    sketch = ss.Sketch(0.5, 50, SECRET, law="symmetric")
    sketch.delete(["late"], [3])
    assert (sketch.pairs, sketch.total) == (-1, -3)
    sketch.update(["late"], [3])
    assert sketch.to_bytes() == ss.Sketch(0.5, 50, SECRET, law="symmetric").to_bytes()
    assert sketch.estimate().value == 0.0


def test_a_stream_with_more_deleted_than_updated_has_no_moment() -> None:
    sketch = ss.Sketch(0.5, 50, SECRET, law="symmetric")
    sketch.update(["here"])
    sketch.delete(["never there"], [5])
    with pytest.raises(ss.NegativeTotal, match="total -4"):
        sketch.estimate()
    sketch.update(["here"], [3])
    with pytest.raises(ss.NegativeTotal, match="total -1"):  # more pairs than deletes, but less in total
        sketch.estimate()
    sketch.update(["never there"], [5])
    assert sketch.estimate().value > 0.0


def test_a_stream_that_cancels_only_in_its_numbers_has_no_moment_either() -> None:
    sketch = ss.Sketch(0.5, 50, SECRET, law="symmetric")
    sketch.update(["a"])
    sketch.delete(["b"])
    assert (sketch.pairs, sketch.total) == (0, 0)
    with pytest.raises(ss.NegativeTotal, match="0 pairs of total 0"):
        sketch.estimate()


def test_all_taken_back_in_other_portions_is_nothing_left() -> None:
    """Two pairs of 1 taken back as one of 2: the pairs do not cancel, the totals do, and F_p is 0."""
    sketch = ss.Sketch(0.05, 50, SECRET, law="symmetric")
    sketch.update(["a", "a"])
    sketch.delete(["a"], [2])
    assert (sketch.pairs, sketch.total) == (1, 0)
    assert sketch.estimate().value == 0.0


# --- adding sketches ---


def test_merge_gives_the_sketch_of_both_streams() -> None:
    whole, first, second = (ss.Sketch(0.5, 50, SECRET, law="symmetric") for _ in range(3))
    whole.update(WORDS)
    first.update(WORDS[:5])
    second.update(WORDS[5:])
    kept = second.to_bytes()
    first.merge(second)
    assert first.to_bytes() == whole.to_bytes()
    assert second.to_bytes() == kept


def test_plus_and_sum_make_new_sketches() -> None:
    shards = []
    for word in WORDS:
        shards.append(ss.Sketch(0.5, 50, SECRET, law="symmetric"))
        shards[-1].update([word])
    whole = ss.Sketch(0.5, 50, SECRET, law="symmetric")
    whole.update(WORDS)
    assert sum(shards).to_bytes() == whole.to_bytes()  # type: ignore[union-attr]
    assert (shards[0] + shards[1]).pairs == 2
    assert all(shard.pairs == 1 for shard in shards)
    assert sum(shards[:1]) is not shards[0]


def test_a_sum_takes_updates_and_leaves_its_terms_alone() -> None:
    a, b = ss.Sketch(0.5, 50, SECRET, law="symmetric"), ss.Sketch(0.5, 50, SECRET, law="symmetric")
    a.update(["x"])
    both = a + b
    both.update(["y"])
    assert (a.pairs, b.pairs, both.pairs) == (1, 0, 2)


def test_a_sketch_merged_with_itself_counts_twice() -> None:
    once, twice = ss.Sketch(0.5, 50, SECRET, law="symmetric"), ss.Sketch(0.5, 50, SECRET, law="symmetric")
    once.update(WORDS)
    twice.update(WORDS * 2)
    once.merge(once)
    assert once.to_bytes() == twice.to_bytes()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (ss.Sketch(0.25, 50, SECRET, law="symmetric"), "p = 0.5 and 0.25"),
        (ss.Sketch(0.5, 51, SECRET, law="symmetric"), "size = 50 and 51"),
        (ss.Sketch(0.5, 50, numbered_secret(1), law="symmetric"), "different secrets"),
        (ss.Sketch(0.5, 50, law="symmetric"), "different secrets"),
    ],
)
def test_only_sketches_of_one_projection_merge(other: ss.Sketch, message: str) -> None:
    sketch = ss.Sketch(0.5, 50, SECRET, law="symmetric")
    sketch.update(WORDS)
    before = sketch.to_bytes()
    with pytest.raises(ss.MergeError, match=message):
        sketch.merge(other)
    with pytest.raises(ss.MergeError, match=message):
        sketch + other
    assert sketch.to_bytes() == before


def test_a_sketch_adds_to_sketches_only() -> None:
    sketch = ss.Sketch(0.5, 50, SECRET, law="symmetric")
    with pytest.raises(TypeError, match="unsupported operand"):
        sketch + 1
    with pytest.raises(TypeError, match="unsupported operand"):
        1 + sketch
    with pytest.raises(TypeError, match="unsupported operand"):
        sketch + sketch.to_bytes()


# --- keeping and sending ---


def test_bytes_and_back() -> None:
    sketch = ss.Sketch(0.5, 50, SECRET, law="symmetric")
    sketch.update(WORDS)
    blob = sketch.to_bytes()
    back = ss.Sketch.from_bytes(blob, SECRET)
    assert (back.p, back.size, back.pairs, back.total) == (0.5, 50, 13, 13)
    assert back.estimate() == sketch.estimate()
    back.update(["more"])
    sketch.update(["more"])
    assert back.to_bytes() == sketch.to_bytes() != blob


def test_bytes_read_without_the_secret_merge_and_estimate_but_take_no_update() -> None:
    sketch = ss.Sketch(0.5, 50, SECRET, law="symmetric")
    sketch.update(WORDS)
    blind = ss.Sketch.from_bytes(sketch.to_bytes())
    assert blind.estimate() == sketch.estimate()
    assert repr(blind).endswith("without its secret>")
    blind.merge(sketch)
    sketch.merge(sketch)
    assert blind.to_bytes() == sketch.to_bytes()
    for operation in (blind.update, blind.delete):
        with pytest.raises(ss.SecretMissing, match="from_bytes"):
            operation(["more"])
    with pytest.raises(ss.SecretMissing):
        blind.secret  # noqa: B018
    assert blind.to_bytes() == sketch.to_bytes()


def test_the_wrong_secret_is_noticed() -> None:
    blob = ss.Sketch(0.5, 50, SECRET, law="symmetric").to_bytes()
    with pytest.raises(ss.SecretMismatch):
        ss.Sketch.from_bytes(blob, numbered_secret(1))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_copy_leaves_the_secret_behind(protocol: int) -> None:
    sketch = ss.Sketch(0.5, 50, SECRET, law="symmetric")
    sketch.update(WORDS)
    pickled = pickle.dumps(sketch, protocol)
    copied = pickle.loads(pickled)
    assert not any(bits in pickled for bits in secret_bits(sketch))
    assert copied.to_bytes() == sketch.to_bytes()
    assert copied.estimate() == sketch.estimate()
    assert (copied + sketch).pairs == 26
    with pytest.raises(ss.SecretMissing, match="update needs the secret"):
        copied.update(["more"])


def test_copies_in_the_same_process_keep_the_secret() -> None:
    sketch = ss.Sketch(0.5, 50, SECRET, law="symmetric")
    sketch.update(WORDS)
    for duplicate in (copy.copy(sketch), copy.deepcopy(sketch), copy.deepcopy([sketch])[0]):
        assert duplicate.secret == SECRET
        duplicate.update(["more"])
        assert (duplicate.pairs, sketch.pairs) == (14, 13)


# --- the secret ---


def secret_bits(sketch: ss.Sketch) -> list[bytes]:
    """All that must never be seen: the secret and the keys derived from it, as bytes and as hexadecimal digits."""
    secret = sketch.secret
    keys = [bytes(range(32)), secret.derive(f"entries/p={sketch.p.hex()}", 16), secret.derive("fingerprint/TEXT", 16)]
    return [form for key in keys for form in (key, key[:8], key.hex().encode(), key[:8].hex().encode())]


def test_different_secrets_give_unrelated_sketches() -> None:
    first, second = ss.Sketch(0.5, 50, law="symmetric"), ss.Sketch(0.5, 50, law="symmetric")
    assert first.secret != second.secret
    first.update(WORDS)
    second.update(WORDS)
    assert not set(entries_of(first)) & set(entries_of(second))


def test_different_p_give_unrelated_sketches_under_one_secret() -> None:
    """X is a function of p too: otherwise two sketches of one stream would be monotone functions of each other."""
    first, second = ss.Sketch(0.5, 50, SECRET, law="symmetric"), ss.Sketch(0.6, 50, SECRET, law="symmetric")
    first.update(["a"])
    second.update(["a"])
    signs = [(x > 0) == (y > 0) for x, y in zip(entries_of(first), entries_of(second), strict=True)]
    assert 5 < sum(signs) < 45


def test_a_longer_sketch_begins_like_a_shorter_one() -> None:
    short, long = ss.Sketch(0.5, 7, SECRET, law="symmetric"), ss.Sketch(0.5, 50, SECRET, law="symmetric")
    short.update(WORDS)
    long.update(WORDS)
    assert entries_of(long)[:7] == entries_of(short)


def test_nothing_that_is_shown_holds_the_secret() -> None:
    sketch = ss.Sketch(0.5, 50, SECRET, law="symmetric")
    sketch.update(WORDS)
    shown = [repr(sketch), str(sketch), f"{sketch}", f"{sketch!r:>80}", repr(vars(sketch)), repr(sketch.secret)]
    shown += [str(sketch.secret), f"{sketch.secret:}", repr([sketch.secret]), repr(sketch.__reduce__())]
    for wrong in (
        lambda: sketch.update([1.5]),
        lambda: sketch.merge(SECRET),
        lambda: ss.Sketch(0.5, SECRET, law="symmetric"),
    ):  # type: ignore[arg-type]
        with pytest.raises(ss.StablesketchError) as error:
            wrong()
        shown += [str(error.value), repr(error.value), repr(vars(error.value))]
    everything = b"".join(text.encode() for text in shown) + sketch.to_bytes()
    for bits in secret_bits(sketch):
        assert bits not in everything
        assert repr(bits)[2:-1].encode() not in everything
