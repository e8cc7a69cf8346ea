/** The part of accounts-base that a server needs: its options, users, and the hash and expiry of login tokens. */
import { createHash } from 'node:crypto';
import { Meteor } from './meteor';
import { registry } from '../server/registry';
import type { LoginHook } from '../server/registry';

const LOGIN_DAYS = 90;

/** The option keys of accounts-base 3. */
const OPTIONS: ReadonlySet<string> = new Set([
  'sendVerificationEmail',
  'forbidClientAccountCreation',
  'restrictCreationByEmailDomain',
  'loginExpiration',
  'loginExpirationInDays',
  'ambiguousErrorMessages',
  'defaultFieldSelector',
  'collection',
]);

export const Accounts = {
  /** What `Accounts.config` and `Meteor.settings.packages.accounts` have set. */
  get _options(): { forbidClientAccountCreation?: boolean } {
    return registry.accountsOptions;
  },

  /** Refuses unknown options and options that are set already, as Meteor's strictest versions do. */
  config(options: { readonly forbidClientAccountCreation?: boolean }): void {
    for (const [name, value] of Object.entries(options)) {
      if (!OPTIONS.has(name)) throw new Meteor.Error(`Accounts.config: Invalid key: ${name}`);
      if (name in registry.accountsOptions) throw new Meteor.Error(`Can't set \`${name}\` more than once`);
      Object.assign(registry.accountsOptions, { [name]: value });
    }
  },

  /** Added on the server by accounts-password. Two users cannot have the same address. */
  async createUserAsync({ email, password }: { readonly email: string; readonly password: string }): Promise<string> {
    const hash = createHash('sha256').update(password).digest('hex');
    const taken = await Meteor.users.findOneAsync({ 'emails.address': email });
    if (taken !== undefined) throw new Meteor.Error(403, 'Email already exists.');
    return Meteor.users.insertAsync({
      emails: [{ address: email, verified: false }],
      services: { password: { hash } },
    });
  },

  onLogin(hook: LoginHook): { stop(): void } {
    return addHook(this, 'onLogin', hook);
  },

  onLoginFailure(hook: LoginHook): { stop(): void } {
    return addHook(this, 'onLoginFailure', hook);
  },

  onLogout(hook: LoginHook): { stop(): void } {
    return addHook(this, 'onLogout', hook);
  },

  userId: (): string | null => Meteor.userId(),

  /** Hashes a token as in `users.services.resume.loginTokens[].hashedToken`. */
  _hashLoginToken: (token: string): string => createHash('sha256').update(token).digest('base64'),

  _tokenExpiration: (when: Date): Date => new Date(when.getTime() + LOGIN_DAYS * 24 * 60 * 60 * 1000),
};

/** Meteor's are methods of an instance. */
function addHook(self: unknown, name: keyof typeof registry.loginHooks, hook: LoginHook): { stop(): void } {
  if (self !== Accounts) throw new TypeError(`Accounts.${name} was called without its object.`);
  registry.loginHooks[name].add(hook);
  return { stop: () => void registry.loginHooks[name].delete(hook) };
}
