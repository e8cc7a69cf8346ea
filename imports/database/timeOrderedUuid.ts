import { randomUUID } from 'node:crypto';

/**
 * A UUID of version 7 (RFC 9562, section 5.7), which begins with the time: where many documents are inserted, an index
 * of such ids grows at its end, while each random id changes a page of its own.
 */
export function timeOrderedUuid(): string {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}
