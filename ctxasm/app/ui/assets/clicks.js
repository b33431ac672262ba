// A click on what stands for a chunk, a question or a cell, kept until its page listens: what is drawn stands there before its listener.
(() => {
  const clicks = (window.ctxasmClicks ??= {});
  if (clicks.started) return;
  clicks.started = true;
  document.addEventListener('click', (event) => {
    const at = event.target.closest?.('[data-pick]');
    if (at?.matches('a')) {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
    }
    if (at && clicks.hear) clicks.hear(at.dataset.pick);
    else if (at) clicks.early = at;
  });
})();
