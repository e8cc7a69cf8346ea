/**
 * What the environment says about the host itself: where it listens, how browsers reach it, and what is sealed with
 * which keys.
 */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { valueOf } from './vendors';
import type { Environment } from './vendors';

/** @throws LLMInvalidRequestError */
export function readPort(value: string | undefined): number {
  if (value === undefined || value === '') return 3000;
  const port = Number(value);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new LLMInvalidRequestError(`PORT is '${value}', which is no port number`, { path: 'PORT' });
}

/**
 * ROOT_URL, or where the host listens.
 * @throws LLMInvalidRequestError for a URL that browsers can't open
 */
export function readRootUrl(env: Environment, host: string, port: number): string {
  const given = valueOf(env, 'ROOT_URL');
  if (given === undefined) return `http://${reachable(host)}:${port}`;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return given;
  throw new LLMInvalidRequestError('ROOT_URL is not an http or https URL', { path: 'ROOT_URL' });
}

/** `AI_ALLOW_PRIVATE_HOSTS`. @throws LLMInvalidRequestError for anything but yes and no */
export function readAllowPrivateHosts(env: Environment): boolean {
  const word = valueOf(env, 'AI_ALLOW_PRIVATE_HOSTS')?.toLowerCase() ?? 'false';
  if (word === 'true' || word === '1') return true;
  if (word === 'false' || word === '0') return false;
  throw new LLMInvalidRequestError('AI_ALLOW_PRIVATE_HOSTS must be true or false', { path: 'AI_ALLOW_PRIVATE_HOSTS' });
}

/** A host that listens everywhere is reached by its own machine's name. */
function reachable(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}
