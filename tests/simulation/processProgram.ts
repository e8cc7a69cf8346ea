/** What each simulated process does: it executes runs, and takes over those of lost processes, as a server does. */
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { RunRecovery } from '../../imports/business/ai/application/services/RunRecovery';
import { isLLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { restoreError } from '../../imports/business/ai/domain/errors/restoreError';
import type { RunResult } from '../../imports/business/ai/domain/entities/Run';
import type { DocumentCollection, StoredDocument } from '../../imports/database/DocumentCollection';
import type { Logger } from '../../imports/business/ai/domain/interfaces/Logger';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { Item } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { DocumentRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { CAPABILITIES } from '../../imports/testing/capabilities';
import { mixedTools } from '../support/durable/mixedTools';
import type { Decision } from './Decision';
import { FIRST, handoffTools, toolsOf } from './handoffs';
import type { PlannedMessage, PlannedRun } from './Plan';
import type { CollectionMethod, ProcessHost, Reply, StoreMethod } from './ProcessHost';

/** How the promise of a run settled. */
export type RunOutcome = { readonly answer: string | undefined } | { readonly code: string };

export class ProcessProgram {
  private readonly loop: AgenticLoop;
  private readonly recovery: RunRecovery;

  constructor(host: ProcessHost) {
    const store = host.plan.store === 'memory' ? remoteStore(host) : new DocumentRunStore(remoteDatabase(host));
    const { lease, heartbeat } = host.plan;
    const logger = loggerOf(host);
    const act: ProcessHost['act'] = (tool, key, result) => host.act(tool, key, result);
    const tools = mixedTools(act);
    for (const tool of handoffTools(act)) tools.register(tool);
    this.loop = new AgenticLoop({
      provider: {
        retriesFailedCalls: true,
        getProviderName: () => 'simulated',
        getCapabilities: () => CAPABILITIES,
        validateAccess: () => Promise.resolve({ valid: true }),
        stream: () => {
          throw new Error('Streaming is not expected here.');
        },
        generate: (_userId, { input, turn, model, instructions }) =>
          host.callModel(turn?.executionId ?? '', input as readonly Item[], {
            model: model ?? '',
            instructions: instructions ?? '',
          }),
      },
      toolExecutor: tools,
      runStore: store,
      leaseTimes: { lease, heartbeat },
      logger,
      maxIterations: 30,
      instrumentation: {
        ready: () => undefined,
        beginRun: () => undefined,
        currentTrace: () => undefined,
      },
    });
    this.loop.on('event', (event) => host.onEvent(event));
    this.recovery = new RunRecovery({ loop: this.loop, store, lease, logger });
  }

  get ownerId(): string | undefined {
    return this.loop.claims.ownerId;
  }

  /** The number of runs that it executes. */
  get size(): number {
    return this.loop.local.size;
  }

  /** @throws what the store throws at the first scan */
  recover(): Promise<void> {
    return this.recovery.start();
  }

  /**
   * @returns whether the run is recorded, and how it ends
   * @throws LLMError
   */
  async start(run: PlannedRun): Promise<{ readonly done: Promise<RunOutcome> }> {
    const { id, durability, runTimeout } = run;
    const { done } = await this.loop.start('ann', {
      ...FIRST,
      input: 'go',
      tools: toolsOf(run),
      executionId: id,
      durability,
      ...(runTimeout === undefined ? {} : { runTimeout }),
    });
    return { done: outcomeOf(done) };
  }

  cancel(executionId: string): Promise<string> {
    return this.loop.cancel(executionId);
  }

  /** @throws LLMError */
  async send({ run, id, when }: PlannedMessage): Promise<string> {
    return (await this.loop.send(run, id, { when, messageId: id })).result;
  }

  resumeParked(executionId: string): Promise<string> {
    return this.loop.resumeParked(executionId);
  }

  /** @throws LLMError */
  decide(executionId: string, callId: string, decision: Decision): Promise<string> {
    switch (decision.kind) {
      case 'approve':
        return this.loop.approve(executionId, callId);
      case 'reject':
        return this.loop.reject(executionId, callId, decision.reason);
      case 'rerun':
        return this.loop.rerun(executionId, callId, decision.startTime);
      case 'submit':
        return this.loop.submitToolResult(executionId, callId, {
          output: decision.output,
        });
    }
  }

  /** @param grace milliseconds for what is in progress; undefined: it does not drain */
  async close(grace: number | undefined): Promise<void> {
    if (grace !== undefined) await this.loop.drain(AbortSignal.timeout(grace));
    this.recovery.stop();
    await this.loop.close();
  }
}

/** @returns undefined for what is no error of the engine's own */
export function errorCode(error: unknown): string | undefined {
  return isLLMError(error) ? error.code : undefined;
}

async function outcomeOf(done: Promise<RunResult>): Promise<RunOutcome> {
  try {
    const { response } = await done;
    return { answer: response.id };
  } catch (error) {
    if (!isLLMError(error)) throw error;
    return { code: error.code };
  }
}

function loggerOf(host: ProcessHost): Logger {
  return {
    debug: () => undefined,
    info: () => undefined,
    warn: (message, error) => host.onLog('warn', message, error),
    error: (message, error) => host.onLog('error', message, error),
  };
}

/** @throws the error that the other side has thrown */
function received(reply: Reply): unknown {
  if ('failure' in reply) throw restoreError(reply.failure.code, reply.failure.message);
  return reply.value;
}

function remoteStore(host: ProcessHost): RunStore {
  const signals = remoteObject({}, async (method, args) => received(await host.callSignals(method, args)));
  const messages = remoteObject({ end: undefined }, async (method, args) =>
    received(await host.callMessages(method, args)),
  );
  const own = { isExclusive: false, queueLock: undefined, signals, messages };
  // Boundary, here and below: whatever the port's methods are, they are called by their names.
  return remoteObject(own, async (method, args) =>
    received(await host.callStore(method as StoreMethod, args)),
  ) as RunStore;
}

function remoteDatabase(host: ProcessHost): ConstructorParameters<typeof DocumentRunStore>[0] {
  return {
    isExclusive: false,
    collection: <T extends StoredDocument>(name: string) =>
      remoteObject({ version: undefined }, async (method, args) =>
        received(await host.callCollection(name, method as CollectionMethod, args)),
      ) as DocumentCollection<T>,
    close: () => Promise.resolve(),
  };
}

/** @param own what is not called over the network */
function remoteObject(
  own: Readonly<Record<string, unknown>>,
  call: (method: string, args: readonly unknown[]) => Promise<unknown>,
): object {
  return new Proxy(own, {
    get: (target, name): unknown => {
      if (typeof name === 'symbol' || name === 'then') return undefined;
      return Object.hasOwn(target, name) ? target[name] : (...args: readonly unknown[]) => call(name, args);
    },
  });
}
