/** The browser's entry point where plain Node serves the page. */
import '@fontsource-variable/inter';
import './styles/page.css';
import './dashboardStyles';
import { createHttpData } from './data/http/createHttpData';
import { mountDashboard } from './mountDashboard';
import { signInFromLink } from './session/signInFromLink';
import { takeTokenFromUrl } from './session/takeTokenFromUrl';

const container = document.getElementById('app');
if (container !== null) {
  const { simulated: notice, openidName: name, openidUrl: url, openidOnly: only } = container.dataset;
  const data = createHttpData({
    ...(notice === undefined || notice === '' ? {} : { simulationNotice: notice }),
    ...(name === undefined || url === undefined ? {} : { openId: { name, url, isOnly: only !== undefined } }),
  });
  for (const change of ['online', 'offline']) window.addEventListener(change, () => data.reconnect());
  const onVisibility = (): void => data.setVisible(document.visibilityState === 'visible');
  document.addEventListener('visibilitychange', onVisibility);
  onVisibility();
  const signInFromUrl = (): boolean => {
    const token = takeTokenFromUrl(window);
    if (token === undefined) return false;
    void signInFromLink(token, data);
    return true;
  };
  // An open page is not reloaded when only the `#…` changes. Registered before the router, which reads it too.
  window.addEventListener('hashchange', signInFromUrl);
  const isSigningIn = signInFromUrl();
  mountDashboard(container, data);
  if (!isSigningIn) void data.checkSession();
}
