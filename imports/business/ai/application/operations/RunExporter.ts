/** Complete runs, without anything cut. */
import { maskCredentials } from '../../domain/errors/maskCredentials';
import type { RunStore } from '../../domain/interfaces/RunStore';
import type { Actor } from '../../domain/types/Actor';
import type { RequestView } from '../../domain/types/RequestRecords';
import { PRIVATE_RUN_FIELDS } from '../../domain/types/RunExport';
import type { ExportedRun, RunExport } from '../../domain/types/RunExport';
import type { RunPlan, RunRecord } from '../../domain/types/RunRecords';
import { canAccess, UnknownRunError } from './runAccess';

export interface RunExportPorts {
  readonly runs: Pick<RunStore, 'load'>;
  /** The model calls of a run, oldest first. */
  readonly requestsOf: (executionId: string) => Promise<readonly RequestView[]>;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export class RunExporter {
  private readonly ports: RunExportPorts;

  constructor(ports: RunExportPorts) {
    this.ports = ports;
  }

  /** @throws UnknownRunError for another user's run, too */
  async export(actor: Actor, executionId: string): Promise<RunExport> {
    const { runs, requestsOf, now = Date.now } = this.ports;
    const stored = await runs.load(executionId);
    if (stored === undefined || !canAccess(actor, stored.run.userId)) throw new UnknownRunError();
    const { input, transcript, plan, ...run } = stored.run;
    return {
      format: 'bolide.run',
      version: 1,
      exportedAt: now(),
      run: withoutPrivateFields(run),
      // A copy of the same shape.
      plan: maskCredentials(plan) as RunPlan,
      input,
      transcript,
      calls: stored.calls,
      requests: await requestsOf(executionId),
    };
  }
}

function withoutPrivateFields(run: Omit<RunRecord, 'input' | 'transcript' | 'plan'>): ExportedRun {
  const hidden = new Set<string>(PRIVATE_RUN_FIELDS);
  // Exactly the fields that the type leaves out.
  return Object.fromEntries(Object.entries(run).filter(([name]) => !hidden.has(name))) as unknown as ExportedRun;
}
