"""The hash itself: the reference agrees with the published vector, the native code with the reference."""

from __future__ import annotations

import random

import pytest
from key_reference import MATERIAL, siphash

from stablesketch._native import FINGERPRINT_KEY_BYTES, siphash13
from stablesketch.errors import ArgumentError, SecretNotPicklable
from stablesketch.sketch.columns import Fingerprinter


def test_reference_gives_the_published_vector_of_siphash_2_4() -> None:
    assert siphash(bytes(range(16)), bytes(range(15)), compress=2, finish=4) == 0xA129CA6149BE45E5


def test_native_agrees_with_the_reference_at_every_length() -> None:
    rng = random.Random(1)
    for length in [*range(70), 255, 256, 257, 1000]:
        key, message = rng.randbytes(16), rng.randbytes(length)
        assert siphash13(key, message) == siphash(key, message), length


def test_material_has_sixteen_bytes_for_each_type() -> None:
    assert len(MATERIAL) == FINGERPRINT_KEY_BYTES == 128
    with pytest.raises(ArgumentError, match="must be 128 bytes"):
        Fingerprinter(MATERIAL[1:])


def test_material_is_not_shown_nor_pickled() -> None:
    import copy
    import pickle

    with pytest.raises(ArgumentError) as error:
        Fingerprinter(b"secret" * 3)
    assert "secretsecret" not in str(error.value)
    with pytest.raises(SecretNotPicklable):
        pickle.dumps(Fingerprinter(MATERIAL))
    with pytest.raises(SecretNotPicklable):
        copy.deepcopy(Fingerprinter(MATERIAL))
