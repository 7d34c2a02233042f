"""Measurement files in, plain points out: nccl-tests logs, tables and this project's bench results."""

from planner.measure.parse.points import CollectivePoint, GemmPoint, LogError, Measurements, ParseProblem
from planner.measure.parse.read import read_points

__all__ = ["CollectivePoint", "GemmPoint", "LogError", "Measurements", "ParseProblem", "read_points"]
