"""The README's Python blocks run from top to bottom, and print what its text blocks show."""

from pathlib import Path

import pytest
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser

README = Path(__file__).parent.parent / "README.md"


def test_readme_blocks_print_what_they_show(capsys: pytest.CaptureFixture[str]) -> None:
    def shown(example: Example) -> None:
        assert capsys.readouterr().out.rstrip() == example.parsed.rstrip(), f"README.md, line {example.line}"

    document = Sybil([PythonCodeBlockParser(), CodeBlockParser("text", shown)]).parse(README)
    examples = list(document.examples())
    assert examples
    for example in examples:
        example.evaluate()
    assert capsys.readouterr().out == "", "the README's last block prints what no text block shows"
