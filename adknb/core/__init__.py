"""What things are: data without behaviour of a run. Imports nothing else of adknb."""
