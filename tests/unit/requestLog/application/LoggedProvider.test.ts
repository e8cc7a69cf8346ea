/** The entries that calls leave in the request log, and that nothing else about the calls changes. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../../imports/business/ai/application/services/AgenticLoop';
import { createCallLimits } from '../../../../imports/business/limits/createCallLimits';
import { LLMManager } from '../../../../imports/business/ai/application/services/LLMManager';
import { LoggedProvider } from '../../../../imports/business/requestLog/application/LoggedProvider';
import { LLMServerError, LLMTimeoutError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import type { ILLMProvider } from '../../../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { GenerateOptions } from '../../../../imports/business/ai/domain/types/LLMTypes';
import type { ResponseStreamEvent } from '../../../../imports/business/ai/domain/types/StreamEvents';
import { createManager } from '../../../../imports/business/ai/infrastructure/factories/createManager';
import { MemoryRunStore } from '../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling, eventsOf } from '../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../../imports/testing/ScriptedProvider';
import { failure } from '../../../support/failure';
import { RecordingRequestLog } from '../../../support/RecordingRequestLog';

const NO_LIMITS = createCallLimits(undefined, {});
const HELLO: GenerateOptions = { model: 'scripted/m', input: 'Hello' };

const defaultModelOf = (): undefined => undefined;

interface Logged {
  readonly manager: LLMManager;
  readonly log: RecordingRequestLog;
  readonly provider: ScriptedProvider;
}

function logged(script: readonly ScriptedStep[], recordsBodies = false): Logged {
  const log = new RecordingRequestLog(recordsBodies);
  const provider = new ScriptedProvider(script);
  const manager = createManager({ provider, retry: { maxAttempts: 1 } }, NO_LIMITS, {
    requestLog: log,
    defaultModelOf,
  });
  return { manager, log, provider };
}

async function read(events: AsyncIterable<ResponseStreamEvent>): Promise<readonly ResponseStreamEvent[]> {
  const seen: ResponseStreamEvent[] = [];
  for await (const event of events) seen.push(event);
  return seen;
}

describe('LoggedProvider', () => {
  it('forwards the same events and responses as the provider', async () => {
    const response = answer('Hello.');
    const { manager } = logged([response, response]);
    const plain = new LLMManager({ provider: new ScriptedProvider([response, response]) });
    expect(await manager.generate('ann', HELLO)).to.deep.equal(await plain.generate('ann', HELLO));
    expect(await read(manager.stream('ann', HELLO))).to.deep.equal(await read(plain.stream('ann', HELLO)));
  });

  it('tells the turns of runs apart whose prompts begin with other tools or instructions, and not by what was found', async () => {
    const { manager, log } = logged(['One.', 'Two.', 'Three.', 'Four.', 'Five.']);
    const tool = (name: string) => ({ type: 'function', name }) as const;
    const given = { ...HELLO, instructions: 'Be brief.', tools: [tool('a')] };
    const findableTools = { searchTool: 'a', tools: [tool('b')] };
    const origin = { source: 'run', executionId: 'r', iteration: 1 } as const;
    for (const changed of [
      {},
      { tools: [tool('a'), tool('b')], findableTools },
      { tools: [tool('a'), tool('b')] },
      { instructions: 'Be long.' },
    ])
      await manager.generate('ann', { ...given, origin, ...changed });
    await manager.generate('ann', given);
    const [first, found, listed, instructed, other] = log.entries.map(({ prompt }) => prompt);
    expect(found).to.deep.equal(first);
    expect(listed?.tools).not.to.equal(first?.tools);
    expect(listed?.instructions).to.equal(first?.instructions);
    expect(instructed?.tools).to.equal(first?.tools);
    expect(instructed?.instructions).not.to.equal(first?.instructions);
    // Only turns are compared.
    expect(other).to.equal(undefined);
  });

  it('makes no call for a stream that is never read', async () => {
    const { manager, log, provider } = logged(['Hello.']);
    const events = manager.stream('ann', HELLO)[Symbol.asyncIterator]();
    await events.return?.();
    expect(provider.calls).to.have.length(0);
    expect(log.entries).to.have.length(0);
  });

  it('logs a completed stream once, whether or not its reader waits for its end', async () => {
    const { manager, log } = logged(['Hello.', 'Hello.']);
    await read(manager.stream('ann', HELLO));
    for await (const event of manager.stream('ann', HELLO)) if (event.type === 'response.completed') break;
    expect(log.entries.map(({ state }) => state)).to.deep.equal(['completed', 'completed']);
  });

  it('logs a stream that its reader leaves as cancelled, and ends it at the provider', async () => {
    const { manager, log, provider } = logged([eventsOf(answer('Some words of an answer.'))]);
    for await (const event of manager.stream('ann', HELLO)) if (event.type === 'response.output_text.delta') break;
    expect(provider.abandonedStreams).to.equal(1);
    expect(log.entries).to.have.length(1);
    expect(log.entries[0]).to.deep.include({ state: 'cancelled', providerId: 'scripted', model: 'm' });
    expect(log.entries[0]?.usage).to.deep.include({ estimated: true });
    expect(log.entries[0]?.timeToFirstToken).to.be.a('number');
  });

  it('logs a stream that breaks with the estimated usage of what arrived', async () => {
    const [...events] = eventsOf(answer('Some words of an answer.'));
    const broken = new LLMServerError('Out of order.', { status: 500 });
    const { manager, log } = logged([[...events.slice(0, -1), broken]]);
    await failure(read(manager.stream('ann', HELLO)));
    expect(log.entries[0]).to.deep.include({ state: 'failed', status: 500 });
    expect(log.entries[0]?.error).to.deep.equal({ code: 'vendor-error', message: 'Out of order.' });
    expect(log.entries[0]?.usage.output_tokens).to.be.greaterThan(0);
  });

  it('logs the status of a call that no vendor has answered only for a client of the gateway', async () => {
    const origin = { source: 'gateway', api: 'responses' } as const;
    const { manager, log } = logged([new LLMTimeoutError('Too slow.'), new LLMTimeoutError('Too slow.')]);
    await failure(manager.generate('ann', { ...HELLO, origin }));
    await failure(manager.generate('ann', HELLO));
    expect(log.entries.map(({ status }) => status)).to.deep.equal([504, undefined]);
  });

  it('logs an aborted call as cancelled, and one that ran out of time as failed', async () => {
    const controller = new AbortController();
    const { manager, log } = logged([
      () => {
        controller.abort(new Error('The user left.'));
        return 'Hello.';
      },
      new LLMTimeoutError('Too slow.'),
    ]);
    const stream = manager.stream('ann', { ...HELLO, signal: controller.signal });
    await failure(read(stream));
    await failure(manager.generate('ann', HELLO));
    expect(log.entries.map(({ state, error }) => [state, error])).to.deep.equal([
      ['cancelled', { code: 'aborted', message: 'The user left.' }],
      ['failed', { code: 'timeout', message: 'Too slow.' }],
    ]);
  });

  it('calls the listeners of the caller as well', async () => {
    const log = new RecordingRequestLog();
    const provider = new ScriptedProvider([new LLMServerError('Down.', { status: 500 }), 'Hello.']);
    const retry = { maxAttempts: 2, baseDelay: 1 };
    const manager = createManager({ provider, retry, sleep: () => Promise.resolve() }, NO_LIMITS, {
      requestLog: log,
      defaultModelOf,
    });
    const retried: string[] = [];
    await manager.generate('ann', { ...HELLO, onRetry: ({ reason }) => retried.push(reason) });
    expect(retried).to.deep.equal(['vendor-error']);
    expect(log.entries[0]?.attempts.map(({ reason, status }) => [reason, status])).to.deep.equal([
      ['vendor-error', 500],
    ]);
  });

  it('logs what a budget refuses', async () => {
    const log = new RecordingRequestLog();
    const provider = new ScriptedProvider(['Hello.', 'Hello.']);
    const manager = createManager({ provider }, createCallLimits({ day: { calls: 1 } }, {}), {
      requestLog: log,
      defaultModelOf,
    });
    await manager.generate('ann', HELLO);
    await failure(manager.generate('ann', HELLO));
    await failure(read(manager.stream('ann', HELLO)));
    expect(provider.calls).to.have.length(1);
    expect(log.entries.map(({ state, error, attempts }) => [state, error?.code, attempts])).to.deep.equal([
      ['completed', undefined, []],
      ['failed', 'budget-exceeded', []],
      ['failed', 'budget-exceeded', []],
    ]);
  });

  it('masks secrets in the messages of hand-written providers', async () => {
    const { manager, log } = logged([new Error('The key sk-live-0123456789abcdef is invalid.')]);
    await failure(manager.generate('ann', HELLO));
    expect(JSON.stringify(log.entries)).not.to.include('0123456789abcdef');
  });

  it('adds the bodies only if they are logged, without what cannot be stored', async () => {
    const without = logged(['Hello.']);
    await without.manager.generate('ann', HELLO);
    expect(without.log.bodies).to.deep.equal([undefined]);
    const { manager, log } = logged(['Hello.', new LLMServerError('Down.')], true);
    const options = { ...HELLO, instructions: 'Be brief.', signal: new AbortController().signal };
    const response = await manager.generate('ann', options);
    expect(log.bodies).to.deep.equal([{ request: { ...HELLO, instructions: 'Be brief.' }, response }]);
    await failure(manager.generate('ann', HELLO));
    expect(log.bodies[1]).to.deep.equal({ request: HELLO });
  });

  for (const stream of [false, true])
    it(`logs each turn of a run${stream ? ' that streams' : ''}, with its execution id and number`, async () => {
      const { manager, log } = logged([calling({ name: 'clock' }), calling({ name: 'clock' }), 'It is noon.']);
      const tools = new ToolRegistry().register({
        name: 'clock',
        parameters: { type: 'object', properties: {} },
        execute: () => 'noon',
      });
      const loop = new AgenticLoop({ provider: manager, toolExecutor: tools, runStore: new MemoryRunStore() });
      const { executionId } = await loop.execute('ann', {
        model: 'scripted/m',
        input: 'Time?',
        tools: ['clock'],
        stream,
      });
      expect(log.entries.map(({ source, executionId: id, iteration }) => [source, id, iteration])).to.deep.equal([
        ['run', executionId, 1],
        ['run', executionId, 2],
        ['run', executionId, 3],
      ]);
      await loop.close();
    });

  it('keeps the properties that callers of a provider depend on', () => {
    const inner = new ScriptedProvider([]);
    const provider: ILLMProvider = new LoggedProvider(inner, {
      log: new RecordingRequestLog(),
      routeOf: () => undefined,
    });
    expect(provider.getProviderName()).to.equal('scripted');
    expect(provider.getCapabilities('m')).to.deep.equal(inner.getCapabilities());
    expect(provider.retriesFailedCalls).to.equal(false);
  });
});
