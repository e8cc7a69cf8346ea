/**
 * Repairs a history just before it is sent. Every vendor requires that each tool call is followed by exactly one
 * result right after its turn. Callers, crashes, evicted response chains and late results produce histories that
 * break this rule.
 */
import type { FunctionCallItem, InputItem } from '../../../domain/types/ResponsesAPITypes';
import { atOnce, SLICE } from '../../../domain/util/slices';
import type { Slices } from '../../../domain/util/slices';
import type { Loss } from '../../../domain/types/VendorTypes';
import { deferredEnvelope } from './deferredEnvelope';
import { hasItem } from './hasItem';

export interface RepairOptions {
  /**
   * The wire accepts a late output under its original call id: acknowledgements are omitted, async calls may stay
   * open.
   */
  readonly nativeAsync: boolean;
  /** The server stores the earlier part of the history, so outputs may belong to calls that are not in `items`. */
  readonly partial?: boolean;
  /** The wire accepts the output of a function as the answer to a tool search that the client executes. */
  readonly clientSearches?: boolean;
}

export interface RepairedHistory {
  readonly items: readonly InputItem[];
  readonly losses: readonly Loss[];
}

export const NO_RESULT = 'No result was recorded for this call.';

export function repairHistory(items: readonly InputItem[], options: RepairOptions): RepairedHistory {
  return atOnce(repairSlices(items, options));
}

/** Repairs like `repairHistory`, a slice of the history at a time. */
export function* repairSlices(items: readonly InputItem[], options: RepairOptions): Slices<RepairedHistory> {
  return needsNoRepair(items, options) ? { items, losses: [] } : yield* repair(items, options);
}

/** Detects the usual case, a valid history, in one pass and without copying. */
function needsNoRepair(items: readonly InputItem[], options: RepairOptions): boolean {
  const seen = new Set<string>();
  const searches = searchesIn(items, options);
  const calls: string[] = [];
  let answered = 0;
  /** Some calls of the turn have their output, and others do not. */
  let isAnswering = false;
  for (const item of items) {
    if (item.type === 'function_call_output') {
      if (item.deferred === true || (item.status === 'in_progress' && options.nativeAsync)) return false;
      if (answered === calls.length && options.partial === true && !seen.has(item.call_id)) continue;
      if (searches.has(item.call_id)) continue;
      if (calls[answered] !== item.call_id) return false;
      answered += 1;
      isAnswering = answered < calls.length;
      continue;
    }
    if (isAnswering || (answered < calls.length && endsTurn(item))) return false;
    if (item.type !== 'function_call') continue;
    if (seen.has(item.call_id)) return false;
    seen.add(item.call_id);
    calls.push(item.call_id);
  }
  return answered === calls.length;
}

/**
 * The ids of tool searches, which OpenAI accepts an output of a function for.
 * https://developers.openai.com/api/docs/guides/tools-tool-search
 */
function searchesIn(items: readonly InputItem[], { clientSearches }: RepairOptions): ReadonlySet<unknown> {
  if (clientSearches !== true || !hasItem(items, 'tool_search_call')) return NO_SEARCHES;
  return new Set(items.flatMap((item) => (item.type === 'tool_search_call' ? [item.call_id] : [])));
}

const NO_SEARCHES: ReadonlySet<unknown> = new Set();

function endsTurn(item: InputItem): boolean {
  return item.type === 'function_call_output' || (item.type === 'message' && item.role !== 'assistant');
}

function* repair(items: readonly InputItem[], options: RepairOptions): Slices<RepairedHistory> {
  const outputOf = pairOutputs(items);
  const paired = new Set(outputOf.values());
  const ids = distinctIds(items);
  const searches = searchesIn(items, options);
  const names = new Map(
    items.flatMap((item) => (item.type === 'function_call' ? [[item.call_id, item.name] as const] : [])),
  );
  const out: InputItem[] = [];
  const losses: Loss[] = [];
  let turn: { readonly call: FunctionCallItem; readonly index: number }[] = [];

  const closeTurn = (): void => {
    for (const { call, index } of turn) {
      const call_id = ids.get(index) ?? call.call_id;
      const output = items[outputOf.get(index) ?? -1];
      if (output?.type !== 'function_call_output') {
        if (options.nativeAsync && call.async === true) continue;
        out.push({ type: 'function_call_output', call_id, output: NO_RESULT });
        losses.push({
          path: `input[${index}]`,
          what: `result of call ${call.call_id} (${call.name})`,
          reason: 'No result was recorded, so a placeholder is sent.',
        });
      } else if (!(options.nativeAsync && output.status === 'in_progress')) {
        out.push(call_id === output.call_id ? output : { ...output, call_id });
      }
    }
    turn = [];
  };

  for (const [index, item] of items.entries()) {
    if (index > 0 && index % SLICE === 0) yield;
    if (endsTurn(item)) closeTurn();
    if (item.type === 'function_call') {
      const call_id = ids.get(index);
      out.push(call_id === undefined ? item : { ...item, call_id });
      turn.push({ call: item, index });
    } else if (item.type !== 'function_call_output') {
      out.push(item);
    } else if (!paired.has(index)) {
      const hasCall = names.has(item.call_id);
      const staysAsIs = hasCall
        ? options.nativeAsync && item.deferred === true
        : options.partial === true || searches.has(item.call_id);
      out.push(staysAsIs ? item : deferredEnvelope(item, names.get(item.call_id)));
      if (!staysAsIs && item.deferred !== true)
        losses.push({
          path: `input[${index}]`,
          what: `result of call ${item.call_id}`,
          reason: 'It belongs to no open call, so it is sent as text.',
        });
    }
  }
  closeTurn();
  return { items: out, losses };
}

/**
 * Maps the index of each call to the index of its output: the first one after the call that precedes a later turn's
 * call with the same id.
 */
function pairOutputs(items: readonly InputItem[]): ReadonlyMap<number, number> {
  const waiting = new Map<string, { readonly turn: number; readonly calls: number[]; answered: number }>();
  const answerOf = new Map<number, number>();
  let turn = 0;
  items.forEach((item, index) => {
    if (endsTurn(item)) turn += 1;
    if (item.type === 'function_call') {
      const open = waiting.get(item.call_id);
      if (open?.turn === turn) open.calls.push(index);
      else waiting.set(item.call_id, { turn, calls: [index], answered: 0 });
    } else if (item.type === 'function_call_output' && item.deferred !== true) {
      const open = waiting.get(item.call_id);
      const call = open?.calls[open.answered];
      if (open === undefined || call === undefined) return;
      open.answered += 1;
      answerOf.set(call, index);
    }
  });
  return answerOf;
}

/** Returns new ids, by index, for calls that repeat an earlier id: `id_2`, `id_3`, … */
function distinctIds(items: readonly InputItem[]): ReadonlyMap<number, string> {
  const taken = new Set<string>();
  /** The last number that was tried for an id: a client may send the same id thousands of times. */
  const counts = new Map<string, number>();
  const renamed = new Map<number, string>();
  items.forEach((item, index) => {
    if (item.type !== 'function_call') return;
    let id = item.call_id;
    let count = counts.get(id) ?? 1;
    while (taken.has(id)) id = `${item.call_id}_${(count += 1)}`;
    counts.set(item.call_id, count);
    taken.add(id);
    if (id !== item.call_id) renamed.set(index, id);
  });
  return renamed;
}
