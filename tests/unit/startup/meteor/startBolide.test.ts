import { expect } from 'chai';
import type { AddressInfo } from 'node:net';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { resetWebApp, WebApp } from 'meteor/webapp';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { startBolide } from '../../../../imports/startup/meteor/startBolide';
import type { MeteorHost } from '../../../../imports/startup/meteor/startBolide';
import { resetMeteor } from '../../../stubs/server/registry';
import { failure } from '../../../support/failure';
import { newKey } from '../../../support/oauth/ProvidersHost';
import type { Simulator } from '../../../../imports/simulator/Simulator';
import { startSimulator } from '../../../../imports/simulator/startSimulator';

describe('the Meteor host', () => {
  let simulator: Simulator;
  let host: MeteorHost;
  let url: string;
  const settings = Meteor.settings;

  before(async () => {
    simulator = await startSimulator();
    Meteor.settings = {
      public: {},
      ai: {
        ANTHROPIC_API_KEY: 'k',
        ANTHROPIC_BASE_URL: simulator.baseURL('anthropic'),
        secrets: newKey('k1'),
        admins: ['ann', 'Eve@Example.com'],
        allowPrivateHosts: true,
      },
    };
    resetWebApp();
    host = await startBolide();
    await new Promise<void>((resolve) => WebApp.httpServer.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(WebApp.httpServer.address() as AddressInfo).port}`;
    for (const [_id, emails] of Object.entries(PEOPLE)) {
      const loginTokens = [
        { hashedToken: Accounts._hashLoginToken(`${_id}-token`), when: new Date() },
        { hashedToken: Accounts._hashLoginToken(`old-${_id}-token`), when: new Date(0) },
      ];
      await Meteor.users.insertAsync({ _id, emails, services: { resume: { loginTokens } } });
    }
  });
  after(async () => {
    await host.close();
    resetMeteor();
    resetWebApp();
    Meteor.settings = settings;
    await simulator.close();
  });

  const requestCompletion = (token?: string, model = 'anthropic') =>
    fetch(`${url}/v1/responses`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({ model, input: 'Hello', store: false }),
    });

  it('lets admins use the providers of the settings', async () => {
    simulator.enqueue({ text: 'Hello Ann.' });
    const response = await requestCompletion('ann-token');
    expect(response.status).to.equal(200);
    expect(JSON.stringify(await response.json())).to.contain('Hello Ann.');
  });

  for (const token of [undefined, 'nobody', 'old-ann-token']) {
    it(`rejects ${token ?? 'no'} token`, async () => {
      expect((await requestCompletion(token)).status).to.equal(401);
    });
  }

  it('recognizes admins by id and by verified address, regardless of case', async () => {
    expect(
      await Promise.all(
        Object.keys(PEOPLE).map(async (userId) => [userId, (await host.users.findUser(userId))?.isAdmin]),
      ),
    ).to.deep.equal([
      ['ann', true],
      ['eve', true],
      ['mallory', false],
      ['bob', false],
    ]);
    expect((await requestCompletion('eve-token')).status).to.equal(200);
  });

  it('hides the providers of the settings from other users', async () => {
    for (const token of ['mallory-token', 'bob-token']) {
      const response = await requestCompletion(token);
      expect(response.status).to.equal(404);
      expect(await response.text()).to.contain('There is no provider that you may use.');
    }
  });

  it('lets users use a provider as soon as they are granted access', async () => {
    const shared = {
      providerId: 'shared',
      name: 'Shared',
      vendor: 'openai',
      baseURL: simulator.baseURL('openai'),
      auth: { kind: 'api_key' },
      apiKey: 'sk-of-all',
    };
    await host.providers.service.create(shared);
    expect((await requestCompletion('bob-token', 'shared')).status).to.equal(404);
    await host.providers.service.update('shared', { providerId: 'shared', access: { users: ['bob'] } });
    expect((await requestCompletion('bob-token', 'shared')).status).to.equal(200);
    expect((await requestCompletion('mallory-token', 'shared')).status).to.equal(404);
  });

  it('publishes changes made by another process', async () => {
    const notified = new Promise<void>((resolve) => {
      const stop = host.providers.changes.subscribe(() => {
        stop();
        resolve();
      });
    });
    await host.database.published('ai_providers').removeAsync({ _id: 'shared' });
    await notified;
    expect((await requestCompletion('bob-token', 'shared')).status).to.equal(404);
  });

  it('responds with its own 404 below its own paths, and leaves other paths to Meteor', async () => {
    expect((await fetch(`${url}/v1/nothing`)).status).to.equal(404);
    expect((await fetch(`${url}/some/page`)).headers.get('content-type')).to.contain('text/html');
  });

  const WRONG: readonly (readonly [what: string, ai: Record<string, unknown>, message: RegExp])[] = [
    [
      'every problem with the vendors',
      { ANTHROPIC_API_KEY: 'k', ANTHROPIC_BASE_URL: 'nowhere', LLM_TEMPERATURE: 'hot', secrets: newKey('k') },
      /ANTHROPIC_BASE_URL.*LLM_TEMPERATURE/,
    ],
    ['a missing sealing key, and why it is needed', {}, /secrets or AI_SECRET_KEYS.*sealed.*all processes/],
    [
      'an invalid key, without quoting it',
      { secrets: 'k1:c2hvcnQta2V5' },
      /^(?!.*c2hvcnQta2V5).*"k1" has 9 bytes instead of 32/,
    ],
    ['invalid limits', { secrets: newKey('k'), callsPerMinute: { model: '5' } }, /callsPerMinute must be/],
    ['admins that are not a list', { secrets: newKey('k'), admins: 'ann' }, /admins must be a list/],
  ];
  for (const [what, ai, message] of WRONG) {
    it(`does not start, and reports ${what}`, async () => {
      const before = Meteor.settings;
      Meteor.settings = { public: {}, ai };
      try {
        expect(await failure(startBolide()))
          .to.be.instanceOf(LLMInvalidRequestError)
          .with.property('message')
          .that.matches(message);
      } finally {
        Meteor.settings = before;
      }
    });
  }
});

const PEOPLE = {
  ann: [],
  eve: [{ address: 'eve@example.com', verified: true }],
  mallory: [{ address: 'Eve@Example.com', verified: false }],
  bob: [],
} as const;
