/**
 * What survives every process of a durable run: the store, the remote services with their effects, the model's vendor,
 * and the people who decide.
 */
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { ResilientProvider } from '../../../imports/business/ai/application/services/routing/ResilientProvider';
import type { ILLMProvider } from '../../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { RunStore } from '../../../imports/business/ai/domain/interfaces/RunStore';
import type { AgentEvent } from '../../../imports/business/ai/domain/types/AgentEvents';
import type { Item } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { CAPABILITIES } from '../../../imports/testing/capabilities';
import { RecordingLogger } from '../RecordingLogger';
import { attend, watchCalls } from './Attendant';
import { mixedAnswer } from './mixedModel';
import { mixedTools } from './mixedTools';
import { retryUntilStored } from './persist';

export interface Faults {
  /** Milliseconds. */
  readonly runTimeout: number;
  /** May delay the vendor's response, or throw in its place. */
  beforeResponse(signal: AbortSignal | undefined): Promise<void>;
}

const NO_FAULTS: Faults = { runTimeout: 600_000, beforeResponse: () => Promise.resolve() };

export class World {
  /** `tool key`, in order of execution. */
  readonly effects: string[] = [];
  /** The inputs of the model calls. */
  readonly requests: (readonly Item[])[] = [];
  readonly events: AgentEvent[] = [];
  /** Ids of calls that needed review. */
  readonly reviewed = new Set<string>();
  /** The store as processes see it. */
  readonly store: RunStore;
  readonly logger = new RecordingLogger();
  private readonly faults: Faults;
  private loop: AgenticLoop | undefined;

  /** @param faults injected in addition to the deaths of processes */
  constructor(store: RunStore, faults: Faults = NO_FAULTS) {
    this.faults = faults;
    this.store = watchCalls(store, (executionId) => void this.attend(executionId));
  }

  /** @param isDead once true, nothing that the process does has an effect */
  process(store: RunStore, isDead: () => boolean): AgenticLoop {
    const never = new Promise<never>(() => undefined);
    const toolExecutor = mixedTools((tool, key, result) => {
      if (isDead()) return never;
      this.effects.push(`${tool} ${key}`);
      // Some respond synchronously, some later.
      return tool === 'charge'
        ? result
        : new Promise((resolve) => setImmediate(() => resolve(isDead() ? never : result)));
    });
    const provider: ILLMProvider = {
      getProviderName: () => 'mixed',
      getCapabilities: () => CAPABILITIES,
      validateAccess: () => Promise.resolve({ valid: true }),
      stream: () => {
        throw new Error('Streaming is not expected here.');
      },
      generate: async (_userId, options) => {
        if (isDead()) return never;
        const items = options.input as readonly Item[];
        this.requests.push(items);
        await new Promise((resolve) => setImmediate(resolve));
        await this.faults.beforeResponse(options.signal);
        return isDead() ? never : mixedAnswer(items);
      },
    };
    const retrying = new ResilientProvider({ provider, sleep: () => new Promise((resolve) => setImmediate(resolve)) });
    const loop = new AgenticLoop({
      provider: retrying,
      toolExecutor,
      runStore: store,
      logger: this.logger,
      leaseTimes: { lease: 200, heartbeat: 5 },
      runTimeout: this.faults.runTimeout,
    });
    loop.on('event', (event) => {
      if (isDead()) return;
      this.events.push(event);
      if (event.type === 'tool:needs_review') this.reviewed.add(event.callId);
    });
    this.loop = loop;
    return loop;
  }

  async attend(executionId: string): Promise<void> {
    const { loop } = this;
    if (loop === undefined) return;
    await retryUntilStored(() =>
      attend(loop, this.store, executionId, (id, call) => this.effects.includes(`${call.name} ${id}:${call.id}`)),
    );
  }
}
