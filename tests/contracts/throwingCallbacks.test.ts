/** Callbacks with which a program watches what happens: what they throw is logged, and fails nothing. */
import { expect } from 'chai';
import { expectTypeOf } from 'expect-type';
import type { GenerateOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import { WATCHING_CALLBACKS } from '../../imports/business/ai/application/services/shared/safeCallbacks';
import { createGuardrails } from '../../imports/business/guardrails/createGuardrails';
import { LLMManager } from '../../imports/business/ai/application/services/LLMManager';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { AgenticLoopOptions } from '../../imports/business/ai/application/services/AgenticLoop';
import { LLMClient } from '../../imports/business/ai/application/services/LLMClient';
import { ToolExecutionLoop } from '../../imports/business/ai/application/services/ToolExecutionLoop';
import { isLLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { ILLMProvider } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import { runRequest } from '../../imports/business/ai/application/operations/runRequestSchemas';
import { readArgument } from '../../imports/host/schemas';
import { omitUndefined } from '../../imports/business/ai/domain/util/omitUndefined';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { BolideChatTransport } from '../../imports/interop/aiSdk/BolideChatTransport';
import { toUIMessageStream } from '../../imports/interop/aiSdk/uiMessageStream';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { answer } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import { callbacksOfEntries } from '../support/callbacksOfEntries';
import { failure } from '../support/failure';
import { inFlowingTime } from '../support/VirtualTime';
import { RecordingLogger } from '../support/RecordingLogger';
import { until } from '../support/until';
import { simulatedRow, startGateway } from '../support/gateway';
import type { Gateway } from '../support/gateway';

/** Every callback of a call but `onSend`, which may refuse it. */
type Watching = Exclude<
  { [Name in keyof GenerateOptions]-?: Name extends `on${string}` ? Name : never }[keyof GenerateOptions],
  'onSend'
>;
const CALLBACKS: readonly Watching[] = WATCHING_CALLBACKS;
expectTypeOf<(typeof WATCHING_CALLBACKS)[number]>().toEqualTypeOf<Watching>();

describe(
  'A callback of a call that throws',
  inFlowingTime(() => {
    let gateway: Gateway;
    beforeEach(async () => {
      gateway = await startGateway({
        attempts: 3,
        manager: { guardrails: createGuardrails({ pii: { in: ['request'] } }) },
      });
    });
    afterEach(() => gateway.close());

    for (const name of CALLBACKS)
      for (const isStream of [false, true])
        it(`fails no ${isStream ? 'stream' : 'call'} as ${name}, nor if it is asynchronous`, async () => {
          let calls = 0;
          const options: GenerateOptions = {
            model: 'openai',
            input: 'I am bob@example.com.',
            cache: { ttl: 1_000, refresh: true },
            ...(isStream ? {} : { relay: true }),
            [name]: () => {
              calls += 1;
              if (calls % 2 === 1) throw new Error('The callback threw.');
              return Promise.reject(new Error('The callback rejected.'));
            },
          };
          gateway.simulator.enqueue({ fault: { kind: 'html', status: 503 } });
          gateway.simulator.enqueue({ text: 'Hi Bob.' });
          const { manager } = gateway.module;
          let text = '';
          if (isStream) {
            for await (const event of manager.stream('ann', options))
              if (event.type === 'response.completed') text = event.response.output_text;
          } else text = (await manager.generate('ann', options)).output_text;
          expect(text).to.equal('Hi Bob.');
          // Streams have no body, and the caller has no rate limits.
          expect(calls > 0).to.equal(name !== 'onRateLimits' && !(isStream && name === 'onBody'));
        });
  }),
);

type Callback = (...args: readonly unknown[]) => never;
/** Does what the callback is told of, and sees that it succeeds. */
type Exercise = (callback: Callback) => Promise<void>;

const ANN = { userId: 'ann', source: 'http' } as const;

/** Two runs, the second of which continues the first. */
const throughModule =
  (name: 'onUsage' | 'onStateStored' | 'onUse' | 'onFollowed'): Exercise =>
  async (callback) => {
    const simulator = await startSimulator();
    const module = createAIModule(
      { providers: [simulatedRow(simulator, 'openai')] },
      {
        runs: new MemoryRunStore(),
        access: { decide: () => Promise.resolve({ allowed: true }) },
        logger: new RecordingLogger(),
        [name]: callback,
      },
    );
    let continues: string | undefined;
    for (const requestId of ['first', 'second']) {
      const request = { requestId, providerId: 'openai', input: 'Hi', ...omitUndefined({ continues }) };
      const started = await module.useCases.agenticExecution.start(ANN, readArgument(runRequest, request));
      continues = started.executionId;
      expect((await module.loop.waitForResult(continues)).response.output_text).to.not.equal('');
    }
    await module.close();
    await simulator.close();
  };

const throughLoop =
  (options: (callback: Callback) => Partial<AgenticLoopOptions>, listener?: Callback): Exercise =>
  async (callback) => {
    const provider = new LLMManager({ provider: new ScriptedProvider([answer('Hi.')]), logger: new RecordingLogger() });
    const toolExecutor = new ToolRegistry();
    const loop = new AgenticLoop({ provider, toolExecutor, logger: new RecordingLogger(), ...options(callback) });
    if (listener !== undefined) loop.on('event', listener);
    expect((await loop.execute('ann', { model: 'm', input: 'Hi' })).response.output_text).to.equal('Hi.');
    await loop.close();
  };

const clientOf = (provider: ILLMProvider): LLMClient =>
  new LLMClient({ provider, model: 'openai/gpt-5-mini', userId: 'ann', logger: new RecordingLogger() });

/** The callbacks that watch, by the type that has them. */
const WATCHING: Readonly<Record<string, Exercise>> = {
  'AIModulePorts.onUsage': throughModule('onUsage'),
  'AIModulePorts.onStateStored': throughModule('onStateStored'),
  'UseCasePorts.onUse': throughModule('onUse'),
  'UseCasePorts.onFollowed': throughModule('onFollowed'),
  'AgenticLoopOptions.onStateStored': throughLoop((onStateStored) => ({
    onStateStored,
    runStore: new MemoryRunStore(),
  })),
  'AgenticLoopOptions.onListenerError': throughLoop(
    (onListenerError) => ({ onListenerError }),
    () => {
      throw new Error('The listener threw.');
    },
  ),
  'ResilientProviderOptions.onUsage': async (onUsage) => {
    const provider = new ScriptedProvider([answer('Hi.')]);
    const manager = new LLMManager({ provider, onUsage, logger: new RecordingLogger() });
    expect((await manager.generate('ann', { model: 'm', input: 'Hi' })).output_text).to.equal('Hi.');
  },
  'SessionRunOptions.onToolCall': async (onToolCall) => {
    let text = 'unanswered';
    const { toolCalls } = await new ToolExecutionLoop({
      toolExecutor: new ToolRegistry().register({ name: 'look', execute: () => 'seen' }),
    }).run({
      initialResponse: 'call',
      onToolCall,
      adapter: {
        getToolCalls: (response) => (response === 'call' ? [{ call_id: 'c', name: 'look', arguments: '{}' }] : []),
        recordAssistantMessage: () => undefined,
        buildToolResponseMessage: (result) => (text = JSON.stringify(result)),
        sendToolResponses: () => Promise.resolve('done'),
      },
    });
    expect(toolCalls.map(({ state }) => state)).to.deep.equal(['completed']);
    expect(text).to.include('seen');
  },
  'BatchOptions.onProgress': async (onProgress) => {
    const client = clientOf(new ScriptedProvider([answer('A'), answer('B')]));
    const results = await client.createBatch([{ input: 'a' }, { input: 'b' }], { onProgress });
    expect(results.filter(isLLMError)).to.deep.equal([]);
  },
  'VendorBatchSettings.onStatus': async (onStatus) => {
    const simulator = await startSimulator();
    const { manager } = createAIModule({ providers: [simulatedRow(simulator, 'openai')] });
    const options = { mode: 'vendor', poll: { first: 1, most: 5 }, graceMs: 0, onStatus } as const;
    const results = await clientOf(manager).createBatch([{ input: 'a' }, { input: 'b' }], options);
    expect(results.filter(isLLMError)).to.deep.equal([]);
    await simulator.close();
  },
  'HttpApiPorts.onUnexpected': async (onUnexpected) => {
    const authenticate = (): never => {
      throw new Error('The directory of users is broken.');
    };
    const gateway = await startGateway({ api: { onUnexpected, authenticate } });
    expect((await gateway.request('/v1/models')).status).to.equal(500);
    await gateway.close();
  },
  'BolideChatTransportOptions.onStopError': async (onStopError) => {
    let hasStopped = false;
    const transport = new BolideChatTransport({
      onStopError,
      fetch: (url) => {
        hasStopped ||= (url instanceof Request ? url.url : url.toString()).endsWith('/stop');
        return hasStopped ? Promise.reject(new Error('offline')) : Promise.resolve(new Response(''));
      },
    });
    const stop = new AbortController();
    stop.abort();
    const request = { chatId: 'c', messages: [], trigger: 'submit-message', messageId: undefined } as const;
    await failure(transport.sendMessages({ ...request, abortSignal: stop.signal }));
    await until(() => hasStopped);
  },
};

/** What they return or throw counts, or they are none of ours. */
const DECIDING: Readonly<Record<string, string>> = {
  'GenerateOptions.onSend': 'may refuse the call',
  'JobDefinition.onComplete': 'is called again if it throws',
  'JobDefinition.onFailed': 'is called again if it throws',
  'McpOAuthSettings.onAuthorize': 'is a step of the sign-in that the program has begun',
  'UIMessageStreamOptions.onError': 'returns what the user sees; see below',
  ...Object.fromEntries(
    ['onLogin', 'onLoginFailure', 'onLogout'].map((name) => [
      `MeteorAccounts.${name}`,
      'is Meteor’s, and is called by us',
    ]),
  ),
};

const FAULTS: Readonly<Record<string, () => unknown>> = {
  throws() {
    throw new Error('The callback threw.');
  },
  rejects: () => Promise.reject(new Error('The callback rejected.')),
  'never settles': () => new Promise(() => undefined),
};

describe('A callback that a program passes in', () => {
  it('is tested here to fail and hold up nothing, whichever it is', () => {
    const ofCalls = CALLBACKS.map((name) => `GenerateOptions.${name}`);
    expect(callbacksOfEntries()).to.deep.equal(
      [...ofCalls, ...Object.keys(WATCHING), ...Object.keys(DECIDING)].toSorted(),
    );
  });

  for (const [name, exercise] of Object.entries(WATCHING))
    for (const [fault, callback] of Object.entries(FAULTS))
      it(`fails and holds up nothing if it is ${name} and ${fault}`, async () => {
        let calls = 0;
        const unhandled: unknown[] = [];
        const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
        process.on('unhandledRejection', onUnhandled);
        await exercise((() => {
          calls += 1;
          return callback();
        }) as Callback);
        await until(() => calls > 0);
        // One would end the process.
        await new Promise((resolve) => setImmediate(resolve));
        process.off('unhandledRejection', onUnhandled);
        expect(unhandled).to.deep.equal([]);
      });

  it('hides no error that it was to describe', async () => {
    const run = (async function* (): AsyncGenerator<never> {
      throw new Error('A secret of the server.');
    })();
    const stream = toUIMessageStream(run, {
      onError: () => {
        throw new Error('The callback threw.');
      },
    });
    const chunks: unknown[] = [];
    for await (const chunk of stream as unknown as AsyncIterable<unknown>) chunks.push(chunk);
    expect(chunks).to.deep.include({ type: 'error', errorText: 'The run failed unexpectedly.' });
  });

  it('hears of tools that come and go, whatever another one does', () => {
    const tools = new ToolRegistry();
    let heard = 0;
    tools.onChange(FAULTS.throws!);
    tools.onChange(() => (heard += 1));
    tools.register({ name: 'look', execute: () => 'seen' });
    expect(heard).to.equal(1);
  });
});
