/** The dashboard's commands as Meteor methods. */
import { Meteor } from 'meteor/meteor';
import { DashboardError } from '../DashboardData';
import type { DashboardCommands } from '../DashboardData';
import { callMethod, toDashboardError } from './callMethod';

export function createMeteorCommands(): DashboardCommands {
  return {
    signIn(credentials) {
      if (credentials.method !== 'password')
        return Promise.reject(
          new DashboardError('invalid-request', 'This server signs in with a user name and a password.'),
        );
      const { login, password } = credentials;
      return new Promise((resolve, reject) =>
        Meteor.loginWithPassword(login, password, (error) =>
          error === undefined ? resolve() : reject(toDashboardError(error)),
        ),
      );
    },
    signOut: () =>
      new Promise((resolve, reject) =>
        Meteor.logout((error) => (error === undefined ? resolve() : reject(toDashboardError(error)))),
      ),
    startRun: (request) => callMethod<{ executionId: string }>('ai.runs.start', request),
    cancelRun: (executionId) => callMethod('ai.runs.cancel', { executionId }),
    approve: (decision) => callMethod('ai.runs.approve', decision),
    reject: (decision) => callMethod('ai.runs.reject', decision),
    submitToolResult: ({ executionId, callId, outcome }) =>
      callMethod('ai.runs.submitToolResult', { executionId, callId, ...outcome }),
    connectProvider: (providerId) => callMethod<string>('ai.providers.connect', { providerId }),
    disconnectProvider: (providerId) => callMethod('ai.providers.disconnect', { providerId }),
    async testProvider(providerId) {
      await callMethod('ai.providers.test', { providerId });
      return 'Connection OK.';
    },
  };
}
