// One step of the back button for a page that is opened, not two: Streamlit goes to its bare path first, and to the address that
// the page then writes a moment later. A bare path that has just been entered is no place to come back to.
(() => {
  if (window.ctxasmAddress) return;
  window.ctxasmAddress = true;
  const push = history.pushState;
  history.pushState = function (state, unused, url) {
    const wanted = new URL(url ?? location.href, location.href);
    const completes = !location.search && wanted.search && wanted.pathname === location.pathname;
    (completes ? history.replaceState : push).call(history, state, unused, url);
  };
})();
