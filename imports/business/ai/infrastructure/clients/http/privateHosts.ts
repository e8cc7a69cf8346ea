/**
 * Hosts that may be called although they are not public, or over plain http: all (`true`), none (`false`), or a list of
 * host names, IP addresses and networks such as `10.1.0.0/16`.
 */
import ipaddr from 'ipaddr.js';

export type PrivateHosts = boolean | readonly string[];

/** Whether a host, as it stands in a URL, may be called whatever its address is. */
export function permitsHost(hosts: PrivateHosts, hostname: string): boolean {
  if (typeof hosts === 'boolean') return hosts;
  const host = bareHost(hostname);
  return hosts.some((each) => each.toLowerCase() === host) || permitsAddress(hosts, host);
}

/** Whether an IP address is one of the list, or in one of its networks. */
export function permitsAddress(hosts: PrivateHosts, address: string): boolean {
  if (typeof hosts === 'boolean') return hosts;
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  return hosts.some((each) => {
    const network = networkOf(each);
    return network?.[0].kind() === parsed.kind() && parsed.match(network);
  });
}

/** Whether an entry of a list is a host name, an IP address or a network. */
export function isHostEntry(entry: string): boolean {
  if (networkOf(entry) !== undefined) return true;
  // What looks like an address, but is none, is no name either.
  return NAME.test(entry) && !/^[\d.]+$/.test(entry);
}

const NAME = /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/i;

function networkOf(entry: string): [ipaddr.IPv4 | ipaddr.IPv6, number] | undefined {
  const [address = '', bits] = entry.split('/');
  if (ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)) {
    const parsed = ipaddr.parse(address);
    const length = parsed.kind() === 'ipv4' ? 32 : 128;
    if (bits === undefined) return [parsed, length];
    return /^\d{1,3}$/.test(bits) && Number(bits) <= length ? [parsed, Number(bits)] : undefined;
  }
  return undefined;
}

/** Without the brackets of an IPv6 address and the dot of a complete name. */
export function bareHost(hostname: string): string {
  return hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}
