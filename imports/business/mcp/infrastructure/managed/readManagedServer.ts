/** Reads what an admin enters about a server. */
import { boolean, invalid, optional, readObject, text } from '../../../ai/domain/util/arguments';
import { mcpAccountPlace, mcpDestination } from '../../domain/McpServer';
import type { McpServerConfig, McpServerSecrets } from '../../domain/McpServer';
import { isObject } from '../../../ai/domain/util/json';
import type { JsonObject } from '../../../ai/domain/types/VendorTypes';
import { readMcpServerSettings } from '../McpServerSettings';
import { readOAuthConfig } from './readOAuthConfig';

const CONFIG_FIELDS = [
  'url',
  'command',
  'args',
  'cwd',
  'prefix',
  'allow',
  'deny',
  'deferLoading',
  'timeout',
  'taskTimeout',
  'connectTimeout',
  'maxTools',
  'hosted',
  'shareHeaders',
  'oauth',
] as const satisfies readonly (keyof McpServerConfig)[];
const SECRET_FIELDS = ['headers', 'env', 'clientSecret'] as const;

export interface ReadManagedServer {
  readonly config: McpServerConfig;
  readonly secrets: McpServerSecrets;
  /** Default: true. */
  readonly enabled?: boolean;
}

export interface KnownServer {
  readonly config: McpServerConfig;
  readonly secrets: McpServerSecrets | undefined;
}

/**
 * @param known the server of that name, whose secrets stay if none are given and they go to the same place
 * @param allowCommands whether programs may be started
 * @throws LLMInvalidRequestError whose `path` names the field; it quotes no secret
 */
export function readManagedServer(
  name: string,
  given: JsonObject,
  known: KnownServer | undefined,
  allowCommands: boolean,
): ReadManagedServer {
  const fields = readObject(given, [...CONFIG_FIELDS, ...SECRET_FIELDS, 'enabled']);
  const { enabled: _, oauth, clientSecret, ...settings } = fields;
  readMcpServerSettings({ ...settings, name });
  // An address that is an object, which code may pass, would not be stored as one.
  if (fields['url'] !== undefined && typeof fields['url'] !== 'string') throw invalid('url', 'must be a string');
  if (oauth !== undefined) readOAuthConfig(oauth, fields);
  if (clientSecret !== undefined) {
    if (!isObject(oauth) || oauth['clientId'] === undefined)
      throw invalid('clientSecret', 'belongs to "oauth.clientId"');
    text(2_000)(clientSecret, 'clientSecret');
  }
  const config = pick(fields, CONFIG_FIELDS) as McpServerConfig;
  if (config.url !== undefined) assertNoCredentials(config.url);
  else if (!allowCommands)
    throw invalid('command', 'is not permitted: the operator must set AI_MCP_COMMANDS to on for it');
  const entered = pick(fields, SECRET_FIELDS) as McpServerSecrets;
  const secrets = { ...keptSecrets(config, entered, known), ...keptClientSecret(config, entered, known) };
  return { config, secrets, ...optional(fields, 'enabled', boolean) };
}

function keptClientSecret(
  config: McpServerConfig,
  { clientSecret }: McpServerSecrets,
  known: KnownServer | undefined,
): Pick<McpServerSecrets, 'clientSecret'> {
  if (clientSecret !== undefined) return { clientSecret };
  const before = known?.secrets?.clientSecret;
  const isSame = known !== undefined && mcpAccountPlace(known.config) === mcpAccountPlace(config);
  return before === undefined || !isSame ? {} : { clientSecret: before };
}

function keptSecrets(
  config: McpServerConfig,
  { clientSecret: _, ...entered }: McpServerSecrets,
  known: KnownServer | undefined,
): McpServerSecrets {
  const field = config.url === undefined ? 'env' : 'headers';
  if (entered[field] !== undefined || known === undefined) return entered;
  if (known.secrets === undefined)
    throw invalid(field, 'cannot be read any more: their key is not there. Enter them again');
  const before = known.secrets[field];
  if (before === undefined || Object.keys(before).length === 0) return entered;
  if (mcpDestination(known.config) !== mcpDestination(config))
    throw invalid(field, 'were entered for another address of this server. Enter them again, or {} for none');
  if (config.shareHeaders === true && known.config.shareHeaders !== true)
    throw invalid(field, 'were entered for this server alone. Enter them again to have them handed to vendors');
  return { [field]: before };
}

function assertNoCredentials(url: string): void {
  const { username, password, hash } = new URL(url);
  if (username !== '' || password !== '' || hash !== '')
    throw invalid('url', 'must not contain credentials or a fragment: use "headers"');
}

function pick(fields: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])));
}
