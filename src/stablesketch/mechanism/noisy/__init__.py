"""F_p by a sketch, with noise on its estimate, the default: moment.py, planned by plan.py, with measure.py's noise."""
