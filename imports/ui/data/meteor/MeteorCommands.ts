/**
 * What people do, as methods. Meteor re-sends methods in flight after a reconnect; these are sent once, and each
 * start carries its request's id.
 */
import { Meteor } from 'meteor/meteor';
import { DashboardError } from '../DashboardData';
import type { DashboardCommands } from '../DashboardData';

export function createMeteorCommands(): DashboardCommands {
  return {
    signIn(credentials) {
      if (credentials.means !== 'password')
        return Promise.reject(new DashboardError('invalid-request', 'This server takes a user name and a password.'));
      const { login, password } = credentials;
      return new Promise((resolve, reject) =>
        Meteor.loginWithPassword(login, password, (error) =>
          error === undefined ? resolve() : reject(toError(error)),
        ),
      );
    },
    signOut: () =>
      new Promise((resolve, reject) =>
        Meteor.logout((error) => (error === undefined ? resolve() : reject(toError(error)))),
      ),
    startRun: (request) => applyMethod<{ executionId: string }>('ai.runs.start', request),
    cancelRun: (executionId) => applyMethod('ai.runs.cancel', { executionId }),
    approve: (decision) => applyMethod('ai.runs.approve', decision),
    reject: (decision) => applyMethod('ai.runs.reject', decision),
    submitToolResult: ({ executionId, callId, outcome }) =>
      applyMethod('ai.runs.submitToolResult', { executionId, callId, ...outcome }),
    connectProvider: (providerId) => applyMethod<string>('ai.providers.connect', { providerId }),
    disconnectProvider: (providerId) => applyMethod('ai.providers.disconnect', { providerId }),
    async testProvider(providerId) {
      await applyMethod('ai.providers.test', { providerId });
      return 'It answers.';
    },
  };
}

export async function applyMethod<T = void>(name: string, argument: object): Promise<T> {
  try {
    // What a method answers is typed by its contract.
    return (await Meteor.applyAsync(name, [argument], { noRetry: true })) as T;
  } catch (error) {
    throw toError(error);
  }
}

/** A `Meteor.Error` has its code in `error` and its sentence in `reason`. */
function toError(error: unknown): DashboardError {
  if (typeof error !== 'object' || error === null) return new DashboardError('unexpected', String(error));
  const code = 'error' in error && typeof error.error === 'string' ? error.error : 'unexpected';
  const reason = 'reason' in error && typeof error.reason === 'string' ? error.reason : undefined;
  return new DashboardError(code, reason ?? (error instanceof Error ? error.message : 'Something went wrong.'));
}
