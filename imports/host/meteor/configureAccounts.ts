/** Restricts who may create an account, and creates the first one from the settings. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import type { FirstUser } from '../settings/meteorSettings';
import type { MeteorAccounts, MeteorApp } from './MeteorPackages';

/** The part of accounts-base that its types leave out: the options that the app has set so far. */
interface ConfiguredAccounts {
  readonly _options: { readonly forbidClientAccountCreation?: boolean };
}

/** What accounts-password adds. */
interface PasswordAccounts {
  createUserAsync(options: { readonly email: string; readonly password: string }): Promise<string>;
}

/**
 * Permits or forbids that people create accounts themselves. An app that has decided this with `Accounts.config` or in
 * `Meteor.settings.packages` is left as it is: depending on its version, Meteor refuses to set an option twice.
 */
export function configureSignUp(Accounts: MeteorAccounts, allowSignUp: boolean): void {
  const { _options: options } = Accounts as MeteorAccounts & ConfiguredAccounts;
  if (!('forbidClientAccountCreation' in options)) {
    Accounts.config({ forbidClientAccountCreation: !allowSignUp } as never);
    return;
  }
  const isAllowed = !options.forbidClientAccountCreation;
  if (isAllowed === allowSignUp) return;
  console.warn(
    `Meteor.settings.ai.allowSignUp is ${allowSignUp}, but the app itself has set forbidClientAccountCreation to ${!isAllowed}, which applies. Remove one of the two.`,
  );
}

/** @throws LLMInvalidRequestError without the package accounts-password */
export function requirePasswords(Accounts: MeteorAccounts): asserts Accounts is MeteorAccounts & PasswordAccounts {
  if (hasPasswords(Accounts)) return;
  throw new LLMInvalidRequestError(
    'Meteor.settings.ai.firstUser needs the package accounts-password. Add it with: meteor add accounts-password',
    { path: 'settings.ai.firstUser' },
  );
}

/** Creates the user, with a verified address because the operator entered it, while there are no users. */
export async function createFirstUser(
  { Meteor, Accounts }: { readonly Meteor: Pick<MeteorApp, 'users'>; readonly Accounts: MeteorAccounts },
  { email, password }: FirstUser,
): Promise<void> {
  requirePasswords(Accounts);
  if (await hasUsers(Meteor)) return;
  let userId: string;
  try {
    userId = await Accounts.createUserAsync({ email, password });
  } catch (error) {
    // Another process of the app was faster.
    if (await hasUsers(Meteor)) return;
    throw error;
  }
  await Meteor.users.updateAsync({ _id: userId }, { $set: { emails: [{ address: email, verified: true }] } });
  console.log(`Created the first user, ${email}, with the id ${userId}.`);
}

async function hasUsers({ users }: Pick<MeteorApp, 'users'>): Promise<boolean> {
  return ((await users.findOneAsync({}, { fields: { _id: 1 } })) ?? undefined) !== undefined;
}

function hasPasswords(Accounts: MeteorAccounts): Accounts is MeteorAccounts & PasswordAccounts {
  return typeof (Accounts as Partial<PasswordAccounts>).createUserAsync === 'function';
}
