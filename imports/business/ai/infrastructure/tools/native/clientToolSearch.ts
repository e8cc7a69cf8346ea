/** A search of the program's own among a run's tools, in place of the one that runs have. */
import type { ToolCallContext } from '../../../domain/interfaces/IToolExecutor';
import type { RegisteredTool } from '../ToolRegistry';
import type { NativeToolOptions } from './NativeToolOptions';

export interface ToolSearchInput {
  /** What the model looks for, in words. */
  readonly query: string;
  readonly limit?: number;
}

export interface ClientToolSearchOptions extends Omit<NativeToolOptions<ToolSearchInput>, 'execute'> {
  /** Returns names of tools of the run, the best first. */
  readonly execute: (
    input: ToolSearchInput,
    context: ToolCallContext,
  ) => readonly string[] | Promise<readonly string[]>;
}

/**
 * Offer it beside tools with `deferLoading`: the model is given their definitions once this search has found them, or
 * it has called them.
 */
export function clientToolSearch({ execute, ...options }: ClientToolSearchOptions): RegisteredTool {
  return {
    name: 'tool_search',
    description:
      'There are more tools than are listed here. This one finds them by what they do: give words such as "create ' +
      'calendar event". The tools that it returns can be called from then on.',
    parameters: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'Words for what the tool is to do.' },
        limit: { type: 'integer', minimum: 1, description: 'How many tools are returned at most.' },
      },
      required: ['query'],
      additionalProperties: false,
    },
    idempotent: true,
    readOnly: true,
    native: { type: 'tool_search' },
    ...options,
    execute: async (input: ToolSearchInput, context) => {
      const names = await execute(input, context);
      return { tools: names.map((name) => ({ name })) };
    },
  };
}
