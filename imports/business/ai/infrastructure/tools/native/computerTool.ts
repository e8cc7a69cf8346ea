/** A computer that a model controls by mouse and keyboard: OpenAI's, Anthropic's, and a function elsewhere. */
import { ImageResult, isImageResult } from '../../../domain/entities/ImageResult';
import { isObject } from '../../../domain/util/json';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { ToolCallContext } from '../../../domain/interfaces/IToolExecutor';
import type { RegisteredTool } from '../ToolRegistry';
import type { NativeToolOptions } from './NativeToolOptions';

interface Point {
  readonly x: number;
  readonly y: number;
}
/** Keys that are held down meanwhile. */
interface WithKeys {
  readonly keys?: readonly string[] | null;
}

/** Positions are pixels from the upper left corner. The actions without a point are made where the mouse is. */
export type ComputerAction =
  | ({ readonly type: 'click'; readonly button: 'left' | 'right' | 'wheel' | 'back' | 'forward' } & Partial<Point> &
      WithKeys)
  | ({ readonly type: 'double_click' | 'triple_click' } & Partial<Point> & WithKeys)
  | ({ readonly type: 'move' } & Point & WithKeys)
  | ({ readonly type: 'mouse_down' | 'mouse_up' } & Partial<Point>)
  | ({ readonly type: 'drag'; readonly path: readonly Point[] } & WithKeys)
  /** In pixels, to the right and down. */
  | ({ readonly type: 'scroll'; readonly scroll_x: number; readonly scroll_y: number } & Partial<Point> & WithKeys)
  | { readonly type: 'keypress'; readonly keys: readonly string[]; readonly repeat?: number }
  /** `duration` in seconds. */
  | { readonly type: 'hold_key'; readonly keys: readonly string[]; readonly duration: number }
  | { readonly type: 'type'; readonly text: string }
  /** `duration` in seconds; absent: about one. */
  | { readonly type: 'wait'; readonly duration?: number }
  | { readonly type: 'screenshot' }
  | { readonly type: 'cursor_position' }
  /** `[left, top, right, bottom]` */
  | { readonly type: 'zoom'; readonly region: readonly number[] };

export interface ComputerInput {
  /** To be made one after the other. */
  readonly actions: readonly ComputerAction[];
  /** What the vendor warns of. The call waits for a person's approval, unless `needsApproval` says otherwise. */
  readonly pending_safety_checks?: readonly {
    readonly id: string;
    readonly code?: string;
    readonly message?: string;
  }[];
}

export interface ComputerToolOptions extends Omit<NativeToolOptions<ComputerInput>, 'execute'> {
  /** Pixels. Some models of Anthropic's require both. */
  readonly displayWidth?: number;
  readonly displayHeight?: number;
  /** For the preview of OpenAI's tool, which needs to know it. */
  readonly environment?: 'windows' | 'mac' | 'linux' | 'ubuntu' | 'browser';
  /** Returns a screenshot after the last action: a data URI, alone or beside what else the model is to know. */
  readonly execute: (input: ComputerInput, context: ToolCallContext) => Screenshot | Promise<Screenshot>;
}

export type Screenshot = string | { readonly screenshot: string; readonly [field: string]: unknown } | ImageResult;

export function computerTool({
  execute,
  displayWidth,
  displayHeight,
  environment,
  ...options
}: ComputerToolOptions): RegisteredTool {
  return {
    name: 'computer',
    description:
      'Controls a computer with a mouse and a keyboard, and returns a screenshot. Positions are pixels from the upper ' +
      `left corner${displayWidth === undefined || displayHeight === undefined ? '' : ` of ${displayWidth} x ${displayHeight}`}.`,
    parameters: {
      type: 'object',
      properties: { actions: { type: 'array', items: ACTION, minItems: 1 } },
      required: ['actions'],
    },
    needsApproval: ({ pending_safety_checks: checks = [] }: ComputerInput) => checks.length > 0,
    sequential: true,
    native: omitUndefined({
      type: 'computer' as const,
      display_width: displayWidth,
      display_height: displayHeight,
      environment,
    }),
    ...options,
    execute: async (input: ComputerInput, context) => shownScreenshot(await execute(input, context)),
  };
}

const ACTION = {
  type: 'object',
  properties: {
    type: {
      type: 'string',
      enum: [
        'click',
        'double_click',
        'triple_click',
        'move',
        'mouse_down',
        'mouse_up',
        'drag',
        'scroll',
        'keypress',
        'hold_key',
        'type',
        'wait',
        'screenshot',
        'cursor_position',
        'zoom',
      ],
    },
    x: { type: 'number' },
    y: { type: 'number' },
    button: { type: 'string', enum: ['left', 'right', 'wheel', 'back', 'forward'] },
    path: {
      type: 'array',
      items: { type: 'object', properties: { x: { type: 'number' }, y: { type: 'number' } }, required: ['x', 'y'] },
    },
    scroll_x: { type: 'number', description: 'Pixels to the right.' },
    scroll_y: { type: 'number', description: 'Pixels down.' },
    keys: { type: ['array', 'null'], items: { type: 'string' } },
    repeat: { type: 'integer', minimum: 1 },
    duration: { type: 'number', description: 'Seconds.' },
    text: { type: 'string' },
    region: { type: 'array', items: { type: 'number' }, description: 'Left, top, right, bottom.' },
  },
  required: ['type'],
};

/** What a tool of screenshots returns, as a result with an image. */
export function shownScreenshot(result: unknown): unknown {
  if (isImageResult(result)) return result;
  if (typeof result === 'string' && result.startsWith('data:image/')) return withImage('Done.', result);
  if (!isObject(result) || typeof result['screenshot'] !== 'string') return result;
  const { screenshot, ...others } = result;
  return withImage(Object.keys(others).length === 0 ? 'Done.' : others, screenshot);
}

function withImage(value: unknown, screenshot: unknown): ImageResult {
  return new ImageResult(value, [{ type: 'input_image', image_url: String(screenshot) }]);
}
