"""The real google-adk: with `rules="python"`, and for agents that a user has written with it (extra `adk`).

Nothing here is imported before such an agent or these rules are used; `known` alone looks at an object without google-adk.
The oldest google-adk that this works with, and the newest that it is tested with, is 2.13.0.
"""
