"""Export: copy and download of the context, the messages and the trace. Written when the button is pressed."""

from __future__ import annotations

import json

import streamlit as st

from ctxasm.answering.prompts import build_messages
from ctxasm.app.ui.frame.sharing import copy_button
from ctxasm.model.results import Assembly
from ctxasm.text.language import language_of


def messages_json(assembly: Assembly) -> str:
    """The messages as an OpenAI-compatible endpoint takes them."""
    messages = build_messages(assembly, language=language_of(assembly.query.query))
    return json.dumps([{"role": m.role, "content": m.content} for m in messages], ensure_ascii=False, indent=1)


def show_export(assembly: Assembly) -> None:
    """Three things to take along, each copied or downloaded."""
    name = assembly.query.query_id or "query"
    context, messages, trace = st.columns(3, gap="medium")
    with context:
        st.markdown("**Context** as the model reads it")
        copy_button("Copy context", assembly.text, "copy_context")
        st.download_button(
            "Download .txt", assembly.text, f"{name}-context.txt", "text/plain", key="download_context", on_click="ignore", width="stretch"
        )
    with messages:
        st.markdown("**Messages** for the model")
        written = messages_json(assembly)
        copy_button("Copy messages", written, "copy_messages")
        st.download_button(
            "Download .json",
            written,
            f"{name}-messages.json",
            "application/json",
            key="download_messages",
            on_click="ignore",
            width="stretch",
        )
    with trace:
        st.markdown("**Trace**: text, segments, stages, fates")
        whole = json.dumps(assembly.to_dict(), ensure_ascii=False, indent=1)
        copy_button("Copy trace", whole, "copy_trace")
        st.download_button(
            "Download trace", whole, f"{name}-trace.json", "application/json", key="download_trace", on_click="ignore", width="stretch"
        )
