/** The events that a stored run stands for, and those that the runs stand for which its calls have started. */
import { replayRun } from '../../business/ai/application/services/replayRun';
import { childId, MAX_RUN_DEPTH } from '../../business/ai/application/services/shared/childId';
import type { StoredRun } from '../../business/ai/domain/interfaces/RunStore';
import type { FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import type { FunctionTool } from '../../business/ai/domain/entities/Tool';
import { startsRun } from './serverTools';

export interface FamilyPorts {
  /** @returns undefined for an unknown run */
  readonly load: (executionId: string) => Promise<StoredRun | undefined>;
  readonly tools: { readonly tools: readonly FunctionTool[] };
}

export async function replayFamily(stored: StoredRun, { load, tools }: FamilyPorts): Promise<readonly FamilyEvent[]> {
  const replay = async (run: StoredRun, path: NonNullable<FamilyEvent['path']>): Promise<readonly FamilyEvent[]> => {
    const events: FamilyEvent[] = [];
    for (const event of replayRun(run)) {
      events.push(path.length === 0 ? event : { ...event, path });
      if (event.type !== 'tool:executing' || !startsRun(tools, event.name)) continue;
      if (path.length >= MAX_RUN_DEPTH) continue;
      const { executionId, callId, name } = event;
      const child = await load(childId(executionId, callId));
      if (child !== undefined) events.push(...(await replay(child, [...path, { executionId, callId, name }])));
    }
    return events;
  };
  return replay(stored, []);
}
