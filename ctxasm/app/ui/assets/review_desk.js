// The desk of Review: the reader of Ask with a bar of verdicts for the claim and the source that are shown. Every verdict is told to the
// server at once, as a click is, in their order; until it is heard its claim says so. Every text is data from outside.

const DRAFT = 'ctxasm-note ';

// Tells the page, as soon as it listens; `then` is called with the number that this has.
const hear = (said, then) => {
  const clicks = window.ctxasmClicks;
  if (!clicks?.hear) { setTimeout(hear, 100, said, then); return; }
  clicks.hear(JSON.stringify(said));
  then?.(clicks.last);
};

class Desk extends Reader {
  constructor(root) {
    super(root);
    this.unheard = [];
    const note = this.find('review-note');
    note.addEventListener('input', () => { this.draft(note.value); clearTimeout(this.timer); this.timer = setTimeout(() => this.keepNote(), 800); });
    note.addEventListener('blur', () => this.keepNote());
  }

  take(data) {
    const { run, turn, go } = data.review, other = this.run !== run, began = this.run !== undefined;
    const held = this.holds, before = began ? this.item?.item : undefined;
    this.run = run; // first: what was typed for another answer is none of this one's
    // What was told and is not heard yet counts, though the data do not say it.
    this.unheard = this.unheard.filter((told) => told.number > data.review.heard);
    for (const told of this.unheard) if (told.run === run) data.review.items.find((item) => item.item === told.item).chosen = [told.value];
    super.take(data);
    const wanted = turn !== this.turn && go ? this.items.find((item) => item.item === go) : null;
    this.turn = turn;
    // Whoever has just typed a name goes on by keys: the desk appears then.
    const named = document.activeElement?.matches('input[aria-label="Your name"]');
    if (other) this.toItem(this.items.find((item) => !item.chosen.length) ?? this.items[0], began ? this.isFree : named);
    else if (wanted) this.toItem(wanted, this.isFree);
    else if (before && this.item?.item !== before) this.toItem(this.items.find((item) => item.item === before) ?? this.items[0], held);
    else if (held && this.shown) this.row?.querySelector('.claim')?.focus({ preventScroll: true });
    this.drawBar();
  }

  get items() { return this.data.review.items; }
  get item() {
    const own = this.shown ? this.items.filter((item) => item.at === this.shown.at) : [];
    return own.find((item) => item.number === this.shown.number) ?? own[0];
  }
  get row() { return this.root.querySelector(`.line[data-at="${this.shown?.at}"]`); }
  // Whether a claim of the answer has the focus.
  get holds() { return Boolean(this.root.getRootNode().activeElement?.matches('.claim, #answers, .seg')); }
  // Whether nothing is being typed, so that the focus may move.
  get isFree() { return !this.root.getRootNode().activeElement?.matches('textarea') && !document.activeElement?.matches('textarea, input, select'); }

  pane(pane, index) {
    const section = super.pane(pane, index), at = pane.claims.length, item = this.items.at(-1), words = this.wordsOf(item);
    section.querySelector('.headline')?.remove();
    section.querySelector('.lines').append(el('li', { class: 'line whole', 'data-pane': index, 'data-at': at, 'data-parts': '' },
      el('span', { class: 'verdict' }, el('i', { 'aria-hidden': 'true' }, words ? '✓' : '○'), words || 'not judged'),
      el('div', { class: 'words' }, el('span', { class: 'claim', role: 'button', tabindex: 0 }, 'The answer as a whole'))));
    return section;
  }

  draw() {
    super.draw();
    this.find('foot').querySelector('.toggle').hidden = true;
    this.find('reference').hidden = true;
  }

  wordsOf(item) { return this.data.review.whole.filter((verdict) => item.chosen.includes(verdict.value)).map((verdict) => verdict.label.toLowerCase()).join(', '); }

  drawDesk() {
    const mark = super.drawDesk(), claim = this.panes[0]?.claims[this.shown.at];
    if (!claim && this.shown.source === undefined) this.find('title').replaceChildren(el('b', {}, 'The answer as a whole'));
    this.drawBar();
    return mark;
  }

  // Which other sources the claim cites; nothing of what was found in them.
  drawNote(claim, own, card) {
    const others = (claim?.sources ?? []).map((source) => source.number).filter((number) => number !== this.shown.number);
    const says = claim && !card ? (claim.says || 'No source has this number.') : '';
    this.find('note').replaceChildren(...(says ? [el('p', {}, says)] : []), ...others.map((number) => el('button', { type: 'button', 'data-show': number }, `Also cites [${number}]`)));
    this.find('note').hidden = !says && !others.length;
  }

  drawBar() {
    const { item } = this, note = this.find('review-note');
    this.find('judge').hidden = !item;
    if (!item) return;
    const { verdicts, whole, conflicts } = this.data.review, isAnswer = item.at === this.panes[0].claims.length, last = this.panes[0].claims.length;
    this.find('judge-head').textContent = isAnswer ? 'The answer as a whole' : `Claim ${item.at + 1} of ${last} · ${item.label}`;
    this.find('verdicts').replaceChildren(...(isAnswer ? whole : verdicts).map((verdict, at) => el('button', { type: 'button', id: `verdict-${at + 1}`, 'data-verdict': verdict.value,
      'aria-pressed': String(item.chosen.includes(verdict.value)), 'aria-keyshortcuts': at + 1 }, el('kbd', {}, String(at + 1)), verdict.label)));
    this.find('differences').replaceChildren(...item.others.map((text) => el('li', {}, text)));
    this.find('review-source').hidden = isAnswer;
    this.find('review-reference').hidden = !this.data.reference;
    this.find('review-reference').setAttribute('aria-pressed', String(!this.find('reference').hidden));
    this.find('conflicts').replaceChildren(...conflicts.map((conflict) => el('div', {}, el('p', {}, el('b', {}, conflict.says)),
      el('p', {}, 'Saved there: ', conflict.theirs), el('p', {}, 'Yours, not saved: ', conflict.mine),
      el('button', { type: 'button', 'data-act': 'mine', 'data-value': conflict.key }, 'Save mine'), el('button', { type: 'button', 'data-act': 'theirs', 'data-value': conflict.key }, 'Leave it'))));
    this.find('conflicts').hidden = !conflicts.length;
    if (note.dataset.item !== item.item || note.dataset.run !== this.run) {
      this.keepNote();
      Object.assign(note.dataset, { item: item.item, run: this.run });
      note.value = this.drafted ?? item.note;
      note.hidden = !note.value;
      this.keepNote();
    } else if (!note.matches(':focus')) {
      // A text that was not heard yet stays; what was typed last counts.
      if (this.drafted === item.note) this.draft(null);
      note.value = this.drafted ?? item.note;
      note.hidden = note.hidden && !note.value;
    }
  }

  // A note that the server has not heard outlives a reload and a lost connection: kept by this browser until it stands in the data.
  get key() { const { run, item } = this.find('review-note').dataset; return `${DRAFT}${this.data.review.reviewer} ${run} ${item}`; }
  get drafted() { try { return localStorage.getItem(this.key); } catch { return null; } }
  draft(text) { try { if (text === null) localStorage.removeItem(this.key); else localStorage.setItem(this.key, text); } catch { /* a browser that keeps nothing */ } }

  keepNote() {
    clearTimeout(this.timer);
    const note = this.find('review-note'), { run, item } = note.dataset, own = run === this.run && this.items.find((one) => one.item === item);
    if (!own) return;
    if (note.value === own.note) { this.draft(null); return; }
    own.note = note.value;
    this.tell('note', note.value, own);
  }

  tell(act, value, item) {
    const told = { run: this.run, item: item?.item ?? '', value, number: Infinity };
    if (act === 'verdict') this.unheard.push(told);
    hear({ act, value, run: told.run, item: told.item }, (number) => { told.number = number; });
  }

  judge(value) {
    const { item } = this, isAnswer = item.at === this.panes[0].claims.length;
    this.tell(isAnswer ? 'answer' : 'verdict', value, item);
    if (!isAnswer) item.chosen = [value];
    this.row?.querySelector('.verdict')?.replaceChildren(el('i', { 'aria-hidden': 'true' }, '…'), 'saving');
    if (isAnswer) return;
    this.next(item);
  }

  // The next one that is not judged, else the one after it.
  next(item) {
    const after = this.items.slice(this.items.indexOf(item) + 1);
    this.toItem(after.find((one) => !one.chosen.length) ?? after[0] ?? item, true);
  }

  toItem(item, focus) {
    const row = this.root.querySelector(`.line[data-at="${item.at}"]`), origin = row?.querySelector('.claim') ?? row?.querySelector('.chip');
    this.show({ pane: 0, at: item.at, asked: item.number ?? undefined }, origin, true);
    if (focus) origin?.focus();
    if (focus && this.narrow) this.find('judge').scrollIntoView({ block: 'nearest' });
  }

  clicked(event) {
    const at = event.target.closest('button'), { verdict, act, value } = at?.dataset ?? {};
    if (event.target.closest('#judge') && !at) return;
    if (verdict !== undefined) this.judge(verdict);
    else if (act !== undefined) this.tell(act, value);
    else if (at?.id === 'review-note-key') { const note = this.find('review-note'); note.hidden = false; note.focus(); }
    else if (at?.id === 'review-skip') this.next(this.item);
    else if (at?.id === 'review-undo') this.tell('undo', '', this.item);
    else if (at?.id === 'review-source') this.reveal(this.drawDesk(), false);
    else if (at?.id === 'review-reference') { const place = this.find('reference'); place.hidden = !place.hidden; this.drawBar(); }
    else super.clicked(event);
  }

  pressed(event) {
    const { target, key } = event;
    if (target.matches('textarea')) {
      if (key === 'Escape' || (key === 'Enter' && (event.ctrlKey || event.metaKey))) { event.preventDefault(); this.row?.querySelector('.claim')?.focus(); }
      return;
    }
    if (key === 'Enter' && event.shiftKey) return;
    if (key === 'Enter' && target.matches('.claim') && target.closest('.current')) { event.preventDefault(); this.reveal(this.drawDesk(), false); return; }
    super.pressed(event);
  }
}

export default function (component) {
  const root = component.parentElement.querySelector('#ctx-reader');
  if (component.data.ask) {
    let name = null;
    try { name = localStorage.getItem('ctxasm-reviewer'); } catch { /* a browser that keeps nothing */ }
    root.hidden = true;
    if (name && !root.asked) { root.asked = true; hear({ act: 'name', value: name, run: '', item: '' }); }
    return;
  }
  root.hidden = false;
  try { localStorage.setItem('ctxasm-reviewer', component.data.review.reviewer); } catch { /* a browser that keeps nothing */ }
  (root.reader ??= new Desk(root)).take(component.data);
}
