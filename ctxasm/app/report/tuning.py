"""The reports of a sweep and of a comparison: the decision first, what the change does, the pictures, the settings, the method."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from ctxasm.app.report.page import Writer, table, whole_page
from ctxasm.model.amounts import counted, percent, signed
from ctxasm.model.settings import label_of, named, spec_of, value_words
from ctxasm.tuning.compare import Comparison, compared
from ctxasm.tuning.recommend import Recommendation
from ctxasm.tuning.sweep_figures import (
    BRIGHT,
    Heatmap,
    best_of,
    ceiling,
    colour_of,
    front_alt,
    heatmap_of,
    importances,
    share,
    values_of,
    varied,
)
from ctxasm.tuning.sweep_results import SweepResult

MOST_POINTS = 600
MOST_LINES = 14
"""Rows and columns of a heatmap that can be read on a page."""
MOST_ROWS = 40
MOST_FLIPS = 8
MOST_CHANGED = 60
"""Questions that are listed with where their facts were lost."""
METHOD = (
    "Each setting assembled the context of every question. A question counts where all of its labelled evidence is "
    "in the context. Two settings are compared on the same questions by the exact sign-flip test; the "
    "interval is that of 95 %. Of a setting that was chosen for its result p is adjusted for all that were tried."
)


def sweep_html(made: Recommendation, swept: SweepResult, words: Mapping[str, str], write: Writer, version: str, database: str = "") -> str:
    """The report of a sweep: `made` is what follows from it, `swept` what is drawn, `words` the questions by id."""
    first, *more = made.sentences()
    proposed = made.found.settings[made.proposed]
    changes = {name: value for name, value in proposed.to_dict().items() if value != getattr(made.start, name)}
    body = [f'<p class="eyebrow">Report of a sweep over {write.text(swept.dataset, 200)}</p><h1>{write.text(first)}</h1>']
    body += [f"<p>{write.text(sentence)}</p>" for sentence in more]
    body += [f'<p class="warn">Cancelled: {counted(len(swept.labelled), "labelled question")} were counted.</p>'] if swept.cancelled else []
    if swept.labelled and made.proposed != made.found.start:
        change = compared(made.found, made.found.start, made.proposed)
        body.append(f"<h2>What {write.text(named(changes), 300)} does</h2>{_change(change, write)}{_flips(change, words, write)}")
    if swept.labelled:
        body += [_heatmap(swept, write), _front(swept, write), _explained(swept, write), _rows(swept, write)]
    origin = made.origin(made.proposed)
    body += ["<h2>Settings to take</h2>", write.settings(proposed.changed()), write.toml(proposed, origin)]
    body.append(_method(swept, write, database, len(made.found.settings)))
    return whole_page(write.line(f"Report: sweep over {swept.dataset}"), "".join(body), version)


def comparison_html(
    found: Comparison, words: Mapping[str, str], lost: Mapping[str, str], write: Writer, version: str, database: str = ""
) -> str:
    """The report of a comparison. `lost` says of changed questions where facts were lost under the side that holds less."""
    swept, body = found.swept, []
    body.append(f'<p class="eyebrow">Report of a comparison on {write.text(swept.dataset, 200)}</p><h1>{write.text(found.sentence())}</h1>')
    body.append(f"<h2>What B does in place of A</h2>{_change(found, write)}")
    changed = [each for each in found.questions if each.change in ("worse", "better")]
    changed.sort(key=lambda each: (each.change == "better", -abs(each.b.found - each.a.found), each.query_id))
    rows = [
        (
            '<span class="good">▲</span>' if each.change == "better" else '<span class="warn">▼</span>',
            write.text(words.get(each.query_id) or each.query_id, 260),
            f"{each.a.found} → {each.b.found} of {each.a.needed}",
            f"{each.a.tokens:,} → {each.b.tokens:,}",
            write.text(lost.get(each.query_id, "–"), 300),
        )
        for each in changed[:MOST_CHANGED]
    ]
    body.append(f"<h2>{counted(len(changed), 'question')} that changed</h2>")
    body += ['<p class="note">▲ B holds more of the evidence, ▼ less; and where A or B lost what it lacks.</p>'] if changed else []
    heads = ("", "Question", "Evidence A → B", "Tokens A → B", "Lost")
    body.append(table(heads, rows, (2, 3)) if rows else "<p>No question holds more or less evidence under B.</p>")
    body += [f'<p class="note">and {len(changed) - MOST_CHANGED:,} more</p>'] if len(changed) > MOST_CHANGED else []
    for name, settings in (("A", found.a), ("B", found.b)):
        body.append(f"<h2>Settings {name}</h2>{write.settings(settings.changed())}{write.toml(settings)}")
    body.append(_method(swept, write, database, 2))
    return whole_page(write.line(f"Report: comparison on {swept.dataset}"), "".join(body), version)


def _change(found: Comparison, write: Writer) -> str:
    """What a change of settings did: evidence, tokens and questions, a sentence each."""
    saved = f" ({signed(100 * (found.tokens_b / found.tokens_a - 1))} %)" if found.tokens_a else ""
    evidence = (
        f"It holds the evidence of {found.whole_b} of {counted(found.labelled, 'question')} in place of {found.whole_a}: "
        f"{found.result.sentence()}."
        if found.labelled
        else "No question is labelled with its evidence."
    )
    sentences = [
        evidence,
        f"It takes {found.tokens_b:,.0f} tokens a question in place of {found.tokens_a:,.0f}{saved}.",
        f"It wins {counted(len(found.better), 'question')}, loses {len(found.worse)}, and {found.ties} are held by both or by neither.",
    ]
    return f"<ul>{''.join(f'<li>{write.text(sentence)}</li>' for sentence in sentences)}</ul>"


def _flips(found: Comparison, words: Mapping[str, str], write: Writer) -> str:
    """The first questions that are won and lost."""
    lists = []
    for what, ids in (("Wins", found.better), ("Loses", found.worse)):
        items = "".join(f"<li>{write.line(words.get(one) or one, 120)}</li>" for one in ids[:MOST_FLIPS])
        rest = f"<li>and {len(ids) - MOST_FLIPS:,} more</li>" if len(ids) > MOST_FLIPS else ""
        lists.append(f'<h3>{what} {len(ids):,}</h3><ul class="note">{items}{rest}</ul>' if ids else "")
    return "".join(lists)


def _method(found: SweepResult, write: Writer, database: str, tried: int) -> str:
    failed = [f"{query_id}: {why}" for query_id, why in found.failures.items()]
    facts = {
        "Settings": f"{tried:,} tried",
        "Questions": f"{len(found.query_ids):,}, {len(found.labelled):,} of them labelled (n = {len(found.labelled):,})",
        "Labels": found.gold,
        "Not assembled": "; ".join(failed[:10]),
        "Data": f"{found.dataset} {found.digest[:12]}",
        "Database": database,
        "Counted by": f"ctxasm {found.version}",
    }
    return f"<h2>Method and versions</h2><p>{METHOD}</p>{write.facts(facts)}"


def _rows(found: SweepResult, write: Writer) -> str:
    """The front, and what one started from."""
    rows, names, front = found.rows(), varied(found), found.front()
    lines = []
    for at in sorted({*front, found.start}, key=lambda at: rows[at].tokens)[:MOST_ROWS]:
        marks = [*(["front"] if at in front else []), *(["yours"] if at == found.start else [])]
        values = (write.text(value_words(spec_of(name), getattr(rows[at].settings, name)), 120) for name in names)
        lines.append(
            (*values, f"{rows[at].whole} of {rows[at].labelled}", percent(share(rows[at])), f"{rows[at].tokens:,.0f}", ", ".join(marks))
        )
    heads = (*(write.text(label_of(spec_of(name))) for name in names), "Evidence whole", "Share", "Tokens", "")
    n = len(names)
    return f"<h2>The front: no setting holds more for as few tokens</h2>{table(heads, lines, (n, n + 1, n + 2))}"


def _explained(found: SweepResult, write: Writer) -> str:
    parts = ", ".join(f"{label} {percent(part)}" for label, part in importances(found))
    return f"<p>What varies in evidence is due to: {write.text(parts)}.</p>" if parts else ""


def _heatmap(found: SweepResult, write: Writer) -> str:
    """The two settings that explain most, the others at what the best has."""
    names = sorted(varied(found), key=lambda name: -found.importance()[name])
    if len(names) < 2:
        return ""
    down, across = names[:2]
    others = values_of(found.settings[best_of(found)], varied(found))
    drawn = heatmap_of(found, down, across, {name: value for name, value in others.items() if name not in (down, across)})
    rest = {name: value for name, value in others.items() if name not in (down, across)}
    at = f" at {named(rest)}" if rest else ""
    axes = f"{label_of(spec_of(down))} ↓ by {label_of(spec_of(across))} →{at}"
    title = f"{axes}; share of questions with all their evidence, tokens below; ★ the best"
    if max(len(drawn.rows), len(drawn.columns)) > MOST_LINES:
        return f'<p class="note">The heatmap has {len(drawn.rows)} × {len(drawn.columns)} cells, too many for a page.</p>'
    return f"<h2>Evidence by setting</h2><figure>{_heatmap_svg(found, drawn, write)}<figcaption>{write.text(title)}</figcaption></figure>"


def _heatmap_svg(found: SweepResult, drawn: Heatmap, write: Writer) -> str:
    rows = found.rows()
    shares = [share(rows[at]) for line in drawn.cells for at in line]
    low, high = min(shares), max(shares)
    left, top, tall = 150, 26, 42
    wide = max(58, 570 // len(drawn.columns))
    parts = []
    for x, value in enumerate(drawn.columns):
        parts.append(_label(left + wide * (x + 0.5), 17, write.line(value_words(spec_of(drawn.across), value), 16), "middle"))
    for y, (value, line) in enumerate(zip(drawn.rows, drawn.cells, strict=True)):
        parts.append(_label(left - 8, top + tall * (y + 0.5) + 4, write.line(value_words(spec_of(drawn.down), value), 22), "end"))
        for x, at in enumerate(line):
            part = (share(rows[at]) - low) / (high - low) if high > low else 0.0
            ink, x0, y0 = ("#000" if part >= BRIGHT else "#fff"), left + wide * x, top + tall * y
            star, text = ("★ " if at == drawn.best else ""), f'x="{x0 + wide / 2:g}" text-anchor="middle" fill="{ink}"'
            parts.append(
                f'<rect x="{x0 + 1}" y="{y0 + 1}" width="{wide - 2}" height="{tall - 2}" rx="3" fill="{colour_of(part)}"/>'
                f'<text {text} y="{y0 + 19}" font-weight="600">{star}{percent(share(rows[at]))}</text>'
                f'<text {text} y="{y0 + 34}" font-size="10">{rows[at].tokens:,.0f}</text>'
            )
    width, height = left + wide * len(drawn.columns), top + tall * len(drawn.rows)
    return f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="Heatmap">{"".join(parts)}</svg>'


def _label(x: float, y: float, text: str, anchor: str = "start", fill: str = "var(--ink)") -> str:
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" fill="{fill}">{text}</text>'


def _front(found: SweepResult, write: Writer) -> str:
    rows, front = found.rows(), found.front()
    most = max(row.tokens for row in rows) * 1.05 or 1.0
    left, top, wide, tall = 48, 12, 640, 250
    low = max(0.0, min(share(row) for row in rows) - 0.08)
    high = min(1.0, max(ceiling(found), *(share(row) for row in rows)) + 0.05)

    def place(at: int) -> tuple[float, float]:
        return left + wide * rows[at].tokens / most, height_of(share(rows[at]))

    def height_of(value: float) -> float:
        return top + tall * (1 - (value - low) / (high - low))

    parts = []
    for value in _ticks(low, high):
        y = height_of(value)
        parts.append(f'<line x1="{left}" x2="{left + wide}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--line)"/>')
        parts.append(_label(left - 6, y + 4, percent(value), "end", "var(--mute)"))
    parts += [_label(left + wide * v / most, top + tall + 18, f"{v:,.0f}", "middle", "var(--mute)") for v in _ticks(0, most)]
    y = height_of(ceiling(found))
    parts.append(f'<line x1="{left}" x2="{left + wide}" y1="{y:.1f}" y2="{y:.1f}" stroke="var(--mute)" stroke-dasharray="5 4"/>')
    parts.append(_label(left + 6, y + 15, f"ceiling {percent(ceiling(found))}", "start", "var(--mute)"))
    tried = {(f"{x:.0f}", f"{y:.0f}"): None for x, y in map(place, range(len(rows)))}
    parts += [f'<circle cx="{x}" cy="{y}" r="3.5" fill="none" stroke="var(--mute)"/>' for x, y in [*tried][:MOST_POINTS]]
    points = [place(at) for at in front]
    path = f"M{points[0][0]:.1f} {points[0][1]:.1f}" + "".join(f"H{x:.1f}V{y:.1f}" for x, y in points[1:])
    parts.append(f'<path d="{path}" fill="none" stroke="var(--accent)" stroke-width="2"/>')
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="var(--accent)"/>' for x, y in points]
    x, y = place(found.start)
    parts.append(f'<path d="M{x:.1f} {y - 8:.1f}l8 8l-8 8l-8 -8z" fill="#E69F00" stroke="#000"/>')
    alt = write.line(front_alt(found), 3_000)
    key = "Share of questions with all their evidence, by tokens a question. Line: the front. Diamond: yours. Rings: all that was tried."
    return (
        f'<h2>What evidence costs</h2><figure><svg viewBox="0 0 {left + wide + 12} {top + tall + 26}" role="img" aria-label="{alt}">'
        f"{''.join(parts)}</svg><figcaption>{escape(key)}</figcaption></figure>"
    )


def _ticks(low: float, high: float) -> Sequence[float]:
    """About five round values between the two."""
    rough = (high - low) / 5 or 1.0
    power = 10.0 ** len(f"{rough:.0f}") / 10 if rough >= 1 else 0.01
    step = next((power * each for each in (1, 2, 5, 10, 20, 50, 100) if power * each >= rough), rough)
    first = int(low / step) + (low % step > 0)
    return [step * at for at in range(first, int(high / step + 1e-9) + 1)]
