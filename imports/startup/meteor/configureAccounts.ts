/** Restricts who may create an account, and creates the first one from the settings. */
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import type { FirstUser } from '../settings/meteor';

/** The part of accounts-base that its types leave out: the options that the app has set so far. */
interface ConfiguredAccounts {
  readonly _options: { readonly forbidClientAccountCreation?: boolean };
}

/**
 * Permits or forbids that people create accounts themselves. An app that has decided this with `Accounts.config` or in
 * `Meteor.settings.packages` is left as it is: depending on its version, Meteor refuses to set an option twice.
 */
export function configureSignUp(allowSignUp: boolean): void {
  const { _options: options } = Accounts as unknown as ConfiguredAccounts;
  if (!('forbidClientAccountCreation' in options)) {
    Accounts.config({ forbidClientAccountCreation: !allowSignUp });
    return;
  }
  const isAllowed = !options.forbidClientAccountCreation;
  if (isAllowed === allowSignUp) return;
  console.warn(
    `Meteor.settings.ai.allowSignUp is ${allowSignUp}, but the app itself has set forbidClientAccountCreation to ${!isAllowed}, which applies. Remove one of the two.`,
  );
}

/** @throws LLMInvalidRequestError without the package accounts-password */
export function requirePasswords(): void {
  if (typeof (Accounts as { createUserAsync?: unknown }).createUserAsync === 'function') return;
  throw new LLMInvalidRequestError(
    'Meteor.settings.ai.firstUser needs the package accounts-password. Add it with: meteor add accounts-password',
    { path: 'settings.ai.firstUser' },
  );
}

/** Creates the user, with a verified address because the operator entered it, while there are no users. */
export async function createFirstUser({ email, password }: FirstUser): Promise<void> {
  if (await hasUsers()) return;
  let userId: string;
  try {
    userId = await Accounts.createUserAsync({ email, password });
  } catch (error) {
    // Another process of the app was faster.
    if (await hasUsers()) return;
    throw error;
  }
  await Meteor.users.updateAsync({ _id: userId }, { $set: { emails: [{ address: email, verified: true }] } });
  console.log(`Created the first user, ${email}, with the id ${userId}.`);
}

async function hasUsers(): Promise<boolean> {
  return (await Meteor.users.findOneAsync({}, { fields: { _id: 1 } })) !== undefined;
}
