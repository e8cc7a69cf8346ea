/** The model of the simulated runs: what it says depends on nothing but the request. */
import { NO_USAGE } from '../../../imports/business/ai/domain/entities/Response';
import type {
  FunctionCallItem,
  Item,
  LLMResponse,
  MessageItem,
  OutputItem,
  Usage,
} from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { freezeDeep } from '../../../imports/business/ai/domain/util/freezeDeep';
import type { PlannedTurn } from './MachinePlan';

const OLD_CALL = 'old';

/** The conversation before the run, with a call. */
export const INPUT: readonly Item[] = freezeDeep([
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Begin.' }] },
  { type: 'function_call', call_id: OLD_CALL, name: 'note', arguments: '' },
  { type: 'function_call_output', call_id: OLD_CALL, output: 'noted' },
]);

export const TOKENS_PER_CALL = 15;
export const USAGE: Usage = freezeDeep({
  ...NO_USAGE,
  input_tokens: 10,
  output_tokens: 5,
  total_tokens: TOKENS_PER_CALL,
});

/** Items are the same whenever the model says the same. */
const said: OutputItem[] = [];
const calls = new Map<string, FunctionCallItem>();

export function respond(turns: readonly PlannedTurn[], request: readonly Item[], id: string): LLMResponse {
  let place = 0;
  for (const item of request) if (isAnswer(item)) place += 1;
  const turn = turns[place];
  const output: OutputItem[] = [sayingAt(place)];
  if (turn?.kind === 'calls')
    turn.calls.forEach(({ tool, reusesId }, index) => {
      const own = `c${place}${index}`;
      const callId = reusesId === true ? usedId(request, output) : own;
      output.push(callOf(callId, tool, `${place}.${index}`));
    });
  return {
    id,
    object: 'response',
    created_at: 0,
    status: turn?.kind === 'cutOff' ? 'incomplete' : 'completed',
    model: 'scripted',
    output,
    output_text: `turn ${place}`,
    usage: USAGE,
    vendor: {
      name: 'scripted',
      wire: 'responses',
      finish_reason: turn?.kind === 'pause' ? 'pause_turn' : 'completed',
      warnings: [],
      losses: [],
    },
  };
}

/** What it has not finished, because somebody interrupted it, is no answer. */
export function isAnswer(item: Item): item is MessageItem {
  return item.type === 'message' && item.role === 'assistant' && item.status !== 'incomplete';
}

/** What the model had said when it was interrupted. */
export const PART: MessageItem = freezeDeep({
  type: 'message',
  role: 'assistant',
  status: 'incomplete',
  content: [{ type: 'output_text', text: 'tur', annotations: [] }],
});

export function messageItem(text: string): MessageItem {
  return freezeDeep({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
}

/** The vendor paused the turn of this answer. */
export function isPause(turns: readonly PlannedTurn[], place: number): boolean {
  return turns[place]?.kind === 'pause';
}

/** The planned call of a call, by its arguments. */
export function plannedPlace(args: string): readonly [turn: number, index: number] {
  const [turn, index] = args.split('.');
  return [Number(turn), Number(index)];
}

function usedId(request: readonly Item[], output: readonly OutputItem[]): string {
  const earlier = output.findLast((item) => item.type === 'function_call');
  if (earlier?.type === 'function_call') return earlier.call_id;
  const last = request.findLast((item) => item.type === 'function_call');
  return last?.type === 'function_call' ? last.call_id : OLD_CALL;
}

function sayingAt(place: number): OutputItem {
  return (said[place] ??= freezeDeep({
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: `turn ${place}`, annotations: [] }],
  }));
}

function callOf(callId: string, name: string, args: string): FunctionCallItem {
  const key = `${callId} ${name} ${args}`;
  let call = calls.get(key);
  if (call === undefined) {
    call = freezeDeep({ type: 'function_call', call_id: callId, name, arguments: args, status: 'completed' });
    calls.set(key, call);
  }
  return call;
}
