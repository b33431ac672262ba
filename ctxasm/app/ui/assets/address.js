// One step of the back button for a page that is opened, not two. Streamlit goes to its bare path first and to the address that the page
// then writes a moment later, or writes that address while the path is still that of the page before: neither is a place to come back to.
(() => {
  if (window.ctxasmAddress) return;
  window.ctxasmAddress = true;
  const MOMENT_MS = 1000;
  const push = history.pushState;
  let written = { href: "", at: 0 };
  history.pushState = function (state, unused, url) {
    const wanted = new URL(url ?? location.href, location.href);
    const stays = wanted.pathname === location.pathname;
    const completes = stays && !location.search && wanted.search;
    const wasEarly = written.href === location.href && performance.now() - written.at < MOMENT_MS;
    const moves = !stays && wasEarly && wanted.search === location.search;
    (completes || moves ? history.replaceState : push).call(history, state, unused, url);
    written = { href: stays && !completes ? location.href : "", at: performance.now() };
  };
})();
