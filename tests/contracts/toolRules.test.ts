/** The operator's rules on tools: whom they admit, at every entrance, and in runs that go on after a rule was made. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { startServer } from '../../imports/host/node/startServer';
import type { RunningServer } from '../../imports/host/node/startServer';
import { failure } from '../support/failure';
import { startMeteorApp } from '../support/meteorApp';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

const ROOT: Actor = { userId: 'local', isAdmin: true, source: 'http' };
const RULES = JSON.stringify([
  { tools: ['erase*'], users: ['ann'] },
  { tools: ['erase_page'], teams: ['editors'] },
  { tools: ['hosted:web_search'], users: ['ann'] },
]);
const NO_ERASING = 'You may not use the tool "erase_site" (AI_TOOL_RULES[0]).';
const NO_SEARCH = 'You may not use the tool "hosted:web_search" (AI_TOOL_RULES[2]).';

/** @param done receives what the tools have done */
async function start(
  directory: string,
  done: string[],
  env: Readonly<Record<string, string>> = {},
): Promise<RunningServer> {
  const tools = new ToolRegistry();
  for (const name of ['erase_site', 'erase_page', 'look_up'])
    tools.register({
      name,
      description: name,
      needsApproval: name === 'erase_site',
      execute: () => {
        done.push(name);
        return 'done';
      },
    });
  return startServer({
    env: { PORT: '0', DATA_DIR: directory, AI_ALLOW_PRIVATE_HOSTS: 'true', ...env },
    tools,
    dashboard: false,
  });
}

async function createProvider(
  server: RunningServer,
  simulator: Simulator,
  vendor: 'openai' | 'anthropic' | 'google',
): Promise<void> {
  await server.host.operations['ai.providers.create'](ROOT, {
    providerId: `my-${vendor}`,
    name: vendor,
    vendor,
    baseURL: simulator.baseURL(vendor),
    auth: { kind: 'api_key' },
    apiKey: 'sk-of-all',
    access: 'everyone',
  });
}

function issue(
  { host }: RunningServer,
  userId: string,
  fields: object = {},
): Promise<{ readonly id: string; readonly token: string }> {
  return host.apiTokens.tokens.issue({ userId, name: 'a test', scopes: ['generate', 'read'], ...fields });
}

async function post(
  { url }: RunningServer,
  token: string,
  path: string,
  body: object,
): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

describe(
  'rules on tools',
  inFlowingTime(() => {
    let directory: string;
    let simulator: Simulator;
    let server: RunningServer;
    before(async () => {
      directory = await mkdtemp(join(tmpdir(), 'bolide-rules-'));
      simulator = await startSimulator();
      server = await start(directory, [], { AI_TOOL_RULES: RULES });
      for (const vendor of ['openai', 'anthropic', 'google'] as const) await createProvider(server, simulator, vendor);
    });
    after(async () => {
      await server.close();
      await simulator.close();
      await rm(directory, { recursive: true });
    });

    const ask = async (
      userId: string,
      path: string,
      body: object,
      fields?: object,
    ): Promise<{ readonly status: number; readonly text: string }> =>
      post(server, (await issue(server, userId, fields)).token, path, body);
    let count = 0;
    const requestId = (): string => `request-${(count += 1)}`;

    const erase = (): JsonObject => ({
      requestId: requestId(),
      providerId: 'my-openai',
      input: 'Hi',
      tools: ['look_up', 'erase_site'],
    });
    const aiSdk = (fields: object = {}): object => ({
      id: requestId(),
      model: 'my-openai',
      messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi' }] }],
      ...fields,
    });
    const agUi = (options: object = {}): object => ({
      threadId: requestId(),
      runId: requestId(),
      messages: [{ id: 'm', role: 'user', content: 'Hi' }],
      forwardedProps: { bolide: { model: 'my-openai', ...options } },
    });
    // Runs go on after they were accepted, and send requests.
    afterEach(() => until(() => server.host.module.loop.local.size === 0));

    for (const [path, body, status] of [
      ['/api/runs', erase, 403],
      ['/api/chat', () => aiSdk({ tools: ['erase_site'] }), 403],
      // A stream of events, in which the protocol has its errors.
      ['/api/ag-ui', () => agUi({ tools: ['erase_site'] }), 200],
    ] as const)
      it(`are kept by POST ${path}, which names the tool and the rule`, async () => {
        const before = simulator.requests.length;
        const refused = await ask('bob', path, body());
        expect(refused.status).to.equal(status);
        expect(refused.text.replaceAll('\\"', '"')).to.include(NO_ERASING);
        expect(simulator.requests, 'nothing is sent').to.have.length(before);
        const permitted = await ask('ann', path, body());
        expect(permitted.status).to.be.within(200, 202);
        expect(permitted.text).not.to.include('AI_TOOL_RULES');
      });

    it('are kept by the operations of runs, and admit admins and the app’s own code', async () => {
      const { operations } = server.host;
      for (const name of ['ai.llm.generateWithTools', 'ai.runs.start'] as const) {
        expect(await failure(operations[name]({ userId: 'bob', source: 'method' }, erase()))).to.include({
          code: 'permission-denied',
          message: NO_ERASING,
        });
        await operations[name](ROOT, erase());
      }
      const { useCases } = server.host.module;
      await useCases.agenticExecution.execute({ userId: 'ann', source: 'job' }, {
        ...erase(),
        maxIterations: 1,
      } as never);
    });

    const MESSAGES = [{ role: 'user', content: 'Hi' }];
    const SEARCH = { type: 'web_search_20250305', name: 'web_search' };
    const HOSTED: Readonly<Record<string, JsonObject>> = {
      '/v1/responses': { model: 'my-openai', input: 'Hi', tools: [{ type: 'web_search' }] },
      '/v1/messages': { model: 'my-anthropic', max_tokens: 9, messages: MESSAGES, tools: [SEARCH] },
      '/v1/messages/batches': {
        requests: [
          {
            custom_id: 'a',
            params: { model: 'my-anthropic/claude-sonnet-4-5', max_tokens: 9, messages: MESSAGES, tools: [SEARCH] },
          },
        ],
      },
      '/v1beta/models/my-google:generateContent': {
        contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
        tools: [{ googleSearch: {} }],
      },
    };
    for (const [path, body] of Object.entries(HOSTED))
      it(`on tools of vendors are kept by ${path}`, async () => {
        const before = simulator.requests.length;
        const refused = await ask('bob', path, body);
        expect(refused.status).to.equal(403);
        expect(refused.text).to.include(NO_SEARCH.replaceAll('"', '\\"'));
        expect(simulator.requests, 'nothing is sent').to.have.length(before);
        expect((await ask('ann', path, body)).status).to.equal(200);
      });

    it('leave out of what is offered by default, and of lists, what the user may not use', async () => {
      const entrances = {
        '/api/chat': aiSdk(),
        '/api/ag-ui': agUi(),
        '/api/input': { conversation: 'c', message: 'Hi', model: 'my-openai' },
      };
      for (const [path, body] of Object.entries(entrances)) {
        const before = simulator.requests.length;
        expect((await ask('bob', path, body)).status, path).to.be.within(200, 202);
        await until(() => simulator.requests.length > before);
        const { tools } = simulator.requests[before]?.body as { tools: readonly { name: string }[] };
        expect(
          tools.map(({ name }) => name),
          path,
        ).to.deep.equal(['look_up']);
      }
      const listed = async (actor: Actor): Promise<readonly string[]> =>
        (await server.host.operations['ai.tools.list'](actor)).map(({ name }) => name);
      expect(await listed({ userId: 'bob', source: 'http' })).to.deep.equal(['look_up']);
      expect(await listed({ userId: 'ann', source: 'http' })).to.have.length(3);
      expect(await listed(ROOT)).to.have.length(3);
    });

    it('admit the team of the API token, by any rule on the tool', async () => {
      const body = { ...erase(), tools: ['erase_page'] };
      const refused = await ask('bob', '/api/runs', body);
      expect(refused.text).to.include('(AI_TOOL_RULES[0], AI_TOOL_RULES[1])');
      expect((await ask('bob', '/api/runs', body, { team: 'editors' })).status).to.equal(202);
    });
  }),
);

describe(
  'a right to a tool that is withdrawn while a call waits for an approval',
  inFlowingTime(() => {
    let simulator: Simulator;
    let directory: string;
    let done: string[];
    let server: RunningServer;
    beforeEach(async () => {
      simulator = await startSimulator();
      directory = await mkdtemp(join(tmpdir(), 'bolide-rules-'));
      done = [];
      server = await start(directory, done);
      await createProvider(server, simulator, 'openai');
    });
    afterEach(async () => {
      await server.close();
      await simulator.close();
      await rm(directory, { recursive: true });
    });

    /** Starts a run with a call that waits. */
    async function ask(fields: object = {}) {
      const { id, token } = await issue(server, 'bob', fields);
      simulator.enqueue({ calls: [{ name: 'erase_site', arguments: {} }] }, { text: 'It cannot be erased.' });
      const request = { requestId: 'a', providerId: 'my-openai', input: 'Hi', tools: ['erase_site'] };
      const { executionId } = JSON.parse((await post(server, token, '/api/runs', request)).text) as {
        executionId: string;
      };
      const callOf = async () => (await server.host.module.runs.load(executionId))?.calls[0];
      await until(async () => (await callOf())?.state === 'awaiting_approval');
      return { executionId, callOf, tokenId: id };
    }

    it('ends the call of a run that another process goes on with', async () => {
      const { callOf } = await ask();
      await server.close();
      server = await start(directory, done, { AI_TOOL_RULES: RULES });
      await until(async () => (await callOf())?.state === 'failed');
      expect(await callOf()).to.deep.include({ error: { failure: 'rejected', message: NO_ERASING } });
      expect(done).to.deep.equal([]);
    });

    it('ends the call when it is approved', async () => {
      const { executionId, callOf, tokenId } = await ask({ tools: ['erase_site'] });
      await server.host.operations['ai.tokens.update'](ROOT, { id: tokenId, userId: 'bob', tools: [] });
      await server.host.module.loop.approve(executionId, (await callOf())?.id ?? '');
      await until(async () => (await callOf())?.state === 'failed');
      expect(await callOf()).to.deep.include({
        error: { failure: 'rejected', message: 'Your API token may not use the tool "erase_site".' },
      });
      expect(done).to.deep.equal([]);
    });
  }),
);

describe(
  'rules on tools under Meteor',
  inFlowingTime(() => {
    it('come from the settings, as a list or as JSON, and are kept by methods', async () => {
      for (const rules of [[{ tools: ['*'], roles: ['staff'] }], '[{"tools":["*"],"roles":["staff"]}]']) {
        const app = await startMeteorApp({ AI_TOOL_RULES: rules });
        try {
          const [tool] = app.host.module.tools.tools;
          const request = { requestId: 'a', providerId: 'shared', input: 'Hi', tools: [tool?.name] };
          const refused = await failure(app.call('bob', 'ai.llm.generateWithTools', request));
          expect(String(refused)).to.include(`You may not use the tool "${tool?.name ?? ''}" (AI_TOOL_RULES[0]).`);
          await app.call('ann', 'ai.llm.generateWithTools', request);
        } finally {
          await app.stop();
        }
      }
    });
  }),
);
