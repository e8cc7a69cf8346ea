/** Restricts who may create an account, and creates the first one from the settings. */
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../business/ai/domain/json';

interface FirstUser {
  readonly email: string;
  readonly password: string;
}

/**
 * @param settings `Meteor.settings.ai`: `firstUser: { email, password }` is created if there are no users yet, with a
 *   verified address, since the operator entered it; `allowSignUp: true` lets people sign up themselves
 * @throws LLMInvalidRequestError
 */
export async function configureAccounts(settings: unknown): Promise<void> {
  const { firstUser, allowSignUp = false } = isObject(settings) ? settings : {};
  if (typeof allowSignUp !== 'boolean')
    throw new LLMInvalidRequestError('Meteor.settings.ai.allowSignUp must be true or false.', {
      path: 'settings.ai.allowSignUp',
    });
  Accounts.config({ forbidClientAccountCreation: !allowSignUp });
  if (firstUser === undefined || firstUser === null) return;
  const { email, password } = readFirstUser(firstUser);
  if ((await Meteor.users.findOneAsync({}, { fields: { _id: 1 } })) !== undefined) return;
  const userId = await Accounts.createUserAsync({ email, password });
  await Meteor.users.updateAsync({ _id: userId }, { $set: { emails: [{ address: email, verified: true }] } });
}

function readFirstUser(given: unknown): FirstUser {
  const { email, password } = isObject(given) ? given : {};
  if (typeof email !== 'string' || !/^[^\s@]+@[^\s@]+$/.test(email))
    throw new LLMInvalidRequestError('Meteor.settings.ai.firstUser.email must be an e-mail address.', {
      path: 'settings.ai.firstUser.email',
    });
  if (typeof password !== 'string' || password.length < 12)
    throw new LLMInvalidRequestError('Meteor.settings.ai.firstUser.password must have 12 characters or more.', {
      path: 'settings.ai.firstUser.password',
    });
  return { email, password };
}
