/**
 * Runs in the browser of `meteor test` after the server suite, on Mocha's globals alone and the host that the server
 * suite leaves open: the dashboard as an app mounts it, from the sign-in page to a run that waits for approval.
 */
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { Random } from 'meteor/random';
import { Tracker } from 'meteor/tracker';
import { createMeteorData } from '../../imports/ui/data/meteor/createMeteorData';
import { mountDashboard } from '../../imports/ui/mountDashboard';
import { click, find, type } from './dom';
import { FIRST_USER } from './firstUser';

describe('the dashboard in Meteor', function () {
  // Milliseconds. Mocha's default, two seconds, is too short for a busy machine.
  this.timeout(30_000);
  const errors: string[] = [];
  let executionId: string;

  before(() => {
    window.addEventListener('error', ({ message }) => errors.push(message));
    const container = document.createElement('div');
    document.body.append(container);
    mountDashboard(container, createMeteorData({ Meteor, Mongo, Tracker }));
  });

  const signIn = async (password: string): Promise<void> => {
    await type('input[autocomplete=username]', FIRST_USER.email);
    await type('input[type=password]', password);
    await click('button', 'Sign in');
  };

  it('asks for a username and a password', async () => {
    await find('h1', 'Sign in to Bolide');
    await find('label', 'Username or email');
  });

  it('shows why a wrong password is refused, and keeps the name', async () => {
    await signIn('a wrong password');
    await find('[role=alert]');
    const { value } = (await find('input[autocomplete=username]')) as HTMLInputElement;
    if (value !== FIRST_USER.email) throw new Error(`The field contains "${value}".`);
  });

  it('opens with the right password', async () => {
    await signIn(FIRST_USER.password);
    await find('h1', 'Overview');
    if (Meteor.userId() === null) throw new Error('Nobody is signed in.');
  });

  it('shows a run as it starts and waits for approval', async () => {
    await Meteor.callAsync('bolideTest.respond', [
      { call: { name: 'delete_file', arguments: '{}' } },
      { text: 'It is gone for good.' },
    ]);
    window.location.hash = '#/runs';
    await find('h1', 'Runs');
    ({ executionId } = (await Meteor.callAsync('ai.runs.start', {
      requestId: Random.id(),
      providerId: 'llama',
      input: 'Delete the file.',
      tools: ['delete_file'],
    })) as { executionId: string });
    await click(`a[href="#/runs/${executionId}"]`);
    await find('.run-page');
    await find('button', 'Approve');
  });

  it('shows the approved run to its end', async () => {
    await click('.run-page button', 'Approve');
    await find('.run-page', 'It is gone for good.');
    await find('.run-page[data-state="completed"]');
  });

  it('throws no errors', () => {
    if (errors.length > 0) throw new Error(errors.join('\n'));
  });
});
