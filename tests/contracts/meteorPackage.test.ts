/** The Atmosphere package, on the stand-in. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { check } from 'meteor/check';
import { Meteor } from 'meteor/meteor';
import { resetWebApp } from 'meteor/webapp';
import { version } from 'bolide/package.json';
import type { MeteorHost } from '../../imports/host/meteor/startBolide';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { exposeMethod, startBolide } from '../../packages/bolide/server';
import { DdpClient } from '../stubs/server/DdpClient';
import { registry, resetMeteor } from '../stubs/server/registry';
import { newKey } from '../support/oauth/ProvidersHost';

describe('the Atmosphere package', () => {
  let simulator: Simulator;
  let host: MeteorHost;
  before(async () => {
    resetMeteor();
    resetWebApp();
    simulator = await startSimulator();
    Meteor.methods({
      'orders.lookup'(this: { readonly userId: string | null }, given: unknown) {
        check(given, { number: String });
        return `${this.userId ?? 'nobody'} ordered ${given.number}`;
      },
    });
    await Meteor.users.insertAsync({ _id: 'ann' });
    const parameters = { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] };
    host = await startBolide({
      settings: {
        secrets: newKey('k1'),
        admins: ['ann'],
        ANTHROPIC_API_KEY: 'k',
        ANTHROPIC_BASE_URL: simulator.baseURL('anthropic'),
        allowPrivateHosts: true,
      },
      tools: [exposeMethod('orders.lookup', { description: 'Looks up an order.', parameters })],
    });
  });
  after(async () => {
    await host.close();
    await simulator.close();
    resetMeteor();
    resetWebApp();
  });

  it('starts Bolide without any of Meteor’s objects, and limits calls', async () => {
    simulator.enqueue({ text: 'Hello Ann.' });
    const ann = new DdpClient({ userId: 'ann' });
    const request = { requestId: 'r', providerId: 'anthropic', input: 'Hello' };
    expect(await ann.callAsync('ai.llm.generateText', request)).to.equal('Hello Ann.');
    ann.close();
    expect(registry.rateRules.size).to.be.greaterThan(0);
  });

  it('has the version of the npm package, which it checks', async () => {
    const text = await readFile(join(__dirname, '../../packages/bolide/package.js'), 'utf8');
    expect(/version: '([^']+)'/.exec(text)?.[1]).to.equal(version);
  });

  it('exposes methods as tools, which run as the user', async () => {
    simulator.enqueue({ calls: [{ name: 'orders_lookup', arguments: { number: '7' } }] }, { text: 'Done.' });
    await host.module.useCases.agenticExecution.execute(
      { userId: 'ann', source: 'job' },
      { requestId: 'tool', providerId: 'anthropic', input: 'Look up 7.', tools: ['orders_lookup'] },
    );
    expect(JSON.stringify(simulator.requests.at(-1)?.body)).to.contain('ann ordered 7');
  });
});
