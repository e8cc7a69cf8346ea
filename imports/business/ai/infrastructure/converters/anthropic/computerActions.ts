/**
 * Converts an action of Anthropic's computer tool to the actions of OpenAI's, with a few more where that has none.
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/computer-use-tool
 */
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { isList } from '../../../domain/util/json';
import { omitUndefined } from '../../../domain/util/omitUndefined';

/** Pixels that a click of the wheel scrolls, which Anthropic leaves to the client. */
const WHEEL_STEP = 100;

const BUTTONS: Readonly<Partial<Record<string, string>>> = {
  left_click: 'left',
  right_click: 'right',
  middle_click: 'wheel',
};
const DIRECTIONS: Readonly<Partial<Record<string, readonly [number, number]>>> = {
  up: [0, -1],
  down: [0, 1],
  left: [-1, 0],
  right: [1, 0],
};

/** @param input the fields of the action beside its name; an unknown action has the same fields in both forms */
export function toComputerAction(name: string, input: JsonObject): JsonObject {
  const keys = typeof input['text'] === 'string' ? input['text'].split('+') : undefined;
  const at = pointOf(input['coordinate']);
  switch (name) {
    case 'left_click':
    case 'right_click':
    case 'middle_click':
      return omitUndefined({ type: 'click', button: BUTTONS[name], ...at, keys });
    case 'double_click':
    case 'triple_click':
      return omitUndefined({ type: name, ...at, keys });
    case 'mouse_move':
      return { type: 'move', ...at };
    case 'left_mouse_down':
      return { type: 'mouse_down', ...at };
    case 'left_mouse_up':
      return { type: 'mouse_up', ...at };
    case 'left_click_drag':
      return omitUndefined({ type: 'drag', path: [pointOf(input['start_coordinate']), at], keys });
    case 'scroll': {
      const [x = 0, y = 0] = DIRECTIONS[String(input['scroll_direction'])] ?? [];
      const pixels = Number(input['scroll_amount'] ?? 0) * WHEEL_STEP;
      return omitUndefined({ type: 'scroll', ...at, scroll_x: x * pixels, scroll_y: y * pixels, keys });
    }
    case 'key':
      return omitUndefined({ type: 'keypress', keys: keys ?? [], repeat: input['repeat'] ?? undefined });
    case 'hold_key':
      return { type: 'hold_key', keys: keys ?? [], duration: input['duration'] };
    default:
      // type, wait, screenshot, zoom and cursor_position have the same fields in both forms.
      return { type: name, ...input };
  }
}

function pointOf(coordinate: unknown): { readonly x: unknown; readonly y: unknown } | undefined {
  if (!isList(coordinate)) return undefined;
  const [x, y] = coordinate;
  return { x, y };
}
