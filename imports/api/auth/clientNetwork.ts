/** Where a request comes from: an IPv4 address, or the /64 network of an IPv6 address, all of which one client has. */
import type { IncomingMessage } from 'node:http';
import { isIPv6 } from 'node:net';

/**
 * @param forwardedCount how many proxies in front of the server append the address that they see to `x-forwarded-for`;
 *   what is before those was written by the client
 */
export function clientNetwork(request: IncomingMessage, forwardedCount: number): string {
  return networkOf(clientAddress(request, forwardedCount));
}

/** The complete address. @param forwardedCount as above */
export function clientAddress({ headers, socket }: IncomingMessage, forwardedCount: number): string {
  const forwarded = headers['x-forwarded-for'];
  const hops = (Array.isArray(forwarded) ? forwarded.join(',') : (forwarded ?? '')).split(',');
  const hop = forwardedCount > 0 ? hops.at(-forwardedCount)?.trim() : undefined;
  const address = hop === undefined || hop === '' ? (socket.remoteAddress ?? '') : hop;
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

function networkOf(text: string): string {
  if (!isIPv6(text)) return text;
  const [head = '', tail] = text.split('::');
  const groups = head === '' ? [] : head.split(':');
  const rest = tail === undefined || tail === '' ? [] : tail.split(':');
  const missing = tail === undefined ? 0 : 8 - groups.length - rest.length;
  return [...groups, ...Array.from({ length: missing }, () => '0'), ...rest]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
