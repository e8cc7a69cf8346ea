/**
 * The dashboard in a browser's Meteor, with and without StrictMode, over the methods and publications of the host. The
 * client's Meteor is `tests/stubs/client`, with the contract of ddp-client and accounts-base.
 */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { check, Match } from '../stubs/meteor/check';
import { MeteorError } from '../stubs/server/MeteorError';
import { registry } from '../stubs/server/registry';
import type { PublishHandler } from '../stubs/server/registry';
import { deferred } from '../support/deferred';
import { startMeteorApp } from '../support/meteorApp';
import type { MeteorApp } from '../support/meteorApp';
import { addLogin, PASSWORD } from '../support/meteorClient/addLogin';
import { MeteorBrowser } from '../support/meteorClient/MeteorBrowser';

describe('the dashboard in Meteor', () => {
  let app: MeteorApp;
  let requests = 0;
  const browsers: MeteorBrowser[] = [];
  beforeEach(async () => {
    app = await startMeteorApp();
    addLogin(['ann', 'bob']);
  });
  afterEach(async () => {
    for (const browser of browsers.splice(0)) browser.close();
    await app.stop();
  });

  const open = async (options?: Parameters<typeof MeteorBrowser.open>[0]): Promise<MeteorBrowser> => {
    const browser = await MeteorBrowser.open(options);
    browsers.push(browser);
    return browser;
  };
  const openSignedIn = async (isStrict: boolean, path = ''): Promise<MeteorBrowser> => {
    const browser = await open({ token: { token: 'token-of-ann', userId: 'ann' } });
    browser.go(path);
    browser.page.mountDashboard(isStrict);
    await browser.waitFor(() => browser.find('.shell') !== null);
    return browser;
  };
  const startRun = async (input: string, tools: readonly string[] = []): Promise<string> => {
    const request = { requestId: `run-${(requests += 1)}`, providerId: 'shared', input, tools };
    return ((await app.call('ann', 'ai.runs.start', request)) as { executionId: string }).executionId;
  };
  const stateOf = (browser: MeteorBrowser, executionId: string): string | undefined =>
    browser.find(`[data-run="${executionId}"]`)?.dataset['state'];

  for (const isStrict of [true, false]) {
    describe(isStrict ? 'under StrictMode' : 'without StrictMode', () => {
      it('keeps the sign-in form with its fields and shows the error after a wrong password', async () => {
        const gate = deferred<undefined>();
        addLogin(['ann'], { gate: () => gate.promise });
        const browser = await open();
        browser.page.mountDashboard(isStrict);
        await browser.signIn('ann', 'wrong');
        await browser.waitFor(() => browser.page.Meteor.loggingIn());
        await browser.settle();
        expect(browser.button('Signing in…').disabled).to.equal(true);
        gate.resolve(undefined);
        await browser.waitFor(() => browser.find('[role="alert"]') !== null);
        expect(browser.find('[role="alert"]')?.textContent).to.equal(
          'Something went wrong. Please check your credentials.',
        );
        expect(browser.find('input[autocomplete="username"]')).to.have.property('value', 'ann');
        expect(browser.find('input[type="password"]')).to.have.property('value', 'wrong');
        await browser.waitFor(() => browser.focused === browser.find('input[type="password"]'));
        browser.type('input[type="password"]', PASSWORD);
        browser.button('Sign in').click();
        await browser.waitFor(() => browser.find('.shell') !== null);
        browser.button('Sign out ann').click();
        await browser.waitFor(() => browser.find('form.sign-in') !== null);
        expect(browser.errors).to.deep.equal([]);
      });

      it('shows neither the form nor a page while a stored login is resumed', async () => {
        const gate = deferred<undefined>();
        addLogin(['ann'], { gate: () => gate.promise });
        const browser = await open({ token: { token: 'token-of-ann', userId: 'ann' } });
        browser.page.mountDashboard(isStrict);
        await browser.waitFor(() => browser.find('.skeletons') !== null);
        expect(browser.find('form, .shell')).to.equal(null);
        gate.resolve(undefined);
        await browser.waitFor(() => browser.find('.shell') !== null);
      });

      it('asks for the password when the stored login is refused', async () => {
        const browser = await open({ token: { token: 'expired', userId: 'ann' } });
        browser.page.mountDashboard(isStrict);
        await browser.waitFor(() => browser.find('form.sign-in') !== null);
        expect(browser.find('.shell')).to.equal(null);
      });

      it('shows a run that starts after the page was opened, and its progress to the end', async () => {
        const browser = await openSignedIn(isStrict, 'runs');
        await browser.waitFor(() => browser.find('.skeleton') === null);
        app.simulator.enqueue({ calls: [{ name: 'danger', arguments: {} }] });
        const executionId = await startRun('Launch', ['danger']);
        await browser.waitForText('1 approval needed');
        expect(stateOf(browser, executionId)).to.not.equal('completed');
        const call = await app.events.seen('tool:pending');
        app.simulator.enqueue({ text: 'Launched.' });
        await app.call('ann', 'ai.runs.approve', {
          executionId,
          callId: call.callId,
          argumentsHash: createHash('sha256').update(call.arguments).digest('hex'),
        });
        await browser.waitFor(() => stateOf(browser, executionId) === 'completed');
        expect(browser.text).to.not.include('approval needed');
        expect(browser.errors).to.deep.equal([]);
      });

      it('approves a call on the page of its run, which a second browser sees', async () => {
        app.simulator.enqueue({ calls: [{ name: 'danger', arguments: { text: 'now' } }] });
        const executionId = await startRun('Launch', ['danger']);
        const [first, second] = [
          await openSignedIn(isStrict, `runs/${executionId}`),
          await openSignedIn(isStrict, `runs/${executionId}`),
        ];
        for (const browser of [first, second]) await browser.waitForText('needs approval');
        app.simulator.enqueue({ text: 'Launched.' });
        first.button('Approve').click();
        for (const browser of [first, second]) {
          await browser.waitForText('Launched.');
          expect(browser.text).to.not.include('needs approval');
          expect(browser.errors).to.deep.equal([]);
        }
      });

      it('offers the approval of a call only with its arguments, which lists do not have', async () => {
        const publication = registry.publications.get('ai.run');
        const gate = deferred<undefined>();
        registry.publications.set('ai.run', async function (this: ThisParameterType<PublishHandler>, ...args: never[]) {
          check(args, [Match.Any]);
          await gate.promise;
          return publication?.apply(this, args);
        });
        app.simulator.enqueue({ calls: [{ name: 'danger', arguments: { text: 'now' } }] }, { text: 'Launched.' });
        const executionId = await startRun('Launch', ['danger']);
        const browser = await openSignedIn(isStrict, 'runs');
        await browser.waitForText('Needs approval');
        browser.go(`runs/${executionId}`);
        await browser.waitFor(() => browser.sent.some(({ msg, name }) => msg === 'sub' && name === 'ai.run'));
        await browser.settle();
        expect(browser.find('form.decision')?.textContent).to.equal(undefined);
        gate.resolve(undefined);
        await browser.waitFor(() => browser.find('form.decision') !== null);
        expect(browser.find('form.decision')?.textContent).to.include('now');
        browser.button('Approve').click();
        await browser.waitForText('Launched.');
      });

      it('starts a run in the playground and opens it', async () => {
        const browser = await openSignedIn(isStrict, 'playground');
        await browser.waitFor(() => browser.find('.playground-form textarea') !== null);
        app.simulator.enqueue({ text: 'Hi there.' });
        browser.type('.playground-form textarea', 'Hello');
        browser.find('.playground-form button[type="submit"]')?.click();
        await browser.waitForText('Hi there.');
      });

      it('states in the playground that there is no provider', async () => {
        registry.publications.set('ai.providers', (...args: never[]) => {
          check(args, [Match.Any]);
          return [];
        });
        const browser = await openSignedIn(isStrict, 'playground');
        await browser.waitForText('No provider to run on');
        expect(browser.find('.playground-form')).to.equal(null);
      });

      it('shows the error of a method', async () => {
        app.simulator.enqueue({ calls: [{ name: 'danger', arguments: {} }] });
        const executionId = await startRun('Launch', ['danger']);
        const browser = await openSignedIn(isStrict, `runs/${executionId}`);
        await browser.waitForText('needs approval');
        registry.methods.set('ai.runs.cancel', (...args: never[]) => {
          check(args, [Match.Any]);
          throw new MeteorError('conflict', 'The run is taken.');
        });
        browser.button('Cancel run').click();
        await browser.waitFor(() => browser.find('[role="alert"]') !== null);
        expect(browser.find('[role="alert"]')?.textContent).to.equal('The run is taken.');
      });

      it('continues live after a lost connection', async () => {
        const browser = await openSignedIn(isStrict, 'runs');
        await browser.waitFor(() => browser.find('.skeleton') === null);
        browser.dropConnection();
        app.simulator.enqueue({ text: 'Done.' });
        const executionId = await startRun('Go on');
        await browser.waitFor(() => stateOf(browser, executionId) === 'completed');
        expect(browser.find('form.sign-in')).to.equal(null);
      });

      it('shows why a list could not be loaded, and loads it on demand', async () => {
        const [publication, method] = [registry.publications.get('ai.runs'), registry.methods.get('ai.tools.list')];
        const refuse = (...args: never[]): never => {
          check(args, [Match.Any]);
          throw new MeteorError('too-many-requests', 'Slow down.');
        };
        registry.publications.set('ai.runs', refuse);
        registry.methods.set('ai.tools.list', refuse);
        const browser = await openSignedIn(isStrict, 'runs');
        await browser.waitForText('Slow down.');
        registry.publications.set('ai.runs', publication as never);
        browser.button('Try again').click();
        await browser.waitForText('No runs yet');
        browser.go('tools');
        await browser.waitForText('Slow down.');
        registry.methods.set('ai.tools.list', method as never);
        browser.button('Try again').click();
        await browser.waitFor(() => browser.find('[data-tool="clock"]') !== null);
      });

      it('leaves no subscription behind when it is unmounted', async () => {
        const browser = await open({ token: { token: 'token-of-ann', userId: 'ann' } });
        const unmount = browser.page.mountDashboard(isStrict);
        await browser.waitFor(() => browser.find('.shell') !== null);
        const open_ = (): number =>
          browser.sent.filter(({ msg }) => msg === 'sub').length -
          browser.sent.filter(({ msg }) => msg === 'unsub').length;
        await browser.waitFor(() => open_() > 0);
        unmount();
        await browser.waitFor(() => open_() === 0);
      });
    });
  }
});
