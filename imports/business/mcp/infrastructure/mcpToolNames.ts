/** Names of a server's tools in the registry. */
import { createHash } from 'node:crypto';

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;

/**
 * MCP permits 128 characters, and others than tools of models may have. A name that must be changed ends with a hash of
 * the server's name of the tool: the result depends on nothing else, and no two are the same.
 * https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names
 */
export function toToolName(prefix: string, name: string): string {
  const plain = prefix + name;
  const legal = plain.replace(/[^a-zA-Z0-9_-]/g, '_');
  if (legal === plain && plain.length <= MAX_LENGTH) return plain;
  const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH_LENGTH);
  return `${legal.slice(0, MAX_LENGTH - HASH_LENGTH - 1)}_${hash}`;
}
