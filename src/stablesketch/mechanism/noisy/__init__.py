"""F_p by a sketch, with noise on its estimate, below order 1 and above it: moment.py. This is the default.

estimate.py has what both share of state, cost and description, plan.py the plan, measure.py the noise.
"""
