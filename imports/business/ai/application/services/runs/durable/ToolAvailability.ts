/**
 * Which stored runs this process may continue: those whose tools it has, and those for whose tools nobody waits any
 * longer. During a deployment, processes with different tools share one store. A run must not be ended, nor its calls
 * fail, because an old process took it over, or a new one that no longer has a tool before the old ones are gone.
 */
import type { IToolExecutor } from '../../../../domain/interfaces/IToolExecutor';
import type { ToolWaits } from '../../../../domain/interfaces/RunStore';
import type { ToolNeeds } from '../../../../domain/types/RunRecords';
import { definitionIn } from '../../tools/definitionIn';

/** Ten minutes: longer than a deployment takes, as a rule. */
export const DEFAULT_TOOL_WAIT_MS = 600_000;

export class ToolAvailability {
  private readonly executor: IToolExecutor;
  private readonly maxWaitMs: number;
  private readonly hasOthers: boolean;
  /** Names of tools that runs needed, and that this process lacked at the time. */
  private readonly seen = new Set<string>();

  /**
   * @param maxWaitMs milliseconds for which a run waits for a process that has its tools
   * @param hasOthers whether there may be other processes
   */
  constructor(executor: IToolExecutor, maxWaitMs: number, hasOthers: boolean) {
    this.executor = executor;
    this.maxWaitMs = maxWaitMs;
    this.hasOthers = hasOthers;
  }

  /** Where neither another process nor a source of this one can have the tool, nobody waits. */
  private get waitMs(): number {
    return this.hasOthers || this.executor.gainsTools === true ? this.maxWaitMs : 0;
  }

  /** Names of the tools for which the run must wait, so that this process leaves it to others. */
  lackedBy({ neededTools = [], missingTools = [], awaitedTools }: ToolNeeds): readonly string[] {
    if (neededTools.length === 0 || this.waitMs === 0) return [];
    if (awaitedTools !== undefined && awaitedTools.since < this.waits.since) return [];
    const lacked = neededTools.filter((name) => !hasTool(this.executor, name) && !missingTools.includes(name));
    for (const name of lacked) this.seen.add(name);
    return lacked;
  }

  /** The runs that this process need not look at. */
  get waits(): ToolWaits {
    return {
      tools: [...this.seen].filter((name) => !hasTool(this.executor, name)),
      since: Date.now() - this.waitMs,
    };
  }
}

export function hasTool(executor: IToolExecutor, name: string): boolean {
  return definitionIn(executor, name) !== undefined || executor.hasToolFunction(name);
}
