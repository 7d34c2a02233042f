"""Performance of a cluster: pure functions from hardware, model and plan to times and shares."""
