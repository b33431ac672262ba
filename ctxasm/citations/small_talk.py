"""What an answer says to its reader and not of the world: "Good question!", "Laat het gerust weten.", "Ich hoffe, das hilft."

A whole sentence must be nothing but that; what says anything besides is a claim.
"""

from __future__ import annotations

import re

LONGEST = 160
"""A longer sentence, in characters, says more."""

_PATTERNS = (
    # praise, thanks and welcome
    r"(?:(?:that is|that's|what) an? )?(?:very )?(?:good|great|excellent|interesting) question",
    r"(?:dat is |wat )?(?:een )?(?:heel )?(?:goede|leuke|interessante|uitstekende) vraag",
    r"(?:das ist |was für )?(?:eine )?(?:sehr )?(?:gute|tolle|interessante|ausgezeichnete) frage",
    r"(?:sure|certainly|of course|absolutely|sure thing|no problem|hello|hi|hi there|thank you|thanks)(?: for (?:asking|your question))?",
    r"(?:natuurlijk|zeker|uiteraard|graag(?: gedaan)?|geen probleem|hallo|dag|goedendag|(?:dank u|dank je|"
    r"bedankt)(?: wel)?(?: voor (?:uw|je|de) vraag)?)",
    r"(?:natürlich|gerne?|sicher|klar|selbstverständlich|kein problem|hallo|guten tag|"
    r"(?:vielen )?dank(?: für (?:ihre|deine|die) (?:an)?frage)?)",
    # yes and no: what follows is the claim
    r"(?:yes|no|yep|nope|correct|indeed|exactly|right|true|ja|nee|nein|jawohl|klopt|inderdaad|precies|juist|genau|richtig|stimmt|oui|non|sí|si)"
    r"(?:,? (?:indeed|it is|it does|that is (?:correct|right)|dat klopt|inderdaad|das stimmt|genau|sir|ma'am))?",
    # help that is offered
    r"(?:i am|i'm|i would be|i'd be) (?:very )?(?:happy|glad) to (?:help|assist)(?: you)?(?: (?:with that|further))?",
    r"(?:here is|here's|here are) (?:the answer|what i found|what the (?:sources?|context) says?)",
    r"(?:please )?(?:feel free to |do not hesitate to |don't hesitate to )?(?:let me know|ask|reach out|"
    r"contact me)(?:,? if .*(?:you|questions?|help)\b.*)?",
    r"if you (?:have|need) any(?:thing| (?:more|other|further) (?:questions?|information|help)).{0,80}(?:ask|know|"
    r"help|reach out)\b.{0,20}",
    r"i hope (?:that )?(?:this|that|it) (?:helps|answers your question|was helpful)",
    r"(?:ik help (?:u|je) (?:graag|er graag mee)(?: verder)?|fijn dat (?:u|je) het vraagt|hier is het antwoord)",
    r"(?:laat het (?:me |mij )?(?:gerust |maar )?(?:weten|horen)|vraag gerust (?:verder|door))(?:,? (?:als|mocht) .*)?",
    r"(?:als|mocht) (?:u|je) (?:nog )?(?:andere |meer )?vragen (?:hebt|heeft|hebben).{0,80}(?:weten|vragen|contact|horen)\b.{0,20}",
    r"(?:hopelijk helpt dit(?: u| je)?(?: verder)?|ik hoop dat (?:dit|het) (?:u |je )?(?:helpt|verder helpt|uw vraag beantwoordt))",
    r"ich helfe (?:ihnen |dir )?gerne?(?: weiter)?|hier ist die antwort",
    r"(?:lassen sie (?:es )?mich (?:gerne )?wissen|sagen sie (?:mir )?(?:gerne )?bescheid|melden sie sich (?:gerne|"
    r"jederzeit)|fragen sie gerne(?: weiter)?)(?:,? (?:wenn|falls) .*)?",
    r"(?:wenn|falls) sie (?:noch )?(?:weitere )?fragen haben.{0,80}(?:wissen|fragen|melden|zur verfügung)\b.{0,20}",
    r"ich hoffe,? (?:das|dies|es) (?:hilft(?: ihnen| dir)?(?: weiter)?|beantwortet ihre frage)",
)
_SMALL_TALK = re.compile("|".join(_PATTERNS), re.IGNORECASE)
_AROUND = re.compile(r"\A[\W_]+|[\W_]+\Z")


def is_small_talk(text: str) -> bool:
    """Whether a sentence, without its markers, only says yes or no, greets, thanks, praises the question or offers more help."""
    return len(text) <= LONGEST and _SMALL_TALK.fullmatch(_AROUND.sub("", text).replace("’", "'")) is not None
