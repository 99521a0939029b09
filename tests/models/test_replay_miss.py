from dataclasses import replace
from pathlib import Path

import pytest

from adknb.core.content import Content, FunctionCall, Part
from adknb.core.errors import CassetteMissError
from adknb.core.requests import LlmRequest
from adknb.models.replay import ReplayModel
from tests.models.asking import request
from tests.models.recorded import Asked, about, record, said


class TestMiss:
    async def message(self, path: Path, sent: LlmRequest) -> str:
        with ReplayModel(path) as model, pytest.raises(CassetteMissError) as caught:
            await said(model, sent)
        assert caught.value.agent == sent.agent
        return str(caught.value)

    async def test_it_shows_the_nearest_request_and_where_it_differs(self, tmp_path: Path) -> None:
        path = tmp_path / "t.jsonl"
        with ReplayModel(path, model=Asked(), mode="new") as model:
            for agent, ordinal, words in [
                ("TriageAgent", 0, "Reply in two sentences at most, and promise nothing to them."),
                ("DraftAgent", 0, "Reply in two lines."),
                ("DraftAgent", 1, "Reply in two sentences at most, and promise nothing to them."),
                ("DraftAgent", 0, "Reply in two sentences at most,\tand promise\n\x1b nothing to anyone at all, ever."),
            ]:
                await said(model, request(agent, system=words, ordinal=ordinal))
        sent = request(
            "DraftAgent", system="Reply in two sentences at most, and promise nothing to anyone at all, ever."
        )
        assert await self.message(path, sent) == (
            "agent 'DraftAgent': t.jsonl holds no reply of any to this (request 1 of the agent). The nearest is DraftAgent's request 1 "
            "on line 4; it first differs in the system instruction, at character 31:\n"
            '  asked:    …"in two sentences at most, and promise nothing to anyone at all, ever."\n'
            '  recorded: …"in two sentences at most,\\tand promise\\n\\u001b nothing to anyone at all, ever"…\n'
            "Put it back as it was, or record what is new: mode 'new' asks the model for what is missing, 'all' for everything."
        )

    @pytest.mark.parametrize(
        ("sent", "difference"),
        [
            (request(contents=[Content.user("Why?"), Content.model("So.")]), 'content 2 (model), at character 0:\n  asked:    "So."\n  recorded: (no such part)'),
            (request(contents=[]), 'content 1 (user), at character 0:\n  asked:    (no such part)\n  recorded: "Why?"'),
            (request(contents=[Content.model("Why?")]), 'content 1 (model), at character 0:\n  asked:    "Why?"\n  recorded: (no such part)'),
            (request(contents=[Content.user("Why not?")]), 'content 1 (user), at character 3:\n  asked:    "Why not?"\n  recorded: "Why?"'),
            (
                request(contents=[Content("user", (Part(text="Why?"), Part(function_call=FunctionCall("f", {}))))]),
                'content 1 (user), part 1, at character 0:\n  asked:    "Why?"\n  recorded: (no such part)',
            ),
            (request(contents=[Content.user("Why?")], seed=3), 'the config\'s seed, at character 0:\n  asked:    "3"\n  recorded: (no such part)'),
            (replace(request(contents=[Content.user("Why?")]), tools={"f": {"name": "f"}}), 'tool 1, at character 0:\n  asked:    "{\\"name\\": \\"f\\"}"\n  recorded: (no such part)'),
        ],
    )  # fmt: skip
    async def test_it_names_the_part(self, tmp_path: Path, sent: LlmRequest, difference: str) -> None:
        path = tmp_path / "t.jsonl"
        await record(path, "Why?")
        assert f"it first differs in {difference}\n" in await self.message(path, sent)

    async def test_a_repeat_needs_its_own_reply(self, tmp_path: Path) -> None:
        path = tmp_path / "t.jsonl"
        await record(path, "sky")
        assert (await self.message(path, about("sky", repeat=2))).splitlines()[0] == (
            "agent 'DraftAgent': t.jsonl holds no reply of any to this (request 1 of the agent, repeat 3). The same request is there as "
            "DraftAgent's request 1, repeat 1 on line 1; each repeat needs a reply of its own."
        )

    async def test_a_request_edited_by_hand_is_seen(self, tmp_path: Path) -> None:
        path = tmp_path / "t.jsonl"
        await record(path, "sky")
        path.write_text(path.read_text().replace('"text": "sky"', '"text": "sea"'))
        assert (
            "The same request is there as DraftAgent's request 1 on line 1, under another key: that line was edited by hand."
            in await self.message(path, about("sea"))
        )

    async def test_another_file_of_the_same_model_name_is_named(self, tmp_path: Path) -> None:
        class Hashed(Asked):
            identity = "gguf:2"

        path = tmp_path / "t.jsonl"
        await record(path, "sky")
        with ReplayModel(path, model=Hashed()) as model, pytest.raises(CassetteMissError) as caught:
            await said(model, about("sky"))
        assert (
            'it first differs in the model\'s file, at character 0:\n  asked:    "gguf:2"\n  recorded: (no such part)\n'
            in str(caught.value)
        )

    async def test_lines_that_cannot_be_read_are_not_near(self, tmp_path: Path) -> None:
        path = tmp_path / "t.jsonl"
        await record(path, "sky", "sea")
        first, second = path.read_text().splitlines(keepends=True)
        for damaged in (
            first.replace('"contents": [', '"contents": '),
            first.replace('"tools": []', '"tools": 7'),
            first.replace('"tools"', '"fools"'),
        ):
            path.write_text(damaged + second)
            assert "on line 2; it first differs" in await self.message(path, about("sky!"))

    async def test_only_so_many_are_compared(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "t.jsonl"
        await record(path, "sky at dusk", "sky at dawn")
        assert "on line 2;" in await self.message(path, about("sky at dawns"))
        monkeypatch.setattr("adknb.models.nearest._BYTES", 1)
        assert "on line 1;" in await self.message(path, about("sky at dawns"))

    async def test_a_file_that_is_gone_says_so(self, tmp_path: Path) -> None:
        path = tmp_path / "t.jsonl"
        await record(path, "sky")
        with ReplayModel(path) as model:
            path.unlink()
            with pytest.raises(CassetteMissError, match=r"\(request 1 of the agent\)\. Nothing is recorded there\.\n"):
                await said(model, about("sky"))
