/** `ai.changes` on the strict stubs: whom it notifies of whose changes, and that it sends no data. */
import { expect } from 'chai';
import { registry } from '../stubs/server/registry';
import type { DdpClient } from '../stubs/server/DdpClient';
import { startMeteorApp } from '../support/meteorApp';
import type { MeteorApp, Person } from '../support/meteorApp';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

describe(
  'the publication of changes',
  inFlowingTime(() => {
    let app: MeteorApp;
    beforeEach(async () => {
      app = await startMeteorApp();
    });
    afterEach(() => app.stop());

    const watch = async (person: Person, topic: string): Promise<DdpClient> => {
      const client = app.client(person);
      await client.subscribe('ai.changes', { topic }).ready;
      return client;
    };
    const revision = (client: DdpClient): unknown => client.documents('ai_topics')[0]?.['revision'];
    const run = (userId: string, fields: object = {}) => ({
      _id: `run-of-${userId}`,
      userId,
      requestId: `request-of-${userId}`,
      state: 'running',
      createdAt: 1,
      ...fields,
    });

    it('notifies users of their own runs, and admins of everyone’s, also when another process writes', async () => {
      const [admin, bob, cat] = [await watch('ann', 'runs'), await watch('bob', 'runs'), await watch('cat', 'runs')];
      expect([admin, bob, cat].map((client) => client.documents('ai_topics'))).to.deep.equal(
        Array.from({ length: 3 }, () => [{ _id: 'runs', revision: 0 }]),
      );
      // Another process writes past this process's own notifications.
      registry.collections.get('ai_runs')?.insert(run('bob'));
      await until(() => revision(bob) === 1 && revision(admin) === 1);
      expect(revision(cat)).to.equal(0);
      expect(Object.keys(bob.documents('ai_topics')[0] ?? {})).to.deep.equal(['_id', 'revision']);
    });

    it('collects many changes into one', async () => {
      const bob = await watch('bob', 'prompts');
      for (let count = 0; count < 50; count += 1) app.host.changes.notify('prompts', 'bob');
      await until(() => revision(bob) === 1);
      app.host.changes.notify('tokens', 'bob');
      app.host.changes.notify('prompts', 'cat');
      app.host.changes.notify('prompts');
      await until(() => revision(bob) === 2);
    });

    it('tells visitors who are not signed in nothing, and refuses an unknown topic', async () => {
      const nobody = await watch('nobody', 'runs');
      expect(nobody.documents('ai_topics')).to.deep.equal([]);
      const refused: unknown = await app
        .client('bob')
        .subscribe('ai.changes', { topic: 'secrets' })
        .ready.catch((error: unknown) => error);
      expect(refused).to.have.property('error', 'invalid-request');
    });

    it('leaves nothing behind when it is stopped', async () => {
      const before = app.host.changes.size;
      const client = await watch('bob', 'runs');
      expect(app.host.changes.size).to.equal(before + 1);
      client.close();
      await until(() => app.host.changes.size === before);
    });
  }),
);
