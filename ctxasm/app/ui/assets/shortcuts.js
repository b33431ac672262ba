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
    ['j', 'Ask: next claim and its source', '#next-claim'],
    ['k', 'Ask: previous claim and its source', '#previous-claim'],
    ['o', 'Ask: the whole source, or its passage', '#whole-source'],
    ['1 – 7', 'Inspect: stage', ''],
    ['f', 'Inspect: find text', '[data-find], .st-key-find button'],
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

  let sheet = null;
  const show = () => {
    if (sheet?.open) { sheet.close(); return; }
    sheet ??= document.body.appendChild(document.createElement('dialog'));
    sheet.className = 'cx cx-shortcuts';
    sheet.setAttribute('aria-label', 'Keyboard shortcuts');
    const rows = KEYS.map(([key, does]) => `<tr><td><kbd>${key}</kbd></td><td>${does}</td></tr>`).join('');
    sheet.innerHTML = `<form method="dialog"><h2>Keyboard</h2><table>${rows}</table>
      <label><input type="checkbox" ${isOff() ? '' : 'checked'}> Keys without Ctrl are on</label><button autofocus>Close</button></form>`;
    sheet.querySelector('input').addEventListener('change', (event) => {
      try { if (event.target.checked) localStorage.removeItem(OFF); else localStorage.setItem(OFF, ''); } catch { /* a browser that keeps nothing */ }
    });
    sheet.showModal();
  };
  window.addEventListener('ctxasm-keys', show);

  const isAsk = () => location.pathname.endsWith('/ask');
  let waiting = null;
  const ask = () => {
    const button = isAsk() && document.querySelector('.st-key-ask button');
    if (isAsk() && !button) return false;
    waiting?.disconnect();
    waiting = null;
    if (button && !button.disabled) button.click();
    return true;
  };

  window.addEventListener('keydown', (event) => {
    // Whoever hears the key prevents its default: then there is nothing left to do.
    if (event.defaultPrevented || event.altKey) return;
    const at = event.composedPath()[0], key = event.key;
    if (event.ctrlKey || event.metaKey) {
      const redo = key.toLowerCase() === 'y' || (event.shiftKey && key.toLowerCase() === 'z');
      if (key === 'Enter' && isAsk() && !ask() && !waiting) {
        waiting = new MutationObserver(ask);
        waiting.observe(document.body, { childList: true, subtree: true });
      } else if (['z', 'y'].includes(key.toLowerCase()) && !isTyped(at, false) && press(`.st-key-${redo ? 'redo' : 'undo'} button`)) event.preventDefault();
      return;
    }
    if (isTyped(at, true) || isOff() && key !== '?' || (sheet?.open && key !== '?') || document.querySelector('[role=dialog]')) return;
    if (key === '?') show();
    else if (/^[1-7]$/.test(key) ? press(`[data-step="${key}"]`) : KEYS.some(([own, , selector]) => own === key && press(selector))) event.preventDefault();
  });
})();
