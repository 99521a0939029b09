"""The words of `--variants`, each with the variant that it is."""

from __future__ import annotations

from typing import Any

import pytest

from adknb import IncludeContents, LlmAgent, Variant
from adknb.notebook.command import UsageError
from adknb.notebook.variant_words import VariantWords
from adknb.runtime.strategies import AsWritten
from tests.notebook.notebook import Notebook

PLAIN: dict[str, Any] = {"strategy": "as_written", "prompts": {}, "models": None, "rules": None, "off": ()}


class Own:
    name = "own"

    def contents(self, history: Any) -> list[Any]:
        return []


@pytest.fixture
def words(notebook: Notebook) -> VariantWords:
    """Of the pipeline p, whose agent B has three versions, the second of them with its prompt in a file."""
    notebook.run("def guard(ctx): return None\ndef other(ctx): return None")
    notebook.run("%%agent A --pipeline p --key a --before-agent guard\nAgent A.", "A")
    for prompt in ("First.", "Second.", "Third."):
        notebook.run(f"%%agent B --key b\n{prompt}", "B")
    notebook.names.update(
        prompt="Another {a}.", number=3, chosen="none", setting=IncludeContents.NONE, mine=Own(),
        single=Variant("single", "none"), several=[Variant("one", "none"), "default", "none+off=guard", Own()],
        named={"before": "default", "after": Variant("x", "none")}, named_too={"v1": "default", "v2": "none+model=echo"},
        per_agent={"B": "none"},
    )  # fmt: skip
    return VariantWords(notebook.bench, "p", notebook.bench.root("p"))


def described(variant: Variant) -> dict[str, Any]:
    """The variant's name, and all that is not as the pipeline has it."""
    fields = {
        "strategy": variant.strategy.name, "prompts": dict(variant.prompts), "models": variant.models, "rules": variant.rules,
        "off": variant.off,
    }  # fmt: skip
    return {"name": variant.name, **{name: value for name, value in fields.items() if value != PLAIN[name]}}


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("default", [{"name": "default", "strategy": "default"}]),
        ("as_written", [{"name": "as_written"}]),
        ("state_only", [{"name": "state_only", "strategy": "state_only"}]),
        ("NONE", [{"name": "NONE", "strategy": "none"}]),
        ("strategy=none", [{"name": "strategy=none", "strategy": "none"}]),
        ("strategy=mine", [{"name": "strategy=mine", "strategy": "own"}]),
        ("B@1", [{"name": "B@1", "prompts": {"B": "First."}}]),
        ("B@3", [{"name": "B@3", "prompts": {"B": "Third."}}]),
        ("B=prompt", [{"name": "B=prompt", "prompts": {"B": "Another {a}."}}]),
        ("A=prompt+B@2", [{"name": "A=prompt+B@2", "prompts": {"A": "Another {a}.", "B": "Second."}}]),
        ("model=echo", [{"name": "model=echo", "models": "echo"}]),
        ("rules=java", [{"name": "rules=java", "rules": "java"}]),
        ("off=guard", [{"name": "off=guard", "off": ("guard",)}]),
        ("off=guard,other", [{"name": "off=guard,other", "off": ("guard", "other")}]),
        ("off=guard+off=other", [{"name": "off=guard+off=other", "off": ("guard", "other")}]),
        (
            "none+model=openai/m+B=prompt+off=guard",
            [{"name": "none+model=openai/m+B=prompt+off=guard", "strategy": "none", "models": "openai/m",
              "prompts": {"B": "Another {a}."}, "off": ("guard",)}],
        ),
        ("mine+off=guard", [{"name": "mine+off=guard", "strategy": "own", "off": ("guard",)}]),
        ("single", [{"name": "single", "strategy": "none"}]),
        (
            "several",
            [{"name": "one", "strategy": "none"}, {"name": "default", "strategy": "default"},
             {"name": "none+off=guard", "strategy": "none", "off": ("guard",)}, {"name": "own", "strategy": "own"}],
        ),
        ("named", [{"name": "before", "strategy": "default"}, {"name": "after", "strategy": "none"}]),
        ("named_too", [{"name": "v1", "strategy": "default"}, {"name": "v2", "strategy": "none", "models": "echo"}]),
        ("per_agent", [{"name": "per_agent", "strategy": "B=none"}]),
        ("setting", [{"name": "setting", "strategy": "none"}]),
        ("chosen", [{"name": "chosen", "strategy": "none"}]),
        ("mine", [{"name": "mine", "strategy": "own"}]),
    ],
)  # fmt: skip
def test_a_word_is_a_variant(words: VariantWords, word: str, expected: list[dict[str, Any]]) -> None:
    assert [described(variant) for variant in words.read([word])] == expected


def test_words_stand_in_their_order(words: VariantWords) -> None:
    assert [variant.name for variant in words.read(["none", "named", "B@1"])] == ["none", "before", "after", "B@1"]


def test_a_model_of_the_notebook_is_that_object(words: VariantWords, notebook: Notebook) -> None:
    assert words.read(["model=model"])[0].models is notebook.names["model"]


def test_what_a_word_does_not_name_is_as_the_bench_has_it(words: VariantWords, notebook: Notebook) -> None:
    notebook.run("%adk use --strategy none")
    found = {variant.name: variant.strategy.name for variant in words.read(["B@1", "as_written", "single"])}
    assert found == {"B@1": "none", "as_written": "as_written", "single": "none"}


def test_a_version_whose_prompt_is_in_a_file(notebook: Notebook, tmp_path: Any) -> None:
    (tmp_path / "a.md").write_text("From the file.")
    notebook.run(f"%agent A --pipeline p --prompt-file {tmp_path}/a.md", "A")
    notebook.run("%%agent A\nFrom the cell.", "A")
    (tmp_path / "a.md").write_text("From the file, edited.")
    words = VariantWords(notebook.bench, "p", notebook.bench.root("p"))
    assert [variant.prompts["A"] for variant in words.read(["A@1", "A@2"])] == [
        "From the file, edited.",
        "From the cell.",
    ]


WAYS = (
    "A variant is default, none, state_only or as_written; AGENT@2; AGENT=VARIABLE; model=NAME; rules=NAME; off=CALLBACK; "
    "several of these joined by +; or a variable."
)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("non", "--variants: there is no variant 'non'. Did you mean 'none'?"),
        ("sevral", "--variants: there is no variant 'sevral'. Did you mean 'several'?"),
        ("xyz", f"--variants: there is no variant 'xyz'. {WAYS}"),
        ("", f"--variants: there is no variant ''. {WAYS}"),
        ("default,none", "--variants default,none: separate variants by spaces: --variants default none"),
        ("default+none", "--variants default+none: a variant names its strategy once; this word does so twice"),
        ("model=a+model=b", "--variants model=a+model=b: a variant names its models once; this word does so twice"),
        (
            "rules=java+rules=java",
            "--variants rules=java+rules=java: a variant names its rules once; this word does so twice",
        ),
        ("B@1+B=prompt", "--variants B@1+B=prompt: B is given two prompts; a variant has one of each agent"),
        ("single+off=guard", "--variants single+off=guard: single is a Variant, which stands alone, not joined by +"),
        ("model=", "--variants model=: a value is missing behind model="),
        ("D@1", "--variants D@1: 'D' is no agent of 'p'. There are: 'A', 'B'."),
        ("B@0", "--variants B@0: B has versions 1 to 3, not 0. See them: %adk history B"),
        ("A@2", "--variants A@2: A has one version, not 2. See them: %adk history A"),
        ("B@last", f"--variants: there is no variant 'B@last'. {WAYS}"),
        (
            "D=prompt",
            f"--variants D=prompt: 'D' is no agent of 'p'. There are: 'A', 'B', 'model', 'off', 'rules', 'strategy'. {WAYS}",
        ),
        (
            "B=promt",
            "--variants B=promt: 'promt' is a variable that the notebook does not define. Did you mean 'prompt'? Write the "
            'prompt in a cell first: promt = "…"',
        ),
        ("B=number", "--variants B=number: number is of type int, not the text of a prompt"),
        (
            "B",
            "--variants B: B is an agent. A version of its prompt is B@NUMBER (see %adk history B), another prompt B=VARIABLE.",
        ),
        ("number", f"--variants number: a value of type int is no variant. {WAYS}"),
        ("type_itself", f"--variants type_itself: a value of type type is no variant. {WAYS}"),
        ("wrong_map", "--variants wrong_map: there is no context strategy 'non'. Did you mean 'none'?"),
    ],
)
def test_a_word_that_is_no_variant(words: VariantWords, notebook: Notebook, word: str, message: str) -> None:
    notebook.names.update(type_itself=Own, wrong_map={"B": "non"})
    with pytest.raises(Exception) as raised:  # noqa: PT011  # the message is what counts
        words.read([word])
    assert str(raised.value) == message


def test_a_variable_that_names_itself_ends(words: VariantWords, notebook: Notebook) -> None:
    notebook.names.update(loop="loop", loops=["loops"])
    for name in ("loop", "loops"):
        with pytest.raises(UsageError, match=f"^--variants: there is no variant '{name}'"):
            words.read([name])


def test_one_name_twice(words: VariantWords) -> None:
    for given in (["none", "none"], ["single", "single"]):
        with pytest.raises(UsageError) as raised:
            words.read(given)
        assert str(raised.value) == (
            f"--variants names {given[0]!r} twice. Name it once: --repeat 2 shows how far a variant differs from itself."
        )


def test_an_agent_s_name_that_is_mistyped_in_a_map_is_no_variant(notebook: Notebook) -> None:
    notebook.run("%%agent DraftAgent --pipeline p\nDraft.")
    notebook.names["per_agent"] = {"DraftAgnt": "none"}
    assert notebook.fail("%%compare p --variants default per_agent\nhi") == (
        "SpecError: the strategy names the agent 'DraftAgnt', which is not in 'p'. Did you mean 'DraftAgent'?"
    )


def test_versions_are_kept_of_agents_in_cells_alone(notebook: Notebook) -> None:
    root = notebook.names["root"] = LlmAgent(name="Root", instruction="By hand.")
    words = VariantWords(notebook.bench, "root", root)
    with pytest.raises(UsageError) as raised:
        words.read(["Root@1"])
    assert str(raised.value) == (
        "--variants Root@1: versions are kept of agents that cells wrote, and 'root' is a variable. Name a prompt: Root=VARIABLE"
    )
    notebook.names["text"] = "Other."
    assert words.read(["Root=text"]) == [Variant("Root=text", prompts={"Root": "Other."})]
    assert isinstance(words.read(["Root=text"])[0].strategy, AsWritten)
