"""Pipelines that the lessons, the demo and the tests share."""
