/** What every door to runs goes through, wired: methods, queries, events. The same for DDP and HTTP. */
import { createRunOperations } from '../../application/operations/RunOperations';
import type { AIMethods, CallKind, RunControl } from '../../application/operations/RunOperations';
import { RunQueries } from '../../application/operations/RunQueries';
import { RunEventBus } from '../../application/services/runs/RunEventBus';
import type { RunEventSink } from '../../application/services/runs/RunEventBus';
import { LLMRateLimitError } from '../../domain/errors/LLMErrors';
import type { DocumentCollection, StoredDocument } from '../../domain/interfaces/DocumentCollection';
import type { Logger } from '../../domain/interfaces/Logger';
import type { RunViewReader } from '../../domain/interfaces/RunViewReader';
import type { Actor } from '../../domain/types/Actor';
import type { AgentEvent } from '../../domain/types/AgentEvents';
import { DELTAS_COLLECTION, LiveTextStore } from '../persistence/runs/LiveTextStore';
import type { DeltaDocument } from '../persistence/runs/LiveTextStore';
import { RunStatistics, STATS_COLLECTION } from '../persistence/runs/RunStatistics';
import type { RunCountDocument } from '../persistence/runs/RunStatistics';
import { RUNS } from '../persistence/runs/runDocuments';
import { RunStatisticsRecorder } from '../persistence/runs/RunStatisticsRecorder';
import { FixedWindowLimiter, WINDOWS_COLLECTION } from '../persistence/rateLimits/FixedWindowLimiter';
import type { WindowDocument } from '../persistence/rateLimits/FixedWindowLimiter';
import { RunEventLog } from '../events/RunEventLog';
import type { AIModule } from './createAIModule';

/** Calls of one user in a minute. */
export interface CallLimits {
  readonly model: number;
  readonly command: number;
}

export const DEFAULT_CALL_LIMITS: CallLimits = { model: 300, command: 1_200 };

export interface RunDoorsPorts {
  readonly collection: <T extends StoredDocument>(name: string) => DocumentCollection<T>;
  readonly views: RunViewReader;
  /** Beside the live text, the counts and the watchers. */
  readonly sinks?: readonly RunEventSink[];
  /** Default: the module's loop. */
  readonly control?: RunControl;
  readonly limits?: Partial<CallLimits>;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Default: the console. */
  readonly logger?: Logger;
}

export interface RunModule {
  readonly methods: AIMethods;
  readonly queries: RunQueries;
  readonly events: RunEventLog;
  /** Whose run it is, or undefined for one that is not known. */
  readonly ownerOf: (executionId: string) => Promise<string | undefined>;
  /** Makes the indexes. Safe to call again. */
  ready(): Promise<void>;
  /** Waits for what is being written. */
  close(): Promise<void>;
}

const MINUTE = 60_000;

export function createRunDoors(
  { loop, useCases, tools }: Pick<AIModule, 'loop' | 'useCases' | 'tools'>,
  ports: RunDoorsPorts,
): RunModule {
  const { collection, views, sinks = [], control = loop, now = Date.now, logger = console } = ports;
  const limits = { ...DEFAULT_CALL_LIMITS, ...ports.limits };
  const events = new RunEventLog();
  const texts = new LiveTextStore({
    collection: collection<DeltaDocument>(DELTAS_COLLECTION),
    flush: (executionId) => feed.flush(executionId),
    logger,
  });
  const counts = new RunStatistics(collection<RunCountDocument>(STATS_COLLECTION));
  const states = new RunStatisticsRecorder({ runs: collection(RUNS), counts, logger });
  const windows = new FixedWindowLimiter(collection<WindowDocument>(WINDOWS_COLLECTION), now);
  const watch = (event: AgentEvent): void => events.add(event, loop.ownerOf(event.executionId) ?? '');
  const feed = new RunEventBus({ sinks: [...sinks, texts.take, states.take, watch], logger });
  loop.on('event', feed.publish);

  const admit = async ({ userId, source }: Actor, kind: CallKind): Promise<void> => {
    if (source === 'job') return;
    const wait = await windows.admit([kind, userId], limits[kind], MINUTE);
    if (wait > 0)
      throw new LLMRateLimitError('You have done this too often in the last minute.', { retryAfterMs: wait });
  };

  const ownerOf = (executionId: string): Promise<string | undefined> => views.ownerOf(executionId);
  return {
    methods: createRunOperations({ useCases, control, admit, ownerOf }),
    ownerOf,
    queries: new RunQueries({ views, texts, stats: counts, tools }),
    events,
    async ready() {
      await Promise.all([texts.ready(), counts.ready(), windows.ready()]);
    },
    async close() {
      loop.off('event', feed.publish);
      feed.flushAll();
      await Promise.all([texts.close(), states.close()]);
    },
  };
}
