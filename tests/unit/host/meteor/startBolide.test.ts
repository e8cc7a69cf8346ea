import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import sinon from 'sinon';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { resetWebApp, WebApp } from 'meteor/webapp';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { createChangeCounter } from '../../../../imports/business/providers/infrastructure/persistence/createChangeCounter';
import type { ChangeDocument } from '../../../../imports/business/providers/infrastructure/persistence/createChangeCounter';
import { startBolide } from '../../../../imports/host/meteor/startBolide';
import type { MeteorHost } from '../../../../imports/host/meteor/startBolide';
import { registry, resetMeteor, restartMeteor } from '../../../stubs/server/registry';
import { failure } from '../../../support/failure';
import { newKey } from '../../../support/oauth/ProvidersHost';
import type { Simulator } from '../../../../imports/simulator/Simulator';
import { startSimulator } from '../../../../imports/simulator/startSimulator';
import { METEOR_PACKAGES } from '../../../meteor/meteorPackages';
import { inFlowingTime } from '../../../support/VirtualTime';

describe(
  'the Meteor host',
  inFlowingTime(() => {
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
      host = await startBolide({ ...METEOR_PACKAGES, httpPath: '' });
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

    it('publishes changes of credentials made by another process', async () => {
      const announce = createChangeCounter(host.database.collection<ChangeDocument>('ai_changes'));
      for (const _change of ['first', 'next']) {
        const notified = new Promise<void>((resolve) => {
          const stop = host.providers.changes.subscribe(() => {
            stop();
            resolve();
          });
        });
        await announce();
        await notified;
      }
    });

    it('responds with its own 404 below its own paths, and leaves other paths to Meteor', async () => {
      expect((await fetch(`${url}/v1/nothing`)).status).to.equal(404);
      expect((await fetch(`${url}/some/page`)).headers.get('content-type')).to.contain('text/html');
    });

    it('refuses a second start in the same process', async () => {
      expect(String(await failure(startBolide(METEOR_PACKAGES)))).to.contain('already running in this process');
    });
  }),
);

describe(
  'startBolide',
  inFlowingTime(() => {
    const { settings } = Meteor;
    const ai = { secrets: newKey('k1'), ANTHROPIC_API_KEY: 'k' };
    const firstUser = { email: 'boss@example.com', password: 'a long password' };
    let host: MeteorHost | undefined;
    beforeEach(() => {
      resetMeteor();
      resetWebApp();
      host = undefined;
    });
    afterEach(async () => {
      sinon.restore();
      await host?.close();
      resetMeteor();
      resetWebApp();
      Meteor.settings = settings;
    });

    it('creates nothing before all settings are valid, and starts with valid ones after that', async () => {
      Meteor.settings = { public: {}, ai: { ...ai, firstUser, admins: 'ann', JOBS_ENGINE: 'cron' } };
      const error = await failure(startBolide(METEOR_PACKAGES));
      expect(error)
        .to.be.instanceOf(LLMInvalidRequestError)
        .with.property('message')
        .that.matches(/admins.*JOBS_ENGINE/s);
      // The collection of accounts-base exists, with its mutation methods, before Bolide starts.
      expect([...registry.collections.keys()].filter((name) => name !== 'users')).to.deep.equal([]);
      expect([...registry.methods.keys()].filter((name) => !name.startsWith('/users/'))).to.deep.equal([]);
      expect(registry.publications.size + registry.rateRules.size).to.equal(0);
      expect(Accounts._options).to.deep.equal({});
      host = await startBolide({ ...METEOR_PACKAGES, settings: ai });
    });

    it('takes its settings from its caller instead of Meteor.settings', async () => {
      Meteor.settings = { public: {}, ai: { secrets: 'invalid' } };
      host = await startBolide({ ...METEOR_PACKAGES, settings: ai });
      expect(host.module.settings.providers.map(({ id }) => id)).to.deep.equal(['anthropic']);
    });

    it('creates the first user once', async () => {
      const log = sinon.stub(console, 'log');
      for (let start = 1; start <= 2; start += 1) {
        host = await startBolide({ ...METEOR_PACKAGES, settings: { ...ai, firstUser } });
        await host.close();
        restartMeteor();
      }
      expect((await Meteor.users.find({}).fetchAsync()).map(({ emails }) => emails)).to.deep.equal([
        [{ address: firstUser.email, verified: true }],
      ]);
      expect(log.callCount).to.equal(1);
    });

    for (const [title, options, expected] of [
      ['leaves sign-up to an existing app', { settings: ai }, {}],
      [
        'closes sign-up if the settings forbid it',
        { settings: { ...ai, allowSignUp: false } },
        { forbidClientAccountCreation: true },
      ],
      [
        'opens sign-up if the settings allow it',
        { settings: { ...ai, allowSignUp: true } },
        { forbidClientAccountCreation: false },
      ],
      [
        'closes sign-up by default in an app whose accounts are its own',
        { settings: ai, ownsAccounts: true },
        { forbidClientAccountCreation: true },
      ],
    ] as const) {
      it(title, async () => {
        host = await startBolide({ ...METEOR_PACKAGES, ...options });
        expect(Accounts._options).to.deep.equal(expected);
      });
    }

    it('starts in an app that has configured its accounts itself', async () => {
      const warn = sinon.stub(console, 'warn');
      Accounts.config({ forbidClientAccountCreation: false });
      host = await startBolide({ ...METEOR_PACKAGES, settings: { ...ai, allowSignUp: false } });
      expect(Accounts._options).to.deep.equal({ forbidClientAccountCreation: false });
      expect(warn.callCount).to.equal(1);
    });

    for (const [path, httpPath, taken] of [
      ['/ai/chat', undefined, undefined],
      ['/api', undefined, undefined],
      ['/ai/v1/*model', undefined, '/ai/v1/models'],
      ['/api', '', '/api/runs'],
      ['/health', '', '/health'],
    ] as const)
      it(`${taken === undefined ? 'is silent' : 'says so'} where the app answers ${path}, and Bolide is at "${httpPath ?? '/ai'}"`, async () => {
        const warn = sinon.stub(console, 'warn');
        WebApp.handlers.use((_request, _response, next) => next());
        WebApp.handlers.use(path, (_request, response) => void response.end('mine'));
        host = await startBolide({ ...METEOR_PACKAGES, settings: ai, httpPath });
        const warned = warn.args.flat().filter((line) => String(line).startsWith('The app itself answers'));
        expect(warned.map((line) => /answers (\S+), with handlers/.exec(String(line))?.[1])).to.deep.equal(
          taken === undefined ? [] : [taken],
        );
      });

    it('closes what it has opened if the start fails', async () => {
      sinon.stub(Accounts, 'createUserAsync').rejects(new Error('The disk is full.'));
      const before = WebApp.httpServer.listenerCount('upgrade');
      expect(String(await failure(startBolide({ ...METEOR_PACKAGES, settings: { ...ai, firstUser } })))).to.contain(
        'The disk is full.',
      );
      expect(WebApp.httpServer.listenerCount('upgrade')).to.equal(before);
      sinon.restore();
      restartMeteor();
      host = await startBolide({ ...METEOR_PACKAGES, settings: ai });
    });
  }),
);

const PEOPLE = {
  ann: [],
  eve: [{ address: 'eve@example.com', verified: true }],
  mallory: [{ address: 'Eve@Example.com', verified: false }],
  bob: [],
} as const;
