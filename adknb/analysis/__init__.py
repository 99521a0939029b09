"""What can be said of a pipeline and its runs without asking a model."""
