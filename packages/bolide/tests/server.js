/** The package in a real Meteor: `meteor test-packages`. All vendors are simulated, as in development without a key. */
import { Meteor } from 'meteor/meteor';
import { Random } from 'meteor/random';
import { Tinytest } from 'meteor/tinytest';
import { exposeMethods, startBolide } from 'meteor/bolide:bolide';

const SECRETS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;

Meteor.methods({
  'orders.count'() {
    return `3 orders of ${this.userId ?? 'nobody'}`;
  },
});
exposeMethods({ include: ['orders.*'] });
// Before Meteor takes connections.
const host = await startBolide({ settings: { secrets: SECRETS }, simulates: true, closesOnSignals: false });

Tinytest.addAsync('bolide - a run calls an exposed method as its user', async (test) => {
  const userId = await Meteor.users.insertAsync({ username: Random.id() });
  const request = { requestId: Random.id(), providerId: 'openai', input: 'orders_count', tools: ['orders_count'] };
  const { executionId } = await host.module.useCases.agenticExecution.start({ userId, source: 'job' }, request);
  const { toolCalls } = await host.module.loop.waitForResult(executionId);
  test.equal(
    toolCalls.map(({ state }) => state),
    ['completed'],
  );
  test.include(JSON.stringify(toolCalls), `3 orders of ${userId}`);
});

Tinytest.addAsync('bolide - a job of the server reports its result', async (test) => {
  const userId = await Meteor.users.insertAsync({ username: Random.id() });
  const text = await new Promise((resolve) => {
    const job = host.jobs.define({
      name: 'hello',
      run: () => ({ userId, providerId: 'openai', input: 'Hello' }),
      onComplete: (_job, { output_text: answer }) => resolve(answer),
    });
    void host.jobs.enqueue(job, undefined);
  });
  test.include(text, 'Hello');
});

Tinytest.addAsync('bolide - the methods of Bolide are the app’s', async (test) => {
  await test.throwsAsync(() => Meteor.callAsync('ai.runs.list', {}), 'logged in');
});
