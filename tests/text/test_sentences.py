"""Sentence spans: awkward Dutch, English, German and other cases, the laws, and hostile text. `|` marks where a sentence begins."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxasm.text.sentences import sentence_spans
from tests.examples import examples
from tests.growth import is_linear

DUTCH = """
De poli is open tot 17.00 uur. | Daarna belt u de huisartsenpost.
Neem bv. een paracetamol. | Wacht dan een uur.
Dat is verboden, d.w.z. het mag niet. | Punt.
Vraag het aan dr. Jansen. | Hij weet het.
Prof. dr. De Vries opereert op maandag. | Drs. Smit assisteert.
Het gaat o.a. om Amsterdam en Utrecht. | Ook Breda doet mee.
U betaalt 3,50 euro per dag. | Een weekkaart kost 12.50 euro.
Bel nr. 5 of tel. 020-1234567. | Vraag naar mevr. Bakker.
Zie art. 5 lid 2 van de wet. | Daar staat het.
De afspraak is op 3 mei a.s. om 14.00 uur. | Neem uw pas mee.
Mag dat? | Nee! | Echt niet.
'Mag dat?' vroeg hij. | 'Nee,' zei zij.
"Dat mag niet." | De arts was streng.
Dit geldt i.v.m. de wet t.a.v. kinderen e.d. en ouderen. | Let op.
De kosten zijn ca. 45 euro incl. btw. | Dat is veel.
Hij werkte bij Philips N.V. in Eindhoven. | Daarna ging hij met pensioen.
J.R.R. Tolkien schreef het boek. | Het werd beroemd.
Het bezoek duurt max. 30 minuten. | Kom op tijd.
Wacht… | Dat klopt niet.
Hij aarzelde... maar kwam toch. | Goed zo.
Zie www.ziekenhuis.nl voor meer. | Of mail info@ziekenhuis.nl. | Wij helpen u.
In 1998 werd het gebouwd. | In 2004 volgde de tweede vleugel.
De verbouwing begon in 1998. | Daarna kwam er een tuin.
Er zijn er 12. | Dat is genoeg.
Het ziekenhuis (zie p. 12) is gesloten. | Kom morgen terug.
(De balie is dicht.) | Bel ons dan.
Zie blz. 12 e.v. voor uitleg. | Daar staat alles.
De resp. afdelingen zijn open. | Kom langs.
Dit is m.i. juist. | Dat is n.v.t. hier.
De heer A. de Vries is arts. | Hij werkt hier.
Mr. Jansen is advocaat. | Ir. Smit bouwt.
Het begint om 9.30 u. en eindigt om 10.00 u. | Wees op tijd.
's Avonds is het dicht. | 's Morgens niet.
Hij kwam. | 's Avonds ging hij weer.
Kosten: 1.000.000 euro. | Dat is te veel.
Vitamine B12, D3 enz. zijn goed. | Neem ze dagelijks.
Appels, peren enz. | Dat was het.
Gebruik versie 2.0. | Die werkt beter.
De St. Janskerk is oud. | Ze staat in Gouda.
Op 3-5-2024 belde hij. | Niemand nam op.
Het kost €5. | Dat is goedkoop.
De temperatuur is 37,5 °C. | Dat is normaal.
Zie https://www.zol.be/a.b?c=d. | Daar staat meer.
Bezoek is welkom van 14.00 uur tot 20.00 uur.|De afdeling is open.
De wijziging is bekend.|In context is dat anders.
Meld u aan in de inkomhal van gebouw A. | Na de inschrijving gaat u naar B3.
Was de handen voor elk contact met u. | Zij dragen geen ringen.
Houd uw pas bij de hand. | Kunt u niet komen, bel dan.
Dat mag dezelfde avond al. | Een infuus gaat weg.
Zie Jansen et al. voor de proef. | Daar staat meer.
Maatregelen zoals rust, ijs, etc. helpen. | Blijf liggen.
Ca. 30 procent herstelt. | De rest niet.
Het spreekuur van dr. A.B. van den Berg is op ma. en wo. van 9.00 tot 12.00 uur. | Kom nuchter.
Prof. mr. dr. Jansen werkt in het St. Elisabeth ziekenhuis. | Hij is jurist.
U kunt parkeren (à € 2,50 p.u.) in de garage. | Bewaar uw kaartje.
De heer J. Jansen overleed op 12 jan. 2020. | Zijn vrouw leeft nog.
Zie bijlage 3.2 en par. 4.1. | Die zijn verplicht.
Kinderen t/m 12 jr. betalen niets. | Volwassenen wel.
Wat moet ik meenemen? | Uw pas. | En geld!
Het is verboden te roken in en om het ziekenhuis, m.u.v. de rookzone. | Dank u.
Volgens art. 7:658 BW is de werkgever aansprakelijk. | Dat staat vast.
Bel 112! | Wacht niet.
Hij zei: "Ik kom morgen." | Maar hij kwam niet.
De dosis is 2 x 500 mg. | Neem die in met water.
Op 1 jan. 2024 ging de wet in. | Toen was het stil.
De patiënt (78 jr.) at niet. | Zij dronk wel.
Mw. drs. P. de Boer is er niet. | Bel later.
"""
ENGLISH = """
The ward closes at 8 p.m. and opens at 9 a.m. daily. | Visitors must leave.
The ward closes at 8 p.m. | Visitors must leave.
Bring a form, e.g. a passport. | It is checked.
It is closed, i.e. no entry. | Come back later.
Dr. Smith met Mr. and Mrs. Jones. | They talked.
The U.S. Army left. | It was over.
He lives in the U.S. | She lives in the U.K. | They write.
She moved to Washington, D.C. in 1990. | She stayed.
Pi is 3.14159. | It is irrational.
The price rose 3.5 percent. | Sales fell.
See Fig. 3 and Sec. 4.2 for details. | Then stop.
Smith et al. (2020) showed this. | Others agreed.
"Is it open?" she asked. | "No," he said.
"It is open." | She smiled.
He said “It is over.” | Then he left.
Wait... what? | Nothing.
Well… | That is odd.
J.R.R. Tolkien wrote it. | It sold well.
George W. Bush won. | He served twice.
Apple Inc. makes phones. | Google LLC does too.
It was made by Apple Inc. | Later it sold.
Contact info@example.com. | We reply soon.
Visit http://www.example.com/a.html. | It is free.
The answer is no. | The rule is clear.
Go to No. 10 Downing St. in London. | Ring the bell.
It was built in 1998. | It fell in 2004.
There were 12. | That is enough.
He left (see p. 12). | She stayed.
(He left.) | She stayed.
It works with Node.js and ASP.NET. | Try it.
Version 2.0.1 is out. | Update now.
He was born on Jan. 5, 1920. | He died in 1990.
Is it? | Yes! | No?!
He has a Ph.D. in physics. | She has an M.D.
Vitamins A, C, etc. are good. | Eat them.
Approx. 30 percent recover. | The rest do not.
The St. Louis arch is tall. | It opened in 1965.
iPhone sales fell. | eBay rose.
The company was founded. | iPhone sales rose.
It is true vs. false. | Choose one.
It costs $5. | That is cheap.
Prof. Brown teaches. | Gov. Lee signs.
Students must get notice of these changes.|In context that holds.
He ran.|She walked home.
He said: "Stop! Now!" and left. | Nobody moved.
What is GPT-4.5? | A model.
At 5 p.m. Mr. Smith left. | He slept.
Yahoo! is a company. | It was sold.
They won. | 3 of them lost.
The hotel has 4.5 stars. | 300 rooms exist.
Mt. Everest is high. | Climbers die.
Two things hold. | 1. In a novel it ends. | 2. In a film it goes on.
The rivers rose.| - The people left.| - Nobody stayed.
Ms. Lee and Rev. King spoke. | The crowd cheered.
The bill (H.R. 3590) passed. | President Obama signed it.
Mozart was born on 27 January 1756. | He died in 1791.
The film stars Robert Downey Jr. as Tony Stark. | It made money.
She earned $1.5 million. | Her agent took 10%.
Who was it? | It was Sgt. Pepper.
The temperature fell to -3.5 °C. | Pipes froze.
The novel, published in 1925 by Charles Scribner's Sons, sold well. | "Gatsby" is its hero.
It runs from 9 a.m. to 5 p.m. on weekdays. | On Sunday it is closed.
Vol. 3, No. 2, pp. 45-67 covers it. | Read it.
World War II ended in 1945. | V-J Day followed.
He lived from c. 1450 to 1516. | Little is known.
The band AC/DC is loud. | Is it good? | Yes.
It's owned by Amazon.com, Inc. and others. | Prices vary.
He was 6 ft. 2 in. tall. | She was shorter.
"""
GERMAN = """
Dr. Müller kommt um 14.00 Uhr. | Danach geht er.
Das ist z.B. ein Hund. | Er bellt.
Das ist z. B. ein Hund. | Er bellt.
Am 3. Mai beginnt die Schule. | Sie dauert lange.
Der 2. Weltkrieg endete 1945. | Danach kam Frieden.
Nehmen Sie Nr. 5. | Das ist besser.
Siehe Nr. 5 auf S. 12. | Dort steht es.
Das heißt d.h. nichts. | Gut.
Prof. Dr. Schmidt lehrt u.a. Physik. | Er forscht auch.
Es kostet 3,50 Euro. | Das ist billig.
Der Preis beträgt 1.000 Euro. | Das ist viel.
„Ist offen?“, fragte sie. | „Nein“, sagte er.
„Es ist offen.“ | Sie lächelte.
Er kam bzw. ging. | Niemand sah ihn.
Ca. 30 Prozent genesen. | Der Rest nicht.
Es geht um Obst, Gemüse usw. im Winter. | Alles ist teuer.
Gemäß Art. 5 Abs. 2 GG gilt das. | Punkt.
Das war im Jahr 1998. | Danach war Ruhe.
Er wohnt in der Hauptstr. 12. | Sie auch.
Warte… | Was ist das?
Ludwig XIV. war König. | Er starb 1715.
Es waren 12. | Das genügt.
Frau A. Meier arbeitet hier. | Sie ist nett.
Die Fa. Siemens AG liefert. | Wir zahlen.
Das 19. Jahrhundert war lang. | Es endete.
Mehr unter www.test.de. | Schreiben Sie an a@b.de. | Danke.
Ist das so? | Ja! | Nein.
Die Sitzung ist am 12.5.2024. | Bitte kommen.
Vgl. dazu Abb. 3. | Sie zeigt alles.
Er mag Hunde, Katzen etc. | Sie nicht.
Hr. Meier und Fr. Schulz kommen um 8.30 Uhr. | Sie bleiben.
Die Praxis ist am Mo., Di. und Mi. geöffnet. | Am Do. nicht.
Der Patient erhält max. 500 mg pro Tag. | Mehr ist schädlich.
Bitte bringen Sie Ausweis, Karte usw. mit. | Danke.
Er wurde am 1. Januar 2020 geboren. | Seine Mutter lebt.
Die sog. Grippe ist ansteckend. | Bleiben Sie zu Hause.
Lt. Gesetz ist das verboten. | Fragen Sie nach.
In den 1990er Jahren war das anders. | Heute nicht.
"""
OTHER = """
价格是五元。| 它很便宜。| 你要吗？| 不要！
これは本です。| あれはペンです。
Это кот. | Он спит.
هل هو مفتوح؟ | نعم.
Good 😀. | Bad 😡!
No end mark
First line. | Second line
El Sr. García llegó. | ¿Quién es? | ¡Nadie!
M. Dupont est là. | Il attend.
"""
BLOCKS = [
    "First paragraph\n\n| Second paragraph",
    "Heading\n| Text is here. | More.",
    "- one\n| - two\n| - three",
    "The first line of a wrapped\nsentence goes on. | Next.",
    "1. Eerste stap\n| 2. Tweede stap",
    "Dit is een regel\r\n\r\n| Dit ook.",
    "* item A.\n| * item B.",
    "1. Open het boek. | Lees het.\n| 2. Sluit het boek.",
    "a) eerste\n| b) tweede",
    "De regel loopt\ndoor op nr.\n5 en verder. | Klaar.",
    "# Kop\n| Tekst. | Meer.",
    "Openingstijden\n| Ma-vr 9.00-17.00\n| Za gesloten",
    "> citaat een.\n| > citaat twee.",
    "Vraag: wat kost het?\n| Antwoord: niets.",
    "[2] Werkgroep Bewegen. | Gids.\n| [3] Lindekens en Osei. | Lopen.",
    "Zoals staat in\n[2] en elders. | Klaar.",
]
TABLE = "Dienst | Eenheid | Prijs\n--- | --- | ---\nKamer | per dag | € 68,00\nTelevisie | per dag | gratis\nPrijzen gelden per persoon."
CASES = [line for table in (DUTCH, ENGLISH, GERMAN, OTHER) for line in table.strip().splitlines()] + BLOCKS


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@pytest.mark.parametrize("case", CASES)
def test_sentences_begin_where_a_reader_would_begin_them(case: str) -> None:
    parts = case.split("|")
    assert sentences("".join(parts)) == [part.strip() for part in parts]


def test_a_row_of_a_table_without_outer_bars_is_a_sentence() -> None:
    assert sentences(TABLE) == TABLE.splitlines()


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 180
    assert len(set(CASES)) == len(CASES)


ALPHABET = "aB1 .!?…\"“”„'’()«»\n\r\t\x00\x0b。？-é😀\ud800;:*|#>"


@given(st.lists(st.sampled_from([*ALPHABET, "De ", "dr. ", "z.B. ", "3. Mai", "\n\n", "- ", ". "]), max_size=60).map("".join))
def test_the_spans_hold_every_visible_character_once(text: str) -> None:
    check_laws(text)


@given(st.text(max_size=80))
def test_any_text_has_lawful_spans(text: str) -> None:
    check_laws(text)


@settings(max_examples=examples(50))
@given(st.randoms(use_true_random=False), st.integers(200, 900))
def test_long_text_keeps_the_laws_across_windows(random: Random, count: int) -> None:
    check_laws("".join(random.choices(["word ", "Ja. ", "x", "“", "een langere zin met komma's, ", "\n"], k=count)))


def check_laws(text: str) -> None:
    spans = sentence_spans(text)
    last = 0
    for start, end in spans:
        assert last <= start < end <= len(text)
        assert text[start:end] == text[start:end].strip()
        assert not text[last:start].strip()
        last = end
    assert not text[last:].strip()
    assert sentence_spans(text) == spans


def test_a_sentence_longer_than_a_window_stays_one() -> None:
    text = "word " * 3000 + "end. Next one."
    assert sentences(text) == [text[: text.index(" Next")], "Next one."]


@pytest.mark.parametrize("blanks", [99, 100, 110, 5000])
@pytest.mark.parametrize("blank", [" ", "\t", "\u3000"])
def test_a_line_may_begin_with_any_run_of_blanks(blank: str, blanks: int) -> None:
    assert sentences(f"INVOICE\n{blank * blanks}Total: 12 euros\n") == ["INVOICE", "Total: 12 euros"]


@pytest.mark.parametrize("blank", ["\xa0", "\u2009", "\u202f", "\u3000"])
def test_a_wide_blank_before_a_full_stop_breaks_nothing(blank: str) -> None:
    text = "This is the end of part A{0}. And that{0}. Jan{0}."
    assert sentence_spans(text.format(blank)) == sentence_spans(text.format(" "))


def test_a_text_that_breaks_the_library_is_split_by_the_rules_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    class PanicException(BaseException):
        pass

    PanicException.__module__ = "pyo3_runtime"

    def panic(language: str, text: str) -> list[str]:
        raise PanicException("end byte index 18 is not a char boundary")

    monkeypatch.setattr("sentencex.segment", panic)
    check_laws("De balie opent om 8 uur. Daarna niet.\nEinde")
    assert sentences("De balie opent om 8 uur.Daarna niet.") == ["De balie opent om 8 uur.", "Daarna niet."]


def test_no_text_has_no_sentence() -> None:
    assert sentence_spans("") == sentence_spans(" \n\t ") == []


HOSTILE = {
    "dots": "." * 40_000,
    "letters": "a. " * 12_000,
    "initials": "A. " * 12_000,
    "glued": "aa.Bb" * 8_000,
    "one line": "word " * 60_000,
    "one word": "x" * 300_000,
    "quotes": "“" * 40_000,
    "closers": ".)" * 15_000,
    "newlines": "a.\n\n" * 8_000,
    "lines": "Aa\n" * 12_000,
    "blanks": ("." + " " * 1000) * 100,
    "bullets": "- a\n" * 8_000,
    "surrogates": "\ud800" * 40_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_takes_linear_time(text: str) -> None:
    assert is_linear(sentence_spans, text)
