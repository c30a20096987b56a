// Exchanges the code of a link, which stands behind `#` and is sent to nobody else, for a cookie.
// The link is `/login#CODE` or `/login#CODE&PLACE`; the page opens at `/#PLACE`.
const [code, ...place] = location.hash.slice(1).split('&');
history.replaceState(null, '', location.pathname);
if (code) {
  const state = document.getElementById('state');
  state.textContent = '…';
  fetch('/api/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  }).then(
    async (answer) => {
      if (answer.ok) {
        location.replace(place.length ? `/#${place.join('&')}` : '/');
        return;
      }
      const report = await answer.json().catch(() => ({}));
      state.textContent = [report.message, report.hint].filter(Boolean).join('; ') || String(answer.status);
    },
    () => {
      state.textContent = 'The server does not answer. 服务器没有响应。';
    },
  );
}
