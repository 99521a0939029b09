"""Sessions in a database: an SQLite file, or PostgreSQL."""

from adknb.sessions.database.service import DatabaseSessionService as DatabaseSessionService
