/** What the page before sign-in needs, over HTTP. */
import type { SessionData } from '../DashboardData';
import type { HttpSession } from './HttpSession';
import { useObservable } from './useObservable';

export function createSessionData(session: HttpSession, simulationNotice: string | undefined): SessionData {
  return {
    useAccess: () => useObservable(session.access),
    useSimulationNotice: () => simulationNotice,
    commands: session,
  };
}
