"""SequentialWorkflow, and the policies around each of its steps; each policy works alone too."""
