"""Comparisons: what changes when one thing about a run is changed."""
