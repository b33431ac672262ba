"""The answer that a dataset records, shown where the address asks for it: checked on the context as it is now, with nobody asked."""

from __future__ import annotations

import streamlit as st

from ctxasm.app.ui.ask.kept_answers import answers_to, keep
from ctxasm.app.ui.frame import server
from ctxasm.app.ui.frame.models import LEXICAL
from ctxasm.app.ui.frame.recorded_answers import recorded_answers
from ctxasm.app.ui.frame.session_records import Asked, KeptAnswer, KeptAnswers
from ctxasm.model.results import Assembly

PARAMETER, RECORDED = "answer", "recorded"
"""In the address: which answer is shown before one is asked for."""
WHO = "recorded answer"
"""What stands where an answer names its model."""


def keep_recorded(asked: Asked, dataset: str, assembly: Assembly) -> None:
    """Keep the recorded answer as one to what would be asked now, if the address wants it and no answer is there yet."""
    if st.query_params.get(PARAMETER) != RECORDED or answers_to(asked) is not None:
        return
    recorded = recorded_answers(dataset).get(asked.query.query_id)
    if recorded is None:
        return
    check = server.workbench().check(assembly, recorded.answer)
    told = KeptAnswer(WHO, False, recorded.answer, check.markers, done=True, complete=True, asked="", check=check, scorer=LEXICAL)
    keep(asked, assembly, ((told,),))


def is_recorded(kept: KeptAnswers) -> bool:
    """Whether the newest answer is the recorded one."""
    return any(told.model == WHO for told in kept.attempts[-1])
