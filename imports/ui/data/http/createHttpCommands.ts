/** The dashboard's commands as HTTP requests. */
import { DashboardError } from '../DashboardData';
import type { Access, DashboardCommands } from '../DashboardData';
import type { HttpConnection } from './HttpConnection';
import type { Observable } from './Observable';

export interface HttpCommandsDependencies {
  readonly connection: HttpConnection;
  readonly access: Observable<Access>;
  readonly providers: { reload(): void };
  readonly setSignedOut: () => void;
}

export function createHttpCommands({
  connection,
  access,
  providers,
  setSignedOut,
}: HttpCommandsDependencies): DashboardCommands {
  const runPath = (executionId: string, action: string): string => `/runs/${encodeURIComponent(executionId)}/${action}`;
  const providerPath = (providerId: string, action: string): string =>
    `/providers/${encodeURIComponent(providerId)}/${action}`;
  return {
    async signIn(credentials) {
      if (credentials.method !== 'token')
        throw new DashboardError('invalid-request', 'This server signs in with an API token.');
      await connection.post('/session', { token: credentials.token });
      access.set({ state: 'signedIn' });
    },
    async signOut() {
      await connection.delete('/session');
      setSignedOut();
    },
    startRun: (request) => connection.post('/runs', request),
    cancelRun: (executionId) => connection.post(runPath(executionId, 'cancel')),
    approve: ({ executionId, callId, argumentsHash }) =>
      connection.post(runPath(executionId, 'approve'), { callId, argumentsHash }),
    reject: ({ executionId, callId, argumentsHash, reason }) =>
      connection.post(runPath(executionId, 'reject'), { callId, argumentsHash, reason }),
    submitToolResult: ({ executionId, callId, outcome }) =>
      connection.post(runPath(executionId, 'tool-results'), { callId, ...outcome }),
    async connectProvider(providerId) {
      const { url } = await connection.post<{ readonly url?: string }>(providerPath(providerId, 'connect'));
      providers.reload();
      return url;
    },
    async disconnectProvider(providerId) {
      await connection.post(providerPath(providerId, 'disconnect'));
      providers.reload();
    },
    async testProvider(providerId) {
      await connection.post(providerPath(providerId, 'test'));
      return 'Connection OK.';
    },
  };
}
