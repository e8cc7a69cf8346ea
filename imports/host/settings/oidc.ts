/** Settings of signing in to the dashboard of a plain-Node server at an OpenID provider. */
import type { SignInRules } from '../../api/signIn/signInRules';
import { permitsHost } from '../../business/ai/infrastructure/clients/http/privateHosts';
import type { PrivateHosts } from '../../business/ai/infrastructure/clients/http/privateHosts';
import { SettingProblems } from './SettingProblems';
import { parseUrl } from '../../business/ai/domain/parseUrl';

export interface OidcSettings {
  readonly issuer: URL;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string;
  readonly scopes: readonly string[];
  /** The name of the provider that people see. */
  readonly name: string;
  readonly rules: SignInRules;
  /** API tokens open no sessions. */
  readonly isOnly: boolean;
  /** Signing out ends the session at the provider, too. */
  readonly endsSession: boolean;
}

export const OIDC_VARIABLES = [
  'OIDC_ISSUER',
  'OIDC_CLIENT_ID',
  'OIDC_CLIENT_SECRET',
  'OIDC_SCOPES',
  'OIDC_NAME',
  'OIDC_USER_ID',
  'OIDC_ADMINS',
  'OIDC_USERS',
  'OIDC_GROUPS_CLAIM',
  'OIDC_ADMIN_GROUPS',
  'OIDC_USER_GROUPS',
  'OIDC_ONLY',
  'OIDC_SIGN_OUT',
] as const;
type Variable = (typeof OIDC_VARIABLES)[number];

export const DEFAULT_OIDC_SCOPES = 'openid profile email';

/**
 * @param valueOf returns the variable with that name
 * @param privateHosts those that may be called over http
 * @returns undefined without OIDC_ISSUER
 * @throws LLMInvalidRequestError that names every invalid variable
 */
export function readOidcSettings(
  valueOf: (name: string) => string | undefined,
  privateHosts: PrivateHosts,
): OidcSettings | undefined {
  const problems = new SettingProblems();
  const values = Object.fromEntries(OIDC_VARIABLES.map((name) => [name, valueOf(name)?.trim()]));
  const read = (name: Variable): string => values[name] ?? '';
  const list = (name: Variable): readonly string[] =>
    read(name)
      .split(',')
      .map((entry) => entry.trim())
      .filter((entry) => entry !== '');
  const flag = (name: Variable): boolean => {
    const value = read(name).toLowerCase();
    if (!['', 'true', 'false', '1', '0'].includes(value)) problems.add(name, `${name} must be true or false.`);
    return value === 'true' || value === '1';
  };
  const issuer = readIssuer('OIDC_ISSUER', read('OIDC_ISSUER'), privateHosts, problems);
  if (read('OIDC_ISSUER') === '') {
    const other = OIDC_VARIABLES.find((name) => read(name) !== '');
    if (other === undefined) return undefined;
    problems.add('OIDC_ISSUER', `${other} is set, but OIDC_ISSUER is not. Set it to the URL of the OpenID provider.`);
  }
  if (read('OIDC_CLIENT_ID') === '')
    problems.add('OIDC_CLIENT_ID', 'OIDC_CLIENT_ID must be the id that the OpenID provider has given to this server.');
  const scopes = (read('OIDC_SCOPES') || DEFAULT_OIDC_SCOPES).split(/[\s,]+/);
  if (!scopes.includes('openid')) problems.add('OIDC_SCOPES', 'OIDC_SCOPES must include openid.');
  const userId = read('OIDC_USER_ID') || 'sub';
  if (userId !== 'sub' && userId !== 'email') problems.add('OIDC_USER_ID', 'OIDC_USER_ID must be sub or email.');
  const rules: SignInRules = {
    userId: userId === 'email' ? 'email' : 'sub',
    admins: list('OIDC_ADMINS'),
    users: list('OIDC_USERS'),
    groupsClaim: read('OIDC_GROUPS_CLAIM') || 'groups',
    adminGroups: list('OIDC_ADMIN_GROUPS'),
    userGroups: list('OIDC_USER_GROUPS'),
  };
  checkRules(rules, problems);
  const isOnly = flag('OIDC_ONLY');
  const endsSession = flag('OIDC_SIGN_OUT');
  const clientSecret = read('OIDC_CLIENT_SECRET');
  problems.throwIfAny();
  if (issuer === undefined) return undefined;
  return {
    issuer,
    clientId: read('OIDC_CLIENT_ID'),
    ...(clientSecret === '' ? {} : { clientSecret }),
    scopes,
    name: read('OIDC_NAME') || issuer.hostname,
    rules,
    isOnly,
    endsSession,
  };
}

/** Over http, whoever is in between could sign in as anybody. */
export function readIssuer(
  name: string,
  value: string,
  privateHosts: PrivateHosts,
  problems: SettingProblems,
): URL | undefined {
  if (value === '') return undefined;
  const url = parseUrl(value);
  const isPlain = url?.protocol === 'http:' && (isLoopback(url.hostname) || permitsHost(privateHosts, url.hostname));
  const isUsable =
    url !== undefined &&
    (url.protocol === 'https:' || isPlain) &&
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    url.hash === '';
  if (isUsable) return url;
  problems.add(
    name,
    `${name} must be the https URL of an OpenID provider, without credentials, query and fragment. http is for this machine, and for hosts in AI_ALLOW_PRIVATE_HOSTS.`,
  );
  return undefined;
}

function checkRules(rules: SignInRules, problems: SettingProblems): void {
  const { admins, users, adminGroups, userGroups } = rules;
  if (admins.includes('*'))
    problems.add('OIDC_ADMINS', 'OIDC_ADMINS must not be *, or everyone whom the provider knows would be an admin.');
  for (const [name, entries] of [
    ['OIDC_ADMINS', admins],
    ['OIDC_USERS', users],
  ] as const) {
    const wrong = entries.find((entry) => entry === '@' || (entry.includes('*') && entry !== '*'));
    if (wrong !== undefined)
      problems.add(
        name,
        `${name} has "${wrong.slice(0, 100)}". Expected ids, e-mail addresses, and domains such as @example.com.`,
      );
  }
  if ([...admins, ...users, ...adminGroups, ...userGroups].length === 0)
    problems.add(
      'OIDC_USERS',
      'Nobody may sign in: set OIDC_ADMINS, OIDC_USERS, OIDC_ADMIN_GROUPS or OIDC_USER_GROUPS. OIDC_USERS=* admits everyone whom the provider knows.',
    );
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
