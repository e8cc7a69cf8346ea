/** A Meteor app without a vendor: simulated in development, and a clear warning in production. */
import { expect } from 'chai';
import sinon from 'sinon';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { resetWebApp } from 'meteor/webapp';
import { startBolide } from '../../imports/host/meteor/startBolide';
import type { BolideOptions, MeteorHost } from '../../imports/host/meteor/startBolide';
import { DdpClient } from '../stubs/server/DdpClient';
import { resetMeteor, restartMeteor } from '../stubs/server/registry';
import { failure } from '../support/failure';
import { newKey } from '../support/oauth/ProvidersHost';
import { METEOR_PACKAGES } from '../meteor/meteorPackages';

const SETTINGS = { secrets: newKey('k1'), admins: ['ann'] };
const HELLO = { requestId: 'r1', providerId: 'openai', input: 'Hello' };

describe('a Meteor app without a vendor', () => {
  let host: MeteorHost | undefined;
  let log: sinon.SinonStub;
  let warn: sinon.SinonStub;
  beforeEach(async () => {
    resetMeteor();
    resetWebApp();
    for (const _id of ['ann', 'bob']) await Meteor.users.insertAsync({ _id });
    log = sinon.stub(console, 'log');
    warn = sinon.stub(console, 'warn');
  });
  afterEach(async () => {
    sinon.restore();
    await host?.close();
    host = undefined;
    resetMeteor();
    resetWebApp();
  });

  const start = async (options: Partial<BolideOptions> = {}): Promise<MeteorHost> =>
    (host = await startBolide({ ...METEOR_PACKAGES, settings: SETTINGS, ...options }));
  const statusOf = async (userId?: string): Promise<readonly object[]> => {
    const client = new DdpClient(userId === undefined ? {} : { userId });
    await client.subscribe('ai.status').ready;
    const documents = client.documents('ai_status');
    client.close();
    return documents;
  };
  const hello = (userId: string): Promise<unknown> => new DdpClient({ userId }).callAsync('ai.llm.generateText', HELLO);

  describe('in development', () => {
    it('is simulated for every user, and states so in the log and to everyone', async () => {
      const { module } = await start();
      expect(module.settings.providers.map(({ id }) => id)).to.include.members(['openai', 'anthropic', 'google']);
      for (const userId of ['ann', 'bob']) expect(await hello(userId)).to.match(/simulated/i);
      for (const userId of [undefined, 'bob']) {
        const [status, ...others] = await statusOf(userId);
        expect(status)
          .to.have.property('simulationNotice')
          .that.matches(/^SIMULATED: no vendor key is set/);
        expect(others).to.deep.equal([]);
      }
      expect(log.args.flat().filter((line) => String(line).startsWith('SIMULATED'))).to.have.length(1);
      expect(warn.callCount).to.equal(0);
    });

    it('is not simulated once the settings have a key', async () => {
      const { module } = await start({ settings: { ...SETTINGS, ANTHROPIC_API_KEY: 'k' } });
      expect(module.settings.providers.map(({ id }) => id)).to.deep.equal(['anthropic']);
      expect(await statusOf()).to.deep.equal([{ _id: 'status', apiUrl: `${Meteor.absoluteUrl()}ai` }]);
      expect(log.callCount + warn.callCount).to.equal(0);
    });

    it('is not simulated once someone has added an account', async () => {
      const first = await start();
      await first.providers.service.create({
        providerId: 'mine',
        name: 'Mine',
        vendor: 'anthropic',
        auth: { kind: 'api_key' },
        apiKey: 'k',
      });
      await first.close();
      restartMeteor();
      resetWebApp();
      log.resetHistory();
      const { module } = await start();
      expect(module.settings.providers).to.deep.equal([]);
      expect(await statusOf()).to.deep.equal([{ _id: 'status', apiUrl: `${Meteor.absoluteUrl()}ai` }]);
      expect(log.callCount + warn.callCount).to.equal(0);
    });

    it('closes the simulator with the host, and after a failed start', async () => {
      const first = await start();
      const [provider] = first.module.settings.providers;
      await first.close();
      expect(await failure(fetch(provider?.baseURL ?? ''))).to.be.instanceOf(TypeError);
      restartMeteor();
      await Meteor.users.removeAsync({});
      sinon.stub(Accounts, 'createUserAsync').rejects(new Error('The disk is full.'));
      const firstUser = { email: 'boss@example.com', password: 'a long password' };
      expect(String(await failure(start({ settings: { ...SETTINGS, firstUser } })))).to.contain('The disk is full.');
    });
  });

  describe('in production', () => {
    it('warns once with what to set, and rejects calls', async () => {
      sinon.stub(Meteor, 'isDevelopment').value(false);
      const { module } = await start();
      expect(module.settings.providers).to.deep.equal([]);
      // The other one is of MongoDB's oplog.
      const warnings = warn.args.map(String).filter((text) => text.includes('vendor'));
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.match(/OPENAI_API_KEY.*Meteor\.settings\.ai.*environment/);
      expect(await statusOf()).to.deep.equal([{ _id: 'status', apiUrl: `${Meteor.absoluteUrl()}ai` }]);
      expect(await failure(hello('ann')))
        .to.include({ error: 'permission-denied' })
        .and.to.have.property('reason')
        .that.matches(/No provider is set up yet\. .*OPENAI_API_KEY/);
      expect(log.callCount).to.equal(0);
    });

    it('is simulated only if the app asks for it', async () => {
      sinon.stub(Meteor, 'isDevelopment').value(false);
      await start({ simulates: true });
      expect((await statusOf())[0]).to.have.property('simulationNotice');
    });
  });
});
