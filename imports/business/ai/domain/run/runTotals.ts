/** Adds up what the model calls of a run used and what they cost, failed and interrupted calls included. */
import type { CallCost } from '../types/ModelPrice';
import type { LLMResponse, Usage } from '../types/ResponsesAPITypes';
import type { RunSums, RunTotals } from '../types/RunTotals';
import type { Writable } from '../types/Writable';
import { addUsage } from '../entities/Response';
import { omitUndefined } from '../util/omitUndefined';

/** Models and reasons beyond these are not listed. */
const MAX_LISTED = 20;

/** A model call of whose response only the usage is known. */
export interface CallBill {
  readonly usage: Usage;
  readonly cost: CallCost;
  /** Empty if unknown. */
  readonly model: string;
}

/** Adds a response that was received, whether or not the run can use it. */
export function addResponse(totals: RunTotals, { usage, model, vendor }: LLMResponse): RunTotals {
  return add(totals, { usage, cost: vendor, model }, including(totals.models, model));
}

export function addBill(totals: RunTotals, bill: CallBill): RunTotals {
  return add(totals, bill, totals.models);
}

/** The totals of a stored run. */
export function totalsOf({ usage, cost, unpriced, models }: RunTotals): RunTotals {
  return omitUndefined({ usage, cost, unpriced, models });
}

/** The totals as the events at the end of a run have them. */
export function sumsOf({ models: _, ...sums }: RunTotals): RunSums {
  return sums;
}

/** @param models those that have responded by now */
function add(
  totals: RunTotals,
  { usage, cost: { cost, unpriced }, model }: CallBill,
  models: readonly string[] | undefined,
): RunTotals {
  const next: Writable<RunTotals> = { ...totals };
  next.usage = addUsage(totals.usage, usage);
  if (cost !== undefined) next.cost = (totals.cost ?? 0) + cost;
  if (unpriced !== undefined)
    next.unpriced = {
      calls: (totals.unpriced?.calls ?? 0) + 1,
      models: including(totals.unpriced?.models, model),
      reasons: including(totals.unpriced?.reasons, unpriced),
    };
  if (models !== undefined && models.length > 0) next.models = models;
  return next;
}

function including(list: readonly string[] = [], entry: string): readonly string[] {
  return entry === '' || list.includes(entry) || list.length === MAX_LISTED ? list : list.concat(entry);
}
