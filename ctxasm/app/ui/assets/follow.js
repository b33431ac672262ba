// Follows the link that is drawn beside it, once.
(window.ctxasmParts ??= {}).follow = ({ data, parentElement }) => {
  if (parentElement.__followed === data.turn) return;
  parentElement.__followed = data.turn;
  const began = performance.now();
  const follow = () => {
    const link = document.querySelector('.st-key-followed_link a');
    if (link) link.click(); else if (performance.now() - began < 3000) requestAnimationFrame(follow);
  };
  follow();
};
