/** A tool by which a model lets its run sleep until a signal arrives: for days, across restarts, without a worker. */
import type { RegisteredTool } from './ToolRegistry';

/**
 * Register it with a `ToolRegistry`. The call's result is the signal's payload; the call times out if none arrives. A
 * signal that arrived before the call is kept for it.
 * @param options replace the tool's fields. `timeout` counts where the model names none; with `blocking: false` the
 *   model can do other things meanwhile
 */
export function waitForSignalTool(
  options: Pick<Partial<RegisteredTool>, 'name' | 'description' | 'blocking' | 'timeout'> = {},
): RegisteredTool {
  return {
    name: 'wait_for_signal',
    description: 'Waits until a signal with this name arrives, and returns what it carries.',
    parameters: {
      type: 'object',
      properties: {
        signal: { type: 'string', description: 'The name of the signal.' },
        timeoutSeconds: { type: 'number', minimum: 0, description: 'When to give up. At most 400 days.' },
      },
      required: ['signal'],
      additionalProperties: false,
    },
    kind: 'signal',
    ...options,
  };
}
