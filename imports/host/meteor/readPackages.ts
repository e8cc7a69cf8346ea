/** Validates the objects that an app hands in, and completes them. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import type { MeteorCheck } from '../../business/ai/domain/interfaces/MeteorServer';
import { installedPackage } from './installedPackage';
import type { MeteorApp, MeteorPackages, MeteorRateLimiter } from './MeteorPackages';

export interface ReadPackages extends Pick<MeteorPackages, 'Meteor' | 'Mongo' | 'WebApp' | 'Accounts'> {
  readonly DDPRateLimiter: MeteorRateLimiter | undefined;
  readonly argumentChecks: MeteorCheck | undefined;
}

interface Expectation {
  readonly module: string;
  /** Paths of functions and objects that the object must have. */
  readonly members: readonly string[];
}

const REQUIRED: Readonly<Record<'Meteor' | 'Mongo' | 'WebApp' | 'Accounts', Expectation>> = {
  Meteor: { module: 'meteor/meteor', members: ['methods', 'publish', 'onConnection', 'absoluteUrl', 'Error'] },
  Mongo: { module: 'meteor/mongo', members: ['Collection'] },
  WebApp: { module: 'meteor/webapp', members: ['handlers.use', 'httpServer.on', 'express.Router'] },
  Accounts: { module: 'meteor/accounts-base', members: ['_hashLoginToken', '_tokenExpiration', 'config'] },
};
const OPTIONAL: Readonly<Record<'DDPRateLimiter' | 'Match', Expectation>> = {
  DDPRateLimiter: { module: 'meteor/ddp-rate-limiter', members: ['addRule', 'removeRule'] },
  Match: { module: 'meteor/check', members: ['Maybe', 'OneOf', 'ObjectIncluding'] },
};

/** @throws LLMInvalidRequestError that names every missing or wrong object, with its import */
export function readPackages(given: MeteorPackages): ReadPackages {
  // Apps in JavaScript may leave anything out.
  const packages = (given as MeteorPackages | undefined) ?? ({} as MeteorPackages);
  const problems = [
    ...Object.entries(REQUIRED).flatMap(([name, expected]) => problem(packages, name, expected)),
    ...Object.entries(OPTIONAL).flatMap(([name, expected]) =>
      packages[name as keyof MeteorPackages] === undefined ? [] : problem(packages, name, expected),
    ),
  ];
  if ((packages.check === undefined) !== (packages.Match === undefined))
    problems.push({ name: 'check', text: 'check and Match belong together', module: 'meteor/check' });
  if (problems.length > 0) throw toError(problems);
  // The collection of users exists as soon as accounts-base is loaded.
  requireUsers(packages.Meteor);
  const { Meteor, Mongo, WebApp, Accounts, check, Match } = packages;
  return {
    Meteor,
    Mongo,
    WebApp,
    Accounts,
    DDPRateLimiter:
      packages.DDPRateLimiter ??
      (installedPackage('ddp-rate-limiter') as RateLimiterPackage | undefined)?.DDPRateLimiter,
    argumentChecks:
      check === undefined || Match === undefined
        ? (installedPackage('check') as MeteorCheck | undefined)
        : { check, Match },
  };
}

interface RateLimiterPackage {
  readonly DDPRateLimiter?: MeteorRateLimiter;
}

interface Problem {
  readonly name: string;
  readonly text: string;
  readonly module: string;
}

function problem(packages: object, name: string, { module, members }: Expectation): readonly Problem[] {
  const value = (packages as Readonly<Record<string, unknown>>)[name];
  if (value === undefined || value === null) return [{ name, text: `${name} is missing`, module }];
  const missing = members.filter((path) => typeof memberAt(value, path) !== 'function');
  return missing.length === 0 ? [] : [{ name, text: `${name} has no ${missing.join(', ')}`, module }];
}

function memberAt(value: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce((at: unknown, key) => (at as Readonly<Record<string, unknown>> | null | undefined)?.[key], value);
}

function requireUsers({ users }: MeteorApp): void {
  if (typeof (users as Partial<MeteorApp['users']> | undefined)?.findOneAsync === 'function') return;
  throw new LLMInvalidRequestError(
    'Meteor.users is missing. Add a package that signs users in, such as: meteor add accounts-password',
    { path: 'Meteor.users' },
  );
}

function toError(problems: readonly Problem[]): LLMInvalidRequestError {
  const lines = problems.map(({ text, name, module }) => {
    const imported = module === 'meteor/check' ? 'check, Match' : name;
    return `  ${text}: import { ${imported} } from '${module}';`;
  });
  return new LLMInvalidRequestError(
    `startBolide needs the server's objects of Meteor 3.1.1 or newer:\n${lines.join('\n')}`,
    { path: problems[0]?.name ?? '' },
  );
}
