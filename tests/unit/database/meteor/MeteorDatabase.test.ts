import { expect } from 'chai';
import { Meteor } from 'meteor/meteor';
import type { StoredDocument } from '../../../../imports/database/DocumentCollection';
import { MeteorDatabase } from '../../../../imports/database/meteor/MeteorDatabase';
import { DdpClient } from '../../../stubs/server/DdpClient';
import { flushObservers } from '../../../stubs/server/observers';
import { resetMeteor } from '../../../stubs/server/registry';
import { failure } from '../../../support/failure';
import { METEOR_PACKAGES } from '../../../meteor/meteorPackages';

describe('MeteorDatabase', () => {
  beforeEach(resetMeteor);
  after(resetMeteor);

  it('writes are visible to publications', async () => {
    const database = new MeteorDatabase(METEOR_PACKAGES);
    Meteor.publish('runs', () =>
      database.published('runs').find({ state: { $ne: 'secret' } }, { fields: { state: 1 } }),
    );
    const client = new DdpClient();
    await client.subscribe('runs').ready;
    const rows = database.collection<StoredDocument & { state: string; prompt?: string }>('runs');
    await rows.insert({ _id: 'a', state: 'queued', prompt: 'unpublished' });
    await rows.insert({ _id: 'b', state: 'secret' });
    flushObservers();
    await rows.update({ _id: 'a', state: 'queued' }, { $set: { state: 'running' } });
    flushObservers();
    await rows.remove({ _id: 'a' });
    flushObservers();
    client.close();
    expect(client.messages.filter((message) => message['collection'] === 'runs')).to.deep.equal([
      { msg: 'added', collection: 'runs', id: 'a', fields: { state: 'queued' } },
      { msg: 'changed', collection: 'runs', id: 'a', fields: { state: 'running' } },
      { msg: 'removed', collection: 'runs', id: 'a' },
    ]);
  });

  it('defines no mutation methods for clients', async () => {
    new MeteorDatabase(METEOR_PACKAGES).collection('runs');
    const client = new DdpClient({ userId: 'u' });
    expect(await failure(client.callAsync('/api/runs/insertAsync', { _id: 'a' }))).to.have.property('error', 404);
    client.close();
  });

  it('creates one Mongo.Collection per name', async () => {
    const database = new MeteorDatabase(METEOR_PACKAGES);
    expect(database.published('runs')).to.equal(database.published('runs'));
    await database.collection('runs').insert({ _id: 'a' });
    await database.close();
    expect(await database.collection('runs').find({})).to.deep.equal([{ _id: 'a' }]);
  });
});
