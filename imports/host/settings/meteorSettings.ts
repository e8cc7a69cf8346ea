/** The fields that only `Meteor.settings.ai` has. */
import * as v from 'valibot';
import { isList } from '../../business/ai/domain/util/json';
import type { PrivateHosts } from '../../business/ai/infrastructure/clients/http/privateHosts';
import { boolean, integer, object } from '../schemas';
import { defineSettings, field } from './defineSettings';
import { hostList } from './host';
import { sealingKeys } from './nodeSettings';
import { shaped } from './settingReaders';

const AN_ADDRESS = 'must be an e-mail address';
const A_PASSWORD = 'must have 12 characters or more';

const isTrue = shaped(boolean);
const names = shaped(v.array(v.pipe(v.string('must be a text'), v.nonEmpty('must not be empty')), 'must be a list'));
const calls = v.exactOptional(integer(1, Number.MAX_SAFE_INTEGER));
const firstUser = object({
  email: v.pipe(v.string(AN_ADDRESS), v.regex(/^[^\s@]+@[^\s@]+$/, AN_ADDRESS)),
  password: v.pipe(v.string(A_PASSWORD), v.minLength(12, A_PASSWORD)),
});

export type FirstUser = v.InferOutput<typeof firstUser>;

export const meteorSettings = defineSettings({
  secretKeys: field('secrets', sealingKeys, '`AI_SECRET_KEYS`').means(
    'Sealing keys. The server does not start without either.',
  ),
  sealContent: field('sealContent', isTrue, '`AI_SEAL_CONTENT`').means(
    "`true` seals users' content before it is stored.",
  ),
  admins: field('admins', names, '`[]`').means(
    'User ids and e-mail addresses (which count once verified) of administrators.',
  ),
  adminRoles: field('adminRoles', names, '`[]`').means('Roles whose users are administrators, too.'),
  firstUser: field('firstUser', shaped(firstUser), 'none').means(
    '`{ "email", "password" }` of a user to create while there are none, with a verified address. At least 12 characters. Needs `accounts-password`.',
  ),
  allowSignUp: field('allowSignUp', isTrue, 'as the app has it').means(
    "Whether people may create accounts themselves. Not applied if the app has set `forbidClientAccountCreation` itself. This repository's own app closes sign-up by default.",
  ),
  allowPrivateHosts: field('allowPrivateHosts', privateHosts, '`AI_ALLOW_PRIVATE_HOSTS`').means(
    '`true`, `false`, or a list of what the variable names.',
  ),
  callLimits: field(
    'callsPerMinute',
    shaped(object({ model: calls, command: calls })),
    '`{ "model": 300, "command": 1200 }`',
  ).means('Calls of one user in a minute, over all processes.'),
});

function privateHosts(given: unknown, name: string): PrivateHosts {
  const isListOfTexts = isList(given) && given.every((host) => typeof host === 'string');
  return isListOfTexts ? hostList(given.join(','), name) : isTrue(given, name);
}
