/** The browser's entry where plain Node serves the page. */
import '@fontsource-variable/inter';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/overview.css';
import './styles/runs.css';
import './styles/run.css';
import './styles/pages.css';
import { createHttpData } from './data/http/HttpData';
import { createUpdateThrottle } from './data/http/createUpdateThrottle';
import { mountDashboard } from './mountDashboard';
import { takeToken } from './session/takeToken';

const place = document.getElementById('app');
if (place !== null) {
  const notice = place.dataset['simulated'];
  const { data, source } = createHttpData({
    fetch: (input, init) => window.fetch(input, init),
    schedule: createUpdateThrottle({
      now: () => performance.now(),
      requestFrame: (callback) => requestAnimationFrame(callback),
      setTimer: (callback, milliseconds) => setTimeout(callback, milliseconds),
      isVisible: () => document.visibilityState === 'visible',
    }),
    ...(notice === undefined || notice === '' ? {} : { simulationNotice: notice }),
  });
  for (const change of ['online', 'offline']) window.addEventListener(change, () => source.reconnect());
  const signInByAddress = (): boolean => {
    const token = takeToken(window);
    if (token === undefined) return false;
    data.commands.signIn({ means: 'token', token }).catch(() => source.begin());
    return true;
  };
  // A page that is open already is not loaded anew for another `#…`; before anybody else reads the address.
  window.addEventListener('hashchange', signInByAddress);
  const isSigningIn = signInByAddress();
  mountDashboard(place, data);
  if (!isSigningIn) void source.begin();
}
