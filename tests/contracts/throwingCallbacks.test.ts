/** Callbacks with which a program watches a call: what they throw is logged, and fails nothing. */
import { expect } from 'chai';
import { expectTypeOf } from 'expect-type';
import type { GenerateOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import { WATCHING_CALLBACKS } from '../../imports/business/ai/application/services/shared/safeCallbacks';
import { createGuardrails } from '../../imports/business/guardrails/createGuardrails';
import { startGateway } from '../support/gateway';
import type { Gateway } from '../support/gateway';

/** Every callback of a call but `onSend`, which may refuse it. */
type Watching = Exclude<
  { [Name in keyof GenerateOptions]-?: Name extends `on${string}` ? Name : never }[keyof GenerateOptions],
  'onSend'
>;
const CALLBACKS: readonly Watching[] = WATCHING_CALLBACKS;
expectTypeOf<(typeof WATCHING_CALLBACKS)[number]>().toEqualTypeOf<Watching>();

describe('A callback that throws', () => {
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
});
