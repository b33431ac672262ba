"""Policy `learned`: what a chunk is worth, and what is taken for it."""

from __future__ import annotations

from dataclasses import replace
from math import exp, log

import pytest
from hypothesis import strategies as st

from ctxasm.assembly.deduplicate import deduplicate
from ctxasm.assembly.expand import expand
from ctxasm.assembly.measure import Scales
from ctxasm.assembly.pipeline import assemble
from ctxasm.assembly.policies import choose
from ctxasm.assembly.stages import group
from ctxasm.assembly.values import SPREAD, Features, Weights, read_weights, shipped_weights, stems_of, value_candidates, words_held
from ctxasm.model.errors import InvalidInput
from ctxasm.model.events import Valued
from ctxasm.model.ports import FetchedChunk
from ctxasm.model.presets import preset
from ctxasm.model.records import Chunk, Document, Hit, Query
from ctxasm.model.results import Assembly, Candidate
from ctxasm.model.settings import AssemblySettings
from tests.assembly.test_promises import law
from tests.fakes import FakeClock, FakeSource
from tests.strategies import COUNTER

FILLER = "The quick brown fox jumps over the lazy dog again and again, as it has done for years. " * 6
NOTHING = Weights(Features(*[0.0] * len(Features._fields)), 3)


def weights(**given: float) -> Weights:
    return Weights(NOTHING.features._replace(**given), 3)


def candidate(document_id: str, index: int, text: str, rank: int | None = None, parents: tuple[int, ...] = ()) -> Candidate:
    return Candidate(FetchedChunk(document_id, index, text, token_count=50), rank is not None, 1.0, rank or 1, parents)


def run(question: str, texts: dict[str, list[str]], hits: list[tuple[str, int]], limit: int, **settings: object) -> Assembly:
    chunks = [Chunk(name, i, f"{name}{i} {FILLER}{text}") for name, own in texts.items() for i, text in enumerate(own)]
    found = tuple(Hit(*key, 1.0 - place / 10, place + 1) for place, key in enumerate(hits))
    chosen = AssemblySettings(budget_policy="learned", **settings)  # type: ignore[arg-type]
    source = FakeSource([Document(name, name) for name in texts], chunks, COUNTER)
    return assemble(Query(question, found), source, chosen, COUNTER, FakeClock(), limit)


def shown(done: Assembly) -> set[tuple[str, int]]:
    return {(f.document_id, f.chunk_index) for f in done.trace.fates if f.fate == "kept"}


@pytest.mark.parametrize(("settings", "is_shown"), [(preset("recommended"), True), (AssemblySettings(budget_policy="learned"), False)])
def test_a_short_hit_is_shown_under_the_recommended_settings(settings, is_shown):
    chunks = [Chunk("a", 0, f"Members pay less. {FILLER}"), Chunk("b", 0, "Return within 14 days.")]
    source = FakeSource([Document("a", "Shop"), Document("b", "Returns")], chunks, COUNTER)
    query = Query("When can I return it?", (Hit("a", 0, 0.9, 1), Hit("b", 0, 0.8, 2)))
    done = assemble(query, source, settings, COUNTER, FakeClock())
    assert (("b", 0) in shown(done)) is is_shown
    assert ("Return within 14 days." in done.text) is is_shown


def test_what_shares_the_words_of_the_question_comes_before_what_is_merely_ranked():
    texts = {"a": ["nothing", "nothing"], "b": ["nothing"], "c": ["about contrast and an allergy"]}
    hits = [("a", 0), ("b", 0), ("c", 0)]
    done = run("Which allergy rules out contrast?", texts, hits, 290, expand_window=0)
    assert shown(done) == {("a", 0), ("c", 0)}
    assert done.token_count <= 290
    assert {f.reason for f in done.trace.fates if f.fate == "dropped"} == {"outbid"}


def test_all_that_fits_is_taken_however_much_it_is():
    texts = {f"d{number:02}": ["x"] for number in range(20)}
    done = run("contrast?", texts, [(name, 0) for name in texts], 8000, expand_window=0)
    assert len(shown(done)) == 20


@pytest.mark.parametrize(("spare", "valued"), [(0, 0), (-1, 1)])
def test_where_all_fits_by_any_estimate_nothing_is_valued(spare, valued, monkeypatch):
    """Two documents of 30 and 60 tokens, a gap mark of four in each, and headers of ten."""
    calls = []
    monkeypatch.setattr(Scales, "valued", lambda scales, own=Scales.valued: calls.append(scales) or own(scales))
    texts = {("a", 0): sized("best", 30), ("b", 0): sized("other", 60)}
    assert taken(texts, 30 + 60 + 2 * (4 + 10) + spare, title="TT") == set(texts)
    assert len(calls) == valued


@law(
    st.dictionaries(st.tuples(st.sampled_from("abc"), st.integers(0, 4)), st.integers(20, 60), min_size=1, max_size=7),
    st.integers(60, 500),
    st.sampled_from([None, 500, 1500]),
)
def test_all_that_fits_is_what_would_be_taken_by_value(tokens, limit, max_chars):
    texts = {key: sized(f"{key[0]}{key[1]}", count) for key, count in tokens.items()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ctxasm.assembly.learned._Fill._whole", lambda _: None)
        by_value = taken(texts, limit, shipped_weights(), max_chars=max_chars)
    assert taken(texts, limit, shipped_weights(), max_chars=max_chars) == by_value


def test_a_chunk_far_from_every_hit_is_reached_by_the_wider_pool_alone():
    texts = {"a": ["hit", "x", "x", "x", "x", "the contrast allergy"], "b": ["x"], "c": ["x"]}
    hits = [("a", 0), ("b", 0), ("c", 0)]
    near, wide = (run("contrast allergy?", texts, hits, 400, pool_window=window) for window in (None, 5))
    assert ("a", 5) not in shown(near)
    assert ("a", 5) in shown(wide)
    assert wide.trace.fetch.statements == near.trace.fetch.statements == 1


def test_the_pool_belongs_to_policies_that_choose_by_value():
    chosen = AssemblySettings(pool_window=9)
    assert [chosen.replace(budget_policy=policy).window for policy in ("drop_documents", "greedy", "greedy_skip")] == [1, 1, 1]
    assert [chosen.replace(budget_policy=policy).window for policy in ("pack", "segments", "learned")] == [9, 9, 9]
    assert AssemblySettings(budget_policy="learned", expand_window=2).window == 2


def test_a_wider_pool_sends_the_best_hit_whatever_it_is_worth():
    done = run("contrast", {"a": ["x"], "b": ["contrast"]}, [("a", 0), ("b", 0)], 170)
    assert shown(done) == {("a", 0)}


def test_every_value_is_told_with_what_it_is_made_of():
    texts = {"a": ["contrast", "x"], "b": ["x"]}
    done = run("Contrast, or not?", texts, [("a", 0), ("b", 0)], 8000)
    told = [event for record in done.trace.stages for event in record.events if isinstance(event, Valued)]
    assert (told[0].document_id, told[0].chunk_index) == ("a", 0)
    best, beside = told[0], next(e for e in told if (e.document_id, e.chunk_index) == ("a", 1))
    assert (best.value, best.rank, best.distance, best.hits, best.words) == (1.0, 1, 0, 1, ("contrast",))
    assert (beside.distance, beside.words) == (1, ())
    assert 0 < beside.value < 1
    values = [event.value for event in told] + [event.title_words for event in told]
    assert values == [round(value, 4) for value in values] != [round(value, 3) for value in values]


def test_the_share_of_a_title_is_told_to_four_digits():
    done = run("contrast allergy", {"allergy": ["contrast", "contrast"], "b": ["contrast"]}, [("allergy", 0), ("b", 0)], 8000)
    told = [event.title_words for record in done.trace.stages for event in record.events if isinstance(event, Valued)]
    (share,) = {title for title in told if title}
    assert round(share, 3) != share == round(share, 4)


def test_each_feature_moves_the_value_by_its_weight():
    own = [
        candidate("a", 0, "contrast allergy", 1),
        candidate("a", 1, "contrast"),
        candidate("b", 0, "allergy", 2),
        candidate("c", 0, "", 4),
    ]
    found = value_candidates("contrast allergy", own, {"b": "Allergy"}, NOTHING)
    assert {each.value for each in found.values()} == {1.0}
    of = {key: each.features for key, each in found.items()}
    assert of["a", 0].words == 1 == of["a", 0].document_words
    assert 0 < of["b", 0].words < 1
    part = {key: each.features for key, each in value_candidates("contrast allergy pump", own, {}, NOTHING).items()}
    assert part["a", 0].document_words == 1 > part["b", 0].document_words > 0
    assert 0 < of["b", 0].title_words < 1
    assert of["a", 0].title_words == 0
    assert of["a", 0].document == pytest.approx(1 / 1.75)
    assert of["a", 1].near == pytest.approx(of["a", 0].near - 1.0986, abs=1e-3)
    assert (of["a", 0].distance, of["a", 1].distance) == (0, pytest.approx(0.6931, abs=1e-3))
    longer = value_candidates("contrast", own, {}, weights(words=1.0))
    assert longer["a", 0].value > longer["b", 0].value


def test_a_word_weighs_the_more_the_fewer_candidates_hold_it():
    """As in BM25, with a half added to those that hold it and to those that do not."""
    own = [candidate("a", 0, "contrast allergy", 1), *(candidate("b", index, "allergy", index + 2) for index in range(2))]
    own.append(candidate("c", 0, "", 9))
    rare, common = log(1 + 3.5 / 1.5), log(1 + 1.5 / 3.5)
    found = value_candidates("contrast allergy", own, {}, NOTHING)
    assert found["b", 0].features.words == found["b", 0].features.document_words == pytest.approx(common / (rare + common))


def test_what_no_hit_reaches_is_far_and_a_value_has_an_end():
    own = [candidate("a", 0, "x", 1), candidate("b", 0, "x"), candidate("a", 1, "x")]
    own[2] = own[2]._replace(chunk=own[2].chunk._replace(token_count=0))
    found = value_candidates("x", own, {}, weights(distance=100.0, length=100.0))
    assert (found["b", 0].features.near, found["b", 0].distance) == (-50, 0)
    assert (found["a", 1].features.length, found["a", 0].features.length) == (0, log(50))
    assert found["a", 1].value == pytest.approx(exp(100 * log(2)))
    far = value_candidates("x", [candidate("a", 0, "x", 1), candidate("a", 4999, "x")], {}, weights(distance=100.0))
    assert far["a", 4999].value == exp(500)
    near = value_candidates("x", [candidate("a", 0, "x", 1), candidate("a", 180, "x")], {}, weights(distance=100.0))
    assert near["a", 180].value == exp(500) < exp(100 * log(181)) < exp(550)
    lent = value_candidates("x", [candidate("a", 0, "x", 1), candidate("a", 45, "x"), candidate("a", 46, "x")], {}, NOTHING)
    assert [lent["a", at].features.near for at in (45, 46)] == [pytest.approx(-45 * log(3)), -50]
    between = value_candidates("x", [candidate("a", 0, "x", 1), candidate("a", 46, "x"), candidate("a", 92, "x", 1)], {}, NOTHING)
    assert between["a", 46].features.near == -50
    worst = value_candidates("x", [candidate("a", 0, "x", 9), candidate("a", 45, "x"), candidate("b", 0, "x")], {}, weights(near=1.0))
    assert worst["a", 45].value == worst["b", 0].value  # out of reach, and as good as that: never below it


CHUNKS = st.tuples(
    st.sampled_from("abc"), st.integers(0, 60), st.booleans(), st.sampled_from(["", "Contrast", "an ALLERGY", "contrasts, allergies", "x"])
)


@law(st.lists(CHUNKS, min_size=1, max_size=12, unique_by=lambda each: each[:2]))
def test_what_is_read_of_a_candidate_is_what_its_definition_says(drawn):
    own = [candidate(name, at, text, rank if hit else None) for rank, (name, at, hit, text) in enumerate(drawn, 1)]
    found = value_candidates("contrast allergy", own, {}, NOTHING)
    for each in own:
        hits = [(abs(c.key[1] - each.key[1]), 1 / c.rank) for c in own if c.retrieved and c.key[0] == each.key[0]]
        read = found[each.key]
        near = sum(worth * SPREAD**steps for steps, worth in hits)
        assert read.features.near == (pytest.approx(max(log(near), -50)) if hits else -50)
        assert (read.distance, read.hits_in_document) == (min((steps for steps, _ in hits), default=0), len(hits))
        stands = tuple(stem for stem in ("contra", "aller") if stem in each.chunk.text.lower())
        assert words_held(tuple(stems_of("contrast allergy")), read.held) == stands


LETTERS = st.lists(
    st.sampled_from(["contra", "CONTRA", "st", "é", "É", "één", "ÉÉN", "\u212a", "k", "\u0130", "i\u0307", "\ud800", "“", " ", "剤"])
)


@law(LETTERS.map("".join), st.sampled_from(["contrast", "kiss ink", "één contrast", "剤 contrast", "\u212aiss", "bit hiss"]))
def test_a_word_is_found_in_whatever_letters_a_text_is_written(text, question):
    stems = tuple(stems_of(question))
    found = value_candidates(question, [candidate("a", 0, text, 1)], {}, NOTHING)
    assert words_held(stems, found["a", 0].held) == tuple(stem for stem in stems if stem in text.lower())


@pytest.mark.parametrize(("text", "question"), [("éCONTRAst", "contrast"), ("é\u212aISS", "kiss"), ("éAST\u0130", "asti"), ("ÉÉN", "één")])
def test_letters_in_capitals_are_found(text, question):
    stems = tuple(stems_of(question))
    found = value_candidates(question, [candidate("a", 0, text, 1)], {}, NOTHING)
    assert words_held(stems, found["a", 0].held) == tuple(stem for stem in stems if stem in text.lower()) != ()


def test_only_two_other_letters_have_a_plain_letter_for_a_lower_case():
    """Upon which it rests that plain words may be looked for in a text of which only the plain letters are in lower case."""
    changed = ((letter, letter.lower()) for letter in map(chr, range(128, 0x110000)) if letter.lower() != letter)
    found = {letter for letter, lower in changed if any(each.isascii() for each in lower)}
    assert found == {"\u0130", "\u212a"}


def test_values_do_not_depend_on_the_order_or_the_scale_of_scores():
    texts = {"a": ["contrast", "x"], "b": ["allergy", "x"]}
    question, hits = "contrast allergy", [Hit("a", 0, 9.0, 1), Hit("b", 1, 5.0, 2)]
    chunks = [Chunk(name, i, f"{name}{i} {FILLER}{text}") for name, own in texts.items() for i, text in enumerate(own)]
    source = FakeSource([Document("a"), Document("b")], chunks, COUNTER)
    settings = AssemblySettings(budget_policy="learned", pool_window=3)

    def text(*given: Hit) -> str:
        return assemble(Query(question, given), source, settings, COUNTER, FakeClock(), 300).text

    assert text(*hits) == text(*hits[::-1]) == text(*(replace(hit, score=hit.score / 100 - 3) for hit in hits))


@pytest.mark.parametrize(
    ("question", "stems"),
    [
        ("What is the contrast?", ["contra"]),
        ("Spreekuren op maandag", ["spreekur", "maand"]),
        ("version 2 of it", ["versi", "2"]),
        ("造影剤 アレルギー", ["造影", "影剤", "アレ", "レル", "ルギ", "ギー"]),
        ("the of and", []),
        ("hotels hotel east mri ct 12", ["hote", "east", "mri", "12"]),
        ("é 剤", ["é", "剤"]),
    ],
)
def test_words_are_looked_for_without_what_an_inflection_changes(question, stems):
    assert list(stems_of(question)) == stems


def test_a_word_that_was_found_is_told_as_the_question_has_it():
    """Of what is written without blanks the two characters that were looked for."""
    assert stems_of("Contrasts 造影剤") == {"contras": "contrasts", "造影": "造影", "影剤": "影剤"}


def sized(name: str, tokens: int) -> str:
    """A text of just so many tokens."""
    text = name + " the" * tokens
    return text[: -4 * (COUNTER.count(text) - tokens)]


def taken(
    texts: dict[tuple[str, int], str], limit: int, values: Weights = NOTHING, title: str = "", max_chars: int | None = None
) -> set[tuple[str, int]]:
    """What is shown of these hits, the best first; documents have that title."""
    chosen = AssemblySettings(budget_policy="learned", expand_window=0, dedup_near=False, min_chunk_tokens=1, max_chars=max_chars)
    hits = tuple(Hit(*key, 1 - place / 100, place + 1) for place, key in enumerate(texts))
    documents = [Document(name, title) for name in {key[0] for key in texts}]
    source = FakeSource(documents, [Chunk(*key, text) for key, text in texts.items()], COUNTER)
    grouped = group(deduplicate(expand(Query("q", hits), source, chosen, COUNTER), chosen, None))
    return {(j.chunk.document_id, j.chunk.chunk_index) for j in choose(Scales(grouped, chosen, COUNTER, limit, "q", values)).final}


@pytest.mark.parametrize(
    ("best", "beside", "extra", "title"),
    [
        (0, 2, 10 - 4, ""),  # a header takes ten tokens and a gap four
        (0, 2, 20 - 4, "T" * 40),  # so does a title with four characters a token
        (0, 1, 10, ""),  # what follows the best hit needs neither
        (1, 0, 10, ""),
    ],
)
def test_what_takes_least_is_chosen_of_equal_values(best: int, beside: int, extra: int, title: str) -> None:
    for more, name in ((0, "a"), (1, "b")):
        texts = {("a", best): sized("best", 30), ("a", beside): sized("beside", 60 + extra + more), ("b", 0): sized("other", 60)}
        assert taken(texts, 150, title=title or "TT") == {("a", best), ("a", beside) if name == "a" else ("b", 0)}


@pytest.mark.parametrize(("less", "second"), [(0, "b"), (1, "c")])
def test_an_estimate_of_just_what_is_left_fits(less: int, second: str) -> None:
    """Of the better second 70 tokens are estimated beside 40 of the best; a token less, and the other takes its place."""
    texts = {("a", 0): sized("best", 30), ("b", 0): sized("large", 60), ("c", 0): sized("small", 40)}
    assert taken(texts, 110 - less, weights(length=2.0), title="TT") == {("a", 0), (second, 0)}


@pytest.mark.parametrize("beside", [4, 6])
def test_a_chunk_costs_less_once_a_neighbour_is_in(beside: int) -> None:
    """Four tokens less, that of a gap: now less than the other with its header."""
    texts = {("a", 0): sized("best", 30), ("a", 5): sized("near", 20), ("a", beside): sized("beside", 68), ("b", 0): sized("other", 60)}
    assert taken(texts, 180, title="TT") == {("a", 0), ("a", 5), ("a", beside)}


@pytest.mark.parametrize(("large", "shown"), [(11, {("a", 0), ("z", 0)}), (12, {("a", 0)})])
def test_twelve_chunks_are_offered_what_is_left(large: int, shown: set[tuple[str, int]]) -> None:
    """Under a limit in characters the estimates in tokens are far too small."""
    texts = {("a", 0): sized("best", 90)} | {(f"d{n:02}", 0): sized(f"d{n:02}", 60) for n in range(large)} | {("z", 0): sized("tiny", 10)}
    assert taken(texts, 500, weights(length=2.0), max_chars=500) == shown


def test_of_what_is_far_too_much_half_stays_and_twelve_are_offered():
    """Of 27 chunks of one size 14, and as many more as fit."""
    texts = {f"d{number:02}": ["x"] for number in range(27)}
    hits = [(name, 0) for name in texts]
    most = len(run("q", dict([*texts.items()][:26]), hits[:26], 10**5, expand_window=0).text)
    assert len(shown(run("q", texts, hits, 10**5, expand_window=0, max_chars=most))) == 26


def test_what_costs_less_beside_a_neighbour_stands_in_the_order_once():
    """Under a limit in characters most of the order leaves again, and what left cannot leave twice."""
    hits = [("a", index) for index in (4, 0, 8, 2, 6, 1, 3, 5, 7)]
    whole = run("q", {"a": ["x"] * 9}, hits, 10**5, expand_window=0)
    some = run("q", {"a": ["x"] * 9}, hits, 10**5, expand_window=0, max_chars=len(whole.text) // 2)
    assert len(shown(whole)) == 9
    assert len(shown(some)) == 4


def test_an_estimate_a_tenth_over_what_is_left_is_tried():
    """Of the second 90 tokens are estimated, 20 of them for its title, which takes fewer: 82 left are enough to try."""
    texts, title = {("a", 0): sized("best", 30), ("b", 0): sized("other", 60)}, "a" * 80
    alone = COUNTER.count(f"[1] Source: {title}\n{texts['a', 0]}")
    assert taken(texts, alone + 81, title=title) == {("a", 0)}
    assert taken(texts, alone + 82, title=title) == {("a", 0), ("b", 0)}


def test_the_first_sixty_words_of_a_question_are_looked_for():
    assert len(stems_of(" ".join(f"{n:05}" for n in range(61)))) == 60


@pytest.mark.parametrize("question", ["the of and", "?!", "x" * 5000])
def test_a_question_without_words_is_answered_by_rank(question):
    done = run(question, {"a": ["x"], "b": ["x"]}, [("b", 0), ("a", 0)], 170)
    assert shown(done) == {("b", 0)}


def test_weights_are_read_as_they_are_written():
    assert shipped_weights().window == 6
    for window in (0, 2, 12):
        text = f"window = {window}\n[weights]\n" + "".join(f"{name} = {at}\n" for at, name in enumerate(Features._fields))
        assert read_weights(text) == Weights(Features(*map(float, range(len(Features._fields)))), window)
    text = "window = 2\n[weights]\n" + "".join(f"{name} = {100 * (-1) ** at}\n" for at, name in enumerate(Features._fields))
    assert set(read_weights(text).features) == {100.0, -100.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("window = ", "not TOML"),
        ("window = 3", "must give a number to each of near, distance"),
        ("window = 3\n[weights]\nnear = 1", "ctxasm fit"),
        ("window = 13\n[weights]\n" + "".join(f"{name} = 1\n" for name in Features._fields), "between 0 and 12, got 13"),
        ("window = -1\n[weights]\n" + "".join(f"{name} = 1\n" for name in Features._fields), "between 0 and 12, got -1"),
        ("window = 3\n[weights]\n" + "".join(f"{name} = 100.5\n" for name in Features._fields), "between -100 and 100, got 100.5"),
        ("window = 3\n[weights]\n" + "".join(f"{name} = inf\n" for name in Features._fields), "weights.near must be a number"),
        ("window = 3\n[weights]\n" + "".join(f"{name} = true\n" for name in Features._fields), "weights.near must be a number"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(text, words):
    with pytest.raises(InvalidInput, match=words):
        read_weights(text)
