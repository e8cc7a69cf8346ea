/** Settings of signing in to the dashboard of a plain-Node server at an OpenID provider. */
import type { SignInRules } from '../../api/signIn/signInRules';
import { permitsHost } from '../../business/ai/infrastructure/clients/http/privateHosts';
import type { PrivateHosts } from '../../business/ai/infrastructure/clients/http/privateHosts';
import { parseUrl } from '../../business/ai/domain/util/parseUrl';
import { defineSettings, readSettings, settingsIn, variable } from './defineSettings';
import type { SettingSource } from './defineSettings';
import { SettingProblems } from './SettingProblems';
import { choice, list, text, trueFalse } from './settingReaders';

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

export const DEFAULT_OIDC_SCOPES = 'openid profile email';

const people = list(
  'ids, e-mail addresses, and domains such as @example.com',
  (entry) => entry !== '@' && (entry === '*' || !entry.includes('*')),
);

export const oidcSettings = defineSettings({
  issuer: variable('OIDC_ISSUER', text, 'none: nobody signs in with OpenID Connect').means(
    'The URL of the OpenID provider, whose metadata is at `/.well-known/openid-configuration` below it.',
  ),
  clientId: variable('OIDC_CLIENT_ID', text, 'required').means(
    'The id of this server at the provider. Its redirect URI there is `<ROOT_URL>/sign-in/callback`.',
  ),
  clientSecret: variable('OIDC_CLIENT_SECRET', text, 'none: a public client').means('Its secret.'),
  scopes: variable('OIDC_SCOPES', text, `\`${DEFAULT_OIDC_SCOPES}\``).means(
    'What is asked for, such as a scope for groups.',
  ),
  name: variable('OIDC_NAME', text, "the issuer's host").means("The provider's name on the sign-in page."),
  rules: {
    userId: variable('OIDC_USER_ID', choice(['sub', 'email']), '`sub`').means(
      '[User ids](../guides/sign-in.md#user-ids): `sub` or `email`.',
    ),
    admins: variable('OIDC_ADMINS', people, 'none').means(
      '[Who may sign in](../guides/sign-in.md#who-may-sign-in) as an admin: ids, verified addresses, `@domain`.',
    ),
    users: variable('OIDC_USERS', people, 'none').means('Who may sign in as a user: the same, or `*`.'),
    groupsClaim: variable('OIDC_GROUPS_CLAIM', text, '`groups`').means("The claim with a person's groups."),
    adminGroups: variable('OIDC_ADMIN_GROUPS', list(), 'none').means('Groups whose members are admins.'),
    userGroups: variable('OIDC_USER_GROUPS', list(), 'none').means('Groups whose members are users.'),
  },
  isOnly: variable('OIDC_ONLY', trueFalse, '`false`').means('`true`: API tokens do not sign in to the dashboard.'),
  endsSession: variable('OIDC_SIGN_OUT', trueFalse, '`false`').means(
    '`true`: signing out ends the session at the provider, too.',
  ),
});

const NOBODY: SignInRules = {
  userId: 'sub',
  admins: [],
  users: [],
  groupsClaim: 'groups',
  adminGroups: [],
  userGroups: [],
};

/**
 * @param privateHosts those that may be called over http
 * @returns undefined without OIDC_ISSUER
 * @throws LLMInvalidRequestError that names every invalid variable
 */
export function readOidcSettings(valueOf: SettingSource, privateHosts: PrivateHosts): OidcSettings | undefined {
  const problems = new SettingProblems();
  const set = settingsIn(oidcSettings).find(({ name }) => valueOf(name) !== undefined && valueOf(name) !== '');
  if (set === undefined) return undefined;
  const given = readSettings(oidcSettings, valueOf, problems);
  const { clientId = '', scopes: scopeText = DEFAULT_OIDC_SCOPES } = given;
  const issuer = readIssuer('OIDC_ISSUER', given.issuer, privateHosts, problems);
  if (given.issuer === undefined)
    problems.add(
      'OIDC_ISSUER',
      `${set.name} is set, but OIDC_ISSUER is not. Set it to the URL of the OpenID provider.`,
    );
  if (clientId === '')
    problems.add('OIDC_CLIENT_ID', 'OIDC_CLIENT_ID must be the id that the OpenID provider has given to this server.');
  const scopes = scopeText.split(/[\s,]+/);
  if (!scopes.includes('openid')) problems.add('OIDC_SCOPES', 'OIDC_SCOPES must include openid.');
  const rules = { ...NOBODY, ...given.rules };
  if (rules.admins.includes('*'))
    problems.add('OIDC_ADMINS', 'OIDC_ADMINS must not be *, or everyone whom the provider knows would be an admin.');
  const lists = [rules.admins, rules.users, rules.adminGroups, rules.userGroups];
  if (lists.every(({ length }) => length === 0) && !problems.has('OIDC_ADMINS') && !problems.has('OIDC_USERS'))
    problems.add(
      'OIDC_USERS',
      'Nobody may sign in: set OIDC_ADMINS, OIDC_USERS, OIDC_ADMIN_GROUPS or OIDC_USER_GROUPS. OIDC_USERS=* admits everyone whom the provider knows.',
    );
  problems.throwIfAny();
  if (issuer === undefined) return undefined;
  const { name = issuer.hostname, isOnly = false, endsSession = false } = given;
  return { ...given, issuer, clientId, scopes, name, rules, isOnly, endsSession };
}

/** Reads an issuer's URL. Plain http is refused, since an attacker on the way could sign in as anybody. */
export function readIssuer(
  name: string,
  value: string | undefined,
  privateHosts: PrivateHosts,
  problems: SettingProblems,
): URL | undefined {
  if (value === undefined) return undefined;
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

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
