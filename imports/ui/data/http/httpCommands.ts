/** What people do, as requests. */
import { DashboardError } from '../DashboardData';
import type { Access, DashboardCommands } from '../DashboardData';
import type { HttpConnection } from './HttpConnection';
import type { Observable } from './Observable';

export interface HttpCommandsPorts {
  readonly connection: HttpConnection;
  readonly access: Observable<Access>;
  readonly providers: { reload(): void };
}

export function createHttpCommands({ connection, access, providers }: HttpCommandsPorts): DashboardCommands {
  const ofRun = (executionId: string, action: string): string => `/runs/${encodeURIComponent(executionId)}/${action}`;
  const ofProvider = (providerId: string, action: string): string =>
    `/providers/${encodeURIComponent(providerId)}/${action}`;
  return {
    async signIn(credentials) {
      if (credentials.means !== 'token')
        throw new DashboardError('invalid-request', 'This server takes its API token.');
      await connection.post('/session', { token: credentials.token });
      access.set({ state: 'signedIn' });
    },
    async signOut() {
      await connection.delete('/session');
      access.set({ state: 'signedOut', means: 'token' });
    },
    startRun: (request) => connection.post('/runs', request),
    cancelRun: (executionId) => connection.post(ofRun(executionId, 'cancel')),
    approve: ({ executionId, callId, argumentsHash }) =>
      connection.post(ofRun(executionId, 'approve'), { callId, argumentsHash }),
    reject: ({ executionId, callId, argumentsHash, reason }) =>
      connection.post(ofRun(executionId, 'reject'), { callId, argumentsHash, reason }),
    submitToolResult: ({ executionId, callId, outcome }) =>
      connection.post(ofRun(executionId, 'tool-results'), { callId, ...outcome }),
    async connectProvider(providerId) {
      const answer = await connection.post<{ readonly url?: string }>(ofProvider(providerId, 'connect'));
      providers.reload();
      return answer.url;
    },
    async disconnectProvider(providerId) {
      await connection.post(ofProvider(providerId, 'disconnect'));
      providers.reload();
    },
    async testProvider(providerId) {
      await connection.post(ofProvider(providerId, 'test'));
      return 'It answers.';
    },
  };
}
