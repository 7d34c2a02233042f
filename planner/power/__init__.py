"""IT load, facility and energy."""
