/** The log of model calls in Chromium: filters, failed and refused calls, bodies, and the way to and from a run. */
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import type { RequestDetail, RequestPage } from '../../imports/business/requestLog/domain/RequestReader';
import { startSimulator } from '../../imports/simulator/startSimulator';
import type { Simulator } from '../../imports/simulator/Simulator';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';

const ADMIN = { userId: 'local', isAdmin: true, source: 'http' } as const;
const QUESTION = 'Which colour has cobalt?';
/** The simulator repeats it, so it is no canary. */
const SECRET = 'sk-0123456789abcdefghij';
const PATHS = { responses: '/v1/responses', chat: '/v1/chat/completions', messages: '/v1/messages' } as const;

describe('the log of requests in Chromium', () => {
  let app: DashboardBrowser;
  let vendor: Simulator;
  const contexts: BrowserContext[] = [];
  const setUp = async (started: DashboardBrowser): Promise<void> => {
    app = started;
    vendor = await startSimulator();
    await app.server.host.operations['ai.providers.create'](ADMIN, {
      providerId: 'team',
      name: 'Team',
      vendor: 'openai',
      baseURL: vendor.baseURL('openai'),
      auth: { kind: 'api_key' },
      apiKey: 'sk-of-the-team',
      access: 'everyone',
    });
  };
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(app.consoleErrors.splice(0)).to.deep.equal([]);
  });

  const open = async (path: string): Promise<Page> => {
    const { context, page } = await app.openSignedIn(path);
    contexts.push(context);
    return page;
  };
  const row = (page: Page, id: string) => page.locator(`[data-request="${id}"]`);
  const ids = (page: Page): Promise<(string | null)[]> =>
    page.locator('[data-request]').evaluateAll((rows) => rows.map((each) => each.getAttribute('data-request')));
  const logged = async (filter: object = {}): Promise<RequestPage> => {
    await app.server.host.requestLog.flush();
    return app.server.host.operations['ai.requests.list'](ADMIN, filter);
  };
  const detailOf = (requestId: string): Promise<RequestDetail> =>
    app.server.host.operations['ai.requests.get'](ADMIN, { requestId });

  /** Calls the gateway. @returns the status, and the id of the log's entry */
  async function ask(api: keyof typeof PATHS, model = 'team', content = QUESTION): Promise<[number, string]> {
    const messages = [{ role: 'user', content }];
    const body = api === 'responses' ? { input: content } : { messages, max_tokens: 100 };
    const response = await fetch(app.server.url + PATHS[api], {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, ...body }),
    });
    await response.text();
    const { requests } = await logged({ limit: 1 });
    return [response.status, requests[0]?._id ?? ''];
  }
  const overloaded = { status: 503, body: { error: { message: 'Busy.' } }, headers: { 'retry-after': '0' } };
  const refusal = { status: 400, body: { error: { message: 'Unknown parameter.', type: 'invalid_request_error' } } };

  describe('without bodies', () => {
    withDashboard(setUp, { env: { AI_ALLOW_PRIVATE_HOSTS: 'true' } });
    after(() => (vendor as Simulator | undefined)?.close());

    it('shows calls as they end, and filters them by state, API, source and text, in the address', async () => {
      const page = await open('/requests');
      await page.getByText('No requests yet').waitFor();
      const [, answered] = await ask('chat');
      await row(page, answered).waitFor();
      const [, message] = await ask('messages');
      vendor.enqueue(refusal);
      const [, failed] = await ask('responses');
      const run = await app.startRun('Hello', [], 'team');
      await app.waitForEvent(run, 'run:completed');
      const ofRun = (await logged({ executionId: run })).requests[0]?._id ?? '';
      for (const id of [message, failed, ofRun]) await row(page, id).waitFor();
      expect(await ids(page), 'newest first').to.deep.equal([ofRun, failed, message, answered]);

      const shows = async (...expected: readonly string[]): Promise<void> => {
        await page.waitForFunction(
          (wanted) =>
            document.querySelector('[aria-busy="true"]') === null &&
            [...document.querySelectorAll('[data-request]')].map((each) => each.getAttribute('data-request')).join() ===
              wanted,
          expected.join(),
        );
        await page.locator('.paging [role="status"]').getByText(`1–${expected.length} of ${expected.length}`).waitFor();
      };
      await page.getByRole('combobox', { name: 'State' }).selectOption({ label: 'Failed' });
      await shows(failed);
      await page.getByRole('button', { name: 'Remove filter: Failed' }).click();
      await page.getByRole('combobox', { name: 'API' }).selectOption({ label: 'Messages' });
      await shows(message);
      await page.getByRole('combobox', { name: 'API' }).selectOption('');
      await page.getByRole('button', { name: 'More filters' }).click();
      await page.getByRole('combobox', { name: 'Source' }).selectOption({ label: 'Runs' });
      await shows(ofRun);
      await page.getByRole('button', { name: 'Clear all' }).click();
      await page.getByRole('searchbox').fill('unknown parameter');
      await shows(failed);
      expect(page.url()).to.include('search=unknown+parameter');
      await page.reload();
      await shows(failed);
      await page.getByRole('link', { name: 'Gateway', exact: true }).click();
      await shows(failed, message, answered);
      await page.getByRole('button', { name: 'Sort by tokens' }).click();
      const { requests } = await logged({ source: 'gateway', sort: 'tokens' });
      await shows(...requests.map(({ _id }) => _id));
    });

    it('shows the way of a failed call through its attempts', async () => {
      vendor.enqueue(overloaded, refusal);
      const [status, id] = await ask('responses');
      expect(status).to.equal(400);
      const { request } = await detailOf(id);
      expect(request.attempts).to.have.length(1);
      expect(request.attempts[0]).to.include({ providerId: 'team', status: 503 });
      const page = await open('/requests?state=failed');
      await row(page, id).getByText('1 failed attempt').waitFor();
      await row(page, id).getByRole('link').click();
      const [first, last] = [page.locator('.request-route li').nth(0), page.locator('.request-route li').nth(1)];
      await first.getByText(`team failed: ${request.attempts[0]?.reason ?? ''} (HTTP 503)`).waitFor();
      expect(await first.textContent()).to.include('Tried again after');
      expect(await last.getAttribute('data-outcome')).to.equal('failed');
      expect(await last.textContent()).to.include(`team: ${request.error?.code ?? ''}`);
      expect(await page.locator('.call-error').textContent()).to.include('Unknown parameter.');
      expect(await page.locator('.request-facts').textContent()).to.include('failed, HTTP 400');
    });

    it('shows calls that were refused before any provider was called', async () => {
      const called = vendor.requests.length;
      const [status, id] = await ask('chat', 'nowhere/model');
      expect(status).to.equal(404);
      expect(vendor.requests).to.have.length(called);
      const page = await open(`/requests/${id}`);
      await page.getByRole('heading', { level: 1, name: 'nowhere/model' }).waitFor();
      expect(await page.locator('.request-facts').textContent())
        .to.include('Answered bynobody')
        .and.include('HTTP 404')
        .and.include('None, no tokens were reported');

      const { 'ai.budgets.set': set, 'ai.budgets.remove': remove } = app.server.host.operations;
      await set(ADMIN, { userId: 'local', limits: { day: { calls: 0 } } });
      const [overBudget, refused] = await ask('responses');
      await remove(ADMIN, { userId: 'local' });
      expect(overBudget).to.equal(402);
      expect(vendor.requests).to.have.length(called);
      await app.go(page, `/requests/${refused}`);
      const { request } = await detailOf(refused);
      expect(request).to.include({ state: 'failed', status: 402 });
      await page
        .locator('.call-error')
        .getByText(request.error?.message ?? 'no error', { exact: false })
        .waitFor();
    });

    it('has no bodies, and says how to have them', async () => {
      const [, id] = await ask('chat');
      const { bodies, logsBodies } = await detailOf(id);
      expect({ bodies, logsBodies }).to.deep.equal({ bodies: undefined, logsBodies: false });
      const page = await open(`/requests/${id}`);
      await page
        .getByText('Bodies are not logged. To log those of new requests, set REQUEST_LOG_BODIES to on.')
        .waitFor();
      expect(await page.content()).to.not.include(QUESTION);
    });

    it('leads from a run to the request of its turn, and back', async () => {
      const run = await app.startRun(QUESTION, [], 'team');
      await app.waitForEvent(run, 'run:completed');
      const { requests } = await logged({ executionId: run });
      const page = await open(`/runs/${run}`);
      await page.locator('#turn-1 summary').click();
      await page.locator('#turn-1').getByRole('link', { name: 'Open the request' }).click();
      await page.waitForURL(`**/requests/${requests[0]?._id ?? ''}`);
      await page.getByRole('link', { name: 'Turn 1' }).click();
      await page.waitForURL(`**/runs/${run}`);
      await page.locator('.run-page[data-state="completed"]').waitFor();
    });
  });

  describe('with bodies', () => {
    withDashboard(setUp, { env: { AI_ALLOW_PRIVATE_HOSTS: 'true', REQUEST_LOG_BODIES: 'on' } });
    after(() => (vendor as Simulator | undefined)?.close());

    it('shows what was sent and received, without secrets', async () => {
      const [, id] = await ask('chat', 'team', `${QUESTION} My key is ${SECRET}.`);
      const { body } = vendor.requests.at(-1) ?? {};
      expect(JSON.stringify(body), 'the vendor gets everything').to.include(SECRET);
      const { bodies } = await detailOf(id);
      expect(bodies?.request).to.include(QUESTION).and.not.include(SECRET);
      const page = await open(`/requests/${id}`);
      const card = (name: string) =>
        page.locator('section.card', { has: page.getByRole('heading', { name, exact: true }) });
      await card('Request').getByText(QUESTION).waitFor();
      await card('Response').getByText('completed').first().waitFor();
      expect(await page.content()).to.not.include(SECRET);
      // The same on the page of a run.
      const run = await app.startRun(`${QUESTION} My key is ${SECRET}.`, [], 'team');
      await app.waitForEvent(run, 'run:completed');
      await logged();
      await app.go(page, `/runs/${run}`);
      await page.locator('#turn-1 summary').click();
      await page.getByRole('button', { name: 'Show the raw request and response' }).click();
      await page.locator('#turn-1').getByText(QUESTION).first().waitFor();
      expect(await page.locator('#turn-1').textContent()).to.not.include(SECRET);
    });
  });
});
