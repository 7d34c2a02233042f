"""Serving simulated step by step: clients, lengths, scheduling, caches, routing, pools; pure, seeds are arguments."""
