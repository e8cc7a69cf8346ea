/** The pages after sign-in, with their data over HTTP. */
import type { ComponentType } from 'react';
import { HttpData } from './data/http/HttpData';
import type { HttpSession } from './data/http/HttpSession';
import { toDashboardData } from './data/http/toDashboardData';
import { BolideProvider } from './hooks/BolideProvider';
import { preloadCurrentPage, SignedIn } from './SignedIn';
import type { SignedInProps } from './SignedIn';

/** To be called once: the page's data lasts until the page is closed. */
export function createHttpSignedIn(
  session: HttpSession,
  simulationNotice: string | undefined,
): ComponentType<SignedInProps> {
  preloadCurrentPage();
  const data = toDashboardData(new HttpData({}, session), simulationNotice);
  for (const change of ['online', 'offline']) window.addEventListener(change, () => data.reconnect());
  const onVisibility = (): void => data.setVisible(document.visibilityState === 'visible');
  document.addEventListener('visibilitychange', onVisibility);
  onVisibility();
  return function HttpSignedIn(props) {
    return (
      <BolideProvider data={data}>
        <SignedIn {...props} />
      </BolideProvider>
    );
  };
}
