"""Token counts: of a text, and of a request by what its pieces are. Imports core only."""
