/** A browser that a model controls by its pages: Anthropic's toolset, and a function elsewhere. */
import type { RegisteredTool } from '../ToolRegistry';
import { shownScreenshot } from './computerTool';
import type { NativeToolOptions } from './NativeToolOptions';

/**
 * The members of Anthropic's toolset, whose fields are beside `action`: a click, for example, has `target`, which is
 * `{ type: 'coordinate', x, y }` in pixels, or `{ type: 'ref', ref }` of an element that `read_page` or `find` named.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-reference
 */
export interface BrowserInput {
  readonly action: BrowserAction;
  /** Absent: the active tab. */
  readonly tab_id?: string | null;
  readonly [field: string]: unknown;
}

const ACTIONS = [
  'navigate',
  'list_tabs',
  'new_tab',
  'switch_tab',
  'close_tab',
  'read_page',
  'get_page_text',
  'read_console',
  'read_network',
  'find',
  'form_input',
  'file_upload',
  'scroll_to',
  'screenshot',
  'zoom',
  'left_click',
  'right_click',
  'middle_click',
  'double_click',
  'triple_click',
  'hover',
  'left_click_drag',
  'left_mouse_down',
  'left_mouse_up',
  'mouse_move',
  'scroll',
  'type',
  'key',
  'hold_key',
  'wait',
  'javascript_exec',
] as const;
export type BrowserAction = (typeof ACTIONS)[number];

/** `execute` returns what the model is to know, with a data URI as `screenshot` if it is to see the page. */
export function browserTool({ execute, ...options }: NativeToolOptions<BrowserInput>): RegisteredTool {
  return {
    name: 'browser',
    description: 'Controls a web browser: opens, reads and operates pages.',
    parameters: {
      type: 'object',
      properties: {
        action: { type: 'string', enum: ACTIONS },
        tab_id: { type: ['string', 'null'], description: 'Default: the active tab.' },
        url: { type: 'string' },
        query: { type: 'string', description: 'For find: what the element is.' },
        target: {
          type: 'object',
          description: 'A point {type: "coordinate", x, y} in pixels, or an element {type: "ref", ref}.',
        },
        from: { type: 'object', description: 'For left_click_drag: the point where it begins.' },
        value: { description: 'For form_input.' },
        text: { type: 'string', description: 'For type, key, hold_key and javascript_exec.' },
        modifiers: { type: ['string', 'null'], description: 'Keys that are held down, such as "ctrl+shift".' },
        scroll_direction: { type: 'string', enum: ['up', 'down', 'left', 'right'] },
        scroll_amount: { type: ['number', 'null'] },
        duration: { type: 'number', description: 'Seconds.' },
        region: { type: 'array', items: { type: 'number' }, description: 'Left, top, right, bottom.' },
        paths: { type: ['array', 'null'], items: { type: 'string' }, description: 'For file_upload.' },
      },
      required: ['action'],
    },
    sequential: true,
    native: { type: 'browser' },
    ...options,
    execute: async (input: BrowserInput, context) => shownScreenshot(await execute(input, context)),
  };
}
