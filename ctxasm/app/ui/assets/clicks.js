// A click on what stands for a chunk, a question or a cell, kept until its page listens: what is drawn stands there before its listener.
// A click on what a step of Show me opens leaves the step in the address, so that the back button returns to it.
(() => {
  const clicks = (window.ctxasmClicks ??= {});
  if (clicks.started) return;
  clicks.started = true;
  // A chunk of a row says its number alone, the row its document.
  clicks.said = ({ dataset, parentElement }) => dataset.pick
    ?? JSON.stringify([decodeURIComponent(parentElement.closest('[data-document]').dataset.document), Number(dataset.chunk)]);
  document.addEventListener('click', (event) => {
    const step = event.target.closest?.('[data-step] a[data-open]')?.closest('[data-step]');
    if (step) {
      const here = new URL(location.href);
      here.searchParams.set('step', step.dataset.step);
      history.replaceState(history.state, '', here);
    }
    const at = event.target.closest?.('[data-pick], button[data-chunk]');
    if (at?.matches('a')) {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
    }
    if (at && clicks.hear) clicks.hear(clicks.said(at));
    else if (at) clicks.early = at;
  });
})();
