"""Benchmarks on real GPUs and the profiles fitted from them.

`planner.measure.run` measures; it needs the standard library and torch alone, so that this folder can be
copied to a bare PyTorch container and started as `python -m planner.measure`. Nothing is imported here.
"""
