/** Signs in and out with the accounts of the Meteor app. */
import { DashboardError } from '../DashboardData';
import type { SessionCommands } from '../DashboardData';
import type { BrowserMeteor } from './BrowserPackages';
import { toDashboardError } from './callMethod';

/** What accounts-password adds. */
interface PasswordSignIn {
  loginWithPassword(login: string, password: string, callback: (error?: Error) => void): void;
}

export function createMeteorSession(Meteor: BrowserMeteor & Partial<PasswordSignIn>): SessionCommands {
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
  };
}
