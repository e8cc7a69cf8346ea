/** What of accounts-base a server without a login page needs: how a login token is kept, and until when it counts. */
import { createHash } from 'node:crypto';
import { Meteor } from './meteor';

const LOGIN_DAYS = 90;

export const Accounts = {
  userId: (): string | null => Meteor.userId(),

  /** As in `users.services.resume.loginTokens[].hashedToken`. */
  _hashLoginToken: (token: string): string => createHash('sha256').update(token).digest('base64'),

  _tokenExpiration: (when: Date): Date => new Date(when.getTime() + LOGIN_DAYS * 24 * 60 * 60 * 1000),
};
