/** Restricts URLs that users choose to public hosts over https, however their address is spelled. */
import { lookup as systemLookup } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';

/**
 * Parses a URL and checks that it may be fetched. `URL` converts decimal, octal, hexadecimal, short and Unicode
 * spellings of an IPv4 address to dotted decimals; `guardLookup` checks a name's addresses at connect time.
 * @throws LLMInvalidRequestError
 */
export function parseAllowedUrl(input: string | URL, allowPrivateHosts: boolean): URL {
  const url = parseUrl(input);
  if (url.username !== '' || url.password !== '')
    throw new LLMInvalidRequestError('A URL must not contain credentials.');
  if (url.protocol !== 'https:' && !(allowPrivateHosts && url.protocol === 'http:')) {
    throw new LLMInvalidRequestError(
      allowPrivateHosts ? 'A URL must start with https: or http:.' : 'A URL must start with https:.',
    );
  }
  if (!allowPrivateHosts && !isPublicHost(url.hostname)) throw notPublicError(url.hostname);
  return url;
}

/**
 * Wraps a lookup so that it rejects a name if any of its addresses is not public. It runs at connect time, which
 * defeats DNS rebinding.
 */
export function guardLookup(lookup: LookupFunction = systemLookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, options, (error, address, family) => {
      if (error !== null) {
        callback(error, address, family);
        return;
      }
      const addresses = typeof address === 'string' ? [address] : address.map((each) => each.address);
      const allowed = addresses.length > 0 && addresses.every(isPublicAddress);
      callback(allowed ? null : notPublicError(hostname), address, family);
    });
  };
}

/** Whether an IP address in canonical form is on the public Internet. Private, special and tunnelled ranges are not. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || CLOUD_SERVICES.has(parsed.toString())) return false;
  // Only 2000::/3 of IPv6 is allocated; this excludes deprecated IPv4-compatible and unassigned addresses.
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST);
}

const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** Inside Azure, this public address serves the machine's own settings. */
const CLOUD_SERVICES: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Names that never leave a machine or a network (RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`). */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa|localdomain)$/;

function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (isIP(host) !== 0) return isPublicAddress(host);
  return host.includes('.') && !LOCAL_NAME.test(host);
}

function parseUrl(input: string | URL): URL {
  if (typeof input !== 'string') return input;
  try {
    return new URL(input);
  } catch {
    // The message omits the URL, which may contain credentials.
    throw new LLMInvalidRequestError('The URL is invalid.');
  }
}

function notPublicError(hostname: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`"${hostname}" is not a public address.`);
}
