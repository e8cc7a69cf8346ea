import { expect } from 'chai';
import { fieldsOf } from '../../../../imports/business/ai/domain/util/json';
import { mcp } from '../../../../imports/business/mcp/mcp';
import { ToolRegistry } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { CallToolResult } from '@modelcontextprotocol/client';
import { connect, REVISIONS, startOffering } from '../../../support/mcp/offeringServer';
import type { OfferingServer } from '../../../support/mcp/offeringServer';
import { requestWithTasks } from '../../../support/mcp/requestWithTasks';
import { until } from '../../../support/until';
import { suiteInVirtualTime } from '../../../support/suiteInVirtualTime';

const admin = { userId: 'local', isAdmin: true, source: 'http' } as const;

describe('/mcp', () => {
  const itInTime = suiteInVirtualTime();
  let server: OfferingServer;

  before(async () => {
    server = await startOffering();
  });

  after(() => server.close());

  const post = (headers: Readonly<Record<string, string>>, path = '/mcp'): Promise<Response> =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    });
  const tokenOf = async (scopes: readonly string[]): Promise<string> => {
    return (await server.host.operations['ai.tokens.create'](admin, { name: 'mcp', userId: 'ann', scopes })).token;
  };

  const request = (method: string, params: Record<string, unknown>, token = server.token): Promise<unknown> =>
    requestWithTasks({ url: server.url, token }, method, params);
  const requestTask = (method: string, taskId: string, token?: string): Promise<unknown> =>
    request(method, { taskId }, token);

  for (const revision of REVISIONS) {
    itInTime(`lists and calls tools in the revision ${revision}`, async () => {
      const client = await connect(server, { revision });
      expect(client.getNegotiatedProtocolVersion()).to.equal(revision);
      const { tools } = await client.listTools();
      const names = tools.map(({ name }) => name);
      expect(names).to.deep.equal([
        'start_run',
        'get_run',
        'send_to_run',
        'cancel_run',
        'add',
        'fail',
        'send',
        'steps',
        'wait',
      ]);
      expect(tools.find(({ name }) => name === 'add')).to.deep.include({
        description: 'Adds two numbers.',
        annotations: { readOnlyHint: true, idempotentHint: true },
      });
      expect(await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } })).to.deep.include({
        content: [{ type: 'text', text: '{"sum":5}' }],
        structuredContent: { sum: 5 },
      });
      expect(textOf(await client.callTool({ name: 'fail' }))).to.equal('error: No such order.');
      expect(textOf(await client.callTool({ name: 'add', arguments: { a: 2 } }))).to.match(/^error: The arguments .*b/);
      for (const name of ['hidden', 'elsewhere', 'unknown'])
        expect(await failure(client.callTool({ name }))).to.include(`Unknown tool: ${name}`);
      await client.close();
    });

    itInTime(`reports progress, and aborts what is cancelled, in the revision ${revision}`, async () => {
      const client = await connect(server, { revision });
      const reports: unknown[] = [];
      await client.callTool({ name: 'steps' }, { onprogress: (progress) => reports.push(progress) });
      expect(reports).to.deep.equal([{ progress: 0.25, total: 1, message: 'a quarter' }]);
      const cancel = new AbortController();
      server.state.aborted.length = 0;
      const begun = new Promise<void>((resolve) => (server.state.onWait = resolve));
      const call = failure(client.callTool({ name: 'wait' }, { signal: cancel.signal }));
      await begun;
      cancel.abort();
      await call;
      await until(() => server.state.aborted.length === 1);
      await client.close();
    });

    itInTime(`reports no progress after the error of a tool that goes on reporting, in ${revision}`, async () => {
      let report: (fraction: number) => void = () => undefined;
      server.tools.register({
        name: 'late_break',
        execute: (_, { progress }) => {
          report = progress;
          // All but the first wait for their time, which does not come any more.
          for (const tenths of [1, 2, 3]) progress(tenths / 10);
          throw new Error('broken');
        },
      });
      const client = await connect(server, { revision });
      const seen: unknown[] = [];
      const strays: Error[] = [];
      // The client complains about progress of calls that have ended.
      client.onerror = (error) => strays.push(error);
      const onprogress = ({ progress }: { readonly progress: number }): void => void seen.push(progress);
      seen.push(textOf(await client.callTool({ name: 'late_break' }, { onprogress })));
      for (const tenths of [4, 5, 6]) report(tenths / 10);
      // Whatever was sent arrives before the answer to a later request.
      await client.callTool({ name: 'steps' }, { onprogress: () => report(0.9) });
      await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } });
      expect(seen).to.deep.equal([0.1, 0.3, 'error: broken']);
      expect(strays).to.deep.equal([]);
      await client.close();
      server.tools.unregister('late_break');
    });

    itInTime(`runs a tool that needs approval once the person at the client has approved, in ${revision}`, async () => {
      for (const answer of ['accept', 'decline'] as const) {
        const asked: string[] = [];
        const client = await connect(server, {
          revision,
          capabilities: { elicitation: {} },
          prepare: (each) =>
            each.setRequestHandler('elicitation/create', ({ params }) => {
              asked.push(params.message);
              return answer === 'accept' ? { action: 'accept', content: { approve: true } } : { action: 'decline' };
            }),
        });
        server.state.sent.length = 0;
        const result = textOf(await client.callTool({ name: 'send', arguments: { text: 'hello \u202eolleh' } }));
        expect(asked).to.have.length(1);
        expect(asked[0]).to.include('The tool "send" needs your approval').and.include('hello \\u{202e}olleh');
        expect(server.state.sent).to.have.length(answer === 'accept' ? 1 : 0);
        expect(result).to.include(answer === 'accept' ? 'Sent: hello' : 'error: The call was not approved');
        await client.close();
      }
    });

    itInTime(`takes a question that the client closes as no decision, in the revision ${revision}`, async () => {
      const client = await connect(server, {
        revision,
        capabilities: { elicitation: {} },
        prepare: (each) => each.setRequestHandler('elicitation/create', () => ({ action: 'cancel' })),
      });
      const decisions = async (): Promise<number> =>
        (await server.host.operations['ai.audit.list'](admin, { action: ['call.approve', 'call.reject'] })).entries
          .length;
      const before = await decisions();
      const result = textOf(await client.callTool({ name: 'send', arguments: { text: 'x' } }));
      expect(result).to.match(/^error: .*closed the question without an answer.*approve at http/);
      expect(await decisions()).to.equal(before);
      await client.close();
    });
  }

  itInTime('says where to approve if the client cannot ask, or the token may not decide', async () => {
    server.state.sent.length = 0;
    const plain = await connect(server);
    expect(textOf(await plain.callTool({ name: 'send', arguments: { text: 'x' } }))).to.match(
      /^error: .*this client cannot ask.*approve at http/,
    );
    await plain.close();
    const token = await tokenOf(['generate']);
    const eager = await connect(
      { url: server.url, token },
      {
        capabilities: { elicitation: {} },
        prepare: (each) =>
          each.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { approve: true } })),
      },
    );
    expect(textOf(await eager.callTool({ name: 'send', arguments: { text: 'x' } }))).to.match(
      /^error: .*lacks the scope "approve"/,
    );
    expect(server.state.sent).to.deep.equal([]);
    // Without the scope to read, runs are not shown.
    const { tools } = await eager.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).to.include('start_run');
    expect(names).to.not.include('get_run');
    await eager.close();
  });

  itInTime('takes an answer for the call that was shown, and no other', async () => {
    server.state.sent.length = 0;
    const client = await connect(server, { capabilities: { elicitation: {} } });
    const args = { name: 'send', arguments: { text: 'small' } };
    const asked = (await client.callTool(args, { allowInputRequired: true })) as unknown as {
      readonly requestState: string;
    };
    const answered = {
      requestState: asked.requestState,
      inputResponses: { approval: { action: 'accept', content: { approve: true } } },
    };
    const again = (call: object): Promise<Response> =>
      fetch(`${server.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${server.token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'send',
        },
        body: JSON.stringify({
          ...{ jsonrpc: '2.0', id: 9, method: 'tools/call' },
          params: {
            ...call,
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
              'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
            },
          },
        }),
      });
    const other = await again({ name: 'send', arguments: { text: 'LARGE' }, ...answered });
    expect(await other.text()).to.include('input_required');
    const forged = await again({ ...args, ...answered, requestState: `${asked.requestState}x` });
    expect(await forged.text()).to.include('Invalid or expired requestState');
    expect(server.state.sent).to.deep.equal([]);
    expect(await (await again({ ...args, ...answered })).text()).to.include('Sent: small');
    // An approval counts once.
    expect(await (await again({ ...args, ...answered })).text()).to.include('was used before');
    expect(server.state.sent).to.have.length(1);
    await client.close();
  });

  itInTime('tells clients of tools that come and go', async () => {
    for (const revision of ['2026-07-28', '2025-11-25'] as const) {
      let changes = 0;
      const client = await connect(server, {
        revision,
        prepare: (each) =>
          each.setNotificationHandler('notifications/tools/list_changed', () => {
            changes += 1;
          }),
      });
      const subscription = revision === '2026-07-28' ? await client.listen({ toolsListChanged: true }) : undefined;
      // The stream of a session is open once the server has answered another request after it.
      await client.listTools();
      await until(() => {
        server.tools.unregister('late_tool');
        server.tools.register({ name: 'late_tool', execute: () => 'ok' });
        return changes > 0;
      });
      expect((await client.listTools()).tools.map(({ name }) => name)).to.include('late_tool');
      await subscription?.close();
      await client.close();
    }
  });

  itInTime('starts a run, tells how it ended, and cancels one', async () => {
    const client = await connect(server);
    const { executionId } = structured(await client.callTool({ name: 'start_run', arguments: { input: 'Hello' } }));
    const done = structured(await client.callTool({ name: 'get_run', arguments: { executionId, waitSeconds: 20 } }));
    expect(done).to.deep.include({ executionId, state: 'completed', waitingCalls: [] });
    expect(done['answer']).to.be.a('string').and.not.equal('');
    expect(structured(await client.callTool({ name: 'cancel_run', arguments: { executionId } }))).to.deep.equal({
      executionId,
      state: 'completed',
    });
    const token = await tokenOf(['generate', 'read']);
    const stranger = await connect({ url: server.url, token });
    const args = { executionId };
    expect(textOf(await stranger.callTool({ name: 'get_run', arguments: args }))).to.equal(
      'error: There is no such run.',
    );
    await Promise.all([client.close(), stranger.close()]);
  });

  itInTime('sends a message to a run once, until the run has ended', async () => {
    const client = await connect(server);
    const started = await client.callTool({
      name: 'start_run',
      arguments: { input: 'Use send with the text "tea"', tools: ['send'] },
    });
    const { executionId } = structured(started);
    const send = (messageId: string): Promise<CallToolResult> =>
      client.callTool({ name: 'send_to_run', arguments: { executionId, message: 'Is it hot?', messageId } });
    for (const result of ['accepted', 'repeated'])
      expect(structured(await send('m1'))).to.deep.equal({ executionId, messageId: 'm1', result });
    await until(async () => {
      const stored = await server.host.module.runs.load(String(executionId));
      return JSON.stringify(stored?.run.transcript).includes('Is it hot?');
    });
    await client.callTool({ name: 'cancel_run', arguments: { executionId } });
    expect(textOf(await send('m2'))).to.include('has ended');
    await client.close();
  });

  itInTime('makes a task of a run for clients that know tasks, which is the run', async () => {
    const source = mcp({
      ...{ name: 'bolide', url: `${server.url}/mcp`, allowPrivateHosts: true },
      headers: { authorization: `Bearer ${server.token}` },
    });
    const start = (await source.list()).find(({ name }) => name === 'bolide_start_run');
    const checkpoints: string[] = [];
    const context = {
      ...{ userId: 'ann', callId: 'c', executionId: 'e', idempotencyKey: 'e:c', progress: () => undefined },
      signal: new AbortController().signal,
      saveCheckpoint: (checkpoint: string | undefined) => {
        if (checkpoint !== undefined) checkpoints.push(checkpoint);
        return Promise.resolve();
      },
    };
    const result = fieldsOf(await start?.execute?.({ input: 'Hello' }, context));
    expect(result).to.include({ state: 'completed' });
    expect(result['answer']).to.be.a('string').and.not.equal('');
    expect(JSON.parse(checkpoints[0] ?? '{}')).to.deep.equal({ kind: 'task', taskId: result['executionId'] });
    // Another process does this after a crash.
    const again = await start?.execute?.({ input: 'Hello' }, { ...context, checkpoint: checkpoints[0] ?? '' });
    expect(again).to.deep.equal(result);
    const lost = { ...context, checkpoint: JSON.stringify({ kind: 'task', taskId: 'unknown' }) };
    expect(await failure((async () => start?.execute?.({ input: 'Hello' }, lost))())).to.include('no such run');
    await source.close();
  });

  itInTime('makes a task of a call of a non-blocking tool, which is its user’s', async () => {
    const source = mcp({
      ...{ name: 'bolide', url: `${server.url}/mcp`, allowPrivateHosts: true },
      headers: { authorization: `Bearer ${server.token}` },
    });
    const steps = (await source.list()).find(({ name }) => name === 'bolide_steps');
    const checkpoints: string[] = [];
    const context = {
      ...{ userId: 'ann', callId: 'c', executionId: 'e', idempotencyKey: 'e:c', progress: () => undefined },
      signal: new AbortController().signal,
      saveCheckpoint: (checkpoint: string | undefined) => {
        if (checkpoint !== undefined) checkpoints.push(checkpoint);
        return Promise.resolve();
      },
    };
    expect(await steps?.execute?.({}, context)).to.equal('done');
    const { taskId } = JSON.parse(checkpoints[0] ?? '{}') as { readonly taskId: string };
    for (let reading = 0; reading < 2; reading += 1)
      expect(await requestTask('tasks/get', taskId)).to.deep.include({
        ...{ taskId, status: 'completed', result: { content: [{ type: 'text', text: 'done' }] } },
      });
    const stranger = await tokenOf(['generate', 'read']);
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update'])
      expect(await requestTask(method, taskId, stranger), method).to.match(/no such/);
    await source.close();
  });

  itInTime('tells how far a task is, aborts one that is cancelled, and says why one has failed', async () => {
    const { aborted } = server.state;
    server.tools.register({
      name: 'late_task',
      blocking: false,
      execute: (_, { progress, signal }) =>
        new Promise((_resolve, reject) => {
          progress(0.5, 'half');
          signal.addEventListener('abort', () => {
            aborted.push('task');
            reject(new Error('aborted'));
          });
        }),
    });
    aborted.length = 0;
    const { taskId } = (await request('tools/call', { name: 'late_task' })) as { readonly taskId: string };
    await until(async () => fieldsOf(await requestTask('tasks/get', taskId))['statusMessage'] === '50 %: half');
    expect(await requestTask('tasks/get', taskId)).to.include({ status: 'working' });
    expect(await requestTask('tasks/cancel', taskId)).to.deep.equal({ resultType: 'complete' });
    await until(() => aborted.length === 1);
    expect(await requestTask('tasks/get', taskId)).to.include({ status: 'cancelled' });
    server.tools.unregister('late_task');
    server.tools.register({ name: 'late_failure', blocking: false, execute: () => Promise.reject(new Error('No.')) });
    const failing = (await request('tools/call', { name: 'late_failure' })) as { readonly taskId: string };
    await until(async () => fieldsOf(await requestTask('tasks/get', failing.taskId))['status'] === 'completed');
    expect(fieldsOf(await requestTask('tasks/get', failing.taskId))['result']).to.deep.equal({
      ...{ content: [{ type: 'text', text: 'No.' }], isError: true },
    });
    server.tools.unregister('late_failure');
    // It needs a person's answer, which a task has no way to ask for.
    expect(await request('tools/call', { name: 'send', arguments: { text: 'x' } })).not.to.have.property('taskId');
  });

  itInTime('records the tools that are called', async () => {
    const client = await connect(server);
    await client.callTool({ name: 'fail' });
    await client.close();
    const { entries } = await server.host.operations['ai.audit.list'](admin, { action: ['tool.call'] });
    expect(entries[0]).to.deep.include({
      userId: 'local',
      outcome: 'failed',
      subject: { kind: 'tool', id: 'fail', ownerId: 'local' },
    });
  });

  itInTime('refuses callers without a token or scope, and says where to get one', async () => {
    const metadata = `${server.url}/.well-known/oauth-protected-resource/mcp`;
    const nobody = await post({});
    expect(nobody.status).to.equal(401);
    expect(nobody.headers.get('www-authenticate')).to.equal(`Bearer resource_metadata="${metadata}", scope="generate"`);
    const reader = await post({ authorization: `Bearer ${await tokenOf(['read'])}` });
    expect(reader.status).to.equal(403);
    expect(reader.headers.get('www-authenticate')).to.include('error="insufficient_scope"');
    const described = await fetch(metadata);
    expect(await described.json()).to.deep.include({
      resource: `${server.url}/mcp`,
      bearer_methods_supported: ['header'],
    });
  });

  itInTime('lets a token call the tools that it may use, at its rate', async () => {
    const fields = {
      name: 'few',
      userId: 'ann',
      scopes: ['generate'],
      tools: ['fail'],
      rateLimits: { requestsPerMinute: 6 },
    };
    const { token } = await server.host.operations['ai.tokens.create'](admin, fields);
    const client = await connect({ url: server.url, token }, { revision: '2025-06-18' });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).to.deep.equal(['start_run', 'send_to_run', 'cancel_run', 'fail']);
    expect(textOf(await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } }))).to.equal(
      'error: Your API token may not use the tool "add".',
    );
    await until(async () => (await post({ authorization: `Bearer ${token}` })).status === 429);
    await client.close();
  });

  itInTime('ends the calls of a user whose data is deleted', async () => {
    const client = await connect({ url: server.url, token: await tokenOf(['generate']) });
    server.state.aborted.length = 0;
    const begun = new Promise<void>((resolve) => (server.state.onWait = resolve));
    const call = failure(client.callTool({ name: 'wait' }));
    await begun;
    await server.host.deleteUserData('ann');
    expect(server.state.aborted).to.deep.equal(['wait']);
    await call;
    await client.close();
  });

  itInTime('refuses pages of other origins, and foreign names that resolve to this machine', async () => {
    const authorization = `Bearer ${server.token}`;
    expect((await post({ authorization, origin: 'https://evil.example' })).status).to.equal(403);
    expect((await post({ authorization, origin: server.url })).status).to.equal(200);
  });

  itInTime('refuses the session of another user', async () => {
    const initialize = {
      ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
    };
    const send = (token: string, body: object, session?: string): Promise<Response> =>
      fetch(`${server.url}/mcp`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
        },
        body: JSON.stringify(body),
      });
    const begun = await send(server.token, initialize);
    const session = begun.headers.get('mcp-session-id') ?? '';
    expect(session).to.not.equal('');
    await begun.text();
    const list = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    expect((await send(await tokenOf(['generate']), list, session)).status).to.equal(404);
    expect((await send(server.token, list, session)).status).to.equal(200);
  });
});

describe('a server that offers nothing over MCP', () => {
  it('has no /mcp', async () => {
    const server = await startOffering({ MCP_TOOLS: '' });
    try {
      expect((await fetch(`${server.url}/mcp`, { method: 'POST' })).status).to.equal(404);
    } finally {
      await server.close();
    }
  });
});

describe('ToolRegistry.onChange', () => {
  it('calls back for each tool that comes or goes, until it is ended', () => {
    const registry = new ToolRegistry();
    let changes = 0;
    const stop = registry.onChange(() => (changes += 1));
    registry.register({ name: 'a', execute: () => 1 });
    registry.unregister('a');
    registry.unregister('a');
    expect(changes).to.equal(2);
    stop();
    registry.register({ name: 'a', execute: () => 1 });
    expect(changes).to.equal(2);
  });
});

function textOf(result: CallToolResult): string {
  const [content] = result.content;
  const text = content?.type === 'text' ? content.text : '';
  return result.isError === true ? `error: ${text}` : text;
}

function structured(result: CallToolResult): Record<string, unknown> {
  expect(result.isError, textOf(result)).to.not.equal(true);
  return result.structuredContent as Record<string, unknown>;
}

async function failure(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'no error';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
