"""Chats and sessions of other tools as rows: for each turn the question, what stands beside its answer, the answer, what was said before.

A chat is a list of messages, or an object of them by their names, wherever it stands. What was found for a turn is looked for in its
messages as in any other row: here they are only laid apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ctxasm.data.files.answer_places import answer_at
from ctxasm.data.files.literals import MAX_LEVELS, parsed
from ctxasm.data.names import ASIDE_WORDS, ASSISTANT_WORDS, USER_WORDS, plain_name, words_of

Object = Mapping[str, Any]
ROLES = ("role", "author", "sender", "from", "speaker", "message_type", "messagetype", "rolle", "rol", "rôle", "type")
FLAGS = {"iscreatedbyuser": True, "isuser": True, "fromuser": True, "isbot": False, "isai": False, "isassistant": False}
TEXTS = ("content", "text", "message", "parts", "value", "body", "inhalt", "nachricht", "bericht", "tekst", "contenu", "mensaje", "data")
IDS, PARENTS = ("id", "message_id", "messageid", "uuid"), ("parentid", "parentmessageid", "parent", "parentmessageuuid")
TIMES = ("createdat", "createtime", "created", "timestamp", "sentat", "createddate", "time", "date")
CALLS = ("toolcalls", "functioncall", "additionalkwargs")
STEPS = frozenset(("call", "output", "result", "results"))
"""Words of the types of what stands between messages: a call of a search holds what it found."""
CURRENT = ("currentid", "currentnode", "currentmessageid", "currentleafmessageuuid")
SESSIONS = ("sessionid", "chatid", "conversationid", "threadid")
MAX_DEPTH, MOST_KEPT = 6, 1_000


@dataclass(frozen=True, slots=True)
class Message:
    """A message: who speaks (`user`, `assistant`, `aside`; None where that is not known), what, and the object itself."""

    role: str | None
    text: str
    raw: Object
    names: Object


def exchanges_in(value: Any) -> list[dict[str, Any]]:
    """The turns of all chats in a value, one row each; empty where it holds no chat with an answer."""
    return [row for messages, around in _chats(value, {}, MAX_DEPTH) for row in _turns(messages, around)]


def _chats(value: Any, around: Object, depth: int) -> Iterator[tuple[list[Message], Object]]:
    if depth < 0:
        return
    if (messages := _messages(value, around)) is not None:
        by_session: dict[str, list[Message]] = {}
        for message in messages:
            by_session.setdefault(next((str(message.names[name]) for name in SESSIONS if name in message.names), ""), []).append(message)
        yield from ((own, around) for own in by_session.values())
        return
    if isinstance(value, list):
        for item in value:
            yield from _chats(item, {}, depth - 1)
    elif isinstance(value, Mapping):
        found = [
            chat for inner in value.values() if isinstance(inner, (list, dict)) for chat in _chats(inner, {**around, **value}, depth - 1)
        ]
        found.sort(key=lambda chat: -sum(len(message.raw) for message in chat[0]))
        kept: list[set[str]] = []
        for messages, own in found:
            said = {message.text for message in messages if message.role == "user"}
            if not any(said <= other for other in kept):  # the same chat as a list and as a tree
                kept.append(said)
                yield messages, own


def _messages(value: Any, around: Object) -> list[Message] | None:
    """The messages of a chat in their order; None where the value is no chat."""
    items = list(value.values()) if isinstance(value, Mapping) else list(_branches(value, MAX_LEVELS)) if isinstance(value, list) else []
    if len(items) < 2 or not all(isinstance(item, Mapping) for item in items):
        return None
    read = [_message(item) for item in items]
    found = [message for message in read if message is not None]
    if 2 * len(found) <= len(items) or (isinstance(value, Mapping) and len(found) < len(items) - 1):
        return None
    roles = {message.role for message in found}
    if "user" not in roles and not {"aside", "assistant"} <= roles:
        return None
    return _in_order(found, around)


def _branches(items: Sequence[Any], depth: int) -> Iterator[Any]:
    """The messages of a tree, those that stand in the `children` of another after it."""
    for item in items:
        below = item.get("children") if isinstance(item, Mapping) else None
        if depth and isinstance(below, list) and all(isinstance(child, Mapping) and _message(child) is not None for child in below):
            yield {name: value for name, value in item.items() if name != "children"}
            yield from _branches(below, depth - 1)
        else:
            yield item


def are_messages(items: Sequence[Any]) -> bool:
    """Whether objects are the messages of a chat."""
    return _messages(list(items), {}) is not None


def _message(item: Object) -> Message | None:
    names = {plain_name(str(name)): inner for name, inner in item.items()}
    inner = names.get("message") or names.get("data") or names.get("kwargs")
    if isinstance(inner, Mapping) and (own := _message({"type": _lc_type(names), **inner})) is not None:
        return Message(
            own.role, own.text, {**inner, **{key: value for key, value in item.items() if value is not inner}}, {**own.names, **names}
        )
    text = next((_text(names[name]) for name in TEXTS if name in names), None)
    role = _role(names)
    if text is None and isinstance(kind := names.get("type"), str) and STEPS & set(words_of(kind)):
        return Message("aside", "", item, names)
    if text is None or (role is None and not names.keys() & set(ROLES[:5])):
        return None
    return Message(role, text, item, names)


def _lc_type(names: Object) -> Any:
    path = names.get("id")
    return path[-1] if isinstance(path, list) and path else names.get("type")


def _role(names: Object) -> str | None:
    for flag, is_user in FLAGS.items():
        if isinstance(names.get(flag), bool):
            return "user" if names[flag] is is_user else "assistant"
    for name in ROLES:
        told = names.get(plain_name(name))
        if isinstance(told, Mapping):
            told = told.get("role") or told.get("name")
        words = set(words_of(told)) if isinstance(told, str) else set()
        for role, known in (("user", USER_WORDS), ("aside", ASIDE_WORDS), ("assistant", ASSISTANT_WORDS)):
            if words & known and len(words) < 4:
                return role
    return None


def _text(value: Any) -> str | None:
    """What a message says; "" where it says nothing."""
    if value is None or isinstance(value, str):
        return (value or "").strip()
    if isinstance(value, list):
        texts = [item if isinstance(item, str) else answer_at(item, "text") or answer_at(item, "text.value") for item in value]
        listed = [
            {"type": item.get("type") if isinstance(item, Mapping) else "", "text": text} for item, text in zip(value, texts, strict=True)
        ]
        return (answer_at({"content": listed}, "content[*].text") or "").strip()
    if isinstance(value, Mapping):
        return next((text for name in ("parts", "content", "text", "value") if name in value and (text := _text(value[name]))), None)
    return None


def _in_order(found: list[Message], around: Object) -> list[Message]:
    """Along the branch of a tree that is shown, else by time where the newest stands first, else as they stand."""
    by_id = {str(name): message for message in found if (name := _named(message, IDS)) is not None}
    parents = {id(message): _named(message, PARENTS) for message in found}
    if any(str(parent) in by_id for parent in parents.values()):
        current = next((str(value) for name, value in around.items() if plain_name(str(name)) in CURRENT), "")
        step: Message | None = by_id.get(current) or found[-1]
        chain: list[Message] = []
        while step is not None and step not in chain:
            chain.append(step)
            step = by_id.get(str(parents[id(step)]))
        return chain[::-1]
    times = [_named(message, TIMES) for message in found]
    alike = all(isinstance(time, (int, float)) for time in times) or all(isinstance(time, str) for time in times)
    return found[::-1] if alike and times[0] > times[-1] and times == sorted(times, reverse=True) else found


def _named(message: Message, names: Iterable[str]) -> Any:
    return next((message.names[name] for name in map(plain_name, names) if message.names.get(name) is not None), None)


def _turns(messages: Sequence[Message], around: Object) -> Iterator[dict[str, Any]]:
    """A row for each question."""
    groups: list[list[Message]] = []
    before: list[Message] = []
    if not any(message.role == "user" for message in messages):  # the question stands elsewhere, or nowhere
        groups, messages = [list(messages)], ()
    for message in messages:
        if message.role == "user" and message.text and (not groups or any(m.role != "user" for m in groups[-1])):
            groups.append([message])
        elif groups:
            groups[-1].append(message)
        else:
            before.append(message)
    answers = [[m for m in group if m.role in ("assistant", None) and m.text] for group in groups]
    aligned = _aligned(around, sum(map(bool, answers)), sum(m.role == "assistant" and bool(m.text) for m in messages))
    chat = {
        str(name): value
        for name, value in around.items()
        if isinstance(value, (str, int, float)) and value != "" and len(str(value)) <= MOST_KEPT
    }
    history: list[dict[str, str]] = []
    at, rows = -1, list[Any]()
    for group, said in zip(groups, answers, strict=True):
        question, answer = group[0], said[-1] if said else None
        row: dict[str, Any] = {"query": question.text} if question.role == "user" else {}
        if isinstance(name := _named(answer or question, IDS), (str, int)):
            row["query_id"] = str(name)
        row["found"] = [beside for message in group if (beside := _beside(message, question.text))]
        if answer is not None:
            at += 1
            row["response"] = answer.text
            row["found"] += [listed[at] for listed in aligned]
            if at + 1 == sum(map(bool, answers)) and not any(rows) and not row["found"]:
                row["found"] = [beside] if (beside := _around(around)) else []
            rows.append(row["found"])
        elif group is groups[-1] and (beside := _around(around)):
            row["reply"] = beside
        if before or any(message.role == "aside" and message.text for message in group):
            row["prompt"] = [
                {"role": {"aside": "system"}.get(m.role or "", m.role or "assistant"), "content": m.text}
                for m in (*before, *group)
                if m is not answer and m.text
            ]
        if history:
            row["history"] = list(history)
        if chat:
            row["chat"] = chat
        yield row
        history += [{"role": "user", "content": question.text}] if row.get("query") else []
        history += [{"role": "assistant", "content": answer.text}] if answer is not None else []


def _beside(message: Message, question: str) -> Any:
    """What a message holds but for its words: what was found for it stands there."""
    kept: dict[str, Any] = {}
    for name, value in message.raw.items():
        if plain_name(str(name)) in CALLS:
            continue
        if message.role == "aside":
            pass
        elif isinstance(value, list) and plain_name(str(name)) in TEXTS:
            value = [item for item in value if isinstance(item, Mapping) and _text([item]) != question]
        elif plain_name(str(name)) in TEXTS and _text(value) == message.text:
            continue
        opened = parsed(value)
        if isinstance(opened, (list, Mapping)) and opened:
            kept[str(name)] = opened
    return kept


def _around(around: Object) -> dict[str, Any]:
    """What stands beside a chat, but for chats: where no message holds what was found, it may stand there."""
    lists = {str(name): parsed(value) for name, value in around.items() if isinstance(value, (str, list, dict))}
    return {name: value for name, value in lists.items() if isinstance(value, (list, dict)) and value and not list(_chats(value, {}, 2))}


def _aligned(around: Object, turns: int, answers: int) -> list[list[Any]]:
    """Lists beside the messages that hold one entry an answer."""
    found = []
    for value in around.values():
        opened = parsed(value)
        if not isinstance(opened, list) or turns < 2 or len(opened) not in (turns, answers):
            continue
        if all(isinstance(item, list) or (isinstance(item, Mapping) and _message(item) is None) for item in opened):
            found.append(opened[len(opened) - turns :])
    return found
