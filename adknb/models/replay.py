"""A model that answers with recorded replies, and records those of another model."""

from __future__ import annotations

import os
import warnings
import weakref
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args
from weakref import WeakValueDictionary

from adknb.core.errors import CassetteMissError, ModelError, SpecError, near_names
from adknb.core.escape import visible
from adknb.core.protocols import Model
from adknb.core.requests import LlmRequest, LlmResponse
from adknb.models.cassette import Cassette
from adknb.models.cassette_line import to_line
from adknb.models.nearest import Nearest, nearest
from adknb.models.request_key import model_identity, request_key

RecordMode: TypeAlias = Literal["none", "once", "new", "all"]


class ReplayModel:
    """Answers with the replies recorded in a file (JSON Lines), offline and with the tokens that the model reported.

    `path` is relative to the working directory. What `mode` says about asking `model`, whose replies are then kept:

    - `none`: never.
    - `once`: for whatever is not recorded, if the file held nothing when this object was made; else never.
    - `new`: for whatever is not recorded.
    - `all`: always; the new reply takes the place of the recorded one.

    A reply belongs to its request (`request_key`), to the repeat, and to the count of the agent's requests before it in
    the session (`ordinal`). Where the same request was recorded at other counts only, a replay takes the last one before,
    else the first after. A request without a reply raises `CassetteMissError`: nothing is made up.

    Exceptions and the pieces of a streamed answer are not recorded; a replayed answer comes whole. `name` is the
    recorded model's, on which ADK's rules depend. A file with the replies of several models needs `name` to say which.
    The file holds what is in the request and the reply: no ids of calls, no times, no keys, headers or addresses.

    `close()`, leaving a `with` block or the end of the process removes superseded lines. Raises `ModelError` when there
    is nothing to replay and no model to ask, or when the file is no cassette.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        model: Model | None = None,
        mode: RecordMode = "none",
        name: str | None = None,
    ) -> None:
        if mode not in get_args(RecordMode):
            raise SpecError(f"there is no record mode {mode!r}.{near_names(str(mode), get_args(RecordMode))}")
        if model is not None and name is not None:
            raise SpecError("name= chooses among recorded models; with model= it is that model's own name")
        self.mode: Final = mode
        self._model = model
        self._cassette = Cassette(path)
        weakref.finalize(self, self._cassette.close)
        self._records = mode in ("new", "all") or (mode == "once" and not self._cassette)
        if model is None if self._records else not self._cassette:
            raise self._nobody_to_ask()
        if self._records:
            self._cassette.claim()
            weakref.finalize(self, _tidy, self._cassette, os.getpid())
        elif self._cassette.torn:
            warnings.warn(f"{self._cassette.title}: its last line is not complete; it is left out.", stacklevel=2)
        self._recorded_identity, self.name = self._chosen(name) if model is None else ("", model.name)
        self._note = f"replayed from {self._cassette.title} (recorded from {visible(self.name)})"

    @cached_property
    def identity(self) -> str:
        """Which model answers or answered, as `request_key` takes it."""
        return self._recorded_identity if self._model is None else model_identity(self._model)

    async def generate_content_async(self, request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse]:
        """Yield the recorded reply, whole; or the model's as it comes, and record it.

        Raises `CassetteMissError` when neither is to be had.
        """
        key = request_key(request, self.identity if request.model == self.name else None)
        if self.mode != "all":
            reply = self._cassette.find(key, request.repeat, request.ordinal, exact=self._records)
            if reply is not None:
                yield self._noted(reply)
                return
        if self._model is None or not self._records:
            raise self._miss(request)
        async with aclosing(self._model.generate_content_async(request, stream)) as replies:
            async for reply in replies:
                if not reply.partial:
                    line = to_line(key, self.name, self.identity, request, reply)
                    standing = self._cassette.keep(line, replace=self.mode == "all")
                    if standing is not None:  # another session or process was faster: what ran is what replays
                        reply = self._noted(standing)
                yield reply

    def close(self) -> None:
        """Remove superseded lines and let the file go; the model can be used on."""
        if self._records:
            self._cassette.tidy()
        self._cassette.close()

    def __enter__(self) -> ReplayModel:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _noted(self, reply: LlmResponse) -> LlmResponse:
        reply.note = self._note
        return reply

    def _chosen(self, name: str | None) -> tuple[str, str]:
        """The recorded model of this name or identity, or the only one."""
        models = self._cassette.models
        title = self._cassette.title
        fitting = [(identity, known) for identity, known in models.items() if name in (None, known, identity)]
        if len(fitting) == 1:
            return fitting[0]
        if not fitting:
            raise ModelError(f"{title} holds no replies of {name!r}.{near_names(str(name), models.values())}")
        names = [known for _, known in fitting]
        choices = [known if names.count(known) == 1 else identity for identity, known in fitting]
        raise ModelError(
            f"{title} holds replies of several models. Say whose to replay: "
            + " or ".join(visible(f"'replay:{self._cassette.path.name}#{choice}'") for choice in choices)
        )

    def _nobody_to_ask(self) -> ModelError:
        path = self._cassette.path
        found = (
            f"{self._cassette.title} holds no replies" if path.exists() else f"there is no file {visible(str(path))!r}"
        )
        return ModelError(
            f"{found}. To record into it, give the model to ask: ReplayModel({path.name!r}, model=…, mode='once')"
        )

    def _miss(self, request: LlmRequest) -> CassetteMissError:
        found = nearest(self._cassette.lines, request, self.name, self.identity)
        repeat = f", repeat {request.repeat + 1}" if request.repeat else ""
        error = CassetteMissError(
            f"{self._cassette.title} holds no reply of {visible(self.name)} to this "
            f"(request {request.ordinal + 1} of the agent{repeat}). {_told(found, request)}\n"
            "Put it back as it was, or record what is new: mode 'new' asks the model for what is missing, 'all' for everything."
        )
        error.agent = request.agent
        return error

    def __repr__(self) -> str:
        return f"ReplayModel({self._cassette.path.name!r}, mode={self.mode!r}, name={self.name!r})"


def _told(found: Nearest | None, request: LlmRequest) -> str:
    if found is None:
        return "Nothing is recorded there."
    start = found.start
    repeat = f", repeat {start.repeat + 1}" if start.repeat or request.repeat else ""
    where = f"{visible(found.agent)}'s request {start.ordinal + 1}{repeat} on line {found.line}"
    if found.difference is not None:
        return f"The nearest is {where}; it first differs {found.difference}"
    if start.repeat != request.repeat:
        return f"The same request is there as {where}; each repeat needs a reply of its own."
    return f"The same request is there as {where}, under another key: that line was edited by hand."


def recording(
    model: Model | Callable[[], Model], path: str | os.PathLike[str], mode: RecordMode = "once"
) -> ReplayModel:
    """`model` with its replies kept in the file (see `ReplayModel`); what `--record` stands for.

    A function that makes the model may be given. Where it raises `ModelError`, since a key, an SDK or a model file is not
    to be had here, and the mode asks nothing, the file alone answers.
    """
    if isinstance(model, Model):
        return ReplayModel(path, model=model, mode=mode)
    try:
        made = model()
    except ModelError:
        if mode in ("none", "once"):
            with suppress(ModelError):  # the file does not say who answers either: then what was missing is the news
                return ReplayModel(path)
        raise
    return ReplayModel(path, model=made, mode=mode)


def replayed(name: str) -> ReplayModel:
    """The model of `replay:PATH`, or of `replay:PATH#MODEL` where the file has several.

    Agents that name the same file share one object, and with it the index, until the file changes.
    """
    path, mark, model = name.removeprefix("replay").removeprefix(":"), "", ""
    if not os.path.exists(os.path.expanduser(path)):
        before, mark, model = path.rpartition("#")
        path = before if mark else path
    if not path:
        raise ModelError("'replay' needs the file with the replies: 'replay:PATH'")
    place = Path(path).expanduser().resolve()
    key = (str(place), model, place.stat().st_mtime_ns if place.exists() else 0)
    shared = _shared.get(key)
    if shared is None:
        shared = _shared[key] = ReplayModel(path, name=model if mark else None)
    return shared


_shared: Final[WeakValueDictionary[tuple[str, str, int], ReplayModel]] = WeakValueDictionary()


def _tidy(cassette: Cassette, process: int) -> None:
    if os.getpid() == process:  # a fork leaves the file to the process that opened it
        cassette.tidy()
