// Tells the page when nobody has touched it for a while.
{
  const TOUCHES = ['pointerdown', 'keydown', 'click'];
  (window.ctxasmParts ??= {}).rest = ({ data, parentElement, setTriggerValue }) => {
    parentElement.__stop?.();
    let timer = 0;
    const isBusy = () => (document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState ?? 'notRunning') !== 'notRunning';
    const wait = () => { clearTimeout(timer); timer = setTimeout(() => isBusy() ? wait() : rest(), data.rest_ms); };
    const stop = () => { clearTimeout(timer); TOUCHES.forEach(touch => document.removeEventListener(touch, wait, true)); };
    const rest = () => { stop(); setTriggerValue('rest', data.stamp); };
    TOUCHES.forEach(touch => document.addEventListener(touch, wait, true));
    wait();
    parentElement.__stop = stop;
    return stop;
  };
}
