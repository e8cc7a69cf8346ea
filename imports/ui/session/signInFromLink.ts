/** Signs in with the token of a link. Anybody can make such a link, so a session is replaced only after a question. */
import { DashboardError } from '../data/DashboardData';
import type { HttpSession } from '../data/http/HttpSession';
import { loadDeferredStyles } from '../loadDeferredStyles';

export async function signInFromLink(token: string, session: HttpSession): Promise<void> {
  try {
    await session.signIn({ method: 'token', token, replace: false });
  } catch (error) {
    await session.check();
    if (!(error instanceof DashboardError && error.code === 'conflict')) return;
    const [{ askToReplace }] = await Promise.all([import('./askToReplace'), loadDeferredStyles()]);
    askToReplace(error.message, async () => {
      // What the user of the session has loaded is not shown to the next.
      await session.signOut({ staysHere: true });
      await session.signIn({ method: 'token', token });
    });
  }
}
