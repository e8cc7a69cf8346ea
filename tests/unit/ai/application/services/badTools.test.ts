import { expect } from 'chai';
import sinon from 'sinon';
import { Readable } from 'node:stream';
import { AgenticLoop } from '../../../../../imports/business/ai/application/services/AgenticLoop';
import type { ToolCallContext } from '../../../../../imports/business/ai/domain/interfaces/IToolExecutor';
import type { ToolCallState } from '../../../../../imports/business/ai/domain/entities/Tool';
import type { Item } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { ToolRegistry } from '../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { delayed } from '../../../../support/delayed';
import { recordEvents } from '../../../../support/recordEvents';
import { pendingTimers } from '../../../../support/countTimers';
import { answer, calling } from '../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../imports/testing/ScriptedProvider';

const cycle: Record<string, unknown> = {};
cycle['self'] = cycle;

/** Throws any value, by way of a generator's `throw`. */
function throwAnything(value: unknown): void {
  const thrower = (function* () {
    yield;
  })();
  thrower.next();
  thrower.throw(value);
}

/** Each kind of bad tool: what it does, its final state, and what the model receives. */
const BAD_TOOLS: Record<
  string,
  { execute: (args: never, context: ToolCallContext) => unknown; state: ToolCallState; received: RegExp }
> = {
  'throws at once': {
    execute: () => {
      throw new Error('sync trouble');
    },
    state: 'failed',
    received: /^Error: sync trouble$/,
  },
  rejects: {
    execute: () => Promise.reject(new Error('async trouble')),
    state: 'failed',
    received: /^Error: async trouble$/,
  },
  'throws what is no error': {
    execute: () => throwAnything({ status: 500 }),
    state: 'failed',
    received: /^Error: \{"status":500\}$/,
  },
  'never resolves': {
    execute: () => new Promise(() => undefined),
    state: 'timeout',
    received: /timed out after 1000 ms/,
  },
  'ignores its abort signal': {
    execute: (_args, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve(delayed(5_000, 'I was not done')));
      }),
    state: 'timeout',
    received: /timed out after 1000 ms/,
  },
  'returns a cycle': { execute: () => cycle, state: 'failed', received: /not serializable as JSON: .*circular/i },
  'returns a BigInt': { execute: () => ({ n: 10n }), state: 'failed', received: /not serializable as JSON: .*BigInt/ },
  'returns 5 MB': {
    execute: () => 'x'.repeat(5 * 1024 * 1024),
    state: 'completed',
    received: /^x{262144}\n\[cut: the first 262144 of 5242880 bytes are shown\]$/,
  },
  'returns undefined': { execute: () => undefined, state: 'completed', received: /^null$/ },
  'returns a stream': { execute: () => Readable.from(['a', 'b']), state: 'failed', received: /is a stream/ },
  'rejects after its time was up': {
    execute: async () => {
      await delayed(5_000);
      throw new Error('too late to fail');
    },
    state: 'timeout',
    received: /timed out after 1000 ms/,
  },
  // An unhandled rejection fails the test, and would end the process.
  'does not wait for a checkpoint that is refused': {
    execute: (_args, { saveCheckpoint }) => {
      void saveCheckpoint?.('x'.repeat(64 * 1024 + 1));
      return 'done';
    },
    state: 'completed',
    received: /^done$/,
  },
  'detaches for no time': {
    execute: (_args, { detach }) => detach?.(Number.NaN),
    state: 'failed',
    received: /"timeoutMs" of detach must be a number above 0/,
  },
  // A timer for a longer time fires after a millisecond.
  'detaches for ever': {
    execute: (_args, { detach }) => detach?.(Infinity),
    state: 'failed',
    received: /"timeoutMs" of detach must be a number above 0 and at most 2147483647/,
  },
  'mutates its arguments': {
    execute: (args: Record<string, unknown>) => {
      args['city'] = 'elsewhere';
      delete args['days'];
      return args;
    },
    state: 'completed',
    received: /^\{"city":"elsewhere"\}$/,
  },
};
describe('a good tool beside a bad one', () => {
  let clock: sinon.SinonFakeTimers;
  beforeEach(() => {
    clock = sinon.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  });
  afterEach(() => clock.restore());

  for (const [kind, bad] of Object.entries(BAD_TOOLS)) {
    for (const blocking of [true, false]) {
      it(`delivers its result when the ${blocking ? 'blocking' : 'non-blocking'} bad one ${kind}`, async () => {
        const unhandled: unknown[] = [];
        const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
        process.on('unhandledRejection', onUnhandled);
        try {
          const argumentsText = '{"city":"Rome","days":2}';
          const tools = new ToolRegistry()
            .register({ name: 'bad', timeout: 1000, blocking, execute: bad.execute })
            .register({ name: 'good', execute: () => 'the good result' });
          const provider = new ScriptedProvider([
            calling({ name: 'bad', call_id: 'b', arguments: argumentsText }, { name: 'good', call_id: 'g' }),
            ...(blocking || bad.state !== 'timeout' ? [] : [answer('waiting')]),
            answer('done'),
          ]);
          // Results are sent as they are, whatever the model's window.
          const loop = new AgenticLoop({ provider, toolExecutor: tools, compaction: false });
          const record = recordEvents(loop);
          const run = loop.execute('ann', { model: 'scripted-model', input: 'go', tools: ['bad', 'good'] });
          await record.seen('tool:completed', (event) => event.name === 'good');
          await clock.tickAsync(1_000);
          const result = await run;
          await clock.tickAsync(10_000);

          provider.assertPlayedOut();
          const sent = provider.calls.at(-1)!.options.input as readonly Item[];
          const received = (id: string) =>
            sent
              .flatMap((item) => (item.type === 'function_call_output' && item.call_id === id ? [item.output] : []))
              .at(-1);
          expect(received('g')).to.equal('the good result');
          expect(received('b')).to.match(bad.received);
          expect(received('b')).not.to.match(/ at .*\.ts/);
          expect(result.toolCalls.map((call) => [call.name, call.state])).to.deep.equal([
            ['bad', bad.state],
            ['good', 'completed'],
          ]);
          expect(result.toolCalls[0]!.arguments).to.equal(argumentsText);
          await new Promise((resolve) => setImmediate(resolve));
          expect(unhandled).to.deep.equal([]);
          expect(pendingTimers(clock)).to.deep.equal([]);
        } finally {
          process.off('unhandledRejection', onUnhandled);
        }
      });
    }
  }
});
