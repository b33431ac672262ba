"""The frame of a report: its policy and style, how texts of others are written into it, and how much of them fits. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape

from ctxasm.llm.redaction import without_secrets
from ctxasm.model.amounts import counted
from ctxasm.model.characters import encodable, harmless
from ctxasm.model.errors import UnknownSetting
from ctxasm.model.settings import AssemblySettings, label_of, spec_of, value_words
from ctxasm.model.settings_text import to_toml

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
LIMIT = 150_000
"""Bytes of a report."""
WIDE = 40
"""Characters of a cell that is not squeezed to its longest word on a narrow screen."""
SHORTEST_SECRET = 8
"""Shorter ones stand in ordinary text."""
STYLE = """
:root{color-scheme:light dark;--ink:#1b1f27;--mute:#5a6472;--line:#d9dee5;--soft:#f4f6f8;
--accent:#005f94;--good:#00684c;--warn:#9a4400;--bad:#a3122b;--ground:#fff}
@media screen and (prefers-color-scheme:dark){:root{--ink:#eceff4;--mute:#a3adba;--line:#2c3340;--soft:#191e27;
--accent:#7cc7f2;--good:#3fd0a5;--warn:#ff9f5c;--bad:#ff8095;--ground:#0f1218}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:56rem;padding:2rem 1.25rem 3rem;background:var(--ground);color:var(--ink);
font:15px/1.5 system-ui,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-variant-numeric:tabular-nums;
overflow-wrap:anywhere}
h1{font-size:1.35rem;line-height:1.35;margin:.2rem 0 .8rem;text-wrap:pretty}
h2{font-size:1.05rem;margin:2rem 0 .5rem}
h3{font-size:.95rem;margin:1.2rem 0 .3rem}
p{margin:.35rem 0}
ul,ol{margin:.35rem 0;padding-left:1.3rem}
.eyebrow,.note,small,figcaption{color:var(--mute);font-size:.82rem}
.eyebrow{margin:0}
.lead{font-size:1.05rem}
.text{white-space:pre-wrap;unicode-bidi:isolate}
.box{border:1px solid var(--line);border-radius:8px;padding:.7rem .9rem;margin:.5rem 0}
.answer{background:var(--soft)}
.claim{border-bottom:2px solid var(--line)}
.claim sup{color:var(--mute);font-size:.7em;padding-left:1px}
.good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}
.claim.good{border-color:var(--good);color:inherit}
.claim.warn{border-color:var(--warn);color:inherit}.claim.bad{border-color:var(--bad);color:inherit}
.sign{font-weight:650}
.item{border-top:1px solid var(--line);padding:.6rem 0}
.quote{border-left:3px solid var(--line);margin:.3rem 0;padding:.1rem 0 .1rem .7rem}
mark{background:none;color:inherit;font-weight:600;border-bottom:2px solid currentColor}
table{border-collapse:collapse;width:100%;font-size:.86rem;margin:.4rem 0}
th,td{overflow-wrap:break-word;text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid var(--line)}
th{font-weight:600;color:var(--mute)}
.num{text-align:right;white-space:nowrap}
td.wide{min-width:11rem}
.scroll{overflow-x:auto}
dl{display:grid;grid-template-columns:minmax(7rem,auto) 1fr;gap:.2rem 1rem;margin:.4rem 0;font-size:.88rem}
dt{color:var(--mute)}dd{margin:0}
pre{background:var(--soft);border-radius:8px;padding:.7rem .9rem;font-size:.8rem;white-space:pre-wrap;margin:.4rem 0}
figure{margin:.6rem 0}
svg{display:block;width:100%;height:auto;font:12px system-ui,"Segoe UI",Roboto,"Noto Sans",sans-serif}
footer{margin-top:2.5rem;border-top:1px solid var(--line);padding-top:.6rem}
@media (max-width:32rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.4rem}body{padding-top:1.2rem}}
@page{size:A4;margin:16mm 15mm}
@media print{td.wide{overflow-wrap:anywhere}body{max-width:none;padding:0;font-size:10pt}.scroll{overflow:visible}
.item,figure,tr,.box{break-inside:avoid}
h2,h3{break-after:avoid}*{print-color-adjust:exact}}
"""


class Writer:
    """Writes texts of others: escaped, without secrets, controls visible, and cut where they are too long."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets = tuple(each for each in secrets if len(each) >= SHORTEST_SECRET)

    def text(self, value: object, most: int = 1_000) -> str:
        """At most about `most` bytes of HTML; what is cut is counted."""
        whole = self._masked(value)
        shown = harmless(encodable(whole[:most]))  # both replace one character by one
        keep = len(shown)
        while keep and len(escape(shown[:keep]).encode()) > most:
            keep = keep * 9 // 10
        left = len(whole) - keep
        return escape(shown[:keep]) + (f"… <small>({counted(left, 'character')} more)</small>" if left else "")

    def line(self, value: object, most: int = 100) -> str:
        """One line of at most `most` characters, for where no element may stand: an attribute, a title, a picture."""
        shown = " ".join(harmless(encodable(self._masked(value))).split())
        return escape(shown if len(shown) <= most else f"{shown[: most - 1]}…")

    def _masked(self, value: object) -> str:
        return without_secrets(str(value).replace("\r\n", "\n"), self._secrets)

    def block(self, value: object, most: int = 1_000) -> str:
        """The same as a paragraph that keeps its lines."""
        return f'<p class="text" dir="auto">{self.text(value, most)}</p>'

    def facts(self, values: Mapping[str, object]) -> str:
        """Names with their values; those that are empty are left out."""
        rows = "".join(f"<dt>{escape(name)}</dt><dd>{self.text(value)}</dd>" for name, value in values.items() if value not in ("", None))
        return f"<dl>{rows}</dl>"

    def settings(self, changed: Mapping[str, object]) -> str:
        """What differs from the defaults, with the defaults beside it."""
        if not changed:
            return "<p>All settings are at their defaults.</p>"
        rows = []
        for name, value in changed.items():
            try:
                spec = spec_of(name)
                cells = (
                    self.text(label_of(spec)),
                    self.text(value_words(spec, value), 300),
                    self.text(value_words(spec, spec.default), 300),
                )
            except UnknownSetting:  # of another version
                cells = (self.text(name, 300), self.text(value, 300), "–")
            rows.append(cells)
        return table(("Setting", "Value", "Default"), rows)

    def toml(self, settings: AssemblySettings, origin: Sequence[str] = ()) -> str:
        """Settings as they are taken over."""
        return f"<pre>{self.text(to_toml(settings, origin), 6_000)}</pre>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[int] = ()) -> str:
    """A table of cells that are HTML already; `numeric` columns stand right."""

    def line(tag: str, cells: Sequence[str]) -> str:
        looks = (' class="num"' if at in numeric else ' class="wide"' if len(cell) > WIDE else "" for at, cell in enumerate(cells))
        return "".join(f"<{tag}{look}>{cell}</{tag}>" for look, cell in zip(looks, cells, strict=True))

    body = "".join(f"<tr>{line('td', cells)}</tr>" for cells in rows)
    return f'<div class="scroll"><table><thead><tr>{line("th", heads)}</tr></thead><tbody>{body}</tbody></table></div>'


def fitting(parts: Sequence[str], most: int, noun: str) -> str:
    """As many parts, in order, as have at most so many bytes together; the others are counted."""
    kept: list[str] = []
    for part in parts:
        most -= len(part.encode())
        if most < 0:
            break
        kept.append(part)
    left = len(parts) - len(kept)
    return "".join(kept) + (f'<p class="note">{counted(left, f"more {noun}")} left out: a report has at most 150 kB.</p>' if left else "")


def whole_page(title: str, body: str, version: str) -> str:
    """The file."""
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><meta name="referrer" content="no-referrer">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title}</title><style>{STYLE}</style></head>\n'
        f'<body>{body}<footer class="note">Made by ctxasm {escape(version)} on {made}. It asks nothing of any server.</footer>'
        "</body></html>\n"
    )
