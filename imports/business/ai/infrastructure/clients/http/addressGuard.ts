/** Restricts URLs that users choose to public hosts over https and to those permitted, however they are spelled. */
import { lookup as systemLookup } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import { bareHost, permitsAddress, permitsHost } from './privateHosts';
import type { PrivateHosts } from './privateHosts';

/**
 * Parses a URL and checks that it may be fetched. `URL` converts decimal, octal, hexadecimal, short and Unicode
 * spellings of an IPv4 address to dotted decimals; `guardLookup` checks a name's addresses at connect time.
 * @throws LLMInvalidRequestError
 */
export function parseAllowedUrl(input: string | URL, privateHosts: PrivateHosts): URL {
  const url = parseUrl(input);
  if (url.username !== '' || url.password !== '')
    throw new LLMInvalidRequestError('A URL must not contain credentials.');
  const isPermitted = permitsHost(privateHosts, url.hostname);
  if (url.protocol !== 'https:' && !(isPermitted && url.protocol === 'http:')) {
    throw new LLMInvalidRequestError(
      isPermitted ? 'A URL must start with https: or http:.' : 'A URL must start with https:.',
    );
  }
  if (!isPermitted && !isPublicHost(url.hostname)) throw notPublicError(url.hostname);
  return url;
}

/**
 * Wraps a lookup so that it rejects a name if any of its addresses is neither public nor permitted. It runs at connect
 * time, which defeats DNS rebinding.
 */
export function guardLookup(lookup: LookupFunction = systemLookup, privateHosts: PrivateHosts = false): LookupFunction {
  return (hostname, options, callback) => {
    if (permitsHost(privateHosts, hostname)) {
      lookup(hostname, options, callback);
      return;
    }
    lookup(hostname, options, (error, address, family) => {
      if (error !== null) {
        callback(error, address, family);
        return;
      }
      const addresses = typeof address === 'string' ? [address] : address.map((each) => each.address);
      const allowed =
        addresses.length > 0 && addresses.every((each) => isPublicAddress(each) || permitsAddress(privateHosts, each));
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
  const host = bareHost(hostname);
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
