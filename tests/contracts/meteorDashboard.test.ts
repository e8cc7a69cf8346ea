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
import { describeInSoak, itInSoak } from '../support/soak';
import { startMeteorApp } from '../support/meteorApp';
import type { MeteorApp } from '../support/meteorApp';
import { addLogin, PASSWORD } from '../support/meteorClient/addLogin';
import { PAGES } from '../support/meteorCosts';
import { MeteorBrowser } from '../support/meteorClient/MeteorBrowser';
import { openDashboard } from '../support/meteorClient/openDashboard';
import { until } from '../support/until';
import { leaveWaitingRun } from '../support/waitingRun';
import { inFlowingTime } from '../support/VirtualTime';

describe(
  'the dashboard in Meteor',
  inFlowingTime(() => {
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
    const openSignedIn = (isStrict: boolean, path = ''): Promise<MeteorBrowser> =>
      openDashboard(browsers, { userId: 'ann', path, isStrict });
    const startRun = async (input: string, tools: readonly string[] = []): Promise<string> => {
      const request = { requestId: `run-${(requests += 1)}`, providerId: 'shared', input, tools };
      return ((await app.call('ann', 'ai.runs.start', request)) as { executionId: string }).executionId;
    };
    const stateOf = (browser: MeteorBrowser, executionId: string): string | undefined =>
      browser.find(`[data-run="${executionId}"]`)?.dataset['state'];

    const stateTextOf = (browser: MeteorBrowser, executionId: string): string | undefined =>
      browser.find(`[data-run="${executionId}"] .badge`)?.textContent;

    for (const isStrict of [true, false]) {
      (isStrict ? describe : describeInSoak)(isStrict ? 'under StrictMode' : 'without StrictMode', () => {
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
          await browser.waitFor(() => browser.find('.sign-in form') !== null);
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
          await browser.waitFor(() => browser.find('.sign-in form') !== null);
          expect(browser.find('.shell')).to.equal(null);
        });

        it('shows a run that starts after the page was opened, and its progress to the end', async () => {
          const browser = await openSignedIn(isStrict, 'runs');
          await browser.waitFor(() => browser.find('.skeleton') === null);
          app.simulator.enqueue({ calls: [{ name: 'danger', arguments: {} }] });
          const executionId = await startRun('Launch', ['danger']);
          await browser.waitFor(() => stateTextOf(browser, executionId) === 'Waiting for approval');
          expect(stateOf(browser, executionId)).to.not.equal('completed');
          const call = await app.events.seen('tool:pending');
          app.simulator.enqueue({ text: 'Launched.' });
          await app.call('ann', 'ai.runs.approve', {
            executionId,
            callId: call.callId,
            argumentsHash: createHash('sha256').update(call.arguments).digest('hex'),
          });
          await browser.waitFor(() => stateOf(browser, executionId) === 'completed');
          await browser.waitFor(() => stateTextOf(browser, executionId) === 'Completed');
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
          registry.publications.set(
            'ai.run',
            async function (this: ThisParameterType<PublishHandler>, ...args: never[]) {
              check(args, [Match.Any]);
              await gate.promise;
              return publication?.apply(this, args);
            },
          );
          app.simulator.enqueue({ calls: [{ name: 'danger', arguments: { text: 'now' } }] }, { text: 'Launched.' });
          const executionId = await startRun('Launch', ['danger']);
          const browser = await openSignedIn(isStrict, 'runs');
          await browser.waitForText('Waiting for approval');
          browser.go(`runs/${executionId}`);
          await browser.waitFor(() => browser.sent.some(({ msg, name }) => msg === 'sub' && name === 'ai.run'));
          await browser.settle();
          expect(browser.find('.decision')?.textContent).to.equal(undefined);
          gate.resolve(undefined);
          await browser.waitFor(() => browser.find('.decision') !== null);
          expect(browser.find('.decision')?.textContent).to.include('now');
          browser.button('Approve').click();
          await browser.waitForText('Launched.');
        });

        itInSoak('takes all three decisions on interrupted calls in the inbox', async () => {
          const ids = ['rerun', 'unknown', 'entered'].map((name) => `${name}-${isStrict ? 'strict' : 'plain'}`);
          const [rerun = '', unknown = '', entered = ''] = ids;
          for (const executionId of ids) {
            await leaveWaitingRun(app.host.module, {
              executionId,
              userId: 'ann',
              providerId: 'shared',
              tool: 'clock',
              arguments: { text: executionId },
              waitsFor: 'review',
            });
            app.simulator.enqueue({ text: 'Understood.' });
          }
          const browser = await openSignedIn(isStrict, 'inbox');
          await browser.waitForText('Reviews 3');
          const press = async (executionId: string, ...names: readonly string[]): Promise<void> => {
            for (const name of names) {
              const card = (): Element | null => browser.find(`[data-entry="${executionId}:call"]`);
              const button = (): HTMLButtonElement | undefined =>
                [...(card()?.querySelectorAll('button') ?? [])].find(({ textContent }) => textContent === name);
              await browser.waitFor(() => button() !== undefined);
              button()?.click();
            }
          };
          await press(rerun, 'Run again…', 'Run again');
          await press(unknown, 'Outcome unknown…', 'Report as unknown');
          await press(entered, 'Enter the result…');
          const field = `[data-entry="${entered}:call"] textarea`;
          await browser.waitFor(() => browser.find(field) !== null);
          browser.type(field, 'seven');
          await browser.settle();
          await press(entered, 'Submit result');
          await browser.waitForText('Nothing waits for anyone');
          const results: unknown[] = [];
          for (const executionId of ids) {
            await until(async () => (await app.host.module.runs.load(executionId))?.run.endedAt !== undefined);
            const call = (await app.host.module.runs.load(executionId))?.calls[0];
            results.push(call && ('result' in call ? call.result : call.state));
          }
          expect(results).to.deep.equal(['noon', 'failed', 'seven']);
          expect(browser.errors).to.deep.equal([]);
        });

        it('starts a run in the playground and opens it', async () => {
          const browser = await openSignedIn(isStrict, 'playground');
          await browser.waitFor(() => browser.find('.composer textarea') !== null);
          app.simulator.enqueue({ text: 'Hi there.' });
          browser.type('.composer textarea', 'Hello');
          browser.button('Run').click();
          await browser.waitForText('Hi there.');
        });

        it('states in the playground that there is no provider', async () => {
          registry.methods.set('ai.providers.list', (...args: never[]) => {
            check(args, [Match.Any]);
            return [];
          });
          const browser = await openSignedIn(isStrict, 'playground');
          await browser.waitForText('No provider to run on');
          expect(browser.find('.composer')).to.equal(null);
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
          expect(browser.find('.sign-in form')).to.equal(null);
        });

        it('shows why a list could not be loaded, and loads it on demand', async () => {
          const [list, tools] = [registry.methods.get('ai.runs.list'), registry.methods.get('ai.tools.list')];
          const refuse = (...args: never[]): never => {
            check(args, [Match.Any]);
            throw new MeteorError('too-many-requests', 'Slow down.');
          };
          registry.methods.set('ai.runs.list', refuse);
          registry.methods.set('ai.tools.list', refuse);
          const browser = await openSignedIn(isStrict, 'runs');
          await browser.waitForText('Slow down.');
          registry.methods.set('ai.runs.list', list as never);
          browser.button('Try again').click();
          await browser.waitForText('No runs yet');
          browser.go('tools');
          await browser.waitForText('Slow down.');
          registry.methods.set('ai.tools.list', tools as never);
          browser.button('Try again').click();
          await browser.waitFor(() => browser.find('[data-tool="clock"]') !== null);
        });

        itInSoak('subscribes on each page to what the costs are counted with', async () => {
          const executionId = await startRun('Hello');
          await app.events.seen('run:completed');
          for (const [name, subscriptions] of Object.entries(PAGES)) {
            const expected = subscriptions(executionId).map((each) => JSON.stringify(each));
            const paths: Readonly<Record<string, string>> = { overview: '', run: `runs/${executionId}` };
            const browser = await openSignedIn(isStrict, paths[name] ?? name);
            const opened = (): readonly string[] => browser.subscriptions.filter((each) => each !== '["ai.status",{}]');
            await browser.waitFor(() => opened().length === expected.length && browser.find('.skeleton') === null);
            expect(opened().toSorted(), name).to.deep.equal(expected.toSorted());
            browser.close();
          }
        });

        it('leaves no subscription behind when it is unmounted', async () => {
          const browser = await open({ token: { token: 'token-of-ann', userId: 'ann' } });
          const unmount = browser.page.mountDashboard(isStrict);
          await browser.waitFor(() => browser.find('.shell') !== null);
          await browser.waitFor(() => browser.subscriptions.length > 0);
          unmount();
          await browser.waitFor(() => browser.subscriptions.length === 0);
        });
      });
    }
  }),
);
