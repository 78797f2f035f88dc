"""Exact values with noise: F_p and distinct keys in moment.py, entropy in entropy.py.

number.py has what all exact numbers share, histogram.py the state.
"""
