/** Who may sign in at the OpenID provider, as which user and with which rights. Nobody may unless a rule says so. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { IdentityClaims } from '../../business/providers/domain/interfaces/IdentityServer';
import type { User } from '../../business/ai/domain/types/Actor';

/** What the rules look at: a person as the issuer has described them. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  /** In lower case. Absent unless the issuer has verified it. */
  readonly email?: string;
  readonly groups: readonly string[];
}

export interface SignInRules {
  /**
   * `sub`: user ids are `oidc:` and the issuer's id. `email`: the verified address, so that a person is the same user
   * as the one for whom API tokens with that id were issued.
   */
  readonly userId: 'sub' | 'email';
  /** Admins: ids of the issuer, with or without `oidc:`, verified e-mail addresses, and domains as `@example.com`. */
  readonly admins: readonly string[];
  /** Users without the rights of admins: the same, or `*` for everyone whom the issuer signs in. */
  readonly users: readonly string[];
  readonly groupsClaim: string;
  readonly adminGroups: readonly string[];
  readonly userGroups: readonly string[];
}

const PREFIX = 'oidc:';

/** Issuers' ids have at most 255 characters: https://openid.net/specs/openid-connect-core-1_0.html#IDToken */
const MAX_LENGTH = 255;

/** The user that signs in, or undefined if no rule admits them. */
export function decideSignIn(identity: Identity, rules: SignInRules): User | undefined {
  const userId = userIdOf(identity, rules);
  if (userId === undefined) return undefined;
  const isIn = (groups: readonly string[]): boolean => groups.some((group) => identity.groups.includes(group));
  const isAdmin = rules.admins.some((rule) => names(rule, identity)) || isIn(rules.adminGroups);
  const isAdmitted = isAdmin || rules.users.some((rule) => names(rule, identity)) || isIn(rules.userGroups);
  if (!isAdmitted) return undefined;
  return omitUndefined({ userId, isAdmin, name: identity.email });
}

/** Undefined for somebody without a verified address where that is the id. */
export function userIdOf({ subject, email }: Identity, { userId }: Pick<SignInRules, 'userId'>): string | undefined {
  return userId === 'sub' ? PREFIX + subject : email;
}

/** The claims that the rules need besides `sub`. */
export function neededClaims(rules: SignInRules): readonly string[] {
  const needsEmail = rules.userId === 'email' || [...rules.admins, ...rules.users].some(isAddress);
  const needsGroups = rules.adminGroups.length > 0 || rules.userGroups.length > 0;
  return [...(needsEmail ? ['email', 'email_verified'] : []), ...(needsGroups ? [rules.groupsClaim] : [])];
}

/** @returns undefined for an id that is too long, or could be taken for something else where it is shown */
export function toIdentity(claims: IdentityClaims, issuer: string, groupsClaim: string): Identity | undefined {
  const { sub } = claims;
  if (!isPrintable(sub)) return undefined;
  const { email, email_verified: isVerified } = claims;
  // An address that anybody can enter must not make them that person.
  const isAccepted = isVerified === true && typeof email === 'string' && email.includes('@') && isPrintable(email);
  const groups = [claims[groupsClaim] ?? []].flat().filter((group): group is string => typeof group === 'string');
  return { issuer, subject: sub, ...(isAccepted ? { email: email.toLowerCase() } : {}), groups };
}

function names(rule: string, { subject, email }: Identity): boolean {
  if (rule === '*') return true;
  if (!isAddress(rule)) return (rule.startsWith(PREFIX) ? rule.slice(PREFIX.length) : rule) === subject;
  const address = rule.toLowerCase();
  return email !== undefined && (address.startsWith('@') ? email.endsWith(address) : email === address);
}

/** What has an `@` is never compared with an issuer's id, unless the prefix says so. */
function isAddress(rule: string): boolean {
  return rule.includes('@') && !rule.startsWith(PREFIX);
}

/** ASCII without spaces: homoglyphs of an address are another address, but look the same. */
function isPrintable(text: string): boolean {
  return text.length <= MAX_LENGTH && /^[\x21-\x7e]+$/.test(text);
}
