/** The dashboard's commands as HTTP requests. */
import { DashboardError } from '../DashboardData';
import type { Access, DashboardCommands } from '../DashboardData';
import type { HttpConnection } from './HttpConnection';
import type { Observable } from './Observable';

export interface HttpCommandsDependencies {
  readonly connection: HttpConnection;
  readonly access: Observable<Access>;
  readonly setSignedOut: () => void;
  /** Opens another site's page. */
  readonly leave: (url: string) => void;
}

export function createHttpCommands({
  connection,
  access,
  setSignedOut,
  leave,
}: HttpCommandsDependencies): DashboardCommands {
  const runPath = (executionId: string, action: string): string => `/runs/${encodeURIComponent(executionId)}/${action}`;
  return {
    async signIn(credentials) {
      if (credentials.method !== 'token')
        throw new DashboardError('invalid-request', 'This server signs in with an API token.');
      const { method: _, ...body } = credentials;
      await connection.beginSession(body);
      access.set({ state: 'signedIn' });
    },
    async signOut({ staysHere = false } = {}) {
      const ended = await connection.endSession<{ readonly signOutUrl: string } | undefined>();
      setSignedOut();
      if (ended !== undefined && !staysHere) leave(ended.signOutUrl);
    },
    startRun: (request) => connection.post('/runs', request),
    cancelRun: (executionId) => connection.post(runPath(executionId, 'cancel')),
    approve: ({ executionId, ...decision }) => connection.post(runPath(executionId, 'approve'), decision),
    reject: ({ executionId, callId, argumentsHash, reason }) =>
      connection.post(runPath(executionId, 'reject'), { callId, argumentsHash, reason }),
    submitToolResult: ({ executionId, callId, outcome }) =>
      connection.post(runPath(executionId, 'tool-results'), { callId, ...outcome }),
  };
}
