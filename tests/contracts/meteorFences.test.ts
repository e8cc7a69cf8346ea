/**
 * What Meteor waits for before it sends a method's `updated`: the writes of the method itself, and none of the run that
 * it starts or decides on. Clients wait for `updated`, so each of these writes is latency.
 */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { Meteor } from 'meteor/meteor';
import type { RunCountView } from '../../imports/business/ai/domain/types/RunViews';
import type { DdpClient } from '../stubs/server/DdpClient';
import { registry } from '../stubs/server/registry';
import type { WriteFence } from '../stubs/server/WriteFence';
import { startMeteorApp } from '../support/meteorApp';
import type { MeteorApp } from '../support/meteorApp';
import { until } from '../support/until';

const REQUEST = { providerId: 'shared', input: 'Hello' };

describe('A method under Meteor', () => {
  let app: MeteorApp;
  let client: DdpClient;
  /** The user that `Meteor.userId()` names in a tool, per execution. */
  const usersInTools: unknown[] = [];
  let requests = 0;

  before(async () => {
    app = await startMeteorApp();
    app.host.module.tools.register({
      name: 'whoami',
      description: 'Reports the user of the current method.',
      parameters: { type: 'object', properties: {}, additionalProperties: false },
      needsApproval: true,
      execute: () => {
        try {
          usersInTools.push(Meteor.userId());
        } catch (error) {
          usersInTools.push(error);
        }
        return 'done';
      },
    });
    client = app.client('ann');
    for (const name of ['ai.runs', 'ai.toolCalls', 'ai.stats', 'ai.providers']) await client.subscribe(name).ready;
  });
  after(() => app.stop());

  const request = (tools: readonly string[] = []): object => ({
    ...REQUEST,
    requestId: `fence-${(requests += 1)}`,
    ...(tools.length === 0 ? {} : { tools }),
  });
  /** Calls the method and returns its fence. */
  const call = async (method: string, argument?: object): Promise<{ fence: WriteFence; result: unknown }> => {
    const before = registry.fences.length;
    const result = await client.callAsync(method, ...(argument === undefined ? [] : [argument]));
    const fence = registry.fences.slice(before).find((each) => each.method === method);
    expect(fence, `fence of ${method}`).not.to.equal(undefined);
    return { fence: fence!, result };
  };
  /** The run has ended, and everything that is recorded about it is written. */
  const settled = async (executionId: string): Promise<void> => {
    const collection = (name: string) => app.host.database.published(name);
    await until(async () => {
      const run = await collection('ai_runs').findOneAsync({ _id: executionId, endedAt: { $exists: true } });
      return run !== undefined;
    });
    await until(async () => (await collection('ai_run_commands').find({ executionId }).countAsync()) === 0);
    await until(async () => {
      const counts = (await collection('ai_stats').find({}).fetchAsync()) as unknown as readonly RunCountView[];
      const ended = counts.filter(({ state }) => state !== 'running').reduce((sum, { count }) => sum + count, 0);
      const open = counts.filter(({ state }) => state === 'running').reduce((sum, { count }) => sum + count, 0);
      return open === 0 && ended === (await collection('ai_runs').find({}).countAsync());
    });
  };
  const start = async (tools: readonly string[]): Promise<{ executionId: string; fence: WriteFence }> => {
    const { fence, result } = await call('ai.runs.start', request(tools));
    return { executionId: (result as { executionId: string }).executionId, fence };
  };
  const waiting = async (tool: string): Promise<{ executionId: string; callId: string; argumentsHash: string }> => {
    app.simulator.enqueue({ calls: [{ name: tool, arguments: {} }] });
    const { executionId } = await start([tool]);
    const { callId, arguments: json } = await app.events.seen('tool:pending', (e) => e.executionId === executionId);
    await until(() =>
      client
        .documents('ai_tool_calls')
        .some(
          (one) => one.executionId === executionId && ['awaiting_approval', 'executing'].includes(String(one.state)),
        ),
    );
    return { executionId, callId, argumentsHash: createHash('sha256').update(json).digest('hex') };
  };

  const STARTING = {
    'ai.runs.start': { tools: ['clock'] },
    'ai.llm.generateText': {},
    'ai.llm.generateWithTools': { tools: ['clock'] },
    'ai.llm.generateJSON': {
      schema: { type: 'object', properties: {}, required: [], additionalProperties: false },
    },
  } as const;
  for (const [method, extra] of Object.entries(STARTING)) {
    it(`${method} waits for the insert of its run, and for no write of the run`, async () => {
      const isJson = method.endsWith('JSON');
      if ('tools' in extra) app.simulator.enqueue({ calls: [{ name: 'clock', arguments: {} }] });
      app.simulator.enqueue({ text: isJson ? '{}' : 'It is noon.' });
      const known = new Set(client.documents('ai_runs').map(({ _id }) => _id));
      const { fence } = await call(method, { ...request(), ...extra });
      const created = client.documents('ai_runs').filter(({ _id }) => !known.has(_id));
      expect(created, 'runs that the client has when the method is done').to.have.length(1);
      await settled(created[0]!._id);
      expect(fence.writes).to.deep.equal(['insert ai_runs']);
      expect(fence.lateWrites).to.deep.equal([]);
    });
  }

  const DECIDING = [
    ['ai.runs.approve', 'danger', {}],
    ['ai.runs.reject', 'danger', { reason: 'No.' }],
    ['ai.runs.submitToolResult', 'outside', { output: 'late' }],
  ] as const;
  for (const [method, tool, decision] of DECIDING) {
    it(`${method} waits for its command, and for no write of the run`, async () => {
      const { executionId, callId, argumentsHash } = await waiting(tool);
      app.simulator.enqueue({ text: 'It is done.' });
      const { fence } = await call(method, {
        executionId,
        callId,
        ...decision,
        ...(tool === 'danger' ? { argumentsHash } : {}),
      });
      await settled(executionId);
      expect(fence.writes).to.deep.equal(['insert ai_run_commands']);
      expect(fence.lateWrites).to.deep.equal([]);
    });
  }

  it('ai.runs.cancel waits for no write of the run', async () => {
    const { executionId } = await waiting('danger');
    const { fence } = await call('ai.runs.cancel', { executionId });
    await settled(executionId);
    expect([...fence.writes, ...fence.lateWrites]).to.deep.equal([]);
  });

  const READING = ['ai.tools.list', 'ai.providers.list'];
  for (const method of READING) {
    it(`${method} writes nothing`, async () => {
      const { fence } = await call(method);
      expect([...fence.writes, ...fence.lateWrites]).to.deep.equal([]);
    });
  }

  it('does not pass its user on to the tools of the run', async () => {
    usersInTools.length = 0;
    const { executionId, callId, argumentsHash } = await waiting('whoami');
    app.simulator.enqueue({ text: 'It is done.' });
    await call('ai.runs.approve', { executionId, callId, argumentsHash });
    await settled(executionId);
    expect(usersInTools.map(String)).to.deep.equal([
      'Error: Meteor.userId can only be invoked in method calls or publications.',
    ]);
  });

  it('sends `updated` before `result` if it wrote nothing, and after its observers otherwise', async () => {
    const order = (): readonly string[] =>
      client.messages
        .filter(({ msg, collection }) => msg === 'result' || msg === 'updated' || collection === 'ai_runs')
        .map(({ msg }) => String(msg));
    let from = client.messages.length;
    await call('ai.tools.list');
    expect(client.messages.slice(from).map(({ msg }) => msg)).to.deep.equal(['updated', 'result']);
    from = order().length;
    app.simulator.enqueue({ text: 'Hello.' });
    const { executionId } = await start([]);
    await settled(executionId);
    const since = order().slice(from);
    expect(since.indexOf('added')).to.be.lessThan(since.indexOf('updated'));
  });
});
