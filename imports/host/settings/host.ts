/**
 * Environment variables of the host itself: where it listens, how browsers reach it, and which addresses it may
 * call.
 */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../business/ai/domain/omitUndefined';
import { isHostEntry } from '../../business/ai/infrastructure/clients/http/privateHosts';
import type { PrivateHosts } from '../../business/ai/infrastructure/clients/http/privateHosts';
import { valueOf } from './environment';
import type { Environment } from './environment';
import { parseUrl } from '../../business/ai/domain/parseUrl';

/** @throws LLMInvalidRequestError */
export function readPort(value: string | undefined): number {
  if (value === undefined || value === '') return 3000;
  const port = Number(value);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new LLMInvalidRequestError(`PORT must be a port number from 0 to 65535, but is "${value}".`, { path: 'PORT' });
}

/**
 * Reads BOLIDE_API_TOKEN.
 * @throws LLMInvalidRequestError for a token that could be guessed
 */
export function readApiToken(env: Environment): string | undefined {
  const token = valueOf(env, 'BOLIDE_API_TOKEN');
  if (token === undefined || token.length >= MIN_TOKEN_LENGTH) return token;
  throw new LLMInvalidRequestError(
    `BOLIDE_API_TOKEN must have ${MIN_TOKEN_LENGTH} characters or more, because it gives all rights, but has ${token.length}. Generate one with: openssl rand -base64 24`,
    { path: 'BOLIDE_API_TOKEN' },
  );
}

const MIN_TOKEN_LENGTH = 24;

/**
 * Reads ROOT_URL. Default: where the host listens.
 * @throws LLMInvalidRequestError if it is not an http or https URL
 */
export function readRootUrl(env: Environment, host: string, port: number): string {
  const given = valueOf(env, 'ROOT_URL');
  if (given === undefined) return `http://${reachable(host)}:${port}`;
  const url = parseUrl(given);
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return given;
  throw new LLMInvalidRequestError('ROOT_URL must be an http or https URL.', { path: 'ROOT_URL' });
}

/**
 * Reads AI_ALLOW_PRIVATE_HOSTS: `true`, `false`, or a list of hosts with commas.
 * @throws LLMInvalidRequestError
 */
export function readAllowPrivateHosts(env: Environment): PrivateHosts {
  const value = valueOf(env, 'AI_ALLOW_PRIVATE_HOSTS') ?? 'false';
  if (/^(?:true|1)$/i.test(value)) return true;
  if (/^(?:false|0)$/i.test(value)) return false;
  return checkedHosts(value.split(','), 'AI_ALLOW_PRIVATE_HOSTS');
}

/**
 * @param path what the hosts are the value of
 * @throws LLMInvalidRequestError
 */
export function checkedHosts(given: readonly string[], path: string): readonly string[] {
  const hosts = given.map((host) => host.trim()).filter((host) => host !== '');
  const wrong = hosts.find((host) => !isHostEntry(host));
  if (wrong === undefined) return hosts;
  throw new LLMInvalidRequestError(
    `${path} has "${wrong.slice(0, 100)}". Expected true, false, or host names, IP addresses and networks such as 10.1.0.0/16, without schemes and ports.`,
    { path },
  );
}

/** @returns a warning if any private address may be called */
export function describePrivateHosts(hosts: PrivateHosts): string | undefined {
  if (hosts !== true) return undefined;
  return 'Warning: AI_ALLOW_PRIVATE_HOSTS is true, so whoever may add an account can make this server call any address of its network. List the hosts instead, as in AI_ALLOW_PRIVATE_HOSTS=ollama.lan,10.1.0.0/16.';
}

export interface BodyLimits {
  readonly maxBodyBytes?: number;
  readonly maxJsonValues?: number;
}

/**
 * Reads HTTP_MAX_BODY_MB and HTTP_MAX_JSON_VALUES. Default: `DEFAULT_HTTP_LIMITS`.
 * @throws LLMInvalidRequestError unless they are a positive number of megabytes, and a count
 */
export function readBodyLimits(env: Environment): BodyLimits {
  const maxBodyBytes = readMaxBodyBytes(env);
  const maxJsonValues = readMaxJsonValues(env);
  return omitUndefined({ maxBodyBytes, maxJsonValues });
}

function readMaxJsonValues(env: Environment): number | undefined {
  const given = valueOf(env, 'HTTP_MAX_JSON_VALUES');
  if (given === undefined) return undefined;
  const count = Number(given);
  if (Number.isInteger(count) && count >= MIN_VALUES && count <= MAX_VALUES) return count;
  throw new LLMInvalidRequestError(
    `HTTP_MAX_JSON_VALUES must be a whole number from ${MIN_VALUES} to ${MAX_VALUES}, but is "${given}".`,
    { path: 'HTTP_MAX_JSON_VALUES' },
  );
}

/** Fewer refuse ordinary requests with tools. */
const MIN_VALUES = 1_000;
/** One model call has no more. */
const MAX_VALUES = 1_000_000;

/** @returns bytes */
function readMaxBodyBytes(env: Environment): number | undefined {
  const given = valueOf(env, 'HTTP_MAX_BODY_MB');
  if (given === undefined) return undefined;
  const megabytes = Number(given);
  if (megabytes > 0 && megabytes <= MAX_BODY_MEGABYTES) return Math.floor(megabytes * 1024 * 1024);
  throw new LLMInvalidRequestError(
    `HTTP_MAX_BODY_MB must be a number of megabytes up to ${MAX_BODY_MEGABYTES}, but is "${given}".`,
    { path: 'HTTP_MAX_BODY_MB' },
  );
}

/** Bodies are read into memory, and no string can be longer. */
const MAX_BODY_MEGABYTES = 256;

/** A host that listens on all interfaces is reachable as `localhost`. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
