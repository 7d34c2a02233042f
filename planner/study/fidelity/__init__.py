"""Predictions beside what others measured: reading rows, predicting each, and the errors."""
