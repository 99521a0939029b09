"""Who answers: replies written in advance or recorded, an echo, and real models, on this machine or behind an API."""
