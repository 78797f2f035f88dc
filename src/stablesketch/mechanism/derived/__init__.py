"""Statistics computed from other measurements: cost and description in from_inputs.py, then plan.py and state.py.

profile_points.py makes the points of a released profile fall with the order.
"""
