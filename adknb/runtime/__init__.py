"""How a pipeline runs: agents, callbacks, tools and requests, under the rules of one ADK."""
