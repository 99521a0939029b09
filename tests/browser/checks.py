"""What must hold on every page: contrast, width, words beside colours, and that no shown text acts or escapes."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

OUTPUTS: Final = ".jp-OutputArea-output"

_ELEMENTS: Final = [
    "B", "BR", "CODE", "DEL", "DETAILS", "DIV", "H4", "IMG", "INS", "LI", "SPAN", "STYLE",
    "SUMMARY", "TABLE", "TBODY", "TD", "TH", "THEAD", "TR", "UL",
]  # fmt: skip
"""All that a card is made of: no link, form, script or drawing, and no image but charts that it holds itself."""
_ATTRIBUTES: Final = [
    "aria-hidden", "aria-label", "aria-orientation", "aria-pressed", "aria-selected", "class", "colspan", "data-jupyter-id",
    "data-label", "data-status", "data-step", "dir", "id", "open", "role", "rowspan", "scope", "style", "tabindex", "type",
]  # fmt: skip
_OF_IMAGES: Final = ["alt", "class", "src", "width"]

_SIDEWAYS: Final = """outputs => {
  const wide = [...document.querySelectorAll(outputs)].filter(each => each.scrollWidth > each.clientWidth + 1);
  const page = document.scrollingElement;
  if (page.scrollWidth > page.clientWidth) wide.push(page);
  return wide.map(each => `${each.scrollWidth} > ${each.clientWidth}: ${each.innerHTML.replace(/<style>[^<]*<.style>/, '').slice(0, 200)}`);
}"""

_COLOURED: Final = """() => {
  const tinted = colour => !/^rgba?\\((\\d+), \\1, \\1[,)]|, 0\\)$/.test(colour);
  const found = [...document.querySelectorAll('.adknb *')].filter(each =>
    each.checkVisibility() && !each.closest('[aria-hidden=true]') && !each.matches('.adknb-swatch')
    && tinted(getComputedStyle(each).backgroundColor));
  return [found.length, found.filter(each => !each.innerText.trim()).map(each => each.outerHTML.slice(0, 200))];
}"""

_ACTED: Final = """([elements, attributes, ofImages, styled]) => {
  const found = [];
  const clips = each => each.closest('.adknb-scroll, .adknb-wide, .adknb-strip') || each.parentElement.closest('.adknb-text');
  if (window.hostile !== undefined) found.push('a text ran');
  for (const card of document.querySelectorAll('.adknb')) {
    const edge = card.getBoundingClientRect();
    for (const each of card.querySelectorAll('*')) {
      const name = each.outerHTML.slice(0, 150);
      if (!elements.includes(each.tagName)) found.push(`an element: ${name}`);
      for (const attribute of each.getAttributeNames())
        if (!(each.tagName === 'IMG' ? ofImages : attributes).includes(attribute)) found.push(`${attribute}: ${name}`);
      if (each.tagName === 'IMG' && !(each.src.startsWith('data:image/svg+xml;base64,') && each.naturalWidth > 100))
        found.push(`no chart: ${name}`);
      const look = getComputedStyle(each);
      const isStep = look.position === 'relative' && each.matches('.adknb-strip .adknb-step, .adknb-strip .adknb-group');
      if (look.position !== 'static' && !isStep) found.push(`positioned: ${name}`);
      if (look.backgroundImage !== 'none') found.push(`an image: ${name}`);
      const box = each.getBoundingClientRect();
      if (styled && box.width && !clips(each) && (box.left < edge.left - 1 || box.right > edge.right + 1))
        found.push(`outside its card: ${name}`);
    }
    const words = document.createTreeWalker(card, NodeFilter.SHOW_TEXT);
    while (words.nextNode()) {
      const hidden = words.currentNode.data.match(/[\\0-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u00ad\\u034f\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]|\\p{Cs}|[\\u{e0000}-\\u{e0fff}]/u);
      if (hidden) found.push(`hidden: U+${hidden[0].codePointAt(0).toString(16)} in ${words.currentNode.data.slice(0, 100)}`);
    }
  }
  return [...new Set(found)];
}"""

_TEXTS: Final = """outputs => [...document.querySelectorAll('.jp-Cell')].map(cell =>
  [...cell.querySelectorAll(outputs)].map(output => {
    const copy = output.cloneNode(true);
    copy.querySelectorAll('style').forEach(style => style.remove());
    return copy.textContent;
  }))"""


def texts(page: Page, outputs: str = OUTPUTS) -> list[list[str]]:
    """What each cell's outputs hold as text, in view or not."""
    found: list[list[str]] = page.evaluate(_TEXTS, outputs)
    return found


def sideways(page: Page, outputs: str = OUTPUTS) -> list[str]:
    """The outputs that are wider than their place, and the page when it scrolls sideways."""
    found: list[str] = page.evaluate(_SIDEWAYS, outputs)
    return found


def coloured_without_words(page: Page) -> list[str]:
    """Coloured elements of cards that say nothing in words. Asserts that there are coloured ones at all."""
    count, silent = page.evaluate(_COLOURED)
    assert count > 0
    found: list[str] = silent
    return found


def low_contrast(page: Page, context: str = OUTPUTS) -> list[str]:
    """Texts whose contrast is below 4.5 (3 when large), by axe-core. Outputs must have been found."""
    return _violations(page, context, ["color-contrast"])


def inaccessible(page: Page, context: str) -> list[str]:
    """What axe-core finds wrong in there by the rules of WCAG 2, A and AA: names, roles, states, contrast, focus."""
    return _violations(page, context, ["wcag2a", "wcag2aa"])


def _violations(page: Page, context: str, rules: list[str]) -> list[str]:
    pytest.importorskip("axe_playwright_python", reason="axe-core is missing: pip install axe-playwright-python")
    page.add_style_tag(
        content="body { height: 100vh }"
    )  # JupyterLab's has none, so axe-core takes all in it for clipped
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    options = {"runOnly": rules, "resultTypes": ["violations", "passes"]}
    result: dict[str, Any] = page.evaluate("([context, options]) => axe.run(context, options)", [context, options])
    assert result["passes"], "axe-core looked at nothing"
    return [
        f"{violation['id']}: {node['failureSummary']} {node['html'][:200]}"
        for violation in result["violations"]
        for node in violation["nodes"]
    ]


def acted(page: Page, styled: bool = True) -> list[str]:
    """What texts did in the page's cards: ran, became elements, left their card, hid characters.

    Without the style sheet (`styled` false) JupyterLab's own rules let a table be wider than its card, and scroll it.
    """
    found: list[str] = page.evaluate(_ACTED, [_ELEMENTS, _ATTRIBUTES, _OF_IMAGES, styled])
    return found
