/** The browser's entry point where plain Node serves the page. */
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { preloadable } from './components/preloadable';
import { createSessionData } from './data/http/createSessionData';
import { HttpSession } from './data/http/HttpSession';
import { loadDeferredStyles } from './loadDeferredStyles';
import { showPagesBelow } from './shell/route';
import { signInFromLink } from './session/signInFromLink';
import { takeTokenFromUrl } from './session/takeTokenFromUrl';

const container = document.getElementById('app');
if (container !== null) {
  showPagesBelow('/');
  const { session: cookie, simulated, openidName: name, openidUrl: url, openidOnly: only } = container.dataset;
  const notice = simulated === '' ? undefined : simulated;
  const session = new HttpSession(
    name === undefined || url === undefined ? {} : { openId: { name, url, isOnly: only !== undefined } },
  );
  const pages = preloadable(async () => {
    const [{ createHttpSignedIn }] = await Promise.all([import('./HttpSignedIn'), loadDeferredStyles()]);
    return createHttpSignedIn(session, notice);
  });
  const signInFromUrl = (): boolean => {
    const token = takeTokenFromUrl(window);
    if (token === undefined) return false;
    void signInFromLink(token, session);
    return true;
  };
  // An open page is not reloaded when only the `#…` changes. Registered before the router, which reads it too.
  window.addEventListener('hashchange', signInFromUrl);
  const isSigningIn = signInFromUrl();
  // While the server checks the token or the session.
  if (isSigningIn || cookie !== undefined) pages.preload();
  createRoot(container).render(
    <StrictMode>
      <App session={createSessionData(session, notice)} pages={pages} />
    </StrictMode>,
  );
  if (!isSigningIn) void session.check();
}
