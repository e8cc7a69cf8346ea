/** What an operator does on the pages Providers, Tokens, Budgets and Queue, in a browser. */
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import type { AgentEvent } from '../../imports/business/ai/domain/types/AgentEvents';
import { CANARY } from '../support/canaries';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';
import { runRequest } from '../support/runRequests';
import { json, TestHost } from '../support/TestHost';
import { until } from '../support/until';

const KEY = `sk-${CANARY}-of-the-team`;
const OWN_KEY = `sk-${CANARY}-of-ann`;

describe('the administration in the dashboard', () => {
  let app: DashboardBrowser;
  let vendor: TestHost;
  /** Keys that the vendor rejects. */
  const refused = new Set<string>();
  const contexts: BrowserContext[] = [];
  withDashboard(
    async (started) => {
      app = started;
      vendor = await TestHost.start((response, request) => {
        const key = (request.headers.authorization ?? '').replace('Bearer ', '');
        if (refused.has(key)) json({ error: { message: 'Incorrect API key provided.' } }, 401)(response, request);
        else if (request.path.endsWith('/models'))
          json({ data: [{ id: 'house-model' }, { id: 'gpt-5-mini' }] })(response, request);
        else json(COMPLETION)(response, request);
      });
    },
    { env: { AI_ALLOW_PRIVATE_HOSTS: 'true' } },
  );
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  after(() => (vendor as TestHost | undefined)?.stop());

  const open = async (path: string, token = TOKEN): Promise<Page> => {
    const { context, page } = await app.newVisitor();
    contexts.push(context);
    await page.goto(`${app.server.url}/#token=${token}`);
    await page.waitForSelector('h1');
    await app.go(page, path);
    return page;
  };
  const request = (method: string, path: string, body?: object, token = TOKEN): Promise<Response> =>
    fetch(app.server.url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const ask = (model: string, token = TOKEN): Promise<Response> =>
    request('POST', '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hello' }] }, token);
  const tokenOf = async (userId: string): Promise<string> =>
    (await app.server.host.apiTokens.tokens.issue({ userId, name: 'a test', scopes: ['generate', 'read'] })).token;
  const keysSent = (): readonly string[] =>
    vendor.requests.map(({ headers }) => (headers.authorization ?? '').replace('Bearer ', ''));

  it('adds a provider with a key, shows what is wrong at the field, tests it, and runs with it', async () => {
    const page = await open('/providers');
    await page.getByRole('button', { name: 'Add provider' }).click();
    const form = page.getByRole('dialog', { name: 'Add provider' });
    await form.getByLabel('Vendor').selectOption('openai_compatible');
    await form.getByLabel('Id', { exact: true }).fill('team');
    await form.getByLabel('API key').fill(KEY);
    await form.getByLabel('Base URL').fill('nonsense');
    const submit = form.getByRole('button', { name: 'Add provider' });
    await submit.click();
    await form.getByText('"name" is required.').or(form.getByText('"name" must not be blank.')).waitFor();
    expect(await form.getByLabel('Name').getAttribute('aria-invalid')).to.equal('true');
    await form.getByLabel('Name').fill('Team account');
    await submit.click();
    await form.getByText('"baseURL" must be an https URL.').waitFor();
    await form.getByLabel('Base URL').fill(`${vendor.url}/v1`);
    await form.getByLabel('Default model').fill('house-model');
    await submit.click();
    const card = page.locator('[data-provider="team"]');
    await card.getByText('Not called yet').waitFor();
    await card.getByRole('button', { name: 'Test: Team account' }).click();
    await card.getByText('The vendor accepted the credential').waitFor();
    await card.getByText('Working').waitFor();
    expect((await ask('team')).status).to.equal(200);
    expect(new Set(keysSent())).to.deep.equal(new Set([KEY]));
    expect(await page.content()).not.to.include(KEY);
    // The form offers what the vendor lists, and never the key.
    await card.getByRole('button', { name: 'Edit: Team account' }).click();
    const edit = page.getByRole('dialog', { name: 'Edit Team account' });
    await edit.locator('option[value="gpt-5-mini"]').waitFor({ state: 'attached' });
    expect(await edit.getByLabel('API key').inputValue()).to.equal('');
    await edit.getByLabel('Name').fill('The team');
    await edit.getByRole('button', { name: 'Save' }).click();
    await card.getByRole('heading', { name: 'The team' }).waitFor();
    expect((await ask('team')).status, 'the key stays').to.equal(200);
    for (const [text, stored] of [
      ['web_search\nmcp', ['web_search', 'mcp']],
      ['none', []],
      ['', undefined],
    ] as const) {
      await card.getByRole('button', { name: 'Edit: The team' }).click();
      const again = page.getByRole('dialog', { name: 'Edit The team' });
      await again.getByLabel('Hosted tools').fill(text);
      await again.getByRole('button', { name: 'Save' }).click();
      await again.waitFor({ state: 'detached' });
      expect((await app.server.host.providers.service.find('team'))?.hostedTools, text).to.deep.equal(stored);
      await card.getByRole('button', { name: 'Edit: The team' }).click();
      expect(await again.getByLabel('Hosted tools').inputValue()).to.equal(text);
      await again.getByRole('button', { name: 'Cancel' }).click();
    }
  });

  it('shows a failure until a call succeeds, and is never signed out by a rejected key', async () => {
    const page = await open('/providers');
    const card = page.locator('[data-provider="team"]');
    refused.add(KEY);
    await card.getByRole('button', { name: /^Test:/ }).click();
    await card.getByText('The vendor of "The team" rejected the credential.').waitFor();
    await card.getByText('Last call failed').waitFor();
    refused.delete(KEY);
    await card.getByRole('button', { name: /^Test:/ }).click();
    await card.getByText('Working').waitFor();
  });

  it('brings a user’s own key to the end: entered, tested, used, removed', async () => {
    const admin = { userId: 'local', isAdmin: true, source: 'http' } as const;
    await app.server.host.operations['ai.providers.create'](admin, {
      providerId: 'own',
      name: 'Own keys',
      vendor: 'openai_compatible',
      baseURL: `${vendor.url}/v1`,
      defaultModel: 'house-model',
      auth: 'user_api_key',
      access: 'everyone',
    });
    const token = await tokenOf('ann');
    const page = await open('/providers', token);
    const card = page.locator('[data-provider="own"]');
    await card.getByText('No key').waitFor();
    expect(await page.getByRole('button', { name: 'Add provider' }).count(), 'for admins').to.equal(0);
    expect(await card.getByRole('button', { name: /^(Edit|Delete|Disable):/ }).count()).to.equal(0);
    await card.getByRole('button', { name: 'Enter key: Own keys' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your key for Own keys' });
    await dialog.getByLabel('API key').fill(OWN_KEY);
    await dialog.getByRole('button', { name: 'Save key' }).click();
    await card.getByRole('button', { name: 'Test: Own keys' }).click();
    await card.getByText('The vendor accepted the credential').waitFor();
    expect((await ask('own', token)).status).to.equal(200);
    expect(keysSent().at(-1)).to.equal(OWN_KEY);
    expect((await ask('own', await tokenOf('bob'))).status, 'not for others').not.to.equal(200);
    expect(await page.content()).not.to.include(OWN_KEY);
    await card.getByRole('button', { name: 'Replace key: Own keys' }).click();
    expect(await dialog.getByLabel('API key').inputValue()).to.equal('');
    await dialog.getByRole('button', { name: 'Remove stored key' }).click();
    await card.getByText('No key').waitFor();
    expect((await ask('own', token)).status).not.to.equal(200);
  });

  it('deletes a provider after it has named what stops working', async () => {
    const page = await open('/providers');
    const card = page.locator('[data-provider="team"]');
    await card.getByRole('button', { name: /^Delete:/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Delete The team?' });
    await dialog.getByText('The stored API key is deleted.').waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await card.getByRole('button', { name: /^Delete:/ }).click();
    await dialog.getByRole('button', { name: 'Delete provider' }).click();
    await card.waitFor({ state: 'detached' });
    expect((await ask('team')).status).to.equal(404);
    // Providers of the settings cannot be edited.
    const configured = page.locator('[data-provider="openai"]');
    await configured.getByText('In the server’s settings').waitFor();
    expect(await configured.getByRole('button', { name: /^(Edit|Delete):/ }).count()).to.equal(0);
  });

  it('creates a token that is shown once and works over HTTP, and revokes it', async () => {
    const page = await open('/tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Create token' }).click();
    await dialog.getByText('"name" must not be blank.').waitFor();
    await dialog.getByLabel('Name').fill('nightly');
    await dialog.getByLabel('Owner').fill('carl');
    await dialog.getByRole('button', { name: 'Create token' }).click();
    const token = (await dialog.locator('[data-new-token]').textContent()) ?? '';
    expect((await request('GET', '/v1/models', undefined, token)).status).to.equal(200);
    await dialog.getByRole('button', { name: 'Done' }).click();
    const row = page.locator('[data-token]', { hasText: 'nightly' });
    await row.getByText('carl').waitFor();
    expect(await page.content()).not.to.include(token);
    await page.reload();
    await row.getByText(/last used (just now|\d+ s ago)/).waitFor();
    await row.getByRole('button', { name: 'Revoke token: nightly' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke token' }).click();
    await row.waitFor({ state: 'detached' });
    expect((await request('GET', '/v1/models', undefined, token)).status).to.equal(401);
  });

  it('limits a token, shows what it used, changes its limits and rotates it', async () => {
    const page = await open('/tokens');
    await page.getByRole('button', { name: 'New token' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('ci');
    await dialog.getByText('Limits', { exact: true }).click();
    await dialog.getByRole('textbox', { name: 'Models' }).fill('openai/gpt-5-mini, claude-*');
    await dialog.getByRole('textbox', { name: 'Tools' }).fill('look_up, hosted:web_search');
    await dialog.getByLabel('Team').fill('red');
    const day = dialog.getByRole('group', { name: 'A day (UTC)' });
    await day.getByLabel('Model calls').fill('many');
    await dialog.getByRole('button', { name: 'Create token' }).click();
    await dialog.getByText(/"budgets.day.calls" must be/).waitFor();
    await day.getByLabel('Model calls').fill('2');
    await dialog.getByLabel('Requests a minute').fill('60');
    await dialog.getByRole('button', { name: 'Create token' }).click();
    const token = (await dialog.locator('[data-new-token]').textContent()) ?? '';
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect((await ask('openai/gpt-5-mini', token)).status).to.equal(200);
    expect((await ask('openai/gpt-5', token)).status).to.equal(403);
    const row = page.locator('[data-token]', { hasText: 'openai/gpt-5-mini, claude-*' });
    await row.getByText('red').waitFor();
    await row.getByText('60 requests a minute').waitFor();
    await row.getByText('Tools: look_up, hosted:web_search').waitFor();
    await row.getByText('1 of 2 calls').waitFor();

    await row.getByRole('button', { name: 'Change token: ci' }).click();
    const save = dialog.getByRole('button', { name: 'Save token' });
    expect(await save.isDisabled(), 'nothing has changed').to.equal(true);
    await dialog.getByRole('textbox', { name: 'Models' }).fill('');
    expect(await dialog.getByRole('textbox', { name: 'Tools' }).inputValue()).to.equal('look_up, hosted:web_search');
    await dialog.getByRole('textbox', { name: 'Tools' }).fill('none');
    await day.getByLabel('Model calls').fill('1');
    await save.click();
    await dialog.waitFor({ state: 'detached' });
    const changed = page.locator('[data-token]', { hasText: '1 of 1 calls' });
    await changed.getByText('used up').waitFor();
    await changed.getByText('Tools: none').waitFor();
    const { tokens } = (await (await request('GET', '/tokens')).json()) as { tokens: readonly { tools?: unknown }[] };
    expect(tokens.filter(({ tools }) => tools !== undefined).map(({ tools }) => tools)).to.deep.equal([[]]);
    expect((await ask('openai/gpt-5-mini', token)).status).to.equal(402);

    await page.setViewportSize({ width: 360, height: 740 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(360);
    await changed.getByRole('button', { name: 'Rotate token: ci' }).click();
    await dialog.getByRole('button', { name: 'Rotate token' }).click();
    const rotated = (await dialog.locator('[data-new-token]').textContent()) ?? '';
    await dialog.getByRole('button', { name: 'Done' }).click();
    expect((await request('GET', '/v1/models', undefined, token)).status).to.equal(401);
    expect((await request('GET', '/v1/models', undefined, rotated)).status).to.equal(200);
    expect((await ask('openai/gpt-5-mini', rotated)).status, 'the usage stays').to.equal(402);
    await page.setViewportSize({ width: 1280, height: 800 });

    await app.go(page, '/budgets');
    const team = page.getByRole('region', { name: 'Teams of tokens' });
    await team.getByRole('button', { name: 'Set limits: red' }).click();
    await day.getByLabel('Model calls').fill('4');
    await dialog.getByRole('button', { name: 'Save limits' }).click();
    await team.getByText('1 of 4 calls').waitFor();
    await team.getByRole('button', { name: 'Remove limits: red' }).click();
    await dialog.getByRole('button', { name: 'Remove limits' }).click();
    await team.getByRole('button', { name: 'Set limits: red' }).waitFor();
  });

  it('sets a budget that is then hit, and removes it', async () => {
    const page = await open('/budgets');
    await page.getByRole('button', { name: 'Set a user’s budget' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('User id').fill('local');
    const calls = dialog.getByRole('group', { name: 'A day (UTC)' }).getByLabel('Model calls');
    await calls.fill('many');
    await dialog.getByRole('button', { name: 'Save limits' }).click();
    await dialog.getByText('"limits.day.calls" must be an integer', { exact: false }).waitFor();
    const { usage } = await app.server.host.operations['ai.budgets.list'](LOCAL, { search: 'local' }).then(
      ({ budgets }) => budgets[0]!,
    );
    await calls.fill(String(usage.day.used.calls + 1));
    await dialog.getByRole('button', { name: 'Save limits' }).click();
    const row = page.locator('[data-user="local"]');
    await row.getByText('Set here by local').waitFor();
    const stored = async (): Promise<object | undefined> =>
      (await app.server.host.operations['ai.budgets.list'](LOCAL, { search: 'local' })).budgets[0]?.limits;
    expect(await stored()).to.deep.equal({ day: { calls: usage.day.used.calls + 1 } });
    expect((await ask('openai')).status).to.equal(200);
    const refusal = await ask('openai');
    expect(refusal.status).to.equal(402);
    await app.server.host.requestLog.flush();
    const { requests } = await app.server.host.operations['ai.requests.list'](LOCAL, { limit: 2 });
    expect(requests.map(({ state, status }) => [state, status])).to.deep.equal([
      ['failed', 402],
      ['completed', undefined],
    ]);
    await row.getByText('used up').waitFor();
    // The playground states it, too.
    const run = await app.startRun('Hello again');
    await until(() => app.events.some((event: AgentEvent) => event.executionId === run && event.type === 'run:failed'));
    await app.go(page, `/runs/${run}`);
    await page
      .getByText(/budget/i)
      .first()
      .waitFor();
    await app.go(page, '/budgets');
    await row.getByRole('button', { name: 'Remove limits: local' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove limits' }).click();
    await row.getByText('No limits', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Set a user’s budget' }).click();
    const save = page.getByRole('button', { name: 'Save limits' });
    expect(await save.isDisabled(), 'without a user').to.equal(true);
    await page.getByLabel('User id').fill('bob');
    expect(await save.isDisabled(), 'with a user').to.equal(false);
    expect(await stored()).to.deep.equal({});
    expect((await ask('openai')).status).to.equal(200);
  });

  it('pauses the queue, runs a queued run now, and resumes', async () => {
    const page = await open('/queue');
    await page.getByRole('button', { name: 'Pause queue' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Pause queue' }).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    const queue = async (requestId: string): Promise<string> =>
      (
        await app.server.host.module.useCases.queueRun.execute(
          { userId: 'local', source: 'job' },
          { requestId, providerId: 'openai', input: `Report ${requestId}`, tools: [] },
        )
      ).executionId;
    const [first, second] = [await queue('one'), await queue('two')];
    await page.locator(`[data-queued="${second}"]`).getByRole('button', { name: 'Run now: Report two' }).click();
    await app.waitForEvent(second, 'run:completed');
    await page.locator(`[data-queued="${second}"]`).waitFor({ state: 'detached' });
    await page.locator(`[data-queued="${first}"]`).getByText('Held back by the pause').waitFor();
    await page.getByRole('button', { name: 'Resume queue' }).click();
    await app.waitForEvent(first, 'run:completed');
    await page.getByText('Taking runs').waitFor();
    expect(app.consoleErrors.filter((text) => !/status of (400|401|402|403|404|422)/.test(text))).to.deep.equal([]);
  });

  it('runs a failed run again from the queue', async () => {
    const { runs } = app.server.host.module;
    const plan = { ...runRequest('failed-once').plan, tools: [], options: { model: 'openai' } };
    const lease = await runs.create(runRequest('failed-once', { userId: 'local', plan }), 'running', 'gone');
    const error = { code: 'overloaded', message: 'Try later.', retryable: true } as const;
    await runs.saveRun(lease, { state: 'failed', error, endedAt: Date.now() });
    const page = await open('/queue');
    const entry = page.locator('[data-entry="failed-once"]');
    await entry.getByText('Try later.').waitFor();
    await entry.getByRole('button', { name: 'Run again' }).press('Enter');
    await page.getByText('Started again:').waitFor();
    await entry.waitFor({ state: 'detached' });
    await until(() =>
      app.events.some((event) => event.type === 'run:completed' && event.executionId !== 'failed-once'),
    );
    await page.getByText('No run has failed for a reason that may have passed.').waitFor();
  });

  it('runs a scheduled task now, also while it is paused', async () => {
    let runs = 0;
    await app.server.host.module.jobs.schedule({ name: 'nightly', cron: '0 3 1 1 *' }, async () => {
      await Promise.resolve();
      runs += 1;
    });
    const page = await open('/queue');
    const row = page.locator('[data-schedule="nightly"]');
    await row.getByRole('button', { name: 'Run now: nightly' }).click();
    await until(() => runs === 1);
    await row.getByRole('button', { name: 'Pause: nightly' }).click();
    await row.getByText('its times are skipped', { exact: false }).waitFor();
    await row.getByRole('button', { name: 'Run now: nightly' }).click();
    await until(() => runs === 2);
    await row.getByRole('button', { name: 'Resume: nightly' }).click();
    await row.getByText(/^next /).waitFor();
  });
});

const LOCAL = { userId: 'local', isAdmin: true, source: 'http' } as const;

const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'house-model',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 },
};
