/** Runs inside Meteor (`meteor test --driver-package meteortesting:mocha`), on mocha's globals. */
import assert from 'node:assert/strict';
import { Meteor } from 'meteor/meteor';
import { startMeteorServer } from '../../imports/startup/meteor/startMeteorServer';

describe('the server inside Meteor', () => {
  it('serves the API beside Meteor’s own pages', async () => {
    Meteor.settings['ai'] = { OPENAI_API_KEY: 'test-key' };
    startMeteorServer();
    const health = await fetch(Meteor.absoluteUrl('health'));
    assert.equal(health.status, 200);
    assert.deepEqual(await health.json(), { status: 'ok' });
    const refused = await fetch(Meteor.absoluteUrl('v1/responses'), { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    assert.equal(refused.status, 401);
    const missing = await fetch(Meteor.absoluteUrl('v1/nothing'));
    assert.equal(missing.status, 404);
  });
});
