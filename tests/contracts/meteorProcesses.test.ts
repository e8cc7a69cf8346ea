/** Several processes of a Meteor app, whose observers poll or follow the oplog. */
import { expect } from 'chai';
import { Meteor } from 'meteor/meteor';
import sinon from 'sinon';
import { PROCESS_WRITES } from '../../imports/database/meteor/WriteRelay';
import type { ProcessWritesDocument } from '../../imports/database/meteor/WriteRelay';
import { readsOplog } from '../../imports/host/meteor/readsOplog';
import { startMeteorApp } from '../support/meteorApp';
import type { MeteorApp } from '../support/meteorApp';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

const OPLOG = { MONGO_OPLOG_URL: 'mongodb://localhost/local' };

describe(
  'Several processes of a Meteor app',
  inFlowingTime(() => {
    let app: MeteorApp | undefined;
    afterEach(async () => {
      sinon.restore();
      await app?.stop();
      app = undefined;
      delete process.env['MONGO_OPLOG_URL'];
    });

    const told = (): Promise<readonly ProcessWritesDocument[]> =>
      app?.host.database.collection<ProcessWritesDocument>(PROCESS_WRITES).find({}) ?? Promise.resolve([]);

    it('tell each other what they have written, without an oplog', async () => {
      app = await startMeteorApp();
      const refresh = sinon.spy(Meteor, 'refresh');
      await app.client('bob').subscribe('ai.runs').ready;
      const writes = app.host.database.collection<ProcessWritesDocument>(PROCESS_WRITES);
      const expiresAt = new Date(Date.now() + 60_000);
      await until(async () => (await told()).some(({ published }) => published.includes('ai_runs')));
      const published = ['ai_runs', 'ai_tool_calls'];
      await writes.insert({ _id: 'other', published, writes: { ai_tool_calls: 1 }, expiresAt });
      await until(() => refresh.calledWith({ collection: 'ai_tool_calls' }));
      await app.call('bob', 'ai.llm.generateText', { requestId: 'r', providerId: 'shared', input: 'Hello' });
      await until(async () =>
        (await told()).some(({ _id, writes: { ai_runs: runs = 0 } }) => _id !== 'other' && runs > 0),
      );
      const [own] = (await told()).filter(({ _id }) => _id !== 'other');
      expect(Object.keys(own?.writes ?? {}), 'what nobody publishes is not told').to.deep.equal(['ai_runs']);
    });

    it('leave it to the oplog where there is one', async () => {
      Object.assign(process.env, OPLOG);
      app = await startMeteorApp();
      await app.client('bob').subscribe('ai.runs').ready;
      await app.call('bob', 'ai.llm.generateText', { requestId: 'r', providerId: 'shared', input: 'Hello' });
      expect(await told()).to.deep.equal([]);
    });

    it('warn in production that the publications of the app poll', async () => {
      sinon.stub(Meteor, 'isDevelopment').value(false);
      const warn = sinon.stub(console, 'warn');
      app = await startMeteorApp();
      expect(warn.args.flat().filter((line) => String(line).includes('MONGO_OPLOG_URL'))).to.have.length(1);
    });

    const SETTINGS: readonly (readonly [environment: object, settings: object, isRead: boolean])[] = [
      [{}, {}, false],
      [{ MONGO_OPLOG_URL: '' }, {}, false],
      [OPLOG, {}, true],
      [{ ...OPLOG, METEOR_REACTIVITY_ORDER: 'changeStreams, oplog,polling' }, {}, true],
      [{ ...OPLOG, METEOR_REACTIVITY_ORDER: 'changeStreams,polling' }, {}, false],
      [OPLOG, { packages: { mongo: { reactivity: ['polling'] } } }, false],
      [{ ...OPLOG, METEOR_REACTIVITY_ORDER: 'oplog' }, { packages: { mongo: { reactivity: ['polling'] } } }, true],
    ];
    for (const [environment, settings, isRead] of SETTINGS)
      it(`${isRead ? 'read' : 'do not read'} the oplog with ${JSON.stringify([environment, settings])}`, () => {
        expect(readsOplog({ ...environment }, { ...settings })).to.equal(isRead);
      });
  }),
);
