"""Pipelines as code that runs without the bench."""
