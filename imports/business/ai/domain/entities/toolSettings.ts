/** The settings that tools have wherever they come from, with what reads them. */
import { boolean, invalid, numberBetween, oneOf } from '../util/arguments';
import type { ArgumentReader } from '../util/arguments';
import type { FunctionTool } from './Tool';

export const TOOL_SETTINGS = {
  blocking: boolean,
  timeout: numberBetween(1, 2_147_483_647),
  needsApproval: (value, path) => {
    if (typeof value !== 'boolean' && typeof value !== 'function')
      throw invalid(path, 'must be a boolean or a function');
  },
  idempotent: boolean,
  sequential: boolean,
  delivery: oneOf(['immediate', 'when_idle', 'silent']),
  onDuplicate: oneOf(['allow', 'reject', 'join']),
  onChange: oneOf(['continue', 'ask', 'end']),
  deferLoading: (value, path) => {
    if (typeof value !== 'boolean' && value !== 'auto') throw invalid(path, 'must be true, false or "auto"');
  },
} as const satisfies { readonly [K in keyof FunctionTool]?: ArgumentReader<unknown> };
