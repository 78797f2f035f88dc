"""Releases that are paid from a ledger: from data, and from a stored sketch."""

DATA = ["release", "e.csv", "--key", "app", "--p", "0.5", "--epsilon", "2", "--delta", "1e-6", "--size", "50"]
STORED = ["release", "a.ssk", "--secret", "s.key"]
