/** The package in a browser, against the server of `tests/server.js`. */
import { Accounts } from 'meteor/accounts-base';
import { Random } from 'meteor/random';
import { Tinytest } from 'meteor/tinytest';
import { Tracker } from 'meteor/tracker';
import { bolide, RunsCollection, trackRun } from 'meteor/bolide:bolide';

Tinytest.addAsync('bolide - a run that the browser starts arrives in its collection', async (test) => {
  await Accounts.createUserAsync({ username: Random.id(), password: Random.secret() });
  const { executionId } = await bolide.runs.start({ providerId: 'openai', input: 'Hello', tools: [] });
  const state = await new Promise((resolve) => {
    Tracker.autorun((computation) => {
      const { run } = trackRun(executionId);
      if (run?.state !== 'completed') return;
      computation.stop();
      resolve(run.state);
    });
  });
  test.equal(state, 'completed');
  test.equal(RunsCollection.findOne(executionId)?._id, executionId);
});
