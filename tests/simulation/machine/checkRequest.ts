/** Checks a request as a vendor does, and whether the run may make it. */
import type { Item } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { MachinePlan } from './MachinePlan';
import { INPUT, isAnswer, isPause, PART } from './ScriptedModel';
import { TOOLS, toolOf } from './simulatedTools';
import { ensure } from './Violation';

type CallOf = 'open' | 'acknowledged' | 'delivered';

/** @returns whether only late results are delivered */
export function checkRequest({ turns, limits }: MachinePlan, items: readonly Item[]): boolean {
  const states = new Map<string, CallOf>();
  const names = new Map<string, string>();
  let open: string[] = [];
  let answers = 0;
  /** Whether the last response called tools; what came since. */
  let hasCalled = false;
  let outputs = 0;
  let loud = 0;
  /** Whether somebody has spoken since the last response. */
  let isSpokenTo = false;
  let failures = 0;
  let allFailed = true;
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index]!;
    const at = index;
    if (item.type === 'function_call') {
      ensure(!states.has(item.call_id), () => `Item ${at}: The call id ${item.call_id} is used twice.`);
      states.set(item.call_id, 'open');
      names.set(item.call_id, item.name);
      open.push(item.call_id);
      hasCalled = true;
      allFailed = true;
    } else if (item.type === 'function_call_output') {
      const state = states.get(item.call_id);
      if (item.deferred === true) {
        ensure(open.length === 0, () => `Item ${at}: A late result precedes the output of ${open.join(', ')}.`);
        ensure(state === 'acknowledged', () => `Item ${at}: The late result of ${item.call_id} is of a call ${state}.`);
        const { delivery } = toolOf(names.get(item.call_id) ?? '');
        const isEarly = delivery === 'when_idle' && (hasCalled || isSpokenTo);
        ensure(!isEarly, () => `Item ${at}: The result of ${item.call_id} comes before the model has answered.`);
        if (delivery !== 'silent') loud += 1;
      } else {
        const next = open.shift();
        ensure(next === item.call_id, () => `Item ${at}: An output of ${item.call_id} comes where ${next} is due.`);
        outputs += 1;
        if (item.state !== 'failed' && item.state !== 'timeout') allFailed = false;
        if (open.length === 0 && index >= INPUT.length) failures = allFailed ? failures + 1 : 0;
        const isBlocking = TOOLS.get(names.get(item.call_id) ?? '')?.blocking !== false;
        const mayBeOpen = !isBlocking || isDetachable(turns, items, item.call_id) || isSpokenToAfter(items, index);
        ensure(item.status !== 'in_progress' || mayBeOpen, () => `Item ${at}: ${item.call_id} has no result.`);
      }
      states.set(item.call_id, item.status === 'in_progress' ? 'acknowledged' : 'delivered');
    } else {
      ensure(open.length === 0, () => `Item ${at}: The turn goes on before ${open.join(', ')} is answered.`);
      isSpokenTo = item.type === 'message' && item.role === 'user';
      ensure(item !== PART || index < items.length - 1, () => 'The request ends with what the model had not finished.');
      if (!isAnswer(item)) continue;
      answers += 1;
      hasCalled = false;
      outputs = 0;
      loud = 0;
      open = [];
    }
  }
  ensure(open.length === 0, () => `The calls ${open.join(', ')} are not answered.`);
  ensure(failures < limits.maxToolErrors, () => `The model is called after ${failures} turns that failed.`);
  if (isSpokenTo || answers === 0 || hasCalled || isPause(turns, answers - 1)) return false;
  ensure(outputs === 0, () => 'There are outputs without calls.');
  ensure(loud > 0, () => 'The model is called with nothing that it waits for.');
  return true;
}

/** Somebody has spoken before the model has answered: the turn need not wait for its calls. */
function isSpokenToAfter(items: readonly Item[], index: number): boolean {
  const next = items.slice(index).find((item) => item.type === 'message' && item !== PART);
  return next?.type === 'message' && next.role === 'user';
}

/** The tool of the call may let the model go on without its result. */
function isDetachable(turns: MachinePlan['turns'], items: readonly Item[], callId: string): boolean {
  const item = items.find((each) => each.type === 'function_call' && each.call_id === callId);
  if (item?.type !== 'function_call') return false;
  const [place, index] = item.arguments.split('.').map(Number);
  const turn = turns[place ?? 0];
  return turn?.kind === 'calls' && turn.calls[index ?? 0]?.detaches === true;
}
