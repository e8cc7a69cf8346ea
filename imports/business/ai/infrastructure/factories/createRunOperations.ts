/** Wires the operations on runs that DDP and HTTP share: methods, queries, events. */
import { consoleLogger } from '../../../../log/consoleLogger';
import { bindOperations } from '../../../../host/bindOperations';
import { RUN_OPERATIONS } from '../../application/operations/runCommandOperations';
import type { RunMethods } from '../../application/operations/runCommandOperations';
import { RunCommands } from '../../application/operations/RunCommands';
import type { CallKind, RunControl } from '../../application/operations/RunCommands';
import { RunQueries } from '../../application/operations/RunQueries';
import { runDetached } from '../../application/services/shared/runDetached';
import { RunEventBus } from '../../application/services/runs/RunEventBus';
import type { RunEventSink } from '../../application/services/runs/RunEventBus';
import { LLMRateLimitError } from '../../domain/errors/LLMErrors';
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';
import type { DocumentCollection, StoredDocument } from '../../../../database/DocumentCollection';
import type { Logger } from '../../domain/interfaces/Logger';
import type { RunEventStore } from '../../domain/interfaces/RunEventStore';
import type { RunViewReader } from '../../domain/interfaces/RunViewReader';
import type { Actor } from '../../domain/types/Actor';
import type { AgentEvent } from '../../domain/types/AgentEvents';
import { DELTAS_COLLECTION, LiveTextStore } from '../persistence/runs/LiveTextStore';
import type { DeltaDocument } from '../persistence/runs/LiveTextStore';
import { RunStatistics, STATS_COLLECTION } from '../persistence/runs/RunStatistics';
import type { RunCountDocument } from '../persistence/runs/RunStatistics';
import { RUNS } from '../persistence/runs/runDocuments';
import { RunStatisticsRecorder } from '../persistence/runs/RunStatisticsRecorder';
import { FixedWindowLimiter, WINDOWS_COLLECTION } from '../../../../database/FixedWindowLimiter';
import type { WindowDocument } from '../../../../database/FixedWindowLimiter';
import { LiveRunEvents } from '../events/LiveRunEvents';
import { RunEventLog } from '../events/RunEventLog';
import { RunEventRelay } from '../events/RunEventRelay';
import type { RelayTimes } from '../events/RunEventRelay';
import type { AIModule } from './createAIModule';

/** Calls per user and minute. */
export interface CallLimits {
  readonly model: number;
  readonly command: number;
}

export const DEFAULT_CALL_LIMITS: CallLimits = { model: 300, command: 1_200 };

export interface RunModulePorts {
  readonly collection: <T extends StoredDocument>(name: string) => DocumentCollection<T>;
  readonly views: RunViewReader;
  /** In addition to live text, statistics and the event log. */
  readonly sinks?: readonly RunEventSink[];
  /** Default: the module's loop. */
  readonly control?: RunControl;
  readonly limits?: Partial<CallLimits>;
  /** Tools are listed to those who may use them. Default: everyone. */
  readonly access?: AccessPolicy;
  /** Shows events of runs in other processes, and theirs here. Default: there are no other processes. */
  readonly runEvents?: RunEventStore | undefined;
  readonly relayTimes?: Partial<RelayTimes> | undefined;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Default: the console. */
  readonly logger?: Logger;
}

export interface RunModule {
  /** What carries `methods` out. */
  readonly commands: RunCommands;
  readonly methods: RunMethods;
  readonly queries: RunQueries;
  readonly events: RunEventLog;
  readonly live: LiveRunEvents;
  /** The id of the user who owns the run; undefined for an unknown run. */
  readonly ownerOf: (executionId: string) => Promise<string | undefined>;
  /** Makes the events of a user's runs in other processes appear in `live`. @returns ends it */
  watch(userId: string): () => void;
  /** The process will stop: subscribers are leaving, and find in other processes what follows here. */
  leave(): void;
  /** Creates the indexes. Safe to call again. */
  ready(): Promise<void>;
  /** Waits for the writes that events so far have caused. */
  settled(): Promise<void>;
  /** Waits for pending writes. */
  close(): Promise<void>;
}

const MINUTE_MS = 60_000;

export function createRunModule(
  module: Pick<AIModule, 'loop' | 'useCases' | 'tools'> & Partial<Pick<AIModule, 'conversations'>>,
  ports: RunModulePorts,
): RunModule {
  const { loop, useCases, tools } = module;
  const { collection, views, sinks = [], control = loop, now = Date.now, logger = consoleLogger } = ports;
  const limits = { ...DEFAULT_CALL_LIMITS, ...ports.limits };
  const live = new LiveRunEvents();
  const relay: RunEventRelay | undefined =
    ports.runEvents === undefined
      ? undefined
      : new RunEventRelay({
          store: ports.runEvents,
          log: () => events,
          onRemote: live.recordRemote,
          detached: runDetached,
          logger,
          times: ports.relayTimes,
        });
  const events: RunEventLog = new RunEventLog(undefined, relay);
  const liveTexts = new LiveTextStore({
    collection: collection<DeltaDocument>(DELTAS_COLLECTION),
    runs: collection(RUNS),
    flush: (executionId) => bus.flush(executionId),
    logger,
  });
  const statistics = new RunStatistics(collection<RunCountDocument>(STATS_COLLECTION));
  const recorder = new RunStatisticsRecorder({ runs: collection(RUNS), counts: statistics, logger });
  const limiter = new FixedWindowLimiter(collection<WindowDocument>(WINDOWS_COLLECTION), ['count'], now);
  const logEvent = (event: AgentEvent): void => {
    const userId = 'userId' in event ? event.userId : (loop.local.userIdOf(event.executionId) ?? '');
    events.add(event, userId);
    relay?.record(userId);
  };
  const bus = new RunEventBus({ sinks: [...sinks, liveTexts.record, recorder.record, live.record, logEvent], logger });
  loop.on('event', bus.publish);

  const admit = async ({ userId, source }: Actor, kind: CallKind): Promise<void> => {
    if (source === 'job') return;
    // Nobody observes the counters, so a method's `updated` need not wait for them.
    const waitMs = await runDetached(() => limiter.admit([kind, userId], { count: limits[kind] }, MINUTE_MS));
    if (waitMs > 0)
      throw new LLMRateLimitError('Too many calls within a minute. Try again later.', { retryAfterMs: waitMs });
  };

  const settled = async (): Promise<void> => {
    bus.flushAll();
    await Promise.all([liveTexts.close(), recorder.close()]);
  };

  const ownerOf = (executionId: string): Promise<string | undefined> => views.ownerOf(executionId);
  const commands = new RunCommands({ useCases, control, admit, ownerOf, messages: module.conversations?.handler });
  return {
    commands,
    methods: bindOperations(RUN_OPERATIONS, { runCommands: commands }),
    ownerOf,
    queries: new RunQueries({
      views,
      texts: liveTexts,
      stats: statistics,
      whenStored: (executionId) => loop.local.whenStored(executionId),
      tools,
      access: ports.access,
    }),
    events,
    live,
    async ready() {
      await Promise.all([liveTexts.ready(), statistics.ready(), limiter.ready()]);
    },
    watch: (userId) => relay?.watch(userId) ?? (() => undefined),
    settled,
    leave: () => relay?.leave(),
    async close() {
      loop.off('event', bus.publish);
      await settled();
      await relay?.close();
    },
  };
}
