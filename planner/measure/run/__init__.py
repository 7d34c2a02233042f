"""The running part of the benchmark: torch and the standard library, nothing else, Python 3.10 or newer."""
