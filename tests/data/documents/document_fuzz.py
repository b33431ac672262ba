"""Documents that are nearly right: real files with bytes, words, elements and numbers of them changed, the same for the same number."""

from __future__ import annotations

import io
import random
import re
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from test_hostile_documents import pdf

FILES = Path(__file__).parent / "files"
SEED = 20261122
KINDS = {"pdf": ".pdf", "docx": ".docx", "html": ".html", "markdown": ".md", "text": ".txt"}
ODD = (
    *("\n" + " " * 110, "\n" + "\t" * 100, " " * 1500, "A\xa0.", "\u3000.", "x" * 700, "." * 300, "a. " * 200, "“" * 100, "e\u0301" * 50),
    *("\xa0", "\u202f", "\x85", "\u2028", "\u2029", "\x1c", "\x1f", "\x0b", "\f", "\r", "\r\n", "\n\n\n", "\0", "\x01", "\x1b[31m", "\x7f"),
    *("\xad", "\u200b", "\u200f", "\u202e", "\u2066", "\ufeff", "\ufffe", "\uffff", "😀😀😀", "👩‍👩‍👧"),
    *("汉字。汉字。", "שלום", "ﬁ", "ǅ", "İ", "ẞ", "٣", "½", "d.w.z. dr. A. 3 mei 1998. ", "```", "[1]", "1. ", "- ", "> ", "# "),
    *("---\n", "===\n", "a.nl", "12.50"),
)
BYTES = (b"\xed\xa0\xbd", b"\xed\xb8\x80", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf", b"\xc3", b"\xf4\x90\x80\x80", b"\x80" * 20)
NUMBERS = b"0 -1 1 2 9 255 65536 2147483647 2147483648 -2147483649 99999999999999999999 1e309 0.5".split()
WORDS: dict[str, Sequence[bytes]] = {
    "pdf": (
        b"/Kids[ ;/Count 99;/Type/Pages;/Type/Page;/Parent 2 0 R;3 0 R;0 0 R;99 0 R;<<;>>;[;];endobj;stream\n;endstream;"
        b"(;);\\;<FEFF;BT ; ET; Tj "
        b"; TJ ;/Length 9;/Filter/FlateDecode;/Title(x);/Dest[3 0 R /Fit];/CreationDate(D:2026);/Encrypt;/Rotate 90;"
        b"/Contents;%%EOF;xref;trailer"
    ).split(b";"),
    "docx": (
        b"<w:p> </w:p> <w:p/> <w:r> </w:r> <w:t> </w:t> <w:t/> <w:tbl> </w:tbl> <w:tr> <w:tc> <w:tc/> <w:tr/> <w:br/> "
        b"<w:tab/> <w:del> </w:del> <w:sdt> "
        b"</w:sdt> <w:pPr> </w:pPr> <w:vanish/> &#0; &#xd83d; &x; &lt; <!-- --> <![CDATA[ ]]> <?x?> w:val=' <x:y/> "
        b"<w:txbxContent> <Pages>2</Pages>"
    ).split(),
    "html": (
        b"<p>;</p>;<div>;</div>;<main>;</main>;<article>;<h1>;</h1>;<h2>;<h6>;<ul>;</ul>;<ol>;<li>;</li>;<table>;"
        b"</table>;<tr>;<td>;<th>;<caption>;"
        b"<pre>;</pre>;<br>;<nav>;<header>;<footer>;<aside>;<script>;</script>;<style>;</style>;<title>;"
        b"<meta charset=utf-16>;<meta charset=x>;"
        b"<!--;-->;<![CDATA[;<?xml encoding='utf-32'?>;&nbsp;&#0;&#xd83d;&#x1F600;&;<;>;</; hidden;"
        b" style='display:none';{display:none}; class=a;"
        b" role=main;<svg>;<template>;<dialog open>;<button>;<html lang=nl>;<body>;<dl><dt>;<dd>;<details><summary>;"
        b"<base>;<frameset>;<math>;\0<p>"
    ).split(b";"),
    "markdown": (
        b"# ~###### ~\n===\n~\n---\n~---\ntitle: x\n---\n~date: 2026-02-30\n~```\n~    ~> ~> > ~- ~1. ~99999999999. ~"
        b"| a | b |\n|---|---|\n~|-|~<div>~"
        b"</div>~<!--~-->~<!-- pagina -->~[a](b)~[~](~![~**~__~`~\\~<script>~<table><tr><td>~&nbsp;~&#0;~[x]: y 'z'~"
        b"***\n~<a@b.c>~\t\t"
    ).split(b"~"),
    "text": (b"\f", b"\f\f", b"\n\n", b"Kop\n\n", b"- ", b"1. ", b"===\n", b"| a | b |\n", b"#", b"\x1b", b"\x1a"),
}
ELEMENTS = (
    *(b"<w:p/>", b"<w:p><w:r><w:t> </w:t></w:r></w:p>", b"<w:p><w:r><w:t>Kop</w:t><w:br/><w:t>A\xc2\xa0. B</w:t></w:r></w:p>", b"<w:tbl/>"),
    *(
        b"<w:tbl><w:tr/><w:tr><w:tc/><w:tc><w:p/></w:tc></w:tr></w:tbl>",
        b"<w:lastRenderedPageBreak/>",
        b"<w:r><w:t/></w:r>",
        b"<w:sectPr/>",
    ),
    *(
        b'<w:pPr><w:outlineLvl w:val="0"/></w:pPr>',
        b'<w:pPr><w:numPr><w:ilvl w:val="8"/><w:numId w:val="1"/></w:numPr></w:pPr>',
        b"<w:rPr/>",
    ),
    *(
        b'<w:r><w:footnoteReference w:id="2"/></w:r>',
        b"<w:sdt><w:sdtContent><w:p/></w:sdtContent></w:sdt>",
        b"<w:txbxContent><w:p/></w:txbxContent>",
    ),
)
ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252", "cp850", "shift_jis", "gb18030", "koi8_r")
ELEMENT = re.compile(
    rb'<w:\w+[^<>]*/>|<w:(p|r|t|pPr|rPr|tc|tr|style|lvl|num)\b[^<>]*(?<!/)>.*?</w:\1>|(?<=w:val=")[^"<>]{0,40}(?=")',
    re.DOTALL,
)


def document(kind: str, number: int) -> tuple[str, bytes]:
    """The name and the bytes of one document."""
    chance = random.Random(f"{SEED} {kind} {number}")
    data = chance.choice(originals(kind))
    if kind == "docx":
        data = repacked(data, chance) if chance.random() < 0.85 else wounded(data, kind, chance)
    else:
        data = wounded(data, kind, chance)
    if kind not in ("pdf", "docx") and chance.random() < 0.2:
        data = data.decode("utf-8", "replace").encode(chance.choice(ENCODINGS), "ignore")
    return f"{number}{KINDS[kind]}", data


@cache
def originals(kind: str) -> Sequence[bytes]:
    """The files of the tests, and some that are made here."""
    found = [path.read_bytes() for path in sorted(FILES.iterdir()) if path.suffix == KINDS[kind]]
    text = "INVOICE\n\nDe balie opent om 8 uur. Bel dr. A. Jansen, d.w.z. de arts.\n- een\n- twee\n\nTotal: 12 euros.\n"
    made = {
        "pdf": [plain_pdf()] * 4,
        "docx": [],
        "html": [f"<!doctype html><title>t</title><h1>A</h1><p>{text}<ul><li>x<li>y</ul><table><tr><td>a<td>b</table>".encode()],
        "markdown": [f"---\ntitle: t\n---\n# A\n\n{text}\n## B\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx = [1]\n```\n".encode()],
        "text": [text.encode(), (text * 20).encode()],
    }
    return [*found, *made[kind]]


def plain_pdf() -> bytes:
    """Two pages of text with an outline, nothing packed: whatever is changed in it is read."""
    pages = [b"BT /F1 12 Tf 50 500 Td (Kop %d) Tj 0 -20 Td (De balie opent om 8 uur. Bel dr. A.) Tj ET" % number for number in (1, 2)]
    objects = [
        b"<</Type/Catalog/Pages 2 0 R/Outlines 8 0 R>>",
        b"<</Type/Pages/Kids[3 0 R 4 0 R]/Count 2>>",
        *(b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 600]/Contents %d 0 R/Resources<</Font<</F1 7 0 R>>>>>>" % at for at in (5, 6)),
        *(b"<</Length %d>>stream\n%s\nendstream" % (len(page), page) for page in pages),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        b"<</First 9 0 R/Last 9 0 R/Count 1>>",
        b"<</Title(Kop 2)/Parent 8 0 R/Dest[4 0 R /Fit]>>",
    ]
    return pdf(*objects)


def repacked(data: bytes, chance: random.Random) -> bytes:
    """A .docx with one to three of its parts changed and packed again, so that what is read is not a broken .zip."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as target:
        names = [name for name in source.namelist() if name.endswith((".xml", ".rels"))]
        hurt = {"word/document.xml"} if chance.random() < 0.7 else set(chance.sample(names, chance.randint(1, 3)))
        left_out = chance.choice(source.namelist()) if chance.random() < 0.05 else None
        for name in source.namelist():
            part = source.read(name)
            if name in hurt:
                part = reworked(part, chance) if chance.random() < 0.8 else wounded(part, "docx", chance)
            if name != left_out:
                target.writestr(zipfile.ZipInfo(name), part)
    return stream.getvalue()


def reworked(part: bytes, chance: random.Random) -> bytes:
    """A part with elements and values taken out, doubled, replaced or filled with odd text: mostly still XML."""
    for _ in range(chance.choice((1, 2, 3, 10))):
        found = list(ELEMENT.finditer(part))
        if not found:
            break
        (low, high), value = (match := chance.choice(found)).span(), match[0]
        odd = re.sub(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[<&]", "", chance.choice(ODD)).encode()
        instead: Sequence[bytes] = (odd, chance.choice(NUMBERS), b"")
        if value.startswith(b"<"):
            text = value.replace(b"</w:t>", odd + b"</w:t>").replace(b"<w:t>", b"<w:t>" + odd)
            instead = (b"", value * 2, value + chance.choice(ELEMENTS), chance.choice(ELEMENTS), text, text)
        part = part[:low] + chance.choice(instead) + part[high:]
    return part


def wounded(data: bytes, kind: str, chance: random.Random) -> bytes:
    """Changed in one to five places."""
    for _ in range(chance.choice((1, 1, 2, 3, 5))):
        data = chance.choice(WOUNDS)(data or b" ", kind, chance)
    return data


def _stretch(data: bytes, chance: random.Random) -> tuple[int, int]:
    low = chance.randrange(len(data))
    return low, min(len(data), low + chance.choice((1, 3, 20, 200, 1 + len(data) // 4)))


def _cut_off(data: bytes, kind: str, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data))] if chance.random() < 0.3 else data


def _changed(data: bytes, kind: str, chance: random.Random) -> bytes:
    hurt = bytearray(data)
    for _ in range(chance.randrange(1, 20)):
        hurt[chance.randrange(len(hurt))] = chance.randrange(256)
    return bytes(hurt)


def _doubled(data: bytes, kind: str, chance: random.Random) -> bytes:
    low, high = _stretch(data, chance)
    return data[:low] + data[low:high] * chance.choice((2, 2, 3, 20)) + data[high:]


def _taken_out(data: bytes, kind: str, chance: random.Random) -> bytes:
    low, high = _stretch(data, chance)
    return data[:low] + data[high:]


def _zeroed(data: bytes, kind: str, chance: random.Random) -> bytes:
    low, high = _stretch(data, chance)
    return data[:low] + bytes(high - low) + data[high:]


def _worded(data: bytes, kind: str, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + chance.choice(WORDS[kind]) * chance.choice((1, 1, 1, 2, 30, 400)) + data[at:]


def _odd(data: bytes, kind: str, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    odd = chance.choice(BYTES) if chance.random() < 0.2 else chance.choice(ODD).encode()
    return data[:at] + odd + data[at:]


def _odd_instead_of_blanks(data: bytes, kind: str, chance: random.Random) -> bytes:
    odd, often = chance.choice(ODD)[:120].encode(), chance.choice((0.02, 0.2))
    return re.sub(rb"\s", lambda blank: odd if chance.random() < often else blank[0], data[:20_000]) + data[20_000:]


def _counted(data: bytes, kind: str, chance: random.Random) -> bytes:
    numbers = list(re.finditer(rb"\d+", data[:200_000]))
    if not numbers:
        return data
    low, high = chance.choice(numbers).span()
    return data[:low] + chance.choice(NUMBERS) + data[high:]


def _spliced(data: bytes, kind: str, chance: random.Random) -> bytes:
    other = chance.choice(originals(chance.choice(tuple(KINDS))))
    low, high = _stretch(other, chance)
    at = chance.randrange(len(data) + 1)
    return data[:at] + other[low:high] + data[at:]


WOUNDS: tuple[Callable[[bytes, str, random.Random], bytes], ...] = (
    *(_cut_off, _changed, _doubled, _taken_out, _zeroed, _spliced, _counted),
    *(_worded, _worded, _odd, _odd, _odd_instead_of_blanks),
)
