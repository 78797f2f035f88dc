"""F_p by a sketch, with noise on its estimate: stable.py below order 1, norm.py above. This is the default.

Both share the other files: estimate.py has the state, cost and description, plan.py the plan, measure.py the noise.
"""
