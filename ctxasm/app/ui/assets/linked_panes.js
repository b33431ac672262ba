// Picture and text of Inspect move together: what is scrolled or clicked in one brings the other to the same chunk.
//
// Only the pane under the hand leads, by pointer, wheel, touch or key; that the other one moves is no scroll of its own. A click in the
// text asks the server nothing; a click on a chunk of the picture also opens its life, which is told elsewhere.
(() => {
  if (window.ctxasmPanes) return;
  window.ctxasmPanes = true;
  const PANES = { picture: '.st-key-picture', text: '#ctx-text' };
  const MARKS = { picture: '[data-pick]:not(.cx-expected), [data-at], button[data-chunk]', text: '.cx-card[data-document], .cx-c[data-chunk]' };
  const other = { picture: 'text', text: 'picture' };
  const paneOf = (name) => document.querySelector(PANES[name]);
  const nameOf = (node) => Object.keys(PANES).find((name) => node instanceof Element && node.closest(PANES[name]));

  // The document and chunk of a mark; no chunk where it stands for a whole document, and nothing where it says no document.
  const keyOf = (mark) => {
    const said = mark.dataset.pick ?? mark.dataset.at, { chunk } = mark.dataset, home = mark.closest('[data-document]');
    if (said && home !== mark) return JSON.parse(said);
    if (!home) return [];
    const name = decodeURIComponent(home.dataset.document);
    return chunk === undefined ? [name] : [name, Number(chunk)];
  };
  const drawn = (name) => [...paneOf(name)?.querySelectorAll(MARKS[name]) ?? []].filter((mark) => mark.getClientRects().length);
  // What stands for it in the other pane, and how far off that is: the same chunk (0), or what is nearest in its document.
  const partner = (mark, name) => {
    const [document, index] = keyOf(mark);
    if (document === undefined) return undefined;
    const far = (at) => at === index ? 0 : at === undefined || index === undefined ? 0.5 : Math.abs(at - index);
    const own = drawn(other[name]).map((each) => ({ each, key: keyOf(each) })).filter(({ key }) => key[0] === document);
    return own.map(({ each, key }) => ({ each, far: far(key[1]) })).sort((one, two) => one.far - two.far)[0];
  };

  // Where one reads: at the top when a pane is scrolled to its top, at the foot at its foot, so that every chunk is reached.
  const read = (name) => {
    const pane = paneOf(name), box = pane.getBoundingClientRect(), rest = pane.scrollHeight - pane.clientHeight;
    const line = box.top + 1 + (rest > 0 ? pane.scrollTop / rest : 0) * (pane.clientHeight - 2);
    const marks = drawn(name), tops = marks.map((mark) => mark.getClientRects()[0].top);
    const last = Math.max(0, tops.findLastIndex((top) => top <= line + 12));
    // Of those in one row, the first.
    return marks[tops.findIndex((top) => Math.abs(top - tops[last]) < 2)];
  };

  const mark = (...marks) => {
    for (const old of document.querySelectorAll('[data-here]')) delete old.dataset.here;
    for (const each of marks) if (each) each.dataset.here = '';
  };
  const calm = matchMedia('(prefers-reduced-motion: reduce)');
  const bring = (from, name, behavior) => {
    const found = partner(from, name), to = found?.each, pane = paneOf(other[name]);
    mark(from, found?.far === 0 && to);
    if (!to || !pane) return;
    const top = from.getClientRects()[0].top - paneOf(name).getBoundingClientRect().top;
    const height = Math.min(to.getBoundingClientRect().height, pane.clientHeight / 2);
    const place = Math.max(12, Math.min(top, pane.clientHeight - height - 12));
    const at = pane.scrollTop + to.getClientRects()[0].top - pane.getBoundingClientRect().top - place;
    pane.scrollTo({ top: at, behavior: calm.matches ? 'instant' : behavior });
  };

  let leader = null, frame = 0;
  const lead = (event) => { leader = nameOf(event.composedPath()[0]) ?? leader; };
  for (const kind of ['pointerdown', 'pointermove', 'wheel', 'touchstart', 'keydown', 'focusin']) {
    document.addEventListener(kind, lead, { capture: true, passive: true });
  }
  document.addEventListener('scroll', (event) => {
    if (!leader || event.target !== paneOf(leader)) return;
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
      const from = paneOf(leader) && read(leader);
      if (from) bring(from, leader, 'instant');
    });
  }, { capture: true, passive: true });
  document.addEventListener('click', (event) => {
    const at = event.target, name = nameOf(at);
    if (!name || !at.closest || getSelection()?.toString()) return;
    const from = at.closest(MARKS[name]) ?? at.closest('tr, li')?.querySelector(MARKS[name]);
    if (from?.getClientRects().length) bring(from, name, 'smooth');
  });
})();
