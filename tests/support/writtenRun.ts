/** A run whose state a test changes by hand, and its writer. */
import { RunStoreWriter } from '../../imports/business/ai/application/services/runs/durable/RunStoreWriter';
import type { JournalHost } from '../../imports/business/ai/application/services/runs/RunContext';
import { NO_USAGE } from '../../imports/business/ai/domain/entities/Response';
import type { ToolCall } from '../../imports/business/ai/domain/entities/Tool';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import { newRun } from '../../imports/business/ai/domain/run/ActiveRun';
import type { ActiveRun } from '../../imports/business/ai/domain/run/ActiveRun';
import { DEFAULT_LIMITS } from '../../imports/business/ai/domain/run/runLimits';
import type { RunLease, RunRequest } from '../../imports/business/ai/domain/types/RunRecords';

/** A request for the run that the writer writes. */
export const WRITTEN_REQUEST: RunRequest = {
  executionId: 'run',
  userId: 'ann',
  requestId: 'run',
  argumentsHash: '',
  source: 'job',
  title: '',
  providerId: 'p',
  createdAt: 0,
  input: [],
  plan: { input: [], options: {}, limits: {}, tools: [] } as unknown as RunRequest['plan'],
};

export interface WrittenRun {
  readonly writer: RunStoreWriter;
  readonly outages: readonly boolean[];
  readonly broken: readonly unknown[];
  readonly state: () => ActiveRun;
  readonly change: (change: Partial<ActiveRun>) => void;
  readonly setCall: (call: ToolCall) => void;
}

export function writtenRun(store: RunStore, lease: RunLease, host: Partial<JournalHost> = {}): WrittenRun {
  const rules = {
    executionId: 'run',
    userId: 'ann',
    model: 'm',
    inputLength: 0,
    limits: DEFAULT_LIMITS,
    tools: new Map(),
    missingTools: [],
    isStored: true,
    durability: 'step',
    description: {},
  } as const;
  let state: ActiveRun = { ...newRun(rules, [], { usage: NO_USAGE }), status: 'running' };
  const outages: boolean[] = [];
  const broken: unknown[] = [];
  const writer = new RunStoreWriter(
    {
      runs: {
        store,
        leaseMs: 1_000,
        isLeaseCurrent: () => true,
        onLeaseLost: () => undefined,
        clearTakeovers: () => Promise.resolve(),
        stateStored: () => undefined,
        ...host,
      },
      lease,
      storedItems: 0,
      startedAt: 0,
      metadata: { providerId: 'p', title: '', createdAt: 0 },
    },
    {
      get state() {
        return state;
      },
      worked: 0,
      onBroken: (error) => broken.push(error),
      onStoreOutage: (isOut) => outages.push(isOut),
    },
    { restored: undefined },
  );
  const change = (changed: Partial<ActiveRun>): void => {
    state = { ...state, ...changed };
  };
  return {
    ...{ writer, outages, broken, change },
    state: () => state,
    setCall: (call) => change({ calls: state.calls.with(call) }),
  };
}
