"""Bare entries of a sample of the pairs: plan, cost and description in moment.py, the state in state.py."""
