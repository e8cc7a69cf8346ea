/** Edits of files as patches: OpenAI's `apply_patch`, and a function elsewhere. */
import type { ToolCallContext } from '../../../domain/interfaces/IToolExecutor';
import type { RegisteredTool } from '../ToolRegistry';
import type { NativeToolOptions } from './NativeToolOptions';

/** `diff` is in the V4A format: lines that begin with ` `, `+` or `-`, after `@@` and the line they follow. */
export type PatchOperation =
  | { readonly type: 'create_file'; readonly path: string; readonly diff: string }
  | { readonly type: 'update_file'; readonly path: string; readonly diff: string }
  | { readonly type: 'delete_file'; readonly path: string };

export interface ApplyPatchToolOptions extends Omit<NativeToolOptions<PatchOperation>, 'execute'> {
  /** Returns what the model is to know about the applied patch. */
  readonly execute: (operation: PatchOperation, context: ToolCallContext) => unknown;
}

/** Paths come from the model: check that they stay within the directory that it may write to. */
export function applyPatchTool({ execute, ...options }: ApplyPatchToolOptions): RegisteredTool {
  return {
    name: 'apply_patch',
    description:
      'Creates, updates or deletes a file. "diff" is in the V4A format: each line begins with " ", "+" or "-", and ' +
      'hunks begin with "@@". A new file has only lines with "+".',
    parameters: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
        path: { type: 'string' },
        diff: { type: 'string', description: 'Not for a file that is deleted.' },
      },
      required: ['type', 'path'],
      additionalProperties: false,
    },
    native: { type: 'apply_patch' },
    ...options,
    execute: async (operation: PatchOperation, context) => {
      const result = await execute(operation, context);
      return result ?? `Done: ${operation.type} ${operation.path}`;
    },
  };
}
