"""Artifacts in memory: what is too big for state."""

from __future__ import annotations

from adknb.core.content import Part
from adknb.core.run import Session
from adknb.core.state import USER_PREFIX


class InMemoryArtifactService:
    """Keeps artifacts as long as the process. Names beginning `user:` are shared by the user's sessions."""

    def __init__(self) -> None:
        self._versions: dict[tuple[str, str, str, str], list[Part]] = {}

    def _key(self, session: Session, filename: str) -> tuple[str, str, str, str]:
        owner = "" if filename.startswith(USER_PREFIX) else session.id
        return (session.app_name, session.user_id, owner, filename)

    async def save_artifact(self, session: Session, filename: str, artifact: Part) -> int:
        versions = self._versions.setdefault(self._key(session, filename), [])
        versions.append(artifact)
        return len(versions) - 1

    async def load_artifact(self, session: Session, filename: str, version: int | None = None) -> Part | None:
        versions = self._versions.get(self._key(session, filename), [])
        index = len(versions) - 1 if version is None else version
        return versions[index] if 0 <= index < len(versions) else None

    async def list_artifacts(self, session: Session) -> list[str]:
        mine = {self._key(session, name): name for name in (key[3] for key in self._versions)}
        return sorted(name for key, name in mine.items() if key in self._versions)
