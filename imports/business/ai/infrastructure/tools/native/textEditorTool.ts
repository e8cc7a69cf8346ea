/** An editor of text files: Anthropic's, and a function elsewhere. */
import type { RegisteredTool } from '../ToolRegistry';
import type { NativeToolOptions } from './NativeToolOptions';

/** https://platform.claude.com/docs/en/agents-and-tools/tool-use/text-editor-tool */
export type TextEditorCommand =
  /** A directory's listing, or the lines of a file. */
  | { readonly command: 'view'; readonly path: string; readonly view_range?: readonly number[] }
  | { readonly command: 'create'; readonly path: string; readonly file_text: string }
  /** `old_str` must occur exactly once. */
  | { readonly command: 'str_replace'; readonly path: string; readonly old_str: string; readonly new_str: string }
  /** After the line of that number; 0 is the beginning. */
  | { readonly command: 'insert'; readonly path: string; readonly insert_line: number; readonly insert_text: string };

/** Paths come from the model: check that they stay within the directory that it may write to. */
export function textEditorTool(options: NativeToolOptions<TextEditorCommand>): RegisteredTool {
  return {
    name: 'text_editor',
    description: 'Shows and edits text files.',
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string', enum: ['view', 'create', 'str_replace', 'insert'] },
        path: { type: 'string' },
        view_range: { type: 'array', items: { type: 'integer' }, description: 'First and last line; -1 is the end.' },
        file_text: { type: 'string' },
        old_str: { type: 'string' },
        new_str: { type: 'string' },
        insert_line: { type: 'integer', minimum: 0 },
        insert_text: { type: 'string' },
      },
      required: ['command', 'path'],
    },
    sequential: true,
    native: { type: 'text_editor' },
    ...options,
  };
}
