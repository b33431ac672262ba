// The keys of the pages. Each presses a button that is on the page and does the same by mouse; none counts while text is being typed.
//
// A plain script, because a component is fetched later than the question that it stands beside: a Ctrl+Enter that comes before the
// button of Ask is kept, and presses it as soon as it is there.
(() => {
  if (window.ctxasmKeys) return;
  window.ctxasmKeys = true;
  const KEYS = [
    ['n', 'Next query', '.st-key-next_query button'],
    ['p', 'Previous query', '.st-key-previous_query button'],
    ['j', 'Ask, Review: next claim and its source', '#next-claim'],
    ['k', 'Ask, Review: previous claim and its source', '#previous-claim'],
    ['o', 'Ask, Review: the whole source, or its passage', '#whole-source'],
    ['1 – 5', 'Review: right, right but outdated, wrong source, not there, wrong fact', ''],
    ['Enter', 'Review: read the source', ''],
    ['c', 'Review: note', '#review-note-key'],
    ['s', 'Review: skip', '#review-skip'],
    ['u', 'Review: undo', '#review-undo'],
    ['g', 'Review: reference answer', '#review-reference'],
    ['Shift+Enter', 'Review: next answer', ''],
    ['1 – 7', 'Inspect: step of the funnel', ''],
    ['f', 'Inspect: find text', ''],
    ['Ctrl+Z', 'Undo a setting', '.st-key-undo button'],
    ['Ctrl+Shift+Z', 'Redo', '.st-key-redo button'],
    ['Ctrl+Enter', 'Ask', '.st-key-ask button'],
    ['?', 'These keys', ''],
  ];
  const PLAIN = ['range', 'checkbox', 'radio', 'button', 'submit'];
  const FIELDS = 'textarea, select, input, [contenteditable], [role=textbox], [role=combobox], [role=listbox], [role=option], [role=menu]';
  const OFF = 'ctxasm-single-keys-off';

  // Also what stands in the shadow of a component; of several, the one that can be seen.
  const found = (selector, root = document) => [
    ...root.querySelectorAll(selector),
    ...[...root.querySelectorAll('*')].filter((node) => node.shadowRoot).flatMap((node) => found(selector, node.shadowRoot)),
  ];
  const press = (selector) => {
    const button = found(selector).find((node) => !node.disabled);
    button?.click();
    return Boolean(button);
  };
  const isTyped = (at, numbers) => at instanceof Element && at.isContentEditable
    || (at?.closest?.(FIELDS) && !(at.tagName === 'INPUT' && (PLAIN.includes(at.type) || (!numbers && at.type === 'number')) && !at.closest('[role=combobox]')));
  const isOff = () => { try { return localStorage.getItem(OFF) !== null; } catch { return false; } };

  // No tag may stand in this file, not even in a string: the page would be cleaned of the whole script.
  const make = (tag, about, ...children) => {
    const node = Object.assign(document.createElement(tag), about);
    node.append(...children);
    return node;
  };
  let sheet = null;
  const show = () => {
    if (sheet?.open) { sheet.close(); return; }
    sheet ??= document.body.appendChild(document.createElement('dialog'));
    sheet.className = 'cx cx-shortcuts';
    sheet.setAttribute('aria-label', 'Keyboard shortcuts');
    const box = make('input', { type: 'checkbox', checked: !isOff() });
    box.addEventListener('change', () => {
      try { if (box.checked) localStorage.removeItem(OFF); else localStorage.setItem(OFF, ''); } catch { /* a browser that keeps nothing */ }
    });
    const rows = KEYS.map(([key, does]) => make('tr', {}, make('td', {}, make('kbd', {}, key)), make('td', {}, does)));
    sheet.replaceChildren(make('form', { method: 'dialog' }, make('h2', {}, 'Keyboard'), make('table', {}, make('tbody', {}, ...rows)),
      make('label', {}, box, 'Keys without Ctrl are on'), make('button', { autofocus: true }, 'Close')));
    sheet.showModal();
  };
  window.addEventListener('ctxasm-keys', show);

  // What cannot be done yet is done as soon as what it needs is drawn.
  let waiting = null;
  const soon = (step) => {
    waiting?.disconnect();
    waiting = null;
    if (step()) return;
    waiting = new MutationObserver(() => { if (step()) { waiting?.disconnect(); waiting = null; } });
    waiting.observe(document.body, { childList: true, subtree: true });
  };

  const isAsk = () => location.pathname.endsWith('/ask');
  const ask = () => {
    const button = isAsk() && document.querySelector('.st-key-ask button');
    if (button && !button.disabled) button.click();
    return Boolean(button) || !isAsk();
  };

  // Opens the drawer of details at its second tab, and then the box of a phrase.
  const find = () => {
    const pressed = new Set();
    const once = (button) => { if (button && !pressed.has(button.textContent)) { pressed.add(button.textContent); button.click(); } };
    if (!document.querySelector('.st-key-details button')) return;
    soon(() => {
      const box = document.querySelector('.st-key-find_phrase input'), tab = document.querySelectorAll('.st-key-details_tab button')[1];
      if (!box) once(tab ?? document.querySelector('.st-key-details button'));
      box?.focus();
      return Boolean(box);
    });
  };

  window.addEventListener('keydown', (event) => {
    // Whoever hears the key prevents its default: then there is nothing left to do.
    if (event.defaultPrevented || event.altKey) return;
    const at = event.composedPath()[0], key = event.key;
    if (event.ctrlKey || event.metaKey) {
      const redo = key.toLowerCase() === 'y' || (event.shiftKey && key.toLowerCase() === 'z');
      if (key === 'Enter' && isAsk()) soon(ask);
      else if (['z', 'y'].includes(key.toLowerCase()) && !isTyped(at, false) && press(`.st-key-${redo ? 'redo' : 'undo'} button`)) event.preventDefault();
      return;
    }
    if (isTyped(at, true) || isOff() && key !== '?' || (sheet?.open && key !== '?') || document.querySelector('[role=dialog]')) return;
    if (key === '?') show();
    else if (key === 'f') { event.preventDefault(); find(); }
    else if (key === 'Enter') { if (event.shiftKey ? press('.st-key-next_answer button') : at === document.body && press('#review-source')) event.preventDefault(); }
    else if (/^[1-7]$/.test(key)) press(`#verdict-${key}`) || document.querySelectorAll('.st-key-funnel :is(button, [role=radio])')[key - 1]?.click();
    else if (KEYS.some(([own, , selector]) => own === key && press(selector))) event.preventDefault();
  });
})();
