/** The dashboard's commands as Meteor methods. */
import { DashboardError } from '../DashboardData';
import type { DashboardCommands } from '../DashboardData';
import type { BrowserMeteor } from './BrowserPackages';
import { callMethod, toDashboardError } from './callMethod';

/** What accounts-password adds. */
interface PasswordSignIn {
  loginWithPassword(login: string, password: string, callback: (error?: Error) => void): void;
}

export function createMeteorCommands(Meteor: BrowserMeteor & Partial<PasswordSignIn>): DashboardCommands {
  const call = <T = void>(name: string, argument: object): Promise<T> => callMethod<T>(Meteor, name, argument);
  return {
    signIn(credentials) {
      if (credentials.method !== 'password')
        return Promise.reject(
          new DashboardError('invalid-request', 'This server signs in with a user name and a password.'),
        );
      const { login, password } = credentials;
      const { loginWithPassword: signIn } = Meteor;
      if (signIn === undefined)
        return Promise.reject(
          new DashboardError(
            'invalid-request',
            "This app has no passwords. Sign in on one of the app's own pages, or add accounts-password.",
          ),
        );
      return new Promise((resolve, reject) =>
        signIn.call(Meteor, login, password, (error) =>
          error === undefined ? resolve() : reject(toDashboardError(error)),
        ),
      );
    },
    signOut: () =>
      new Promise((resolve, reject) =>
        Meteor.logout((error) => (error === undefined ? resolve() : reject(toDashboardError(error)))),
      ),
    startRun: (request) => call<{ executionId: string }>('ai.runs.start', request),
    cancelRun: (executionId) => call('ai.runs.cancel', { executionId }),
    approve: (decision) => call('ai.runs.approve', decision),
    reject: (decision) => call('ai.runs.reject', decision),
    submitToolResult: ({ executionId, callId, outcome }) =>
      call('ai.runs.submitToolResult', { executionId, callId, ...outcome }),
  };
}
