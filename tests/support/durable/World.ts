/** What outlives every process of a durable run: the store, the remote services with what was done to them, the model's vendor, and the people who decide. */
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { isLLMError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import type { ILLMProvider } from '../../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { RunStore } from '../../../imports/business/ai/domain/interfaces/RunStore';
import type { AgentEvent } from '../../../imports/business/ai/domain/types/AgentEvents';
import type { Item } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { CAPABILITIES } from '../capabilities';
import { RecordingLogger } from '../RecordingLogger';
import { mixedAnswer } from './mixedModel';

export interface WorldProcess {
  readonly loop: AgenticLoop;
  readonly logger: RecordingLogger;
}

export class World {
  /** `tool key`, in the order in which it was done. */
  readonly effects: string[] = [];
  /** What was sent to the model. */
  readonly requests: (readonly Item[])[] = [];
  readonly events: AgentEvent[] = [];
  /** Ids of calls about which somebody was asked whether they ran. */
  readonly reviewed = new Set<string>();
  /** The store as processes see it; people look at their calls whenever one is written. */
  readonly store: RunStore;
  private readonly runId: string;
  private loop: AgenticLoop | undefined;

  constructor(store: RunStore, runId: string) {
    this.runId = runId;
    const look = (): void => {
      if (this.loop !== undefined) void this.attend(this.loop);
    };
    this.store = new Proxy(store, {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver);
        if (name !== 'addCall' && name !== 'saveCall') return typeof value === 'function' ? (value.bind(target) as unknown) : value;
        return async (...args: Parameters<RunStore['saveCall']>) => {
          const isWritten = await target[name](...args);
          setImmediate(look);
          return isWritten;
        };
      },
    });
  }

  /** @param isDead what a process that was stopped would do comes to nothing */
  process(store: RunStore, isDead: () => boolean): WorldProcess {
    const logger = new RecordingLogger();
    const never = new Promise<never>(() => undefined);
    const act = (tool: string, key: string, result: string): unknown => {
      if (isDead()) return never;
      this.effects.push(`${tool} ${key}`);
      // Some answer at once, some later.
      return tool === 'charge' ? result : new Promise((resolve) => setImmediate(() => resolve(isDead() ? never : result)));
    };
    const tools = new ToolRegistry()
      .register({ name: 'note', execute: (_args, { idempotencyKey }) => act('note', idempotencyKey, 'noted') })
      .register({ name: 'charge', idempotent: true, execute: (_args, { idempotencyKey }) => act('charge', idempotencyKey, 'charged') })
      .register({ name: 'job', idempotent: true, blocking: false, execute: (_args, { idempotencyKey }) => act('job', idempotencyKey, 'job done') })
      .register({ name: 'pay', needsApproval: true, execute: (_args, { idempotencyKey }) => act('pay', idempotencyKey, 'paid') })
      .register({ name: 'mail', blocking: false, execute: (_args, { idempotencyKey }) => act('mail', idempotencyKey, 'sent') })
      .register({ name: 'webhook', blocking: false, external: true });
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
        return isDead() ? never : mixedAnswer(items);
      },
    };
    const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore: store, logger, leaseTimes: { lease: 200, heartbeat: 5 } });
    loop.on('event', (event) => {
      if (isDead()) return;
      this.events.push(event);
      if (event.type === 'tool:needs_review') this.reviewed.add(event.callId);
    });
    this.loop = loop;
    return { loop, logger };
  }

  /** People look at what waits for them, and decide: a call that has had its effect is told its result, another is run again. */
  async attend(loop: AgenticLoop): Promise<void> {
    const whole = await this.store.load(this.runId);
    for (const call of whole?.calls ?? []) {
      const decided = decide(call.state, call.name, () => this.effects.includes(`${call.name} ${this.runId}:${call.id}`));
      if (decided === undefined) continue;
      try {
        if (decided === 'approve') await loop.approve(this.runId, call.id);
        else await loop.submitToolResult(this.runId, call.id, { output: decided });
      } catch (error) {
        // Somebody was faster, or the call does not wait yet.
        if (!isLLMError(error)) throw error;
      }
    }
  }
}

function decide(state: string, name: string, wasDone: () => boolean): 'approve' | 'it was done' | 'hooked' | undefined {
  if (state === 'awaiting_approval') return 'approve';
  if (state === 'needs_review') return wasDone() ? 'it was done' : 'approve';
  return state === 'executing' && name === 'webhook' ? 'hooked' : undefined;
}
