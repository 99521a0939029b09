"""The explorer: a pipeline as a strip of steps, each with what it was sent, said and wrote, to look at and to change."""
