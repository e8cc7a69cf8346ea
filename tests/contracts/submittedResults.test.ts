/**
 * Results submitted through the process that owns the run, and through another one, have the same effect.
 */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { ExternalResult } from '../../imports/business/ai/application/services/tools/decisions';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { recordEvents } from '../support/recordEvents';
import { RecordingLogger } from '../support/RecordingLogger';
import { answer, calling } from '../../imports/testing/responses';
import { QUICK_RUN_STORES } from '../support/runStores';
import type { TestRunStore } from '../support/runStores';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../imports/testing/ScriptedProvider';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

const circle: Record<string, unknown> = {};
circle['self'] = circle;

/** What is submitted, and what the model receives. */
const RESULTS: Readonly<Record<string, readonly [ExternalResult, RegExp]>> = {
  'a text': [{ output: 'as it is' }, /^as it is$/],
  'JSON that is a text': [{ output: '{"a":1}' }, /^\{"a":1\}$/],
  'a value': [{ output: { a: [1, null] } }, /^\{"a":\[1,null\]\}$/],
  nothing: [{ output: undefined }, /^null$/],
  'a map and a set': [{ output: { map: new Map([['a', 1]]), set: new Set([2]) } }, /^\{"map":\{"a":1\},"set":\[2\]\}$/],
  'a BigInt': [{ output: 1n }, /not serializable as JSON/],
  'a cycle': [{ output: circle }, /not serializable as JSON/],
  'a function': [{ output: { run: () => 1 } }, /not serializable as JSON: It contains a function/],
  'a value whose JSON throws': [
    {
      output: {
        toJSON: () => {
          throw new Error('not me');
        },
      },
    },
    /not serializable as JSON: not me/,
  ],
  'larger than the limit': [
    { output: 'x'.repeat(400_000) },
    /^x+\n\[cut: the first 262144 of 400000 bytes are shown\]$/,
  ],
  'an error': [{ error: 'out of order' }, /^out of order$/],
};

for (const [name, open] of Object.entries(QUICK_RUN_STORES)) {
  describe(
    `a submitted result (${name})`,
    inFlowingTime(() => {
      let opened: TestRunStore;
      before(async () => {
        opened = await open();
      });
      after(() => opened.close());

      for (const [what, [result, received]] of Object.entries(RESULTS)) {
        it(`that is ${what} has the same effect through the owner of the run and through another process`, async () => {
          const { store } = opened;
          const process = (script: readonly ScriptedStep[]): AgenticLoop =>
            new AgenticLoop({
              provider: new ScriptedProvider(script),
              toolExecutor: new ToolRegistry().register({ name: 'hook', kind: 'external' }),
              runStore: store,
              leaseTimes: { heartbeat: 5 },
              logger: new RecordingLogger(),
            });
          const ends: string[] = [];
          for (const where of ['here', 'there']) {
            const here = process([calling({ name: 'hook', call_id: 'h' }), answer('done')]);
            const record = recordEvents(here);
            const executionId = `${where}, ${what}`;
            const done = here.execute('ann', { model: 'm', input: 'go', tools: ['hook'], executionId });
            await record.seen('tool:executing');
            await until(async () => (await store.load(executionId))?.calls[0]?.state === 'executing');
            expect(await (where === 'here' ? here : process([])).submitToolResult(executionId, 'h', result)).to.equal(
              'accepted',
            );
            const [call] = (await done).toolCalls;
            expect((await store.load(executionId))?.calls[0]?.state).to.equal(call?.state);
            ends.push(
              call === undefined
                ? ''
                : `${call.state}: ${'result' in call ? call.result : 'error' in call ? call.error.message : ''}`,
            );
            await here.close();
          }
          expect(ends[1]).to.equal(ends[0]);
          expect(ends[0]?.replace(/^\w+: /, '')).to.match(received);
        });
      }
    }),
  );
}
