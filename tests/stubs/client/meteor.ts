/**
 * The Meteor object of a browser, with accounts-base and accounts-password: a stored token is resumed at the start, the
 * user document arrives after the id, and `loggingIn` is true while any login but that of a reconnect is in flight.
 */
import { MeteorError } from '../server/MeteorError';
import { connection } from './connection';
import { Mongo } from './mongo';
import { Tracker } from './tracker';

interface ClientUser {
  readonly _id: string;
  readonly username?: string;
  readonly emails?: readonly { readonly address: string; readonly verified: boolean }[];
}
interface LoginResult {
  readonly id: string;
  readonly token: string;
}
type LoginCallback = (error?: Error) => void;

/** The server writes it into the page. */
const { __meteor_runtime_config__: configuration } = window as {
  readonly __meteor_runtime_config__?: { readonly ROOT_URL: string };
};
const ROOT_URL = configuration?.ROOT_URL ?? 'http://localhost:3000/';

const TOKEN_KEY = 'Meteor.loginToken';
const USER_KEY = 'Meteor.userId';
const users = new Mongo.Collection<ClientUser>('users');
const loggingInDependency = new Tracker.Dependency();
let isLoggingIn = false;

export const Meteor = {
  isServer: false,
  isClient: true,
  isDevelopment: true,
  isProduction: false,
  settings: { public: {} },
  Error: MeteorError,
  users,
  connection,
  /** Before the page's `load` event, unless it has passed. */
  startup(callback: () => unknown): void {
    if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', () => void callback());
    else setTimeout(callback, 0);
  },
  defer: (callback: () => unknown): void => void setTimeout(callback, 0),
  /** ROOT_URL has no slash at its end if it has a path. */
  absoluteUrl: (path = ''): string => `${ROOT_URL.replace(/\/$/, '')}/${path.replace(/^\//, '')}`,

  status: () => connection.status(),
  userId: () => connection.userId(),
  subscribe: connection.subscribe.bind(connection),
  applyAsync: connection.applyAsync.bind(connection),
  callAsync: connection.callAsync.bind(connection),

  /** Undefined, as in Meteor, while the id is known and the document has not arrived. */
  user(): ClientUser | null | undefined {
    const id = connection.userId();
    return id === null ? null : users.findOne({ _id: id });
  },

  loggingIn(): boolean {
    loggingInDependency.depend();
    return isLoggingIn;
  },

  loginWithPassword(login: string, password: string, callback?: LoginCallback): void {
    const user = login.includes('@') ? { email: login } : { username: login };
    callLoginMethod({ user, password }, callback);
  },

  logout(callback?: LoginCallback): void {
    connection.applyAsync('logout', [], { wait: true }).then(
      () => {
        makeLoggedOut();
        callback?.();
      },
      (error: unknown) => callback?.(error as Error),
    );
  },
};

function callLoginMethod(argument: object, callback?: LoginCallback, isReconnect = false): void {
  const finish = (error?: Error): void => {
    callback?.(error);
    setLoggingIn(false);
  };
  if (!isReconnect) setLoggingIn(true);
  void connection.applyAsync('login', [argument], { wait: true }, (error, result) => {
    if (error !== undefined) {
      finish(error);
      return;
    }
    const { id, token } = result as LoginResult;
    window.localStorage.setItem(TOKEN_KEY, token);
    window.localStorage.setItem(USER_KEY, id);
    connection.setUserId(id);
    Tracker.autorun((computation) => {
      if (Meteor.user() === undefined) return;
      finish();
      computation.stop();
    });
  });
}

function makeLoggedOut(): void {
  window.localStorage.removeItem(TOKEN_KEY);
  window.localStorage.removeItem(USER_KEY);
  connection.setUserId(null);
}

function setLoggingIn(value: boolean): void {
  isLoggingIn = value;
  loggingInDependency.changed();
}

function resumeStoredLogin(isReconnect: boolean): void {
  const token = window.localStorage.getItem(TOKEN_KEY);
  if (token === null) return;
  connection.setUserId(window.localStorage.getItem(USER_KEY));
  callLoginMethod({ resume: token }, (error) => (error === undefined ? undefined : makeLoggedOut()), isReconnect);
}

resumeStoredLogin(false);
connection.onReconnect.push(() => resumeStoredLogin(true));
