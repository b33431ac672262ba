// Tells the page each click that it has not heard.
(window.ctxasmParts ??= {}).chunk_clicks = ({ data, setTriggerValue }) => {
  const clicks = (window.ctxasmClicks ??= {});
  clicks.unheard = (clicks.unheard ?? []).filter(([number]) => number > data.heard);
  clicks.last = Math.max(clicks.last ?? 0, data.heard);
  const hear = pick => {
    clicks.unheard.push([++clicks.last, pick]);
    setTriggerValue('picked', [...clicks.unheard]);
  };
  if (clicks.early?.isConnected) hear(clicks.said(clicks.early));
  Object.assign(clicks, { hear, early: null });
  document.documentElement.dataset.chunkClicks = 'heard';
  return () => { if (clicks.hear === hear) clicks.hear = null; };
};
