/**
 * Which hosts may be reached when a user chose the URL: public ones over https, whatever the address is spelled
 * like.
 */
import { lookup as systemLookup } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';

/**
 * Parses a URL that may be fetched. `URL` has already turned decimal, octal, hexadecimal, short and Unicode
 * spellings of an IPv4 address into dotted decimals; a name's addresses are judged by `guardLookup` when they are
 * connected to.
 * @throws LLMInvalidRequestError
 */
export function allowedUrl(input: string | URL, allowPrivateHosts: boolean): URL {
  const url = parsedUrl(input);
  if (url.username !== '' || url.password !== '')
    throw new LLMInvalidRequestError('a URL must not contain credentials');
  if (url.protocol !== 'https:' && !(allowPrivateHosts && url.protocol === 'http:')) {
    throw new LLMInvalidRequestError(
      allowPrivateHosts ? 'a URL must start with https: or http:' : 'a URL must start with https:',
    );
  }
  if (!allowPrivateHosts && !isPublicHost(url.hostname)) throw notPublic(url.hostname);
  return url;
}

/**
 * The system's lookup, or the given one, that refuses a name as soon as one of its addresses is not public: at
 * connect time, so rebinding can't win.
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
      callback(allowed ? null : notPublic(hostname), address, family);
    });
  };
}

/**
 * Whether an IP address in its usual spelling belongs to the public Internet. Private, special and tunnelled ranges
 * don't.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast' || CLOUD_SERVICES.has(parsed.toString())) return false;
  // Of IPv6 only 2000::/3 is given out; this leaves the deprecated IPv4-compatible addresses and all that is yet
  // unassigned outside.
  return parsed.kind() === 'ipv4' || parsed.match(GLOBAL_UNICAST);
}

const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** A public address that answers inside Azure only, with the machine's own settings. */
const CLOUD_SERVICES: ReadonlySet<string> = new Set(['168.63.129.16']);

/** Names that never leave a machine or a network (RFC 6761, RFC 6762, RFC 8375, ICANN's `internal`). */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|intranet|lan|home\.arpa|localdomain)$/;

function isPublicHost(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  if (isIP(host) !== 0) return isPublicAddress(host);
  return host.includes('.') && !LOCAL_NAME.test(host);
}

function parsedUrl(input: string | URL): URL {
  if (typeof input !== 'string') return input;
  try {
    return new URL(input);
  } catch {
    // The text is not repeated: it may hold credentials.
    throw new LLMInvalidRequestError('a URL is not valid');
  }
}

function notPublic(hostname: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`${hostname} is not a public address`);
}
