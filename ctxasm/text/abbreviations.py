"""Words that tell whether a full stop ends a sentence, in Dutch, English and German, lower case, without their last full stop."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


GOES_ON = _words(
    "dr drs prof ir ing mr mrs mevr dhr mw mej ds fa fam dipl hr bijv resp vs viz bzw vgl ggf evtl bspw sog zgn gov d.w.z o.a i.v.m t.a.v "
    "i.p.v m.b.t t.o.v o.l.v n.a.v t.g.v m.i m.n z.g z.b z d.h u.a e.g i.e zgn"
)
"""After these a sentence goes on, whatever follows."""
BEFORE_FIGURES = _words(
    "nr nrs no nos ca tel max min incl excl inkl zzgl art artt fig figs sec p pp s st vol ch eq tab par hfst bd kap str abs abb blz ed op "
    "approx est dept cf jh aufl hrsg jan feb febr mrt apr jun jul aug sep sept okt oct nov dec dez ma di wo do vr za zo mo mi sa so "
    "ft"
)
"""After these it goes on when a figure or a small letter follows."""
MAY_END = _words("al bv enz etc usw usf e.d e.v a.s jl jr sr inc ltd corp co btw n.v b.v n.v.t p.m a.m u m.d ph.d c.s i.c m.a.w")
"""These go on too, but end a sentence before a capitalised word that begins sentences."""
BEGINNERS = _words(
    "de het een dit dat deze die er hij zij ze we wij u ik je in op als bij voor met na om door van daarna ook maar wie wat waar hoe wees "
    "daar daarom toch neem bel let kunt wilt moet mag heeft hebt bent blijf breng kom vraag volg meld the a an this that these those it he "
    "she they you if when while after before for on at however then there later eat do not visitors "
    "der das ein eine es sie wir ihr ich im am wenn nach danach auch aber alles niemand en and und"
)
MONTHS = _words(
    "januar jänner februar märz april mai juni juli august september oktober november dezember jahrhundert jahrhunderts weltkrieg "
    "weltkriegs etage stock klasse"
)
"""After a German ordinal (`3. Mai`, `2. Weltkrieg`)."""
DOMAINS = _words("com nl org eu uk io dev js ts py rs md txt pdf html htm csv json doc docx exe")
"""What may follow a full stop in a name (`Booking.Com`)."""
SMALL_WORDS = {
    "en": _words("the a and of to that which are with for by from or not it he she they this these was on"),
    "nl": _words("de het een en van op te dat zijn met voor aan er om door bij ook niet of deze dit als naar wordt hij"),
    "de": _words("der die das und ist nicht ein eine mit für von auf wird sind im dem zu sich auch bei zur zum oder wie er es"),
}
"""What each language is told by."""
