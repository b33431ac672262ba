// The reader of an answer: chips, claims, context and table in one place, so that no click needs the server.
// Every text is data from outside: it is only ever set as text, never read as markup.
// What it reads is declared in `ask/reader_record.py`; a record is called by the same short name here throughout.

const el = (tag, attributes = {}, ...children) => {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'class') node.className = value;
    else if (name === 'colour') node.style.setProperty('--c', value);
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  node.append(...children.filter((child) => child !== null && child !== ''));
  return node;
};
const say = (tag, css, text) => (text ? el(tag, { class: css }, text) : null);
// A gap mark stands on a line of its own: the box around it holds neither of its line breaks.
const boxed = (text) => [/^\s*/.exec(text)[0], text.trim() ? el('span', { class: 'box' }, text.trim()) : '', text.trim() ? /\s*$/.exec(text)[0] : ''];
const verdictTag = ({ verdict, sign, name }) => el('span', { class: 'verdict', 'data-verdict': verdict }, el('i', { 'aria-hidden': 'true' }, sign), name);

class Reader {
  constructor(root) {
    this.root = root;
    this.find = (id) => root.querySelector('#' + id);
    [this.attempt, this.before, this.filter, this.shown, this.origin] = [0, false, 'all', null, null];
    root.addEventListener('click', (event) => this.clicked(event));
    root.addEventListener('keydown', (event) => this.pressed(event));
    for (const [on, off] of [['mouseover', 'mouseout'], ['focusin', 'focusout']]) {
      root.addEventListener(on, (event) => this.hint(event.target.closest('[data-claim]')));
      root.addEventListener(off, (event) => { if (event.target.closest('[data-claim]')) this.find('tip').hidden = true; });
    }
    this.find('before').addEventListener('change', (event) => { this.before = event.target.checked; this.drawBefore(); });
  }

  take(data) {
    this.root.dataset.run = data.run;
    if (this.version === data.version) return;
    const again = this.data?.attempts.length === data.attempts.length;
    [this.data, this.version, this.shown, this.origin] = [data, data.version, null, null];
    if (!again) this.attempt = Math.max(0, data.attempts.length - 1);
    this.drawContext();
    this.draw();
  }

  get panes() { return this.data.attempts[this.attempt] ?? []; }

  draw() {
    this.clear();
    this.drawAttempts();
    const hint = this.data.hint;
    const panes = this.panes.map((pane, index) => this.pane(pane, index));
    const empty = el('div', { class: 'empty', id: 'ctx-no-answer' }, el('h2', {}, hint.heading), el('p', {}, hint.text));
    this.find('answers').replaceChildren(...(panes.length ? panes : [empty]));
    this.drawCited();
    this.drawTable();
    this.drawBefore();
    const spoken = this.panes.map((pane) => pane.summary).join(' ');
    requestAnimationFrame(() => { this.find('live').textContent = spoken; });
  }

  drawAttempts() {
    const many = this.data.attempts.length > 1;
    const buttons = this.data.attempts.map((_, at) => el('button',
      { type: 'button', 'data-attempt': at, 'aria-pressed': String(at === this.attempt) }, `Answer ${at + 1}`));
    this.find('attempts').replaceChildren(...(many ? buttons : []));
    const cites = this.panes.some((pane) => pane.pieces.some((piece) => piece.known));
    this.find('bar').hidden = !many && !cites;
    this.root.querySelector('.toggle').hidden = !cites;
  }

  // the answer

  pane(pane, index) {
    const own = index ? `-${index + 1}` : '';
    const head = el('header', {}, el('b', {}, pane.model), ...pane.badges.map((text) => el('span', { class: 'badge' }, text)));
    const text = el('div', { class: 'answer', id: `ctx-answer${own}`, dir: 'auto', 'data-done': String(pane.done), 'data-plain': !pane.marked });
    text.append(...this.pieces(pane, index));
    const panel = pane.panel && el('div', { class: 'panel', id: pane.panel.id, role: 'alert' },
      el('h3', {}, pane.panel.heading), el('p', {}, pane.panel.text), say('p', 'mute', pane.panel.still));
    const unchecked = pane.unchecked && el('div', { class: 'panel', role: 'alert', 'data-unchecked': '' },
      el('h3', {}, 'The answer could not be checked this way'), el('p', {}, pane.unchecked), el('p', { class: 'mute' }, 'Checked by words and figures (lexical) instead.'));
    return el('section', { class: 'pane', 'data-pane': index, 'aria-label': `Answer of ${pane.model}` }, head,
      say('p', 'summary', pane.summary), text, panel, unchecked, this.figures(pane), say('p', 'how', pane.how));
  }

  pieces(pane, index) {
    const nodes = [];
    const lastOf = new Map(), chipped = new Set();
    pane.pieces.forEach((piece, at) => {
      if (piece.label !== undefined) chipped.add(piece.claim);
      else if (piece.claim !== null) lastOf.set(piece.claim, at);
    });
    const first = new Set();
    pane.pieces.forEach((piece, at) => {
      if (piece.label !== undefined) { nodes.push(this.chip(piece, index)); return; }
      if (piece.claim === null) { nodes.push(pane.marked ? piece.text : piece.text.trim()); return; }
      nodes.push(this.stretch(piece, pane.claims[piece.claim], index, !first.has(piece.claim)));
      first.add(piece.claim);
      if (lastOf.get(piece.claim) === at && !chipped.has(piece.claim)) nodes.push(this.tag(pane, piece.claim, index));
    });
    return this.stuck(nodes);
  }

  // A chip stays on the line of the word before it.
  stuck(nodes) {
    const joined = [];
    for (const node of nodes) {
      if (!node.classList?.contains('chip')) { joined.push(node); continue; }
      if (joined.at(-1)?.className !== 'stuck' || joined.at(-1).children.length > 2) {
        const gap = typeof joined.at(-1) === 'string' && /^ +$/.test(joined.at(-1)) ? joined.pop() : '';
        const last = joined.at(-1), word = last?.classList?.contains('claim') ? /\S{1,24} *$/.exec(last.textContent)?.[0] : null;
        const whole = word === last?.textContent, end = word ? (whole ? joined.pop() : last.cloneNode(false)) : null;
        if (word && !whole) { last.textContent = last.textContent.slice(0, -word.length); end.textContent = word; end.tabIndex = -1; }
        joined.push(el('span', { class: 'stuck' }, end, gap));
      }
      joined.at(-1).append(node);
    }
    return joined;
  }

  stretch(piece, claim, pane, first) {
    return el('span', { class: piece.clash ? 'claim clash' : 'claim', role: 'button', tabindex: first ? 0 : -1, 'data-pane': pane,
      'data-claim': piece.claim, 'data-verdict': claim.verdict, 'aria-describedby': 'tip' }, piece.text);
  }

  chip(piece, pane) {
    const label = piece.known || piece.number === null ? piece.label : `[${piece.label}]`;
    const mark = piece.mark || (piece.known ? '' : 'unknown');
    return el('button', { type: 'button', class: 'chip', 'data-pane': pane, 'data-claim': piece.claim ?? -1, 'data-chip': piece.number ?? '',
      'data-marker': piece.known ? piece.number : null, 'data-unknown': piece.known ? null : piece.number ?? '', 'data-verdict': piece.verdict,
      'data-mark': mark, 'data-sign': piece.sign, 'data-name': piece.name, 'data-stale': piece.known ? piece.stale : '', 'data-spoken': piece.spoken, 'aria-label': piece.spoken },
      el('span', { class: 'n' }, label), el('i', { class: 'mark' }, mark));
  }

  // What stands where a claim has no chip: that it cites nothing or, where no markers were asked for, where it is found.
  tag(pane, at, index) {
    const claim = pane.claims[at], source = claim.sources[0];
    const found = !pane.marked && source && claim.verdict === 'supported' ? `${source.title} [${source.number}]` : '';
    const text = found ? `source: ${found}` : claim.name;
    return el('button', { type: 'button', class: 'tag', 'data-pane': index, 'data-claim': at, 'data-verdict': claim.verdict,
      'data-attribution': !pane.marked, 'aria-label': `${claim.name}: ${claim.says}` }, el('i', { 'aria-hidden': 'true' }, claim.sign), text);
  }

  figures(pane) {
    if (!pane.figures.length) return null;
    const one = (figure) => el('div', {}, el('dt', {}, figure.name), el('dd', {}, el('b', {}, figure.value), el('span', {}, figure.says)));
    return el('dl', { class: 'figures' }, ...pane.figures.map(one));
  }

  // the context

  drawContext() {
    this.marks = [];
    const nothing = el('div', { class: 'empty' }, el('h2', {}, 'The context is empty'), el('p', {}, 'Nothing was retrieved, or nothing fits into the budget.'));
    this.find('ctx-sources').replaceChildren(...(this.data.cards.length ? this.data.cards.map((card) => this.card(card)) : [nothing]));
  }

  card(card) {
    const body = el('div', { class: 'body', dir: 'auto' });
    for (const part of card.parts) {
      if (part.opens) body.append(el('i', { class: part.added ? 'ix added' : 'ix', 'aria-hidden': 'true' }, String(part.chunk)));
      const node = el('span', { class: `seg ${part.kind}`, 'data-added': part.added,
        title: part.chunk === null ? null : `chunk #${part.chunk}, ${part.added ? 'added neighbour' : 'retrieved'}` }, ...(part.kind === 'gap' ? boxed(part.text) : [part.text]));
      this.marks.push({ node, start: part.start, end: part.end });
      body.append(node);
    }
    const head = card.number === null ? null : el('header', { tabindex: -1 }, el('span', { class: 'num' }, String(card.number)),
      el('b', {}, card.title), el('span', { class: 'mute' }, card.about), el('span', { class: 'cited' }));
    return el('article', { id: card.number === null ? null : `ctx-source-${card.number}`, class: 'card', colour: card.colour,
      'data-number': card.number }, head, body);
  }

  drawCited() {
    const times = {};
    for (const pane of this.panes) for (const piece of pane.pieces) if (piece.known) times[piece.number] = (times[piece.number] ?? 0) + 1;
    for (const node of this.find('ctx-sources').querySelectorAll('.card[data-number]')) {
      const count = times[node.dataset.number] ?? 0;
      node.dataset.cited = count;
      node.querySelector('.cited').textContent = this.panes.some((pane) => pane.marked) ? (count ? `cited ${count} ×` : 'not cited') : '';
    }
  }

  // what a click shows

  clicked(event) {
    const at = event.target.closest('button, [role=button]');
    if (!at || !this.root.contains(at)) return;
    const { attempt, filter, claim, pane, chip, go, action } = at.dataset;
    if (action === 'back') this.back();
    else if (attempt !== undefined) { this.attempt = Number(attempt); this.draw(); this.find('attempts').children[this.attempt].focus(); }
    else if (filter !== undefined) { this.filter = filter; this.drawTable(); }
    else if (go !== undefined) this.goTo(Number(pane), Number(go));
    else if (claim !== undefined) this.show(Number(pane), Number(claim), chip === undefined ? null : Number(chip || 0), at);
  }

  pressed(event) {
    if (event.key === 'Escape') { this.find('tip').hidden = true; if (this.shown) { event.preventDefault(); event.stopPropagation(); this.back(); } }
    const plain = event.target.getAttribute('role') === 'button' && event.target.tagName !== 'BUTTON';
    if (plain && (event.key === 'Enter' || event.key === ' ')) { event.preventDefault(); event.target.click(); }
  }

  // Mark what carries a claim (in source `number`, if given) and go there; where nothing does, go to the head of that source and say so.
  show(pane, at, number, origin, quietly = false) {
    this.clear();
    const claim = this.panes[pane].claims[at];
    const spans = claim ? claim.spans : [], own = spans.filter((span) => number === null || span.number === number);
    const lead = own.find((span) => span.kind === 'clash') ?? own[0];
    // Where the source does not carry the claim nothing at all is marked: another one that does is a click away.
    if (own.length) for (const span of spans) this.mark(span, own.includes(span));
    const number_ = number ?? (lead ? lead.number : claim?.sources[0]?.number ?? null);
    const block = number_ === null ? null : this.find(`ctx-source-${number_}`);
    const target = lead ? this.marks.find((m) => m.start >= lead.start && m.end <= lead.end)?.node : block?.querySelector('header');
    [this.shown, this.origin] = [{ pane, at, number }, origin];
    origin?.classList.add('current');
    this.drawNote(claim, number, own, block);
    if (!target) { this.hint(origin); return; }
    block?.classList.add('current');
    this.reveal(target, quietly);
    if (!quietly) { target.tabIndex = -1; target.focus({ preventScroll: true }); this.find('tip').hidden = true; }
  }

  mark(span, own) {
    const held = this.marks.filter((m) => m.start >= span.start && m.end <= span.end);
    held.forEach(({ node }, at) => {
      node.classList.add('hit', `hit-${span.kind}`, ...(own ? [] : ['hit-also']), ...(at ? [] : ['hit-first']), ...(at < held.length - 1 ? [] : ['hit-last']));
      if (span.added) node.classList.add('hit-added');
    });
  }

  clear() {
    this.find('note').hidden = true;
    for (const node of this.root.querySelectorAll('.hit')) node.className = [...node.classList].filter((name) => !name.startsWith('hit')).join(' ');
    for (const node of this.root.querySelectorAll('.current')) node.classList.remove('current');
    this.shown = null;
  }

  back() {
    const origin = this.origin;
    this.clear();
    if (origin?.isConnected) {
      origin.focus({ preventScroll: true });
      const at = origin.getBoundingClientRect();
      if (at.top < 70 || at.bottom > innerHeight) origin.scrollIntoView({ block: 'center', behavior: this.motion });
    }
    this.find('tip').hidden = true;
  }

  get motion() { return matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth'; }

  // Inside the pane at once; the page moves only where the pane is out of sight.
  reveal(target, quietly) {
    const place = this.find('ctx-sources'), box = place.getBoundingClientRect(), at = target.getBoundingClientRect();
    place.scrollTop += at.top - box.top - Math.max(12, (box.height - at.height) / 3);
    const now = target.getBoundingClientRect(), note = this.find('note').getBoundingClientRect();
    if (!quietly && (note.top < 60 || now.bottom > innerHeight - 40)) this.find('beside').scrollIntoView({ block: 'start', behavior: this.motion });
  }

  drawNote(claim, number, own, block) {
    const named = number === null ? null : `[${number}]`;
    const lines = [];
    if (!claim) lines.push(block ? 'This marker belongs to no claim.' : 'No source has this number.');
    else {
      if (named && !own.length && block && !claim.says.startsWith('Not found')) lines.push(`Not found in ${named}.`);
      lines.push(claim.says);
      if (claim.neighbour && own.length) lines.push(claim.neighbour);
      if (claim.missing.length) lines.push(`Missing: ${claim.missing.join(', ')}.`);
    }
    const chip = this.origin?.dataset, judged = chip?.name ? verdictTag(chip) : claim ? verdictTag(claim) : null;
    const better = claim?.spans.find((span) => span.kind === 'better' && span.number !== number);
    const show = better && el('button', { type: 'button', 'data-pane': this.shown.pane, 'data-claim': this.shown.at, 'data-chip': better.number }, `Show in [${better.number}]`);
    this.find('note').replaceChildren(
      el('div', { class: 'what' }, named ? el('b', {}, named) : null, judged, ...lines.map((line) => el('p', {}, line))),
      el('div', { class: 'ways' }, show ?? null, el('button', { type: 'button', 'data-action': 'back' }, '↑ Back to the answer', el('kbd', {}, 'Esc'))));
    this.find('note').hidden = false;
  }

  goTo(pane, at) {
    const node = this.root.querySelector(`.claim[data-pane="${pane}"][data-claim="${at}"], .chip[data-pane="${pane}"][data-claim="${at}"]`);
    if (!node) return;
    this.show(pane, at, null, node, true);
    node.scrollIntoView({ block: 'center', behavior: this.motion });
    node.focus({ preventScroll: true });
  }

  // Verdict and missing words beside what the pointer or the focus is on.
  hint(node) {
    const tip = this.find('tip');
    const claim = node && this.panes[Number(node.dataset.pane)]?.claims[Number(node.dataset.claim)];
    if (!node || node.closest('#beside, #table') || (!claim && node.dataset.unknown === undefined)) return;
    const stale = this.before && node.dataset.stale ? `Built before assembly: ${node.dataset.stale}.` : '';
    tip.replaceChildren(...[claim ? verdictTag(claim) : null, say('p', '', claim ? claim.says : 'No source has this number.'),
      say('p', '', claim?.missing.length ? `Missing: ${claim.missing.join(', ')}` : ''), say('p', '', claim?.neighbour), say('p', 'would', stale)].filter(Boolean));
    tip.hidden = false;
    const box = this.root.getBoundingClientRect(), lines = node.getClientRects(), line = lines[lines.length - 1];
    tip.style.left = `${Math.max(0, Math.min(lines[0].left - box.left, box.width - tip.offsetWidth - 4))}px`;
    tip.style.top = `${line.bottom - box.top + 6}px`;
  }

  // had citations been built before assembly

  drawBefore() {
    this.find('before').checked = this.before;
    for (const chip of this.root.querySelectorAll('.chip')) {
      const wrong = this.before && chip.dataset.stale;
      chip.classList.toggle('stale', Boolean(wrong));
      chip.querySelector('.mark').textContent = wrong ? 'wrong' : chip.dataset.mark;
      chip.setAttribute('aria-label', wrong ? `${chip.dataset.spoken}; ${chip.dataset.stale}` : chip.dataset.spoken);
    }
    const many = this.panes.length > 1;
    const told = this.panes.flatMap((pane) => [el('p', {}, many ? `${pane.model}: ${pane.before.says}` : pane.before.says),
      pane.before.which.length ? el('ul', {}, ...pane.before.which.map((text) => el('li', {}, text))) : null]).filter(Boolean);
    this.find('would').replaceChildren(...(this.before ? told : []));
    this.find('would').hidden = !this.before;
  }

  // the table

  drawTable() {
    const place = this.find('table'), rows = this.panes.flatMap((pane, index) => pane.claims.map((claim, at) => ({ pane: index, at, claim })));
    place.hidden = !rows.length;
    if (!rows.length) { place.replaceChildren(); return; }
    const choices = this.choices();
    const chosen = choices.find((choice) => choice.label === this.filter) ?? choices[0];
    const buttons = choices.map((choice) => el('button', { type: 'button', 'data-filter': choice.label,
      'data-verdict': choice.sign ? choice.verdicts[0] : null, 'aria-pressed': String(choice.label === chosen.label) },
      choice.sign ? el('i', { 'aria-hidden': 'true' }, choice.sign) : null, choice.label, el('span', {}, String(choice.total))));
    const kept = rows.filter(({ claim }) => !chosen.verdicts || chosen.verdicts.includes(claim.verdict));
    const cites = this.panes.some((pane) => pane.marked);
    const heads = ['Claim', ...(cites ? ['Cites'] : []), 'Source and span', 'Verdict', 'Missing'];
    const none = el('tr', {}, el('td', { colspan: heads.length, class: 'mute' }, 'No claim of this kind.'));
    const focused = place.contains(this.root.getRootNode().activeElement) ? this.root.getRootNode().activeElement.dataset.filter : null;
    place.replaceChildren(el('h2', {}, 'Claims', el('small', {}, cites ? 'each against what it cites, and against every other source' : 'each against every source')),
      el('div', { class: 'filters', role: 'group', 'aria-label': 'Claims to show' }, ...buttons),
      el('div', { class: 'table-wrap', tabindex: 0, role: 'region', 'aria-label': 'Claims' }, el('table', { id: 'ctx-claims' },
        el('thead', {}, el('tr', {}, ...heads.map((head) => el('th', { scope: 'col' }, head)))),
        el('tbody', {}, ...(kept.length ? kept.map((row) => this.row(row, cites)) : [none])))));
    if (focused) [...place.querySelectorAll('[data-filter]')].find((button) => button.dataset.filter === focused)?.focus();
  }

  choices() {
    const all = new Map();
    for (const pane of this.panes) for (const choice of pane.filters) {
      const known = all.get(choice.label);
      all.set(choice.label, known ? { ...known, total: known.total + choice.total, verdicts: known.verdicts && [...known.verdicts, ...choice.verdicts] } : choice);
    }
    return [...all.values()];
  }

  row({ pane, at, claim }, cites) {
    const go = el('button', { type: 'button', class: 'link', 'data-pane': pane, 'data-go': at }, claim.text);
    const model = this.panes.length > 1 ? say('div', 'mute small', this.panes[pane].model) : null;
    const title = (number) => claim.sources.find((source) => source.number === number)?.title ?? '';
    const quotes = claim.quotes.map((quote) => el('div', { class: 'quote' }, el('span', { class: 'mute small' }, `[${quote.number}] ${title(quote.number)}`),
      el('button', { type: 'button', class: 'link', 'data-pane': pane, 'data-claim': at, 'data-chip': quote.number }, `“${quote.text}”`)));
    const bare = claim.sources.map((source) => el('div', { class: 'mute small' }, `[${source.number}] ${source.title}: nothing found`));
    const cell = (label, ...children) => el('td', { 'data-label': label }, ...children);
    return el('tr', { 'data-verdict': claim.verdict }, cell('Claim', model, go), cites ? cell('Cites', claim.cites || '–') : null,
      cell('Source and span', ...(quotes.length ? quotes : bare.length ? bare : ['–'])),
      cell('Verdict', verdictTag(claim), el('div', { class: 'small' }, claim.says), say('div', 'mute small', claim.neighbour)), claim.missing.length ? cell('Missing', claim.missing.join(', ')) : el('td', { class: 'nothing' }, '–'));
  }
}

export default function (component) {
  const root = component.parentElement.querySelector('#ctx-reader');
  (root.reader ??= new Reader(root)).take(component.data);
}
