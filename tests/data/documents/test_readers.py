"""Each kind of document: its text, its pages, its headings, its tables, what it says of itself, and nothing that is hidden."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxasm.data.documents.collecting import UnreadableDocument
from ctxasm.data.documents.html import read_html
from ctxasm.data.documents.options import ReadLimits
from ctxasm.data.documents.source import SourceText, date_of, language_code, title_of
from ctxasm.data.documents.worker import read_document

FILES = Path(__file__).parent / "files"
NEVER = ("VERBORGEN", "GEWIST", "COMMENTAAR", "SCRIPT", "cookies")


def read(name: str) -> SourceText:
    return read_document(name, (FILES / name).read_bytes())


def headed(source: SourceText) -> dict[str, str]:
    """The words at the place of each section."""
    return {section.heading: source.text[section.start :].split("\n")[0] for section in source.sections}


@pytest.mark.parametrize("name", ["gids.pdf", "kolommen.pdf", "bezoek.docx", "bezoek.html", "opname.md", "oud.txt", "bladen.txt"])
def test_offsets_ascend_and_nothing_hidden_is_read(name: str) -> None:
    source = read(name)
    assert not any(word in source.text for word in NEVER)
    assert [section.start for section in source.sections] == sorted(section.start for section in source.sections)
    assert list(source.page_breaks) == sorted(source.page_breaks)
    assert all(0 < place < len(source.text) for place in source.page_breaks)
    assert source.text == source.text.strip("\n")


def test_a_pdf_has_pages_its_outline_its_title_and_its_date() -> None:
    source = read("gids.pdf")
    assert (source.fields["title"], source.fields["date"], source.pages) == ("Gids voor patiënten", "2025-03-04", 3)
    assert headed(source) == {"1 Zorg": "1 Zorg", "1 Zorg › 1.1 Bezoekuren": "1.1 Bezoekuren", "2 Kosten": "2 Kosten"}
    assert [source.text[at:].split("\n")[0] for at in source.page_breaks] == ["1.1 Bezoekuren", "2 Kosten"]
    assert "Dienst Prijs Eenheid\nTelevisie € 2,50 dag\nParking € 1,20 uur" in source.text


def test_a_word_that_a_line_parted_is_joined_where_the_document_has_it_whole() -> None:
    assert "Voor een onderzoek tekent u" in read("gids.pdf").text


def test_a_line_that_counts_the_pages_is_kept_once() -> None:
    text = read("gids.pdf").text
    assert text.count("Pagina") == 1


def test_columns_are_read_one_after_the_other() -> None:
    words = " ".join(read("kolommen.pdf").text.split())
    assert words.index("verpleegkundige komt") < words.index("slapen overdag") < words.index("Een televisie kost")
    assert "want andere patiënten slapen overdag. Een televisie kost € 2,50 per dag. De parking" in words


@pytest.mark.parametrize(
    ("name", "words"), [("geheim.pdf", "protected by a password"), ("scan.pdf", "run text recognition (OCR)")], ids=["encrypted", "scan"]
)
def test_a_pdf_without_text_says_why(name: str, words: str) -> None:
    with pytest.raises(UnreadableDocument) as refused:
        read(name)
    assert words in str(refused.value)


def test_a_docx_has_headings_lists_tables_and_the_pages_that_word_noted() -> None:
    source = read("bezoek.docx")
    assert source.fields == {"title": "Bezoekregels", "date": "2025-03-04", "language": "nl-BE"}
    assert headed(source) == {"Zorg": "Zorg", "Zorg › Bezoekuren": "Bezoekuren", "Kosten": "Kosten"}
    assert "- een identiteitskaart\n- een lijst van uw medicatie\n1. Meld u aan.\n2. Wacht tot u geroepen wordt." in source.text
    assert "| Dienst | Prijs |\n| Televisie | € 2,50 per dag |\n| Parking | € 1,20 |" in source.text
    assert "Zichtbaar. Ingevoegd." in source.text
    assert [source.text[at:].split("\n")[0] for at in source.page_breaks] == ["Kosten"]


def test_a_page_has_its_main_part_with_headings_lists_tables_and_code() -> None:
    source = read("bezoek.html")
    assert source.fields == {"title": "Bezoek aan het ziekenhuis", "date": "2025-03-04", "language": "nl"}
    assert list(headed(source)) == ["Bezoek aan het ziekenhuis", "Bezoekuren", "Bezoekuren › Meebrengen", "Kosten"]
    assert "- een identiteitskaart\n  - of een paspoort\n- een lijst van uw medicatie" in source.text
    assert "Prijzen\n| Dienst | Prijs |\n| Televisie | € 2,50 per dag |\n| Parking | € 1,20 |" in source.text
    assert "```\ndef prijs(uren):\n    return uren * 1.20\n```" in source.text
    assert "Kaart" not in source.text


def test_markdown_keeps_its_marks_but_those_of_headings_tables_and_comments() -> None:
    source = read("opname.md")
    assert source.fields == {"title": "Opnamegids", "date": "2025-03-04", "language": "nl"}
    assert list(headed(source)) == ["Opname", "Bezoekuren", "Bezoekuren › Mee te brengen", "Kosten"]
    assert all(heading.endswith(words) for heading, words in headed(source).items())
    assert "- een **identiteitskaart**\n- een lijst" in source.text
    assert "| Dienst | Prijs |\n| Televisie | € 2,50 |" in source.text
    assert "```\n# geen kop\nargv[1]\n```" in source.text


def test_an_old_text_is_read_in_its_encoding_and_says_so() -> None:
    source = read("oud.txt")
    assert "andere patiënten slapen" in source.text
    assert "\r" not in source.text
    assert list(source.notes) == ["read as cp1252, because it is not UTF-8"]


def test_form_feeds_part_the_pages_of_a_text() -> None:
    source = read("bladen.txt")
    assert source.pages == 3
    assert [source.text[at:][:8] for at in source.page_breaks] == ["Bezoek i", "Een tele"]


@pytest.mark.parametrize(
    ("mark", "encoding"), [(b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8")], ids=str
)
def test_a_byte_order_mark_decides(mark: bytes, encoding: str) -> None:
    assert read_document("a.txt", mark + "café 日本語".encode(encoding)).text == "café 日本語"


def test_a_page_may_declare_its_encoding() -> None:
    page = '<meta charset="iso-8859-2"><p>Łódź jest wielka</p>'.encode("iso-8859-2")
    assert read_document("a.html", page).text == "Łódź jest wielka"


@pytest.mark.parametrize(
    "hidden",
    [
        "<p hidden>X</p>",
        '<p style="color:red; display : none">X</p>',
        '<span style="VISIBILITY:hidden">X</span>',
        '<span style="font-size:0px">X</span>',
        "<style>p.x, #y { display: none }</style><p class='a x'>X</p><i id=y>X</i>",
        "<template>X</template><noscript>X</noscript><svg><text>X</text></svg><dialog>X</dialog>",
        "<select><option>X</select><textarea>X</textarea><button>X</button>",
        "<!-- X --><![CDATA[ X ]]><?php X ?>",
        "<nav>X</nav><footer>X</footer><aside>X</aside><div role=navigation>X</div>",
        "<table><tr><td>a<td>b<tr hidden><td>X<td>X<tr style='display:none'><td>X<td>X</table>",
    ],
)
def test_what_a_page_hides_is_not_read(hidden: str) -> None:
    text = read_html(f"<body><p>ja</p>{hidden}<p>nee</p></body>".encode()).text
    assert "X" not in text
    assert "ja" in text
    assert "nee" in text


@pytest.mark.parametrize(
    "shown",
    [
        "<style>@media print { p { display: none } }</style><p>X</p>",
        "<h3><button>X</button></h3>",
        "<details><summary>meer</summary>X</details>",
        '<div style="opacity:0">X</div>',
        '<div hidden="until-found">X</div>',
        "<header><h1>X</h1></header>",
        "<article><header>X</header></article>",
        "<dialog open>X</dialog>",
        "tekst zonder element X",
        "<table><tr><td><h2>kop</h2>X</td></tr></table>",
    ],
)
def test_what_a_page_shows_is_read(shown: str) -> None:
    assert "X" in read_html(f"<body>{shown}<p>nee</p></body>".encode()).text


def test_a_page_that_is_all_furniture_is_read_whole() -> None:
    assert read_html(b"<body><nav>Menu</nav><footer>Voet</footer></body>").text == "Menu\n\nVoet"


def test_a_document_that_holds_no_text_or_too_much_is_refused() -> None:
    for name in ("a.txt", "a.md", "a.html"):
        with pytest.raises(UnreadableDocument, match="holds no"):
            read_document(name, b" \n")
    with pytest.raises(UnreadableDocument, match="has 11 characters of text, allowed are 10: split it"):
        read_document("a.txt", b"abcdefghijk", ReadLimits(characters=10))


def test_escapes_for_what_no_database_takes_become_replacement_marks() -> None:
    text = read_document("a.html", b"<title>a&#0;b</title><p>a&#0;b&#xD800;c</p><p>&#x110000;</p>").text
    assert "\0" not in text
    assert not any(0xD800 <= ord(character) < 0xE000 for character in text)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("D:20250304120000+01'00'", "2025-03-04"),
        ("2025-03-04T10:00:00Z", "2025-03-04"),
        ("2025-03", "2025-03"),
        ("4 maart 2025", "4 maart 2025"),
        ("gisteren", None),
        ("", None),
        ("2025-13-45T10:00", None),
    ],
)
def test_a_date_is_kept_where_it_can_be_read(written: str, kept: str | None) -> None:
    assert date_of(written) == kept


def test_a_title_that_a_program_made_up_is_none() -> None:
    assert [title_of(title) for title in ("untitled", "Microsoft Word - x", "rapport.docx", " \n", "Een  titel\n")] == [None] * 4 + [
        "Een titel"
    ]
    assert len(title_of("x" * 1000) or "") == 300
    assert (language_code("nl_BE"), language_code("<script>")) == ("nl-BE", None)


@pytest.mark.parametrize(
    ("label", "encoding", "words"),
    [
        *((label, "cp1252", "€ 40 – “vast”") for label in ("iso-8859-1", "Latin1", "US-ASCII", "ISO_8859-1:1987", "x-cp1252", "cp819")),
        ("iso-8859-9", "cp1254", "İstanbul € 40"),
        ("koi8-r", "koi8_r", "Велосипед"),
        ("gb2312", "gb18030", "自行车镕"),
        ("shift_jis", "cp932", "自転車①"),
        ("utf-16", "utf-8", "€ 40"),
        ("iso-8859-1", "utf-8", "€ 40"),
    ],
)
def test_a_label_means_what_browsers_take_it_for(label: str, encoding: str, words: str) -> None:
    for form in (f'<meta charset="{label}">', f'<meta http-equiv=Content-Type content="text/html; charset={label}">'):
        assert read_document("a.html", f"{form}<p>{words}</p>".encode(encoding)).text == words


def test_text_in_utf_16_needs_no_byte_order_mark_and_references_mean_windows_1252() -> None:
    for encoding in ("utf-16-le", "utf-16-be"):
        assert read_document("a.txt", "Een café in Łódź".encode(encoding)).text == "Een café in Łódź"
    assert read_document("a.html", b"<p>&#128; 40 &#150; &#x93;vast&#x94;").text == "€ 40 – “vast”"


@pytest.mark.parametrize(
    ("tag", "marks"),
    [
        ("ol start=5", ["5.", "6.", "9.", "10."]),
        ("ol reversed", ["4.", "3.", "9.", "8."]),
        ("ol type=a", ["a.", "b.", "i.", "j."]),
        ("ol type=I start=3", ["III.", "IV.", "IX.", "X."]),
        ('ol style="list-style-type: upper-alpha" start=26', ["Z.", "AA.", "I.", "J."]),
        ("ol start=-1", ["-1.", "0.", "9.", "10."]),
        ("ol start=x", ["1.", "2.", "9.", "10."]),
        ("ul", ["-", "-", "-", "-"]),
    ],
)
def test_a_list_counts_as_the_page_says(tag: str, marks: list[str]) -> None:
    lines = read_html(f"<{tag}><li>x<li>x<li value=9>x<li>x</{tag[:2]}>".encode()).text.splitlines()
    assert lines == [f"{mark} x" for mark in marks]


GUIDE = "<p>De gids zegt dat fietsen veertien dagen worden uitgeleend. De waarborg is veertig euro.</p>"


@pytest.mark.parametrize(
    "page",
    [
        f"<h1>Gids</h1>{GUIDE}<article><h3>Elders</h3>Meer lezen</article>",
        f"<main>Meer lezen</main><div>{GUIDE * 3}</div>",
        f"<article>a</article><article>b</article>{GUIDE}",
    ],
)
def test_what_holds_little_of_a_page_is_not_its_main_part(page: str) -> None:
    assert "veertien dagen" in read_html(page.encode()).text


def test_an_article_that_holds_the_text_is_the_page() -> None:
    page = f"<div><a href=x>{'menu ' * 200}</a></div><article>{GUIDE}</article><div>cookies</div>"
    assert read_html(page.encode()).text.endswith("veertig euro.")
    assert "menu" not in read_html(page.encode()).text


@pytest.mark.parametrize(
    "links",
    [
        '<div class="navheader"><table><tr><th>X 2<tr><td><a accesskey=p href=a>X</a><td><a accesskey=n href=b>X</a></table></div>',
        "<p>Next: <a rel=next href=a>X</a>, Up: <a rel=up href=b>X</a></p>",
        "<table><tr><td><a href=a>Prev</a><td><a href=b>Up</a><td><a href=c>Next</a></table>",
        "<div><a href=a>« Zurück</a> | <a href=b>Weiter »</a></div>",
        "<h2>Kop<a class=headerlink href='#kop'>¶</a></h2>",
        "<h2>Kop <a href='#kop'>#</a></h2>",
        "<h2>Kop<a class=anchor aria-label='Link to X' href='#kop'>Direct link to X</a></h2>",
        "<h2>Kop<span class=mw-editsection>[<a href=a>X</a>]</span></h2>",
    ],
)
def test_links_to_other_pages_and_to_the_heading_itself_are_no_text(links: str) -> None:
    text = read_html(f"<body>{links}<p>ja</p>{GUIDE}</body>".encode()).text
    assert not any(word in text for word in ("X", "Prev", "Up", "Next", "Zurück", "Weiter", "¶", "#", "["))
    assert "ja" in text


def test_links_in_running_text_and_linked_headings_stay() -> None:
    page = f"<h2 id=a><a href='#a'>Kop</a></h2><p>Zie <a href=n>next</a> en <a href=u>up</a> in de handleiding van dit huis.</p>{GUIDE}"
    assert read_html(page.encode()).text.startswith("Kop\n\nZie next en up in de handleiding")
    assert "Titel" in read_html(b"<body><div><h1>Titel</h1><a rel=prev href=a>Prev</a> <a rel=next href=b>Next</a></div>").text


@pytest.mark.parametrize(
    ("head", "fields", "text"),
    [
        ("---\ntitle: A\ntags:\n  - x\ndate: 2025-01-02\n---\n", {"title": "A", "date": "2025-01-02"}, "Text"),
        ('+++\ntitle = "A"\ndate = 2025-01-02\n[params]\nx = 1\n+++\n', {"title": "A", "date": "2025-01-02"}, "Text"),
        ('{\n"title": "A",\n"date": "2025-01-02"\n}\n', {"title": "A", "date": "2025-01-02"}, "Text"),
        ("+++\nbroken = = 1\n+++\n", {}, "+++\nbroken = = 1\n+++\nText"),
        ("---\n\nA rule.\n\n---\n", {}, "---\n\nA rule.\n\n---\nText"),
        ("---\nA sentence.\n---\n", {"title": "A sentence."}, "---\n\nA sentence.\n\nText"),
        ("---\nNote: a sentence.\n---\n", {"title": "Note: a sentence."}, "---\n\nNote: a sentence.\n\nText"),
    ],
)
def test_front_matter_is_what_reads_as_such(head: str, fields: dict[str, str], text: str) -> None:
    source = read_document("a.md", f"{head}Text\n".encode())
    assert (source.fields, source.text) == (fields, text)


def test_tables_say_which_lines_head_them() -> None:
    page = b"<table><caption>Fees</caption><thead><tr><td>a<td>b</thead><tr><td>c<td>d</table><table><tr><td>1<td>2<tr><td>3<td>4</table>"
    source = read_html(page)
    assert [source.text[table.start : table.body] for table in source.tables] == ["Fees\n| a | b |\n", ""]
    source = read_document("a.md", b"| a | b |\n|---|---|\n| c | d |\n")
    assert [source.text[table.start : table.body] for table in source.tables] == ["| a | b |\n"]
