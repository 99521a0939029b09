"""adknb's artifact store as google-adk's."""

from __future__ import annotations

from typing import Any

from google.adk.artifacts import BaseArtifactService
from google.genai import types

from adknb.adk.wire import from_part, to_part
from adknb.core.errors import NotSupported
from adknb.core.protocols import ArtifactService
from adknb.core.run import Session


class SharedArtifacts(BaseArtifactService):
    """The artifacts of one session, in the store that the Runner was given, so that later turns find them."""

    def __init__(self, service: ArtifactService, session: Session) -> None:
        self._service = service
        self._session = session

    async def save_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        artifact: types.Part | dict[str, Any],
        session_id: str | None = None,
        custom_metadata: dict[str, Any] | None = None,
    ) -> int:
        part = types.Part.model_validate(artifact)
        return await self._service.save_artifact(self._session, filename, to_part(part))

    async def load_artifact(
        self,
        *,
        app_name: str,
        user_id: str,
        filename: str,
        session_id: str | None = None,
        version: int | None = None,
    ) -> types.Part | None:
        found = await self._service.load_artifact(self._session, filename, version)
        return from_part(found) if found is not None else None

    async def list_artifact_keys(self, *, app_name: str, user_id: str, session_id: str | None = None) -> list[str]:
        return await self._service.list_artifacts(self._session)

    async def list_versions(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> list[int]:
        versions: list[int] = []
        while await self._service.load_artifact(self._session, filename, len(versions)) is not None:
            versions.append(len(versions))
        return versions

    async def delete_artifact(
        self, *, app_name: str, user_id: str, filename: str, session_id: str | None = None
    ) -> None:
        raise NotSupported(f"artifact {filename!r}: adknb's stores keep every version; none is deleted.")

    async def list_artifact_versions(self, **place: Any) -> Any:
        raise NotSupported("adknb's stores keep no details of an artifact's versions.")

    async def get_artifact_version(self, **place: Any) -> Any:
        raise NotSupported("adknb's stores keep no details of an artifact's versions.")
