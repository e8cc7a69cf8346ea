import { HttpAgent } from '@ag-ui/client';
import type { Message, Tool } from '@ag-ui/core';
import { expect } from 'chai';
import { randomUUID } from 'node:crypto';
import { argumentsHash } from '../../imports/business/ai/application/services/shared/argumentsHash';
import { toInterruptId } from '../../imports/interop/agUi/agUiIds';
import type { RunningServer } from '../../imports/host/node/startServer';
import { runAgent } from '../support/agUi/replayAgUi';
import { startSimulatedServer } from '../support/startSimulatedServer';
import { leaveWaitingRun } from '../support/waitingRun';
import { IS_SOAK } from '../support/soak';
import { suiteInVirtualTime } from '../support/suiteInVirtualTime';
import { until } from '../support/until';

const TOKEN = 'a-token-for-ag-ui-in-tests';
/** One of each wire; the soak has them all. */
const VENDORS = ['openai', 'anthropic', 'google', 'groq'].concat(IS_SOAK ? ['azure_openai', 'grok', 'llama'] : []);
const LOCATION: Tool = {
  name: 'get_location',
  description: 'Where the user is.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
};

describe('POST /api/ag-ui', () => {
  const itInTime = suiteInVirtualTime();
  let server: RunningServer;
  before(async () => {
    server = await startSimulatedServer({ BOLIDE_API_TOKEN: TOKEN });
  });
  after(() => server.close());

  let threads = 0;
  const ask = (agent: HttpAgent, content: string): void =>
    void agent.messages.push({ id: `m${agent.messages.length}`, role: 'user', content });
  const openThread = (question?: string): HttpAgent => {
    threads += 1;
    const agent = new HttpAgent({
      url: `${server.url}/api/ag-ui`,
      threadId: `thread-${threads}`,
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    if (question !== undefined) ask(agent, question);
    return agent;
  };
  const bolide = (options: object) => ({ forwardedProps: { bolide: options } });
  const textOf = (messages: readonly Message[]) => messages.map(({ role }) => role).join(' ');
  const runOf = (state: unknown) => (state as { bolide: { executionId: string } }).bolide.executionId;

  for (const model of VENDORS)
    itInTime(`answers on ${model}, with a call, and then the next message`, async () => {
      const agent = openThread('Use get_weather for Lisbon');
      const run = await runAgent(agent, bolide({ model }));
      expect(run.error).to.equal(undefined);
      expect(run.outcome).to.equal('success');
      expect(textOf(run.messages)).to.equal('user assistant tool assistant');
      ask(agent, 'Thank you.');
      const next = await runAgent(agent, bolide({ model }));
      expect(next.error).to.equal(undefined);
      expect(textOf(next.messages)).to.equal('user assistant tool assistant user assistant');
    });

  itInTime('streams the live state of a non-blocking call, and its late result', async () => {
    const agent = openThread('Use research_topic "harbour fog"');
    const states = new Set<string>();
    agent.subscribe({
      onStateChanged: ({ state }) => {
        const { toolCalls } = (state as { bolide: { toolCalls: Record<string, { state: string; progress?: number }> } })
          .bolide;
        for (const call of Object.values(toolCalls)) states.add(`${call.state} ${call.progress ?? ''}`);
      },
    });
    const run = await runAgent(agent);
    expect(run.error).to.equal(undefined);
    expect([...states]).to.include.members(['executing 0.5', 'completed 1']);
    expect(textOf(run.messages)).to.equal('user assistant tool assistant assistant');
    expect(JSON.stringify(run.messages[2])).to.include('harbour fog');
  });

  itInTime('interrupts for an approval, and continues the same run with the answer', async () => {
    const agent = openThread('Use send_reminder "take a coat"');
    const asked = await runAgent(agent);
    expect(asked.outcome).to.equal('interrupt');
    const [interrupt] = asked.interrupts;
    expect(interrupt?.reason).to.equal('tool_call');
    const run = await runAgent(agent, {
      resume: [{ interruptId: interrupt?.id ?? '', status: 'resolved', payload: { approved: true } }],
    });
    expect(run.error).to.equal(undefined);
    expect(run.outcome).to.equal('success');
    expect(runOf(run.state)).to.equal(runOf(asked.state));
    expect(textOf(run.messages)).to.equal('user assistant tool assistant');
    expect(run.messages.find(({ role }) => role === 'tool')?.content).to.include('take a coat');
    const admin = { userId: 'local', isAdmin: true, source: 'http' } as const;
    const { entries } = await server.host.operations['ai.audit.list'](admin, { subjectId: runOf(run.state) });
    expect(entries.map(({ action, outcome }) => [action, outcome])).to.deep.equal([['call.approve', 'done']]);
  });

  itInTime('rejects a call with a reason, and one whose interrupt is cancelled', async () => {
    for (const answer of [
      { status: 'resolved', payload: { approved: false, reason: 'It is warm.' } } as const,
      { status: 'cancelled' } as const,
    ]) {
      const agent = openThread('Use send_reminder "take a coat"');
      const asked = await runAgent(agent);
      const run = await runAgent(agent, { resume: [{ interruptId: asked.interrupts[0]?.id ?? '', ...answer }] });
      expect(run.error).to.equal(undefined);
      const result = JSON.stringify(run.messages.find(({ role }) => role === 'tool')?.content);
      expect(result).to.include(answer.status === 'cancelled' ? 'dismissed' : 'It is warm.');
    }
  });

  itInTime(
    'asks again if the answer is about an attempt before the one under review, which only its own answer repeats',
    async () => {
      const { loop, runs } = server.host.module;
      const executionId = randomUUID();
      const text = '{"text":"take a coat"}';
      const options = { tool: 'send_reminder', arguments: text, waitsFor: 'review' } as const;
      await leaveWaitingRun(server.host.module, { executionId, userId: 'local', providerId: 'openai', ...options });
      const call = (await runs.load(executionId))?.calls[0];
      const approval = { executionId, callId: call?.id ?? '', argumentsHash: argumentsHash(text) };
      const agent = openThread('Use send_reminder "take a coat"');
      const approve = (interruptId: string) =>
        runAgent(agent, { resume: [{ interruptId, status: 'resolved', payload: { approved: true } }] });
      const asked = await approve(toInterruptId(approval));
      expect(asked.error).to.equal(undefined);
      expect(asked.outcome).to.equal('interrupt');
      expect(asked.interrupts[0]?.reason).to.equal('bolide:review');
      expect(await loop.callOf(executionId, approval.callId)).to.include({ state: 'needs_review' });
      const run = await approve(asked.interrupts[0]?.id ?? '');
      expect(run.error).to.equal(undefined);
      expect(run.outcome).to.equal('success');
      expect(await loop.callOf(executionId, approval.callId)).to.include({ state: 'completed' });
    },
  );

  itInTime('repeats the end of a run for a repeated answer', async () => {
    const agent = openThread('Use send_reminder "take a coat"');
    const asked = await runAgent(agent);
    const before = structuredClone(agent.messages);
    const resume = [
      { interruptId: asked.interrupts[0]?.id ?? '', status: 'resolved', payload: { approved: true } } as const,
    ];
    const first = await runAgent(agent, { resume });
    agent.messages = before;
    const second = await runAgent(agent, { resume });
    expect(second.error).to.equal(undefined);
    expect(second.messages.map(({ role, content }) => [role, content])).to.deep.equal(
      first.messages.map(({ role, content }) => [role, content]),
    );
  });

  itInTime('refuses a message while interrupts are open, and answers to unknown ones', async () => {
    const agent = openThread('Use send_reminder "take a coat"');
    await runAgent(agent);
    agent.pendingInterrupts = [];
    ask(agent, 'Never mind.');
    const refused = await runAgent(agent);
    expect(refused.seen.at(-1)).to.include({ type: 'RUN_ERROR', code: 'conflict' });
    const unknown = await runAgent(openThread('Hello?'), { resume: [{ interruptId: 'x', status: 'cancelled' }] });
    expect(unknown.seen.at(-1)).to.include({ type: 'RUN_ERROR', code: 'invalid-request' });
  });

  itInTime('asks for the result of a server’s external tool', async () => {
    const agent = openThread('Use consult_expert "Is it safe to sail?"');
    const asked = await runAgent(agent, bolide({ tools: ['consult_expert'] }));
    expect(asked.interrupts[0]?.reason).to.equal('bolide:result');
    const run = await runAgent(agent, {
      resume: [{ interruptId: asked.interrupts[0]?.id ?? '', status: 'resolved', payload: { output: 'It is.' } }],
    });
    expect(run.error).to.equal(undefined);
    expect(run.messages.find(({ role }) => role === 'tool')?.content).to.equal('It is.');
  });

  itInTime('has the front end execute its own tools', async () => {
    const agent = openThread('Use get_location');
    const first = await runAgent(agent, { tools: [LOCATION] });
    expect(first.outcome).to.equal('success');
    const [toolCallId = ''] = first.pendingToolCallIds;
    agent.messages.push({ id: 'own-result', role: 'tool', toolCallId, content: 'Lisbon harbour' });
    const second = await runAgent(agent, { tools: [LOCATION] });
    expect(second.error).to.equal(undefined);
    expect(runOf(second.state)).to.equal(runOf(first.state));
    expect(textOf(second.messages)).to.equal('user assistant tool assistant');
    expect(second.messages[2]?.id).to.equal('own-result');
    expect(JSON.stringify(second.messages[3])).to.include('Lisbon harbour');
  });

  itInTime('ends a run whose front-end call is never answered, once the conversation goes on', async () => {
    const agent = openThread('Use get_location');
    const first = await runAgent(agent, { tools: [LOCATION] });
    ask(agent, 'Never mind.');
    const second = await runAgent(agent, { tools: [LOCATION] });
    expect(second.error).to.equal(undefined);
    expect(second.messages.at(-1)?.role).to.equal('assistant');
    const { runs } = server.host.module;
    // The conversation doesn't wait for the end of what it has abandoned.
    await until(async () => (await runs.load(runOf(first.state)))?.run.state !== 'running');
    expect((await runs.load(runOf(first.state)))?.run.state).to.equal('cancelled');
  });

  if (IS_SOAK)
    itInTime('cancels the run of a client that disconnects, unless it asks to continue', async () => {
      for (const onDisconnect of ['cancel', 'continue'] as const) {
        const agent = openThread('Use render_video "fog" 2 seconds');
        const isStarted = new Promise<string>((resolve) =>
          agent.subscribe({
            onCustomEvent: () => undefined,
            onStateChanged: ({ state }) => {
              const calls = Object.values((state as { bolide: { toolCalls: object } }).bolide.toolCalls);
              if (calls.some((call: { state: string }) => call.state === 'executing')) resolve(runOf(state));
            },
          }),
        );
        const running = runAgent(agent, bolide({ onDisconnect }));
        const executionId = await isStarted;
        agent.abortRun();
        await running;
        const { loop, runs } = server.host.module;
        await loop.waitForResult(executionId).catch(() => undefined);
        const state = (await runs.load(executionId))?.run.state;
        expect(state).to.equal(onDisconnect === 'cancel' ? 'cancelled' : 'completed');
      }
    });

  itInTime('answers a repeated request with the run that it has started', async () => {
    const agent = openThread('Tell me about harbours.');
    const before = structuredClone(agent.messages);
    const first = await runAgent(agent, { runId: 'the-same-run' });
    agent.messages = before;
    agent.state = {};
    const second = await runAgent(agent, { runId: 'the-same-run' });
    expect(runOf(second.state)).to.equal(runOf(first.state));
    expect(second.messages).to.deep.equal(first.messages);
  });

  itInTime('takes system messages and context as instructions', async () => {
    const agent = openThread();
    agent.messages.push({ id: 's', role: 'system', content: 'Be brief.' });
    ask(agent, 'Hello?');
    const run = await runAgent(agent, { context: [{ description: 'The page', value: 'Harbours' }] });
    expect(run.error).to.equal(undefined);
    const stored = await server.host.module.runs.load(runOf(run.state));
    expect(stored?.run.plan.options.instructions).to.equal('Be brief.\n\nThe page: Harbours');
  });

  for (const [path, body] of [
    ['threadId', { runId: 'r', messages: [] }],
    ['messages[0].role', { threadId: 't', runId: 'r', messages: [{ id: 'm', role: 'robot', content: '' }] }],
    ['messages[0].content', { threadId: 't', runId: 'r', messages: [{ id: 'm', role: 'user' }] }],
    ['tools[0].name', { threadId: 't', runId: 'r', messages: [], tools: [{ description: '' }] }],
    ['resume[0].status', { threadId: 't', runId: 'r', messages: [], resume: [{ interruptId: 'i', status: 'no' }] }],
    [
      'forwardedProps.bolide.model',
      { threadId: 't', runId: 'r', messages: [], forwardedProps: { bolide: { model: 7 } } },
    ],
    [
      'forwardedProps.bolide.when',
      { threadId: 't', runId: 'r', messages: [], forwardedProps: { bolide: { when: 'later' } } },
    ],
  ] as const)
    itInTime(`names "${path}" if it is invalid`, async () => {
      const response = await fetch(`${server.url}/api/ag-ui`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(response.status).to.equal(400);
      expect(JSON.stringify(await response.json())).to.include(`\\"${path}\\"`);
    });

  itInTime('refuses a client without a token', async () => {
    const response = await fetch(`${server.url}/api/ag-ui`, { method: 'POST', body: '{}' });
    expect(response.status).to.equal(401);
  });
});
