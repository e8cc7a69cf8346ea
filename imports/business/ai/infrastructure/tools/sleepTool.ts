/** A tool by which a model lets its run sleep: for days, across restarts, and without a worker. */
import type { RegisteredTool } from './ToolRegistry';

/**
 * Register it with a `ToolRegistry`. The call completes at its time, or at once if that passed while no process ran.
 * @param options replace the tool's fields. With `blocking: false` the model can do other things meanwhile
 */
export function sleepTool(
  options: Pick<Partial<RegisteredTool>, 'name' | 'description' | 'blocking'> = {},
): RegisteredTool {
  return {
    name: 'sleep',
    description: 'Waits until a time, or for some seconds, up to 400 days. Give either "until" or "seconds".',
    parameters: {
      type: 'object',
      properties: {
        until: { type: 'string', description: 'The end of the wait in ISO 8601, such as 2030-01-31T08:00:00Z.' },
        seconds: { type: 'number', minimum: 0 },
      },
      additionalProperties: false,
    },
    kind: 'timer',
    ...options,
  };
}
