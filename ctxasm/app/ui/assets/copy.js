// A button that copies a text, or the link to the page that is shown.
{
  const CSS = `
    button { font: 500 14px var(--st-font); width: 100%; height: 38px; padding: 0 6px; cursor: pointer;
      color: var(--st-text-color); background: var(--st-background-color);
      border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius); }
    button:hover { border-color: var(--st-primary-color); color: var(--st-primary-color); }
    button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
  `;
  (window.ctxasmParts ??= {}).copy = ({ data, parentElement }) => {
    if (!parentElement.querySelector('style')) parentElement.append(Object.assign(document.createElement('style'), { textContent: CSS }));
    const button = parentElement.querySelector('button');
    button.textContent = data.label;
    button.onclick = async () => {
      const text = data.query === null ? data.text : location.origin + location.pathname + (data.query ? '?' + data.query : '');
      try { await navigator.clipboard.writeText(text); }
      catch {
        const area = Object.assign(document.createElement('textarea'), { value: text });
        document.body.append(area); area.select(); document.execCommand('copy'); area.remove();
      }
      button.dataset.copied = text; button.textContent = 'Copied';
      setTimeout(() => { button.textContent = data.label; }, 1500);
    };
  };
}
