/** The pages for operators in a browser’s Meteor: what they read and change, live for others, gone after sign-out. */
import { expect } from 'chai';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import { describeInSoak } from '../support/soak';
import { startMeteorApp } from '../support/meteorApp';
import type { MeteorApp } from '../support/meteorApp';
import { addLogin, PASSWORD } from '../support/meteorClient/addLogin';
import type { MeteorBrowser } from '../support/meteorClient/MeteorBrowser';
import { openDashboard } from '../support/meteorClient/openDashboard';
import { json, TestHost } from '../support/TestHost';
import { until } from '../support/until';

const ADMIN: Actor = { userId: 'ann', isAdmin: true, source: 'method' };
const BOB: Actor = { userId: 'bob', source: 'method' };

describeInSoak('the administration in Meteor', () => {
  let app: MeteorApp;
  let vendor: TestHost;
  const browsers: MeteorBrowser[] = [];
  beforeEach(async () => {
    vendor = await TestHost.start(json({ data: [{ id: 'gpt-5-mini' }] }));
    app = await startMeteorApp();
    addLogin(['ann', 'bob']);
  });
  afterEach(async () => {
    for (const browser of browsers.splice(0)) browser.close();
    await app.stop();
    await vendor.stop();
  });

  const open = (path: string, userId = 'ann'): Promise<MeteorBrowser> =>
    openDashboard(browsers, { userId, path, isStrict: false });
  const operations = () => app.host.operations;
  /** Waits for the button, which may appear once the page knows that its user is an admin. */
  const press = async (browser: MeteorBrowser, ...names: readonly string[]): Promise<void> => {
    for (const name of names) {
      const isThere = (): boolean => {
        try {
          return !browser.button(name).disabled;
        } catch {
          return false;
        }
      };
      await browser.waitFor(isThere);
      browser.button(name).click();
    }
  };
  const textOf = (browser: MeteorBrowser, selector: string): string => browser.find(selector)?.textContent ?? '';
  const shows = (browser: MeteorBrowser, selector: string, text: string): Promise<void> =>
    browser.waitFor(() => textOf(browser, selector).includes(text));
  const isGone = (browser: MeteorBrowser, selector: string): Promise<void> =>
    browser.waitFor(() => browser.find(selector) === null);

  const issueToken = async (userId: string, name: string): Promise<string> =>
    (await operations()['ai.tokens.create'](ADMIN, { userId, name })).id;
  const queueRun = async (title: string): Promise<string> => {
    const request = { requestId: title.replaceAll(' ', '-'), providerId: 'shared', input: title, tools: [] };
    return (await app.host.module.useCases.queueRun.execute(BOB, request)).executionId;
  };
  const endOf = (executionId: string): Promise<unknown> =>
    app.events.seen('run:completed', (event) => event.executionId === executionId);

  it('creates a token that is shown once and authenticates, and revokes it in front of another admin', async () => {
    const bobs = await issueToken('bob', 'Of Bob');
    const [first, second] = [await open('tokens'), await open('tokens')];
    for (const browser of [first, second]) await shows(browser, `[data-token="${bobs}"]`, 'Of bob');
    await press(first, 'New token');
    await first.waitFor(() => first.find('dialog') !== null);
    first.type(first.field('Name'), 'Nightly');
    first.type(first.field('Owner'), 'cat');
    await press(first, 'Create token');
    await first.waitFor(() => first.find('[data-new-token]') !== null);
    const token = textOf(first, '[data-new-token]');
    const headers = { authorization: `Bearer ${token}` };
    expect(await app.host.apiTokens.authenticate({ headers } as never)).to.include({ userId: 'cat' });
    await second.waitForText('Nightly');
    await press(first, 'Done');
    await isGone(first, 'dialog');
    for (const browser of [first, second]) expect(browser.text).to.not.include(token);
    await press(second, 'Revoke token: Nightly', 'Revoke token');
    await first.waitFor(() => !first.text.includes('Nightly'));
    expect(await app.host.apiTokens.authenticate({ headers } as never)).to.equal(undefined);
    for (const browser of [first, second]) expect(browser.errors).to.deep.equal([]);
  });

  it('sets a budget that is then hit, which its user and the admin see at once', async () => {
    const bobs = await open('budgets', 'bob');
    const admins = await open('budgets');
    await shows(bobs, '[data-user="bob"]', 'No limits');
    await press(admins, 'Set a user’s budget');
    await admins.waitFor(() => admins.find('dialog') !== null);
    admins.type(admins.field('User id'), 'bob');
    admins.type(admins.field('Model calls'), 'many');
    await press(admins, 'Save limits');
    await admins.waitForText('"limits.day.calls" must be an integer');
    admins.type(admins.field('Model calls'), '1');
    await press(admins, 'Save limits');
    await isGone(admins, 'dialog');
    expect((await operations()['ai.budgets.list'](BOB)).budgets[0]?.limits).to.deep.equal({ day: { calls: 1 } });
    await shows(bobs, '[data-user="bob"]', '0 of 1 call');
    app.simulator.enqueue({ text: 'Hello.' });
    await app.call('bob', 'ai.llm.generateText', { requestId: 'one', providerId: 'shared', input: 'Hello' });
    const refusal = app.call('bob', 'ai.llm.generateText', { requestId: 'two', providerId: 'shared', input: 'Hello' });
    expect(await refusal.catch((error: unknown) => error)).to.have.property('error', 'budget-exceeded');
    expect(app.simulator.requests).to.have.length(1);
    await shows(admins, '[data-user="bob"]', 'used up');
    await shows(bobs, '[data-user="bob"]', 'used up');
    expect(textOf(bobs, '[data-user="bob"]'), 'who set it').to.not.include('ann');
    await press(admins, 'Remove limits: bob', 'Remove limits');
    await shows(bobs, '[data-user="bob"]', 'No limits');
    expect((await operations()['ai.budgets.list'](BOB)).budgets[0]?.limits).to.deep.equal({});
    for (const browser of [bobs, admins]) expect(browser.errors).to.deep.equal([]);
  });

  it('pauses the queue, runs a queued run now, and resumes', async () => {
    const bobs = await open('queue', 'bob');
    const admins = await open('queue');
    await press(admins, 'Pause queue');
    await admins.waitFor(() => admins.find('dialog') !== null);
    await press(admins, 'Pause queue');
    await bobs.waitForText('Paused');
    expect((await operations()['ai.queue.list'](ADMIN)).paused).to.include({ by: 'ann' });
    const [first, second] = [await queueRun('Report one'), await queueRun('Report two')];
    for (const browser of [bobs, admins]) await shows(browser, `[data-queued="${first}"]`, 'Held back by the pause');
    for (const text of ['One.', 'Two.']) app.simulator.enqueue({ text });
    await press(bobs, 'Run now: Report two');
    await endOf(second);
    for (const browser of [bobs, admins]) await isGone(browser, `[data-queued="${second}"]`);
    expect((await app.host.module.runs.load(first))?.run.state, 'the other one is held back').to.equal('queued');
    await press(admins, 'Resume queue');
    await endOf(first);
    await bobs.waitForText('Taking runs');
    await isGone(bobs, `[data-queued="${first}"]`);
    for (const browser of [bobs, admins]) expect(browser.errors).to.deep.equal([]);
  });

  it('runs a schedule now, also while it is paused, and resumes it', async () => {
    let executions = 0;
    await app.host.module.jobs.schedule({ name: 'nightly', cron: '0 3 1 1 *' }, () => {
      executions += 1;
      return Promise.resolve();
    });
    const stored = async () => (await operations()['ai.schedules.list'](ADMIN))[0];
    const [first, second] = [await open('queue'), await open('queue')];
    await shows(second, '[data-schedule="nightly"]', 'has not run yet');
    await press(first, 'Pause: nightly');
    await shows(second, '[data-schedule="nightly"]', 'Paused by ann');
    expect((await stored())?.paused).to.include({ by: 'ann' });
    await press(second, 'Run now: nightly');
    await until(() => executions === 1);
    await until(async () => (await stored())?.lastRun?.endedAt !== undefined);
    await press(second, 'Resume: nightly');
    await shows(first, '[data-schedule="nightly"]', 'next ');
    await shows(first, '[data-schedule="nightly"]', 'ran ');
    expect(await stored()).to.have.property('nextRunAt');
    for (const browser of [first, second]) expect(browser.errors).to.deep.equal([]);
  });

  it('adds a provider whose key the vendor gets, tests it, replaces the key, and deletes it', async () => {
    const [first, second] = [await open('providers'), await open('providers')];
    await second.waitFor(() => second.find('[data-provider="shared"]') !== null);
    await press(first, 'Add provider');
    await first.waitFor(() => first.find('dialog') !== null);
    first.type(first.field('Name'), 'Team');
    first.type(first.field('Id'), 'team');
    first.type(first.field('API key'), 'sk-first');
    first.type(first.field('Base URL'), `${vendor.url}/v1`);
    first.find('dialog form')?.querySelector<HTMLButtonElement>('[type="submit"]')?.click();
    await shows(second, '[data-provider="team"]', 'Team');
    const keyOfLast = (): unknown => vendor.requests.at(-1)?.headers.authorization;
    await press(first, 'Test: Team');
    await shows(first, '[data-provider="team"]', 'The vendor accepted the credential');
    expect(keyOfLast()).to.equal('Bearer sk-first');
    await shows(second, '[data-provider="team"]', 'Working');
    await app.call('ann', 'ai.providers.setApiKey', { providerId: 'team', apiKey: 'sk-second' });
    await press(second, 'Test: Team');
    await shows(second, '[data-provider="team"]', 'The vendor accepted the credential');
    expect(keyOfLast()).to.equal('Bearer sk-second');
    for (const browser of [first, second]) expect(browser.text).to.not.match(/sk-(first|second)/);
    await press(second, 'Delete: Team', 'Delete provider');
    await isGone(first, '[data-provider="team"]');
    expect(await app.host.operations['ai.providers.list'](ADMIN)).to.have.length(1);
    for (const browser of [first, second]) expect(browser.errors).to.deep.equal([]);
  });

  it('leaves nothing of its pages behind when the admin signs out', async () => {
    await issueToken('cat', 'Of Cat');
    await operations()['ai.budgets.set'](ADMIN, { userId: 'cat', limits: { day: { calls: 1 } } });
    await app.host.module.jobs.schedule({ name: 'nightly', cron: '0 3 1 1 *' }, () => Promise.resolve());
    const account = { vendor: 'openai', auth: { kind: 'api_key' }, apiKey: 'sk-admins' };
    await app.host.operations['ai.providers.create'](ADMIN, {
      ...account,
      providerId: 'admins',
      name: 'Of the admins',
    });
    /** What only admins see on each page. */
    const pages = { tokens: 'Of Cat', budgets: 'cat', queue: 'nightly', providers: 'Of the admins' };
    const browser = await open('tokens');
    const main = (): string => textOf(browser, 'main');
    for (const [path, seen] of Object.entries(pages)) {
      browser.go(path);
      await browser.waitFor(() => main().includes(seen));
    }
    await press(browser, 'Sign out ann');
    await browser.waitFor(() => browser.find('.sign-in form') !== null);
    const openSubscriptions = (): readonly unknown[] => {
      const stopped = browser.sent.flatMap(({ msg, id }) => (msg === 'unsub' ? [id] : []));
      return browser.sent.flatMap(({ msg, id, name }) => (msg === 'sub' && !stopped.includes(id) ? [name] : []));
    };
    // It is public.
    await browser.waitFor(() => openSubscriptions().every((name) => name === 'ai.status'));
    const messages = browser.sent.length;
    await issueToken('cat', 'Another one of Cat');
    await operations()['ai.budgets.set'](ADMIN, { userId: 'cat', limits: { day: { calls: 2 } } });
    await operations()['ai.queue.pause'](ADMIN);
    await app.call('ann', 'ai.providers.update', { providerId: 'admins', name: 'Of the admins still' });
    await browser.settle();
    expect(browser.sent.slice(messages), 'nothing is loaded again').to.deep.equal([]);
    expect(browser.text).to.not.match(/of cat|nightly|of the admins/i);
    await browser.signIn('bob', PASSWORD);
    await browser.waitFor(() => browser.find('.shell') !== null);
    for (const [path, seen] of Object.entries(pages)) {
      browser.go(path);
      await browser.waitFor(
        () => textOf(browser, 'h1').toLowerCase() === path && browser.find('main .skeleton') === null,
      );
      expect(main(), path).to.not.include(seen);
    }
    expect(browser.errors).to.deep.equal([]);
  });
});
