/** A server of the settings, at which people sign in as at those that admins have added. */
import { invalid } from '../../../ai/domain/util/arguments';
import { mcpAccountPlace } from '../../domain/McpServer';
import type { McpOAuthConfig, McpServerConfig, StoredMcpServer } from '../../domain/McpServer';
import { isObject } from '../../../ai/domain/util/json';
import { omitUndefined } from '../../../ai/domain/util/omitUndefined';
import type { JsonObject } from '../../../ai/domain/types/VendorTypes';
import { readMcpServerSettings } from '../McpServerSettings';
import type { McpServerSettings } from '../McpServerSettings';
import { readOAuthConfig } from './readOAuthConfig';

/** What `mcp` takes, but with an `oauth` whose accounts are those of the app's users. */
export interface ConfiguredServer extends Omit<McpServerSettings, 'oauth'> {
  readonly oauth?: McpOAuthConfig & { readonly clientSecret?: string };
}

/** @throws LLMInvalidRequestError whose `path` names the field; it quotes no secret */
export function readConfiguredServer(given: unknown): ConfiguredServer {
  const fields: JsonObject = isObject(given) ? given : {};
  const { oauth, ...settings } = fields;
  // Boundary: checked here.
  readMcpServerSettings(settings as unknown as McpServerSettings);
  if (oauth !== undefined) {
    readOAuthConfig(oauth, fields, ['clientSecret']);
    const { clientId, clientSecret } = oauth as NonNullable<ConfiguredServer['oauth']>;
    if (clientSecret !== undefined && clientId === undefined)
      throw invalid('oauth.clientSecret', 'belongs to "oauth.clientId"');
  }
  return fields as unknown as ConfiguredServer;
}

/** Gives a server of the settings the form of a stored one. It does not change while the process runs. */
export function toStoredServer({ name, headers, env, oauth, url, ...fields }: ConfiguredServer): StoredMcpServer {
  const { clientSecret, ...accounts } = oauth ?? {};
  const config: McpServerConfig = omitUndefined({
    ...fields,
    url: url === undefined ? undefined : String(url),
    oauth: oauth === undefined ? undefined : (accounts as McpOAuthConfig),
  });
  const secrets = omitUndefined({ headers, env, clientSecret });
  const connection = mcpAccountPlace(config);
  return { name, config, secrets, enabled: true, approvals: [], revision: connection, connection, changedAt: 0 };
}
