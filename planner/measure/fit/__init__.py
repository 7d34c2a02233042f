"""Fits measured points to the forms of `planner.curves`; needs numpy, unlike the benchmark that measured them."""
