/** The examples for Meteor apps work as documented, on the stand-in. */
import { expect } from 'chai';
import { Meteor } from 'meteor/meteor';
import { resetWebApp } from 'meteor/webapp';
import { defineOrders, startWithOrders, summariseOrder } from '../../examples/meteor/orders';
import { startAI } from '../../examples/meteor/dropIn';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { DdpClient } from '../stubs/server/DdpClient';
import { resetMeteor } from '../stubs/server/registry';
import { failure } from '../support/failure';
import { newKey } from '../support/oauth/ProvidersHost';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';

describe('examples for Meteor', () => {
  let simulator: Simulator;
  const { settings } = Meteor;
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());
  beforeEach(async () => {
    resetMeteor();
    resetWebApp();
    await Meteor.users.insertAsync({ _id: 'ann' });
  });
  afterEach(() => {
    resetMeteor();
    resetWebApp();
    Meteor.settings = settings;
  });

  it('orders: a job runs for a user, and the method runs as that user', async () => {
    Meteor.settings = {
      public: {},
      ai: { secrets: newKey('k1'), ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: simulator.baseURL('anthropic') },
    };
    const questions: unknown[] = [];
    defineOrders((userId, number) =>
      Promise.resolve(questions.push([userId, number]) > 0 ? { number, state: 'shipped' } : undefined),
    );
    const host = await startWithOrders();
    simulator.enqueue(
      { calls: [{ name: 'orders_lookup', arguments: { number: '42' } }] },
      { text: 'Order 42 was shipped.' },
    );
    const work = { userId: 'ann', providerId: 'anthropic', number: '42', day: '2026-11-22' };
    expect(await summariseOrder(host, work)).to.equal('Order 42 was shipped.');
    expect(await summariseOrder(host, work)).to.equal('Order 42 was shipped.');
    expect(questions).to.deep.equal([['ann', '42']]);
    expect(JSON.stringify(simulator.requests.at(-1)?.body)).to.contain('shipped');
    await host.close();
  });

  it("dropIn: defines only the module's methods and publications, for logged-in users", async () => {
    const row = {
      id: 'openai',
      vendor: 'openai',
      apiKey: 'k',
      baseURL: simulator.baseURL('openai'),
      allowPrivateHosts: true,
    } as const;
    const module = await startAI([row], new ToolRegistry());
    simulator.enqueue({ text: 'Hello Ann.' });
    const ann = new DdpClient({ userId: 'ann' });
    expect(
      await ann.callAsync('ai.llm.generateText', { requestId: 'r', providerId: 'openai', input: 'Hello' }),
    ).to.equal('Hello Ann.');
    await ann.subscribe('ai.runs').ready;
    expect(ann.documents('ai_runs')).to.have.length(1);
    expect(
      await failure(
        new DdpClient().callAsync('ai.llm.generateText', { requestId: 'r', providerId: 'openai', input: 'Hello' }),
      ),
    ).to.have.property('error', 'auth-failed');
    ann.close();
    await module.close();
  });
});
