"""Distributions: the stable laws, and what estimators need to know about them."""

from .stable import StableLaw

__all__ = ["StableLaw"]
