// Scrolls to a part of the page, once.
(window.ctxasmParts ??= {}).scroll = ({ data }) => {
  if (window.ctxasmShown === data.turn) return;
  window.ctxasmShown = data.turn;
  const show = () => document.querySelector(data.selector)?.scrollIntoView({ block: 'nearest' });
  // What stood above goes away only when the page is drawn to its end.
  for (const wait of [50, 400, 1200]) setTimeout(show, wait);
};
