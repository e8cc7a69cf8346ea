/**
 * What outlives every process of a durable run: the store, the remote services with what was done to them, the
 * model's vendor, and the people who decide.
 */
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { ResilientProvider } from '../../../imports/business/ai/application/services/routing/ResilientProvider';
import type { ILLMProvider } from '../../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { RunStore } from '../../../imports/business/ai/domain/interfaces/RunStore';
import type { AgentEvent } from '../../../imports/business/ai/domain/types/AgentEvents';
import type { Item } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { CAPABILITIES } from '../capabilities';
import { RecordingLogger } from '../RecordingLogger';
import { attend, watchCalls } from './Attendant';
import { mixedAnswer } from './mixedModel';
import { mixedTools } from './mixedTools';
import { persist } from './persist';

export interface Troubles {
  /** Milliseconds. */
  readonly runTimeout: number;
  /** Throws, or takes its time, instead of answering. */
  ofVendor(signal: AbortSignal | undefined): Promise<void>;
}

const NO_TROUBLES: Troubles = { runTimeout: 600_000, ofVendor: () => Promise.resolve() };

export class World {
  /** `tool key`, in the order in which it was done. */
  readonly effects: string[] = [];
  /** What was sent to the model. */
  readonly requests: (readonly Item[])[] = [];
  readonly events: AgentEvent[] = [];
  /** Ids of calls about which somebody was asked whether they ran. */
  readonly reviewed = new Set<string>();
  /** The store as processes see it. */
  readonly store: RunStore;
  readonly logger = new RecordingLogger();
  private readonly troubles: Troubles;
  private loop: AgenticLoop | undefined;

  /** @param troubles what goes wrong beside the processes' deaths */
  constructor(store: RunStore, troubles: Troubles = NO_TROUBLES) {
    this.troubles = troubles;
    this.store = watchCalls(store, (executionId) => void this.attend(executionId));
  }

  /** @param isDead what a process that was stopped would do comes to nothing */
  process(store: RunStore, isDead: () => boolean): AgenticLoop {
    const never = new Promise<never>(() => undefined);
    const toolExecutor = mixedTools((tool, key, result) => {
      if (isDead()) return never;
      this.effects.push(`${tool} ${key}`);
      // Some answer at once, some later.
      return tool === 'charge'
        ? result
        : new Promise((resolve) => setImmediate(() => resolve(isDead() ? never : result)));
    });
    const provider: ILLMProvider = {
      getProviderName: () => 'mixed',
      getCapabilities: () => CAPABILITIES,
      validateAccess: () => Promise.resolve(true),
      stream: () => {
        throw new Error('not asked for');
      },
      generate: async (_userId, options) => {
        if (isDead()) return never;
        const items = options.input as readonly Item[];
        this.requests.push(items);
        await new Promise((resolve) => setImmediate(resolve));
        await this.troubles.ofVendor(options.signal);
        return isDead() ? never : mixedAnswer(items);
      },
    };
    const patient = new ResilientProvider({ provider, sleep: () => new Promise((resolve) => setImmediate(resolve)) });
    const loop = new AgenticLoop({
      provider: patient,
      toolExecutor,
      runStore: store,
      logger: this.logger,
      leaseTimes: { leaseMs: 200, heartbeatMs: 5 },
      runTimeout: this.troubles.runTimeout,
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
    await persist(() =>
      attend(loop, this.store, executionId, (id, call) => this.effects.includes(`${call.name} ${id}:${call.id}`)),
    );
  }
}
