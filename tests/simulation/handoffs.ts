/** Runs in which one agent hands over to another one, while an approval and late results are due. */
import type { Item } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { RegisteredTool } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { TURNS } from '../support/durable/mixedModel';
import { TOOLS } from '../support/durable/mixedTools';
import type { PlannedRun } from './Plan';
import type { Speaker } from './ProcessHost';

export const FIRST: Speaker = { model: 'vendor/first', instructions: 'You are the first.' };
const SECOND: Speaker = { model: 'other-vendor/second', instructions: 'You are the second.' };

const HANDOFF = 'h1';
const FIRST_TURN = [
  ['refund', 'r1'],
  ['mail', 'm0'],
  ['hand_over', HANDOFF],
] as const;

/** The calls of each turn: the tool, and the call's id. */
export function turnsOf({
  handsOver,
}: Pick<PlannedRun, 'handsOver'>): readonly (readonly (readonly [string, string])[])[] {
  return handsOver === undefined ? TURNS : [FIRST_TURN, ...TURNS];
}

export function toolsOf({ handsOver }: PlannedRun): readonly string[] {
  return handsOver === undefined ? TOOLS : [...TOOLS, 'refund', 'hand_over'];
}

/** @param act performs the tool's effect under the key, and returns the result */
export function handoffTools(act: (tool: string, key: string, result: string) => unknown): readonly RegisteredTool[] {
  return [
    {
      name: 'refund',
      blocking: false,
      needsApproval: true,
      execute: (_args: unknown, { idempotencyKey }) => act('refund', idempotencyKey, 'refunded'),
    },
    {
      name: 'hand_over',
      idempotent: true,
      readOnly: true,
      handoff: { ...SECOND, tools: TOOLS.map((name) => ({ type: 'function', name })) },
      execute: () => 'You are the second from here on.',
    },
  ];
}

/** Who has to answer a request: the second agent, from the request on that has the result of the handoff. */
export function speakerIn(input: readonly Item[]): Speaker {
  const isHandedOver = input.some(
    (item) => item.type === 'function_call_output' && item.call_id === HANDOFF && item.state === 'completed',
  );
  return isHandedOver ? SECOND : FIRST;
}
