"""Beam: a CombineFn whose accumulators are collectors, and the transforms that release or store its results."""
