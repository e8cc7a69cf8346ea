/** What the page before sign-in needs, over HTTP. */
import type { SessionData } from '../DashboardData';
import { Observable } from '../Observable';
import type { HttpSession } from './HttpSession';

export function createSessionData(session: HttpSession, simulationNotice: string | undefined): SessionData {
  return {
    access: session.access,
    simulationNotice: new Observable(simulationNotice),
    commands: session,
  };
}
