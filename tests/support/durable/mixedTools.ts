/**
 * Tools of every kind, whose effects are somebody else's: blocking and not, with the remote's key and without, with
 * approval, external.
 */
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';

export const TOOLS = ['note', 'charge', 'job', 'pay', 'mail', 'webhook'];
/** The remote knows their calls by a key, so that they may run again. */
export const KEYED = ['charge', 'job'];

/** @param act has the effect of that name under that key, and gives its result */
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
    .register({ name: 'webhook', blocking: false, external: true });
}
