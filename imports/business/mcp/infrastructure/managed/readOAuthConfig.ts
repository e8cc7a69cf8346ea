/** Reads how people sign in at a server, as an admin or the operator enters it. */
import { invalid, oneOf, readObject, required, text } from '../../../ai/domain/util/arguments';
import { isObject } from '../../../ai/domain/util/json';
import type { JsonObject } from '../../../ai/domain/types/VendorTypes';
import { parseUrl } from '../../../ai/domain/util/parseUrl';

const FIELDS = ['accounts', 'clientId', 'issuer', 'clientMetadataUrl'] as const;

/**
 * @param server all that is entered about it
 * @param more fields that may be there, too, and are texts
 * @throws LLMInvalidRequestError whose `path` names the field; it quotes no secret
 */
export function readOAuthConfig(value: unknown, { url, headers }: JsonObject, more: readonly string[] = []): void {
  const fields = readObject(value, [...FIELDS, ...more], 'oauth');
  if (url === undefined) throw invalid('oauth', 'belongs to "url"');
  if (isObject(headers) && Object.keys(headers).some((name) => name.toLowerCase() === 'authorization'))
    throw invalid('headers.authorization', 'would be sent in place of the accounts of "oauth"');
  required(fields, 'accounts', oneOf(['user', 'shared']), 'oauth.accounts');
  for (const name of ['clientId', 'issuer', 'clientMetadataUrl', ...more])
    if (fields[name] !== undefined) text(2_000)(fields[name], `oauth.${name}`);
  // Otherwise, a server could have the client's secret sent to an authorization server of its choice.
  if ((fields['clientId'] === undefined) !== (fields['issuer'] === undefined))
    throw invalid('oauth.issuer', 'and "oauth.clientId" are required together');
  for (const name of ['issuer', 'clientMetadataUrl']) {
    const address = fields[name];
    if (typeof address === 'string' && parseUrl(address) === undefined) throw invalid(`oauth.${name}`, 'must be a URL');
  }
}
