"""Exact values with noise: F_p and distinct keys in moment.py, entropy in entropy.py, their state in histogram.py."""
