// The range of max tokens: it reports while it is dragged.
{
  const CSS = `
    .wrap { position: relative; height: 38px; font-family: var(--st-font); color: var(--st-text-color); }
    input { display: block; width: 100%; height: 100%; margin: 0; accent-color: var(--st-primary-color); cursor: grab; }
    input:active { cursor: grabbing; }
    input:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; border-radius: 4px; }
    output {
      position: absolute; inset: -8px 0 auto; pointer-events: none;
      font-size: 13px; font-variant-numeric: tabular-nums; text-align: center;
    }
  `;
  (window.ctxasmParts ??= {}).live_range = ({ data, parentElement, setStateValue, setTriggerValue }) => {
    if (!parentElement.querySelector('style')) parentElement.append(Object.assign(document.createElement('style'), { textContent: CSS }));
    const range = parentElement.querySelector('#range'), shown = parentElement.querySelector('#shown');
    const own = (range.__own ??= { held: false, busy: false, waitingFor: null, frame: 0, patience: 0 });
    const show = () => {
      shown.value = Number(range.value).toLocaleString('en');
      shown.hidden = !own.held;
      range.setAttribute('aria-valuetext', range.value + ' tokens');
    };
    const follow = () => { own.waitingFor = null; range.value = data.value; show(); };
    Object.assign(range, { min: data.min, max: data.max, step: data.step });
    if (own.waitingFor === null || own.waitingFor === data.value) { if (!own.held) follow(); }
    clearTimeout(own.patience);
    own.patience = setTimeout(() => { if (!own.held) follow(); }, 1500);
    show();
    const bar = () => document.getElementById('ctx-budget');
    const emit = () => {
      if (!bar() || !own.held) return;
      const sent = range.value, began = performance.now();
      own.busy = true;
      setStateValue('live', +sent);
      const wait = () => {
        if (bar()?.dataset.limit !== sent && performance.now() - began < 250) { own.frame = requestAnimationFrame(wait); return; }
        own.busy = false;
        if (range.value !== sent) emit();
      };
      own.frame = requestAnimationFrame(wait);
    };
    range.onpointerdown = () => { own.held = true; };
    range.onpointerup = range.onpointercancel = () => { own.held = false; };
    range.oninput = () => { show(); if (own.held && !own.busy) emit(); };
    range.onchange = () => {
      cancelAnimationFrame(own.frame); clearTimeout(own.patience);
      own.held = own.busy = false; own.waitingFor = +range.value;
      setTriggerValue('settled', +range.value);
    };
  };
}
