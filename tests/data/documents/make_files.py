"""Make the documents in tests/data/documents/files: run it after a change, and commit what it writes.

    pip install reportlab pypdf python-docx && python tests/data/documents/make_files.py

The texts are the project's own. The PDFs are written by reportlab, the outlines and passwords by pypdf, the DOCX by
python-docx with what Word adds put in by hand. The same inputs give the same bytes, but for the encrypted one.
"""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from docx import Document
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from pypdf import PdfReader, PdfWriter
from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Frame, Paragraph

FILES = Path(__file__).parent / "files"
MOMENT = (2025, 3, 4, 12, 0, 0)
CARE = (
    "De verpleegkundige komt elke ochtend langs. Zij meet uw bloeddruk en uw temperatuur. Vraag haar gerust naar de uitslag van "
    "een onderzoek, en naar het uur waarop de arts langskomt. Neem uw eigen medicatie mee in de oorspronkelijke verpakking."
)
VISIT = (
    "Bezoek is welkom van 14 tot 20 uur. Op intensieve zorg gelden andere uren: van 16 tot 16.30 uur. Kinderen jonger dan twaalf "
    "jaar komen met een volwassene mee. Houd het rustig op de gang, want andere patiënten slapen overdag."
)
COSTS = (
    "Een televisie kost € 2,50 per dag. De parking kost € 1,20 per uur, met een maximum van € 9 per dag. Uw ziekenfonds betaalt de "
    "verpleging; het supplement voor een kamer alleen betaalt u zelf, tenzij uw verzekering dat doet."
)


def canvas(stream: io.BytesIO) -> Canvas:
    made = Canvas(stream, pagesize=A5, invariant=1)
    made.setTitle("Gids voor patiënten")
    return made


def guide() -> bytes:
    """Three pages with an outline of two levels, a table, running numbers at the foot, and a word parted by a line's end."""
    stream = io.BytesIO()
    made = canvas(stream)
    pages = (
        (
            "1 Zorg",
            ["De verpleegkundige komt langs.", "Een onderzoek is soms nodig. Voor een onder-", "zoek tekent u een formulier."],
        ),
        ("1.1 Bezoekuren", ["Bezoek is welkom van 14 tot 20 uur.", "Kinderen komen met een volwassene mee."]),
        ("2 Kosten", ["Dienst Prijs Eenheid", "Televisie € 2,50 dag", "Parking € 1,20 uur"]),
    )
    for number, (heading, lines) in enumerate(pages, 1):
        made.setFont("Helvetica-Bold", 14)
        made.drawString(50, 540, heading)
        made.setFont("Helvetica", 10)
        for position, line in enumerate(lines):
            made.drawString(50, 510 - 14 * position, line)
        made.drawString(180, 30, f"Pagina {number} van 3")
        made.showPage()
    made.save()
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(stream.getvalue())))
    care = writer.add_outline_item(title="1 Zorg", page_number=0)
    writer.add_outline_item(title="1.1 Bezoekuren", page_number=1, parent=care)
    writer.add_outline_item(title="2 Kosten", page_number=2)
    writer.add_metadata({"/CreationDate": "D:20250304120000+01'00'", "/Title": "Gids voor patiënten"})
    return written(writer)


def columns() -> bytes:
    """One page of two columns."""
    stream = io.BytesIO()
    made = canvas(stream)
    style = ParagraphStyle("column", fontName="Helvetica", fontSize=9, leading=11)
    for left, text in ((30, f"{CARE} {VISIT}"), (220, COSTS)):
        Frame(left, 40, 170, 500, showBoundary=0).addFromList([Paragraph(text, style)], made)
    made.showPage()
    made.save()
    return stream.getvalue()


def scan() -> bytes:
    """A page that is only a picture."""
    stream = io.BytesIO()
    made = canvas(stream)
    made.rect(50, 50, 300, 400, fill=1)
    made.showPage()
    made.save()
    return stream.getvalue()


def encrypted(data: bytes) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    writer.encrypt("geheim", algorithm="RC4-128")
    return written(writer)


def written(writer: PdfWriter) -> bytes:
    stream = io.BytesIO()
    writer.write(stream)
    return stream.getvalue()


def word() -> bytes:
    """Headings of two levels, lists, a table, hidden and deleted text, an insertion, and Word's notes of two pages."""
    document = Document()
    document.core_properties.title = "Bezoekregels"
    document.core_properties.language = "nl-BE"
    document.core_properties.modified = document.core_properties.created = datetime(*MOMENT, tzinfo=UTC)
    document.add_paragraph("Bezoekregels", style="Title")
    document.add_heading("Zorg", 1)
    document.add_paragraph(CARE)
    document.add_heading("Bezoekuren", 2)
    document.add_paragraph(VISIT)
    for item in ("een identiteitskaart", "een lijst van uw medicatie"):
        document.add_paragraph(item, style="List Bullet")
    for item in ("Meld u aan.", "Wacht tot u geroepen wordt."):
        document.add_paragraph(item, style="List Number")
    table = document.add_table(3, 2)
    for row, cells in zip(table.rows, (("Dienst", "Prijs"), ("Televisie", "€ 2,50\nper dag"), ("Parking", "€ 1,20")), strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    hidden = document.add_paragraph("Zichtbaar.")
    hidden.add_run(" VERBORGEN").font.hidden = True
    hidden._p.append(revision("w:ins", "w:t", " Ingevoegd."))
    hidden._p.append(revision("w:del", "w:delText", " GEWIST."))
    heading = document.add_heading("Kosten", 1)
    heading.runs[0]._r.insert(0, OxmlElement("w:lastRenderedPageBreak"))
    document.add_paragraph(COSTS)
    stream = io.BytesIO()
    document.save(stream)
    return repacked(stream.getvalue(), pages=2)


def revision(kind: str, text_tag: str, words: str) -> OxmlElement:
    around, run, text = OxmlElement(kind), OxmlElement("w:r"), OxmlElement(text_tag)
    text.text = words
    text.set(qn("xml:space"), "preserve")
    run.append(text)
    around.append(run)
    return around


def repacked(data: bytes, pages: int) -> bytes:
    """The same package with its number of pages, without its picture, every entry of one moment."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            entry = zipfile.ZipInfo(name, MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(entry, source.read(name).replace(b"<Pages>1</Pages>", b"<Pages>%d</Pages>" % pages))
    return stream.getvalue()


PAGE = f"""<!doctype html>
<html lang="nl"><head><meta charset="utf-8"><title>Bezoek aan het ziekenhuis</title>
<meta property="article:published_time" content="2025-03-04T10:00:00Z">
<style>.uit {{ display: none }} @media print {{ .menu {{ display: none }} }}</style><script>var boos = "SCRIPT";</script></head>
<body><header><nav><a href="/">Start</a> <a href="/kaart">Kaart</a></nav></header>
<main><h1>Bezoek aan het ziekenhuis</h1>
<p>{CARE}<!-- COMMENTAAR --></p>
<h2>Bezoekuren</h2><p>{VISIT}</p><p class="uit">VERBORGEN</p><p style="display:none">VERBORGEN</p><div hidden>VERBORGEN</div>
<h3>Meebrengen</h3><ul><li>een identiteitskaart<ul><li>of een paspoort</li></ul></li><li>een lijst van uw medicatie</li></ul>
<h2>Kosten</h2><p>{COSTS}</p>
<table><caption>Prijzen</caption><tr><th>Dienst</th><th>Prijs</th></tr><tr><td>Televisie</td><td>€ 2,50<br>per dag</td></tr>
<tr><td>Parking</td><td>€ 1,20</td></tr></table>
<pre>def prijs(uren):
    return uren * 1.20</pre></main>
<footer>© Ziekenhuis — cookies</footer></body></html>
"""
NOTES = f"""---
title: "Opnamegids"
date: 2025-03-04T10:00:00
lang: nl
tags: [zorg]
---
# Opname

{CARE}

## Bezoekuren <!-- COMMENTAAR -->

{VISIT}

### Mee te *brengen*

- een **identiteitskaart**
- een lijst van uw medicatie

| Dienst | Prijs |
|--------|------:|
| Televisie | € 2,50 |

```
# geen kop
argv[1]
```

<!-- COMMENTAAR
over regels -->

Kosten
------

{COSTS}
"""


def main() -> None:
    FILES.mkdir(exist_ok=True)
    data = guide()
    made = {
        "gids.pdf": data,
        "kolommen.pdf": columns(),
        "geheim.pdf": encrypted(data),
        "scan.pdf": scan(),
        "bezoek.docx": word(),
        "bezoek.html": PAGE.encode(),
        "opname.md": NOTES.encode(),
        "oud.txt": f"{CARE}\r\n\r\n{VISIT}\r\n".encode("cp1252"),
        "bladen.txt": f"{CARE}\n\f{VISIT}\n\f{COSTS}\n\f".encode(),
    }
    for name, content in made.items():
        (FILES / name).write_bytes(content)
        print(f"{name} {len(content):,} bytes")


if __name__ == "__main__":
    main()
