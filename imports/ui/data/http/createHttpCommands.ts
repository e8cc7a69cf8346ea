/** The dashboard's commands as HTTP requests. */
import type { DashboardCommands } from '../DashboardData';
import type { HttpSession } from './HttpSession';

export function createHttpCommands({ signIn, signOut, connection }: HttpSession): DashboardCommands {
  const runPath = (executionId: string, action: string): string =>
    `/api/runs/${encodeURIComponent(executionId)}/${action}`;
  return {
    signIn,
    signOut,
    startRun: (request) => connection.post('/api/runs', request),
    cancelRun: (executionId) => connection.post(runPath(executionId, 'cancel')),
    approve: ({ executionId, ...decision }) => connection.post(runPath(executionId, 'approve'), decision),
    reject: ({ executionId, callId, argumentsHash, reason }) =>
      connection.post(runPath(executionId, 'reject'), { callId, argumentsHash, reason }),
    submitToolResult: ({ executionId, callId, outcome }) =>
      connection.post(runPath(executionId, 'tool-results'), { callId, ...outcome }),
  };
}
