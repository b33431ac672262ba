// The reading desk: the claims of an answer, and the passage of the source that each stands on. Only what is expected is told to the server.
// Every text is data from outside: it is only ever set as text, never read as markup.
// What it reads is declared in `ask/answer.py` and `ask/reader.py`; a record is called by the same short name here throughout.

const NARROW = 680; // px of the whole: below it the source opens inside the line of its claim
const NEAR = 120; // px below its head within which a mark may stay where it is

const el = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'class') node.className = value;
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
  return node;
};
const say = (tag, css, text) => (text ? el(tag, { class: css }, text) : null);
const tagOf = (claim) => el('span', { class: 'verdict' }, el('i', { 'aria-hidden': 'true' }, claim.sign), claim.name);
const numberOf = (card) => card.number ?? 0;

class Reader {
  constructor(root) {
    this.root = root;
    this.find = (id) => root.querySelector('#' + id);
    [this.attempt, this.before, this.filter, this.whole, this.shown, this.origin] = [0, false, '', false, null, null];
    root.addEventListener('click', (event) => this.clicked(event));
    root.addEventListener('keydown', (event) => this.pressed(event));
    this.find('before').addEventListener('change', (event) => { this.before = event.target.checked; this.drawBefore(); });
    new ResizeObserver(() => this.place()).observe(root);
  }

  take(data) {
    this.root.dataset.run = data.run;
    if (this.version === data.version) return;
    const again = this.data?.attempts.length === data.attempts.length;
    const held = this.root.contains(this.root.getRootNode().activeElement);
    // The reader of the same answers may be another one now: what it showed is kept beside it.
    const about = JSON.stringify(data.attempts.map((panes) => panes.map((pane) => pane.lines)));
    const { attempt, shown } = window.ctxasmRead?.about === about ? window.ctxasmRead : {};
    [this.data, this.version, this.about] = [data, data.version, about];
    if (!again) this.attempt = Math.max(0, data.attempts.length - 1);
    this.attempt = attempt ?? this.attempt;
    this.draw();
    if (held) this.find('answers').focus({ preventScroll: true });
    // What only says what is expected now leaves the reader at its claim.
    if (shown && this.panes[shown.pane]?.claims[shown.at]) {
      this.show(shown, this.root.querySelector(`.line[data-pane="${shown.pane}"][data-at="${shown.at}"] .claim`), true);
      if (held) this.find('expected').querySelector('button')?.focus({ preventScroll: true });
    }
  }

  get panes() { return this.data.attempts[this.attempt] ?? []; }
  get narrow() { return this.root.clientWidth <= NARROW; }

  draw() {
    this.clear();
    this.drawAttempts();
    const empty = el('div', { class: 'empty', id: 'ctx-no-answer' }, el('h2', {}, 'No answer yet'),
      el('p', {}, 'The default model quotes the context and needs no key.'));
    this.find('answers').replaceChildren(...(this.panes.length ? this.panes.map((pane, index) => this.pane(pane, index)) : [empty]));
    this.find('reference').querySelector('p').textContent = this.data.reference;
    this.find('reference').hidden = !this.data.reference;
    this.drawSources();
    this.drawFilter();
    this.drawBefore();
    const spoken = this.panes.map((pane) => pane.summary).join(' ');
    requestAnimationFrame(() => { this.find('live').textContent = spoken; });
    // What needs a look is open from the start, where that pushes nothing away.
    const first = this.root.querySelector('.line:has(.says)') ?? this.root.querySelector('.line');
    // Beside an answer that states nothing stands the passage that it did not use.
    const declined = this.panes.findIndex((pane) => pane.unused.length && !pane.choices.length);
    if (declined >= 0) this.show({ pane: declined, unused: 0 }, this.root.querySelector(`[data-pane="${declined}"] .uses`), true);
    else if (first && !this.narrow) this.show({ pane: Number(first.dataset.pane), at: Number(first.dataset.at) }, null, true);
  }

  drawAttempts() {
    const many = this.data.attempts.length > 1;
    this.find('attempts').replaceChildren(...this.data.attempts.map((_, at) => el('button',
      { type: 'button', 'data-attempt': at, 'aria-pressed': String(at === this.attempt) }, `Answer ${at + 1}`)));
    this.find('attempts').hidden = !many;
  }

  // the answer

  pane(pane, index) {
    const own = index ? `-${index + 1}` : '';
    const uses = pane.unused.length ? el('button', { type: 'button', class: 'uses', 'data-unused': '' }, pane.uses) : say('span', 'uses', pane.uses);
    uses?.classList.toggle('missed', pane.missed);
    const head = pane.choices.length
      ? el('div', { class: 'headline', role: 'group', 'aria-label': 'Claims to show' }, ...pane.choices.map((choice) => this.choice(choice)), say('span', 'doubt', pane.doubt), uses)
      : el('div', { class: 'headline said' }, say('span', '', pane.summary), uses);
    const lines = el('ol', { class: 'lines', id: `ctx-answer${own}`, 'data-done': String(pane.done), 'data-plain': !pane.marked },
      ...pane.lines.map((line) => this.line(line, pane, index)));
    const panel = pane.panel && el('div', { class: 'panel', id: pane.panel.id, role: 'alert' },
      el('h3', {}, pane.panel.heading), el('p', {}, pane.panel.text), say('p', 'mute', pane.panel.still));
    const unchecked = pane.unchecked && el('div', { class: 'panel', role: 'alert', 'data-unchecked': '' },
      el('h3', {}, 'The answer could not be checked this way'), el('p', {}, pane.unchecked), el('p', { class: 'mute' }, 'Checked by words and figures (lexical) instead.'));
    const figures = pane.figures.map((figure) => el('li', {}, el('b', {}, figure.value), ` ${figure.says} `, el('span', { class: 'mute' }, `(${figure.name})`)));
    const more = !pane.how.length ? null : el('details', { class: 'more' }, el('summary', {}, 'Check details'),
      figures.length ? el('ul', { class: 'figures' }, ...figures) : null, el('ul', {}, ...pane.how.map((text) => el('li', { class: 'mute' }, text))));
    return el('section', { class: 'pane', 'data-pane': index, 'aria-label': `Answer of ${pane.model}` },
      this.panes.length > 1 ? say('h2', 'model', pane.model) : null, head, lines, panel, unchecked, more);
  }

  choice(choice) {
    return el('button', { type: 'button', 'data-filter': choice.part, 'data-part': choice.part },
      choice.sign ? el('i', { 'aria-hidden': 'true' }, choice.sign) : null, choice.label);
  }

  line(line, pane, index) {
    const claim = pane.claims[line.claim];
    const nodes = line.pieces.map((piece, at) => (piece.label === undefined ? this.stretch(piece, claim, at) : this.chip(piece)));
    const words = el('div', { class: 'words', dir: 'auto' }, ...this.stuck(nodes));
    if (!claim) return el('li', { class: 'aside' }, words);
    const titles = claim.sources.map((source) => (pane.marked ? el('span', {}, `[${source.number}] ${source.title}`)
      : el('button', { type: 'button', class: 'link', 'data-chip': source.number, 'data-attribution': '' }, `source: ${source.title} [${source.number}]`)));
    return el('li', { class: 'line', 'data-pane': index, 'data-at': line.claim, 'data-part': claim.parts[0], 'data-parts': claim.parts.join(' ') }, tagOf(claim), words,
      el('div', { class: 'from' }, say('span', 'says', claim.says), ...(claim.says && pane.marked ? [] : titles)));
  }

  stretch(piece, claim, at) {
    const text = at ? piece.text : piece.text.trimStart();
    if (!claim) return text;
    const press = text.trim() ? { role: 'button', tabindex: at ? -1 : 0 } : {};
    return el('span', { class: piece.clash ? 'claim clash' : 'claim', ...press }, text);
  }

  chip(piece) {
    const label = piece.known || piece.number === null ? piece.label : `[${piece.label}]`;
    const mark = piece.mark || (piece.known ? '' : 'unknown');
    return el('button', { type: 'button', class: 'chip', 'data-chip': piece.number ?? 0, 'data-marker': piece.known ? piece.number : null,
      'data-unknown': piece.known ? null : piece.number ?? '', 'data-part': piece.part, 'data-mark': mark, 'data-stale': piece.known ? piece.stale : '',
      'data-spoken': piece.spoken, 'aria-label': piece.spoken }, el('span', { class: 'n' }, label), el('i', { class: 'mark' }, mark));
  }

  // A chip stays on the row of the word before it.
  stuck(nodes) {
    const joined = [];
    for (const node of nodes) {
      if (!node.classList?.contains('chip')) { joined.push(node); continue; }
      if (joined.at(-1)?.className !== 'stuck' || joined.at(-1).children.length > 2) {
        const last = joined.at(-1), word = last?.classList?.contains('claim') ? /\S{1,24} *$/.exec(last.textContent)?.[0] : null;
        const whole = word === last?.textContent, end = word ? (whole ? joined.pop() : last.cloneNode(false)) : null;
        if (word && !whole) { last.textContent = last.textContent.slice(0, -word.length); end.textContent = word; end.tabIndex = -1; if (!last.textContent.trim()) last.removeAttribute('role'); }
        joined.push(el('span', { class: 'stuck' }, end));
      }
      joined.at(-1).append(node);
    }
    return joined;
  }

  drawFilter() {
    if (!this.panes.some((pane) => pane.choices.some((choice) => choice.part === this.filter))) this.filter = '';
    for (const button of this.root.querySelectorAll('[data-filter]')) button.setAttribute('aria-pressed', String(button.dataset.filter === this.filter));
    for (const row of this.root.querySelectorAll('.lines > li')) row.hidden = Boolean(this.filter) && !(row.dataset.parts ?? '').split(' ').includes(this.filter);
  }

  // the sources

  drawSources() {
    const times = {}, place = this.find('ctx-sources'), cards = this.data.cards;
    for (const pane of this.panes) for (const line of pane.lines) for (const piece of line.pieces) if (piece.known) times[piece.number] = (times[piece.number] ?? 0) + 1;
    place.querySelector('summary').textContent = cards.length === 1 ? 'The one source' : cards.length ? `All ${cards.length} sources` : 'The context is empty';
    place.querySelector('ol').replaceChildren(...cards.map((card) => el('li', {}, el('button', { type: 'button', class: 'card', 'data-source': numberOf(card) },
      el('b', { class: 'num' }, card.number === null ? '–' : String(card.number)), el('span', { class: 'link' }, card.title), say('span', 'mute', times[card.number] ? `cited ${times[card.number]}×` : '')))));
    place.open = !this.panes.length;
  }

  // Opens the passages of these spans; the whole source where nothing is marked, or where it is asked for.
  drawDesk() {
    const { pane, at, number } = this.shown, claim = this.panes[pane]?.claims[at], own = this.spans, card = this.data.cards.find((card) => numberOf(card) === number);
    const here = own.filter((span) => span.number === number), lead = here.find((span) => span.kind === 'clash') ?? here[0];
    const whole = this.whole || !here.length, marks = [];
    const about = [lead?.where, card?.about].filter(Boolean).map((text) => el('span', {}, text));
    if (lead && lead.kind !== 'summary' && lead.added !== null) about.push(el('span', { class: lead.added ? 'neighbour' : 'found' }, lead.added ? 'neighbour' : 'found'));
    this.find('title').replaceChildren(...(card ? [el('b', {}, card.number === null ? card.title : `[${card.number}] ${card.title}`), ...about] : []));
    this.drawNote(claim, own, card);
    this.drawExpected(claim);
    const nodes = [];
    let skipped = false;
    for (const part of card?.parts ?? []) {
      if (!whole && !here.some((span) => part.start >= span.low && part.end <= span.high)) { skipped ||= Boolean(part.text.trim()); continue; }
      if (skipped) nodes.push(el('span', { class: 'cut' }, '… '));
      skipped = false;
      if (part.opens && whole) nodes.push(el('i', { class: part.added ? 'ix added' : 'ix', title: `chunk ${part.chunk}, ${part.added ? 'neighbour' : 'found'}` }, String(part.chunk)));
      const node = el('span', { class: `seg ${part.kind}`, 'data-added': part.added }, part.text);
      for (const span of here) if (part.start >= span.start && part.end <= span.end) { node.classList.add('hit', `hit-${span.kind}`, part.text.length < 24 ? 'short' : 'long'); if (span === lead) marks.push(node); }
      nodes.push(node);
    }
    if (skipped) nodes.push(el('span', { class: 'cut' }, ' …'));
    this.find('passage').replaceChildren(...nodes);
    this.find('whole-source').hidden = !here.length;
    this.find('whole-source').setAttribute('aria-pressed', String(whole));
    this.find('desk').hidden = false;
    return marks[0];
  }

  drawNote(claim, own, card) {
    const { asked, unused } = this.shown, kinds = own.map((span) => span.kind);
    const others = [...new Set(own.concat(claim?.spans ?? []).map((span) => span.number))].filter((number) => number !== this.shown.number);
    const lines = [];
    if (!card) lines.push(claim?.says || 'No source has this number.');
    else if (unused !== undefined) lines.push(kinds.includes('nearest') ? 'Nearest to the question, not used.' : 'Expected, not used.');
    else if (asked !== undefined && !claim) lines.push('This marker belongs to no claim.');
    else if (claim && !own.some((span) => span.number === this.shown.number)) lines.push(`Nothing is marked: the claim is not found in [${this.shown.number}].`);
    const ways = others.map((number) => el('button', { type: 'button', 'data-show': number }, `${lines.length ? 'Show' : 'Also'} in [${number}]`));
    this.find('note').replaceChildren(...lines.map((text) => el('p', {}, text)), ...ways);
    this.find('note').hidden = !lines.length && !ways.length;
  }

  // Which passages of the claim the question expects: approved here one by one, and taken back.
  drawExpected(claim) {
    const rows = (claim?.passages ?? []).map((passage) => {
      const does = passage.expected ? 'Undo' : 'Yes';
      const button = passage.fixed ? null : el('button', { type: 'button', 'data-click': passage.click, 'aria-label': `${does}: ${passage.title}` }, does);
      return el('p', {}, passage.expected ? `● ${passage.title} is expected for this question` : `Is ${passage.title} right for this question?`, button);
    });
    this.find('expected').replaceChildren(...rows);
    this.find('expected').hidden = !rows.length;
  }

  // what a click shows

  clicked(event) {
    const at = event.target.closest('button, .claim, .line');
    if (!at || !this.root.contains(at) || (at.matches('.line') && event.target.closest('#beside'))) return;
    const { attempt, filter, chip, source, show, click, unused } = at.dataset, row = at.closest('.line');
    const of = row ? { pane: Number(row.dataset.pane), at: Number(row.dataset.at) } : {};
    if (at.id === 'previous-claim') this.step(-1);
    else if (at.id === 'next-claim') this.step(1);
    else if (at.id === 'whole-source') { if (this.shown) { this.whole = !this.whole; this.again(); } }
    else if (click !== undefined) window.ctxasmClicks?.hear?.(click);
    else if (at.id === 'keys') window.dispatchEvent(new Event('ctxasm-keys'));
    else if (attempt !== undefined) { this.attempt = Number(attempt); this.draw(); this.find('attempts').children[this.attempt].focus(); }
    else if (filter !== undefined) { this.filter = this.filter === filter ? '' : filter; this.drawFilter(); }
    else if (unused !== undefined) this.showUnused(Number(at.closest('.pane').dataset.pane), at);
    else if (source !== undefined) this.show({ source: Number(source) }, at);
    else if (show !== undefined) this.show({ ...this.shown, asked: Number(show) }, this.origin);
    else if (chip !== undefined) this.show({ ...of, asked: Number(chip) }, at);
    else if (row?.classList.contains('current') && this.narrow) this.clear();
    else if (row) this.show(of, row.querySelector('.claim, .chip'));
  }

  pressed(event) {
    if (event.key === 'Escape' && this.origin?.isConnected && !this.origin.matches(':focus')) {
      event.preventDefault();
      event.stopPropagation();
      const origin = this.origin;
      if (this.narrow) this.clear();
      origin.focus();
    }
    if (event.target.matches('.claim') && (event.key === 'Enter' || event.key === ' ')) { event.preventDefault(); event.target.click(); }
  }

  // Open a source at what carries a claim; where nothing does, open it and say so. `wanted`: claim `at` of a pane, of that what stands in
  // source `asked` alone, or passage `unused` of the pane, or what all claims stand on in a `source`.
  show(wanted, origin, quietly = false) {
    this.clear();
    const { pane, at, asked, unused, source } = wanted, claim = this.panes[pane]?.claims[at];
    [this.shown, this.origin, this.whole] = [{ pane, at, asked, unused, source }, origin, false];
    const spans = this.spans, lead = spans.find((span) => span.kind === 'clash') ?? spans[0];
    this.shown.number = source ?? asked ?? lead?.number ?? claim?.sources[0]?.number ?? null;
    window.ctxasmRead = { about: this.about, attempt: this.attempt, shown: this.shown };
    const row = this.root.querySelector(`.line[data-pane="${pane}"][data-at="${at}"]`);
    row?.classList.add('current');
    row?.querySelector('.claim')?.setAttribute('aria-current', 'true');
    if (!row || asked !== undefined) origin?.classList.add('current');
    const mark = this.drawDesk();
    this.place();
    this.reveal(mark, quietly);
  }

  // What is marked of what is shown.
  get spans() {
    const { pane, at, asked, unused, source } = this.shown;
    if (unused !== undefined) return [this.panes[pane].unused[unused]];
    const claims = source === undefined ? [this.panes[pane]?.claims[at]] : this.panes.flatMap((each) => each.claims);
    const number = source ?? asked;
    return claims.flatMap((claim) => claim?.spans ?? []).filter((span) => number === undefined || span.number === number);
  }

  // The next passage that the answer does not use.
  showUnused(pane, origin) {
    const before = this.shown?.pane === pane ? this.shown.unused ?? -1 : -1;
    this.show({ pane, unused: (before + 1) % this.panes[pane].unused.length }, origin);
  }

  // The same once more, whole or not.
  again() { this.reveal(this.drawDesk(), true); }

  clear() {
    for (const node of this.root.querySelectorAll('.current')) node.classList.remove('current');
    this.root.querySelector('[aria-current]')?.removeAttribute('aria-current');
    [this.shown, this.origin] = [null, null];
    window.ctxasmRead = { about: this.about, attempt: this.attempt, shown: null };
    this.find('passage').replaceChildren();
    this.find('desk').hidden = true;
    this.place();
  }

  // Beside the answer; on a narrow page under the claim that it is about.
  place() {
    const row = this.narrow ? this.root.querySelector('.current.line') : null, home = row ?? this.root.querySelector('.columns'), beside = this.find('beside');
    if (beside.parentElement !== home) home.append(beside);
  }

  // The mark right under the head of its source; the page moves only where it is out of sight.
  reveal(mark, quietly) {
    const desk = this.find('desk'), target = mark ?? this.find('head');
    desk.scrollTop = 0;
    const under = mark ? mark.getBoundingClientRect().top - this.find('head').getBoundingClientRect().bottom : 0;
    if (under > NEAR) desk.scrollTop = under - NEAR / 2;
    if (quietly) return;
    target.tabIndex = -1;
    target.focus({ preventScroll: true });
    const box = target.getBoundingClientRect();
    if (box.top < 60 || box.bottom > innerHeight - 20) target.scrollIntoView({ block: 'center', behavior: this.motion });
  }

  step(by) {
    const rows = [...this.root.querySelectorAll('.line:not([hidden])')], at = rows.findIndex((row) => row.classList.contains('current'));
    const row = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))];
    if (!row) return;
    const origin = row.querySelector('.claim, .chip');
    this.show({ pane: Number(row.dataset.pane), at: Number(row.dataset.at) }, origin, true);
    origin?.focus();
  }

  get motion() { return matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth'; }

  // had citations been built before assembly

  drawBefore() {
    const cites = this.root.querySelector('.chip[data-marker]') !== null, many = this.panes.length > 1;
    this.root.querySelector('.toggle').hidden = !cites;
    this.find('before').checked = this.before;
    for (const chip of this.root.querySelectorAll('.chip')) {
      const wrong = this.before && chip.dataset.stale;
      chip.classList.toggle('stale', Boolean(wrong));
      chip.querySelector('.mark').textContent = wrong ? 'wrong' : chip.dataset.mark;
      chip.setAttribute('aria-label', wrong ? `${chip.dataset.spoken}; ${chip.dataset.stale}` : chip.dataset.spoken);
    }
    const told = this.panes.flatMap((pane) => [el('p', {}, many ? `${pane.model}: ${pane.before.says}` : pane.before.says),
      pane.before.which.length ? el('ul', {}, ...pane.before.which.map((text) => el('li', {}, text))) : null]).filter(Boolean);
    this.find('would').replaceChildren(...told);
    this.find('would').hidden = !this.before || !cites;
  }
}

export default function (component) {
  const root = component.parentElement.querySelector('#ctx-reader');
  (root.reader ??= new Reader(root)).take(component.data);
}
