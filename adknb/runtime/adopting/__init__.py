"""How a stored conversation becomes turns, steps and requests again (see `runtime.adopt`)."""
