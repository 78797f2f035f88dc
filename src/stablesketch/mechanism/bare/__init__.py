"""Entries that are private by themselves: F_p in moment.py, entropy in entropy.py.

plan.py plans the first, by the mathematics of floor.py.
"""
