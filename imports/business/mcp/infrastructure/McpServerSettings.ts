/** How an MCP server is reached, which of its tools are offered, and what it may send. */
import { boolean, integer, invalid, listOf, numberBetween, readObject, text } from '../../ai/domain/util/arguments';
import type { ArgumentReader } from '../../ai/domain/util/arguments';
import type { FunctionTool } from '../../ai/domain/entities/Tool';
import { TOOL_SETTINGS } from '../../ai/domain/entities/toolSettings';
import { isObject } from '../../ai/domain/util/json';
import type { McpOAuthSettings } from './McpOAuth';
import type { PrivateHosts } from '../../ai/infrastructure/clients/http/privateHosts';
import { parseUrl } from '../../ai/domain/util/parseUrl';

/** What the app says about tools, since a server's own hints cannot be relied on. */
export type McpToolSettings = Pick<FunctionTool, keyof typeof TOOL_SETTINGS>;

export interface McpServerSettings {
  /** 1 to 32 letters, digits, `_` and `-`. */
  readonly name: string;
  /** A server with Streamable HTTP. */
  readonly url?: string | URL;
  /** Sent with each request to `url`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** An account at `url`: one for all users, or one for each. In code only. */
  readonly oauth?: McpOAuthSettings;
  /** Permits http, loopback and private addresses for `url`: all, or those listed. Default: none. */
  readonly allowPrivateHosts?: PrivateHosts;
  /**
   * Whether vendors that can call MCP servers do so themselves in runs: they connect to `url`. Bolide calls what needs
   * an approval, and everything at other vendors. Default false.
   */
  readonly hosted?: boolean;
  /**
   * Whether such a vendor is sent `headers`, credentials included. If not, Bolide itself calls the tools of a server
   * with headers. Default false.
   */
  readonly shareHeaders?: boolean;
  /** A server with stdio: the program, which runs as a child process. */
  readonly command?: string;
  readonly args?: readonly string[];
  /** Beside HOME, LOGNAME, PATH, SHELL, TERM and USER (or their equivalents on Windows), the child inherits nothing. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The prefix of the tools' names. Default: the server's name and `_`. */
  readonly prefix?: string;
  /** Names of the server's tools that are offered, `*` for any characters. Default: all. */
  readonly allow?: readonly string[];
  /** Names of tools that are not, although `allow` has them. */
  readonly deny?: readonly string[];
  /** By the server's name of the tool, `*` for any characters; later entries override earlier ones. */
  readonly tools?: Readonly<Record<string, McpToolSettings>>;
  /**
   * Whether runs leave the tools' definitions out of their requests until the model has found them. Default `auto`:
   * runs with many tools do.
   */
  readonly deferLoading?: boolean | 'auto';
  /** Milliseconds for each request; default 60,000. */
  readonly timeout?: number;
  /** Milliseconds for a call of which the server makes a task; default 24 hours. */
  readonly taskTimeout?: number;
  /** Milliseconds until the connection is established; default 15,000. */
  readonly connectTimeout?: number;
  /** Tools that are registered; default 200. The others are left out. */
  readonly maxTools?: number;
  /** Characters of a description; default 4,000. The rest is cut off. */
  readonly maxDescriptionLength?: number;
  /** Bytes of one message of the server; default 10 MiB. A longer one ends the request, and with stdio the process. */
  readonly maxMessageBytes?: number;
}

export const DEFAULT_MCP_LIMITS = {
  timeout: 60_000,
  taskTimeout: 86_400_000,
  connectTimeout: 15_000,
  maxTools: 200,
  maxDescriptionLength: 4_000,
  maxMessageBytes: 10 * 1024 * 1024,
} as const;

export type ReadMcpServerSettings = McpServerSettings & {
  readonly prefix: string;
} & Readonly<Record<keyof typeof DEFAULT_MCP_LIMITS, number>>;

/** @throws LLMInvalidRequestError, whose `path` names the invalid field */
export function readMcpServerSettings(given: McpServerSettings): ReadMcpServerSettings {
  const fields = readObject(given, Object.keys(FIELDS));
  for (const [name, read] of Object.entries<ArgumentReader<unknown>>(FIELDS))
    if (fields[name] !== undefined) read(fields[name], name);
  if (fields.name === undefined) throw invalid('name', 'is required');
  if ((given.url === undefined) === (given.command === undefined))
    throw invalid('url', 'or "command" is required, and not both');
  const foreign = given.url === undefined ? HTTP_FIELDS : STDIO_FIELDS;
  for (const name of foreign)
    if (fields[name] !== undefined) throw invalid(name, `belongs to "${given.url === undefined ? 'url' : 'command'}"`);
  return { ...DEFAULT_MCP_LIMITS, prefix: `${given.name}_`, ...given };
}

/** Whether a name fits a pattern, in which `*` stands for any characters. */
export function matchesName(pattern: string, name: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('[^]*')}$`).test(name);
}

const HTTP_FIELDS = ['headers', 'oauth', 'allowPrivateHosts', 'hosted', 'shareHeaders'] as const;
const STDIO_FIELDS = ['args', 'env', 'cwd'] as const;
const MAX_TIMEOUT = 2_147_483_647;

const FIELDS = {
  name: matching(/^[a-zA-Z0-9_-]{1,32}$/, 'must be 1 to 32 characters of a-z, A-Z, 0-9, _ and -'),
  url: (value, path) => {
    if (!/^https?:$/.test(parseUrl(String(value))?.protocol ?? ''))
      throw invalid(path, 'must be a URL with http or https');
  },
  headers: textsByName,
  oauth: readOAuth,
  allowPrivateHosts: (value, path) => {
    if (typeof value !== 'boolean') listOf(100, text(300))(value, path);
  },
  hosted: boolean,
  shareHeaders: boolean,
  command: text(1_000),
  args: listOf(100, text(10_000)),
  env: textsByName,
  cwd: text(1_000),
  prefix: matching(/^[a-zA-Z0-9_-]{0,40}$/, 'must be up to 40 characters of a-z, A-Z, 0-9, _ and -'),
  allow: listOf(1_000, text(200)),
  deny: listOf(1_000, text(200)),
  tools: (value, path) => {
    if (!isObject(value)) throw invalid(path, 'must be an object');
    for (const [name, settings] of Object.entries(value)) readToolSettings(settings, `${path}.${name}`);
  },
  deferLoading: TOOL_SETTINGS.deferLoading,
  timeout: numberBetween(1, MAX_TIMEOUT),
  taskTimeout: numberBetween(1, MAX_TIMEOUT),
  connectTimeout: numberBetween(1, MAX_TIMEOUT),
  maxTools: integer(1, 10_000),
  maxDescriptionLength: integer(1, 65_536),
  maxMessageBytes: integer(1_024, 1024 * 1024 * 1024),
} as const satisfies Record<keyof McpServerSettings, ArgumentReader<unknown>>;

function readToolSettings(value: unknown, path: string): void {
  const fields = readObject(value, Object.keys(TOOL_SETTINGS), path);
  for (const [name, read] of Object.entries<ArgumentReader<unknown>>(TOOL_SETTINGS))
    if (fields[name] !== undefined) read(fields[name], `${path}.${name}`);
}

function readOAuth(value: unknown, path: string): void {
  const fields = readObject(value, OAUTH_FIELDS, path);
  for (const name of ['redirectUrl', 'signInUrl', 'clientId', 'clientSecret', 'clientIssuer', 'clientMetadataUrl'])
    if (fields[name] !== undefined) text(2_000)(fields[name], `${path}.${name}`);
  if (fields.redirectUrl === undefined) throw invalid(`${path}.redirectUrl`, 'is required');
  for (const name of ['onAuthorize', 'storeOf'])
    if (fields[name] !== undefined && typeof fields[name] !== 'function')
      throw invalid(`${path}.${name}`, 'must be a function');
  if (!isObject(fields.store)) throw invalid(`${path}.store`, 'must be an object');
}

const OAUTH_FIELDS = [
  ...['redirectUrl', 'signInUrl', 'store', 'storeOf', 'onAuthorize'],
  ...['clientId', 'clientSecret', 'clientIssuer', 'clientMetadataUrl'],
];

function textsByName(value: unknown, path: string): void {
  if (!isObject(value)) throw invalid(path, 'must be an object');
  for (const [name, each] of Object.entries(value)) text(10_000)(each, `${path}.${name}`);
}

function matching(pattern: RegExp, problem: string): ArgumentReader<unknown> {
  return (value, path) => {
    if (typeof value !== 'string' || !pattern.test(value)) throw invalid(path, problem);
  };
}
