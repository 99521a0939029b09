"""The bench in a notebook: prompts in cells, runs cell by cell, everything undoable."""
