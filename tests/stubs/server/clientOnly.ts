/** Meteor's browser-only API: typed here, and failing when called. `tests/stubs/client` is a browser's Meteor. */
interface ClientUser {
  readonly _id: string;
  readonly username?: string;
  readonly emails?: readonly { readonly address: string; readonly verified: boolean }[];
}

type Callback = (error?: Error) => void;

export const clientOnly = {
  loggingIn: (): boolean => refuse('Meteor.loggingIn'),
  user: (): ClientUser | null => refuse('Meteor.user'),
  status: (): {
    readonly connected: boolean;
    readonly status: 'connected' | 'connecting' | 'failed' | 'waiting' | 'offline';
  } => refuse('Meteor.status'),
  subscribe: (
    _name: string,
    ..._args: readonly unknown[]
  ): { readonly ready: () => boolean; readonly stop: () => void } => refuse('Meteor.subscribe'),
  loginWithPassword: (_user: string, _password: string, _callback?: Callback): void =>
    refuse('Meteor.loginWithPassword'),
  logout: (_callback?: Callback): void => refuse('Meteor.logout'),
};

export function refuse(name: string): never {
  throw new Error(`${name} is only available in browsers.`);
}
