/** Adds up what the model calls of a run used and what they cost, failed and interrupted calls included. */
import { addUsage, NO_USAGE } from '../../../domain/entities/Response';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { CallCost } from '../../../domain/types/ModelPrice';
import type { LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { RunTotals } from '../../../domain/types/RunTotals';
import type { Writable } from '../../../domain/types/Writable';

/** Models and reasons beyond these are not listed. */
const MAX_LISTED = 20;

export class RunBill {
  private current: RunTotals;

  /** @param totals so far */
  constructor(totals: RunTotals = { usage: NO_USAGE }) {
    this.current = totals;
  }

  get totals(): RunTotals {
    return this.current;
  }

  /** Adds a response that was received, whether or not the run can use it. */
  addResponse({ usage, model, vendor }: LLMResponse): void {
    this.add(usage, vendor, model, including(this.current.models, model));
  }

  /** Adds a call of whose response only the usage is known. @param model empty if unknown */
  addUsage(usage: Usage, cost: CallCost, model: string): void {
    this.add(usage, cost, model, this.current.models);
  }

  /** @param models those that have responded by now */
  private add(usage: Usage, { cost, unpriced }: CallCost, model: string, models: readonly string[] | undefined): void {
    const { current } = this;
    const next: Writable<RunTotals> = { ...current };
    next.usage = addUsage(current.usage, usage);
    if (cost !== undefined) next.cost = (current.cost ?? 0) + cost;
    if (unpriced !== undefined)
      next.unpriced = {
        calls: (current.unpriced?.calls ?? 0) + 1,
        models: including(current.unpriced?.models, model),
        reasons: including(current.unpriced?.reasons, unpriced),
      };
    if (models !== undefined && models.length > 0) next.models = models;
    this.current = next;
  }
}

/** The totals of a stored run. */
export function totalsOf({ usage, cost, unpriced, models }: RunTotals): RunTotals {
  return omitUndefined({ usage, cost, unpriced, models });
}

function including(list: readonly string[] = [], entry: string): readonly string[] {
  return entry === '' || list.includes(entry) || list.length === MAX_LISTED ? list : list.concat(entry);
}
