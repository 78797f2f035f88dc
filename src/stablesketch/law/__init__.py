"""Distributions: the symmetric stable law, and what estimators need of it."""

from .stable import StableLaw

__all__ = ["StableLaw"]
