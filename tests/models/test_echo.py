import pytest

from adknb.core.content import Content, Part
from adknb.core.protocols import Model
from adknb.core.requests import LlmResponse
from adknb.models.echo import EchoModel
from tests.models.asking import ask, request


@pytest.mark.parametrize(
    ("contents", "echoed"),
    [
        ([Content.user("first"), Content.model("no"), Content.user("last"), Content.model("no")], "last"),
        ([Content("user", (Part(text="For context:"), Part(text="hm", thought=True), Part(text="[A] said: x")))],
         "For context:[A] said: x"),
        ([Content.user("asked"), Content("user", (Part.from_function_call("f", {}),))], ""),
        ([Content.model("only the model spoke")], ""),
        ([], ""),
    ],
)  # fmt: skip
async def test_it_repeats_the_last_user_content(contents: list[Content], echoed: str) -> None:
    responses = await ask(EchoModel(), request(contents=contents, system="Be brief."))
    assert responses == [LlmResponse(Content.model(echoed), note="echo: repeats the message")]


def test_it_is_a_model() -> None:
    assert isinstance(EchoModel(), Model)
    assert (EchoModel().name, EchoModel("mirror").name) == ("echo", "mirror")
