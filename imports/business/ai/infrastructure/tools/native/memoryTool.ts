/** Files in which a model keeps notes between conversations: Anthropic's `memory`, and a function elsewhere. */
import type { RegisteredTool } from '../ToolRegistry';
import type { NativeToolOptions } from './NativeToolOptions';
import type { TextEditorCommand } from './textEditorTool';

/**
 * Paths begin with `/memories`; check that they stay in there.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/memory-tool
 */
export type MemoryCommand =
  | TextEditorCommand
  | { readonly command: 'delete'; readonly path: string }
  | { readonly command: 'rename'; readonly old_path: string; readonly new_path: string };

export function memoryTool(options: NativeToolOptions<MemoryCommand>): RegisteredTool {
  return {
    name: 'memory',
    description:
      'Notes of yours that last beyond this conversation, in files below /memories. View the directory before you ' +
      'begin, and write down what you will need later.',
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'] },
        path: { type: 'string' },
        view_range: { type: 'array', items: { type: 'integer' }, description: 'First and last line.' },
        file_text: { type: 'string' },
        old_str: { type: 'string' },
        new_str: { type: 'string' },
        insert_line: { type: 'integer', minimum: 0 },
        insert_text: { type: 'string' },
        old_path: { type: 'string' },
        new_path: { type: 'string' },
      },
      required: ['command'],
    },
    sequential: true,
    native: { type: 'memory' },
    ...options,
  };
}
