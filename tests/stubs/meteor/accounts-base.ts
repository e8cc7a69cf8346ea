/** The part of accounts-base that a server without a login page needs: the hash and expiry of login tokens. */
import { createHash } from 'node:crypto';
import { Meteor } from './meteor';

const LOGIN_DAYS = 90;

export const Accounts = {
  _options: {} as { forbidClientAccountCreation?: boolean },

  config(options: { readonly forbidClientAccountCreation?: boolean }): void {
    Object.assign(Accounts._options, options);
  },

  /** Added on the server by accounts-password. */
  async createUserAsync({ email, password }: { readonly email: string; readonly password: string }): Promise<string> {
    const hash = createHash('sha256').update(password).digest('hex');
    return Meteor.users.insertAsync({
      emails: [{ address: email, verified: false }],
      services: { password: { hash } },
    });
  },

  userId: (): string | null => Meteor.userId(),

  /** As in `users.services.resume.loginTokens[].hashedToken`. */
  _hashLoginToken: (token: string): string => createHash('sha256').update(token).digest('base64'),

  _tokenExpiration: (when: Date): Date => new Date(when.getTime() + LOGIN_DAYS * 24 * 60 * 60 * 1000),
};
