import { expect } from 'chai';
import type { AddressInfo } from 'node:net';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { resetWebApp, WebApp } from 'meteor/webapp';
import { LLMInvalidRequestError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import { startMeteorServer } from '../../../imports/startup/meteor/startMeteorServer';
import type { Simulator } from '../../support/simulator/Simulator';
import { startSimulator } from '../../support/simulator/startSimulator';

describe('the Meteor host', () => {
  let simulator: Simulator;
  let url: string;
  const settings = Meteor.settings;

  before(async () => {
    simulator = await startSimulator();
    Meteor.settings = { public: {}, ai: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: simulator.baseURL('anthropic') } };
    resetWebApp();
    startMeteorServer();
    await new Promise<void>((resolve) => WebApp.httpServer.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(WebApp.httpServer.address() as AddressInfo).port}`;
    const loginTokens = [
      { hashedToken: Accounts._hashLoginToken('ann-token'), when: new Date() },
      { hashedToken: Accounts._hashLoginToken('old-token'), when: new Date(0) },
    ];
    await Meteor.users.insertAsync({ _id: 'ann', services: { resume: { loginTokens } } });
  });
  after(async () => {
    await Meteor.users.removeAsync({ _id: 'ann' });
    resetWebApp();
    Meteor.settings = settings;
    await simulator.close();
  });

  const ask = (token?: string) =>
    fetch(`${url}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ model: 'anthropic', input: 'Hello', store: false }),
    });

  it('answers people who are logged in, from the providers in the settings', async () => {
    simulator.enqueue({ text: 'Hello Ann.' });
    const response = await ask('ann-token');
    expect(response.status).to.equal(200);
    expect(JSON.stringify(await response.json())).to.contain('Hello Ann.');
  });

  for (const token of [undefined, 'nobody', 'old-token']) {
    it(`refuses ${token ?? 'no'} token`, async () => {
      expect((await ask(token)).status).to.equal(401);
    });
  }

  it('ends its own paths in its own 404, and leaves the others to Meteor', async () => {
    expect((await fetch(`${url}/v1/nothing`)).status).to.equal(404);
    expect((await fetch(`${url}/some/page`)).headers.get('content-type')).to.contain('text/html');
  });

  it('names everything that is wrong with the settings', () => {
    const before = Meteor.settings;
    Meteor.settings = { public: {}, ai: { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'nowhere', LLM_TEMPERATURE: 'hot' } };
    try {
      expect(() => startMeteorServer()).to.throw(LLMInvalidRequestError, /ANTHROPIC_BASE_URL.*LLM_TEMPERATURE/);
    } finally {
      Meteor.settings = before;
    }
  });
});
