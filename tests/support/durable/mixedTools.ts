/**
 * Tools of every kind, with effects on remote services: blocking and non-blocking, idempotent by a key and not, with
 * approval, external.
 */
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';

export const TOOLS = ['note', 'charge', 'job', 'pay', 'mail', 'webhook'];
/** The remote service recognises repeated calls by their key, so that they may run again. */
export const KEYED = ['charge', 'job'];

/** @param act performs the tool's effect under the key, and returns the result */
export function mixedTools(act: (tool: string, key: string, result: string) => unknown): ToolRegistry {
  return new ToolRegistry()
    .register({ name: 'note', execute: (_args, { idempotencyKey }) => act('note', idempotencyKey, 'noted') })
    .register({
      name: 'charge',
      idempotent: true,
      execute: (_args, { idempotencyKey }) => act('charge', idempotencyKey, 'charged'),
    })
    .register({
      name: 'job',
      idempotent: true,
      blocking: false,
      execute: (_args, { idempotencyKey }) => act('job', idempotencyKey, 'job done'),
    })
    .register({
      name: 'pay',
      needsApproval: true,
      execute: (_args, { idempotencyKey }) => act('pay', idempotencyKey, 'paid'),
    })
    .register({
      name: 'mail',
      blocking: false,
      execute: (_args, { idempotencyKey }) => act('mail', idempotencyKey, 'sent'),
    })
    .register({ name: 'webhook', blocking: false, kind: 'external' });
}
