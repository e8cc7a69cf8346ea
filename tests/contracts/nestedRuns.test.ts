/** Runs that calls start, within the run that made the calls, as unmodified clients show them: three levels of them. */
import { EventType, HttpAgent } from '@ag-ui/client';
import { expect } from 'chai';
import { lastAssistantMessageIsCompleteWithApprovalResponses, lastAssistantMessageIsCompleteWithToolCalls } from 'ai';
import type { UIMessage } from 'ai';
import type { AgentEvent } from '../../imports/business/ai/domain/types/AgentEvents';
import type { RunDetail } from '../../imports/business/ai/domain/types/RunViews';
import type { ToolCallContext } from '../../imports/business/ai/domain/interfaces/IToolExecutor';
import { runAsTool } from '../../imports/business/ai/infrastructure/tools/runAsTool';
import { runAgent } from '../support/agUi/replayAgUi';
import { chatClient, textOf } from '../support/ChatClient';
import { startChatServer } from '../support/startChatServer';
import type { ChatServer } from '../support/startChatServer';
import { failure } from '../support/failure';
import { readSse } from '../support/readSse';
import type { SseEvent, SseReader } from '../support/readSse';
import { until } from '../support/until';

const delegate = (name: string, below: string, task: string) =>
  runAsTool({ name, description: `Delegates to ${below}.`, run: () => ({ input: task, tools: [below] }) });
const TOOLS = [
  delegate('ask_first', 'ask_second', 'Use ask_second with "x".'),
  delegate('ask_second', 'ask_third', 'Use ask_third with "x".'),
  delegate('ask_third', 'wait_for', 'Wait for what "tea"'),
  delegate('ask_boss', 'ask_clerk', 'Use ask_clerk with "x".'),
  delegate('ask_clerk', 'send_reminder', 'Send a reminder with the text "tea"'),
  delegate('ask_guide', 'ask_page', 'Use ask_page with "x".'),
  delegate('ask_page', 'ask_browser', 'Use ask_browser with "x".'),
  delegate('ask_host', 'book_table', 'Use book_table with "x".'),
  {
    name: 'book_table',
    parameters: { type: 'object', properties: { name: { type: 'string' } } },
    idempotent: true,
    execute: async (_args: unknown, { requestInput }: ToolCallContext) => {
      const guests = await requestInput?.({ message: 'How many?', schema: GUESTS });
      const terrace = await requestInput?.({ message: 'Outside?' });
      return { guests, terrace };
    },
  },
];
const GUESTS = { type: 'object', properties: { guests: { type: 'integer' } }, required: ['guests'] };
const INPUT = 'Use ask_host with "x".';
/** What the tool returns, which the run's answer repeats. */
const BOOKED = { guests: { action: 'accept', values: { guests: 2 } }, terrace: { action: 'accept', values: {} } };
const DELICATE = 'Use ask_boss with "x".';
const EXTERNAL = 'Use ask_guide with "x".';
const QUESTION = 'Use ask_first with "x".';

type ToolPart = Extract<UIMessage['parts'][number], { readonly toolCallId: string }>;

/** The names of the tools and their states, from the outermost call to the innermost that is shown. */
function shown(message: UIMessage | undefined): readonly string[] {
  const part = message?.parts.find((each): each is ToolPart => 'toolCallId' in each);
  if (part === undefined) return [];
  const { type, state, preliminary } = part as ToolPart & { readonly preliminary?: boolean };
  const { output } = part;
  const below = typeof output === 'object' && output !== null && 'parts' in output ? shown(output as UIMessage) : [];
  return [`${type.slice(5)} ${state}${preliminary === true ? ' so far' : ''}`, ...below];
}

const WORKING = [
  'ask_first output-available so far',
  'ask_second output-available so far',
  'ask_third output-available so far',
  'wait_for input-available',
];
const DONE = ['ask_first', 'ask_second', 'ask_third', 'wait_for'].map((name) => `${name} output-available`);

describe('runs within a run', () => {
  let server: ChatServer;
  /** The id of the test's chat. */
  let id = '';
  /** How many events there were before the test. */
  let former = 0;
  before(async () => {
    server = await startChatServer(TOOLS);
  });
  beforeEach(() => {
    server.hold();
    former = server.events.events.length;
    id = `chat ${former}`;
  });
  after(() => server.close());

  const events = (): readonly AgentEvent[] => server.events.events.slice(former);

  const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

  it('are subagents of AG-UI, whose messages no later run receives', async () => {
    const agent = new HttpAgent({
      url: `${server.url}/api/ag-ui`,
      threadId: 'thread',
      headers: { authorization: `Bearer ${server.token}` },
    });
    agent.messages.push({ id: 'm', role: 'user', content: QUESTION });
    const running = runAgent(agent);
    await until(() => agent.messages.some(({ subagentRunId }) => subagentRunId !== undefined));
    server.release();
    const { seen, error, messages } = await running;
    expect(error).to.equal(undefined);
    // Boundary: events that the client has checked.
    const sent = seen as unknown as readonly Record<string, unknown>[];
    const started = sent.filter(({ type }) => type === 'SUBAGENT_STARTED');
    expect(started.map(({ name }) => name)).to.deep.equal(['ask_first', 'ask_second', 'ask_third']);
    const ids = started.map(({ subagentRunId }) => subagentRunId);
    expect(started.map(({ parentSubagentRunId }) => parentSubagentRunId)).to.deep.equal([undefined, ids[0], ids[1]]);
    const calls = sent.filter(({ type }) => type === 'TOOL_CALL_START');
    expect(calls.map(({ toolCallName }) => toolCallName)).to.deep.equal([
      'ask_first',
      'ask_second',
      'ask_third',
      'wait_for',
    ]);
    expect(calls.map(({ subagentRunId }) => subagentRunId)).to.deep.equal([undefined, ...ids]);
    expect(started.map(({ parentToolCallId }) => parentToolCallId)).to.deep.equal(
      calls.slice(0, 3).map(({ toolCallId }) => toolCallId),
    );
    const ended = sent.filter(({ type }) => type === 'SUBAGENT_FINISHED');
    expect(ended.map(({ subagentRunId }) => subagentRunId)).to.deep.equal(ids.toReversed());
    expect(ended[0]?.['result']).to.contain('tea is here');
    const texts = messages.filter(({ role, content }) => role === 'assistant' && content !== undefined);
    expect(texts.map(({ subagentRunId }) => subagentRunId)).to.have.members([undefined, ...ids]);
    agent.messages.push({ id: 'm2', role: 'user', content: 'Thank you.' });
    expect((await runAgent(agent)).error).to.equal(undefined);
    const last = events().findLast(({ type }) => type === 'run:started')?.executionId ?? '';
    const { input = [] } = (await server.host.module.runs.load(last))?.run ?? {};
    expect(input.map((item) => (item.type === 'message' ? item.role : item.type))).to.deep.equal([
      'user',
      'function_call',
      'function_call_output',
      'assistant',
      'user',
    ]);
  });

  it('are followed in AG-UI to their ends if the front end has a tool of the same name as one of theirs', async () => {
    const agent = new HttpAgent({
      url: `${server.url}/api/ag-ui`,
      threadId: 'thread',
      headers: { authorization: `Bearer ${server.token}` },
    });
    agent.messages.push({ id: 'm', role: 'user', content: QUESTION });
    let hasEnded = false;
    const running = runAgent(agent, {
      tools: [{ name: 'wait_for', description: 'Waits.', parameters: {} }],
      forwardedProps: { bolide: { tools: ['ask_first'] } },
    }).finally(() => (hasEnded = true));
    const isWaiting = (): boolean =>
      agent.messages.some((each) => each.role === 'assistant' && each.toolCalls?.[0]?.function.name === 'wait_for');
    await until(() => hasEnded || isWaiting());
    server.release();
    const { error, messages } = await running;
    expect(error).to.equal(undefined);
    expect(messages.findLast(({ role }) => role === 'assistant')?.content).to.contain('tea is here');
  });

  it('are between the events of the run, also for a reader that comes later, and one that comes back', async () => {
    const headers = { authorization: `Bearer ${server.token}` };
    const { chat } = chatClient(server, { id });
    const sent = chat.sendMessage({ text: QUESTION });
    await until(() => events().length > 0);
    const executionId = events()[0]?.executionId ?? '';
    const url = `${server.url}/api/runs/stream?executionId=${executionId}&family`;
    const [whole, first] = [await readSse(url, headers), await readSse(url, headers)];
    await until(() => events().some((event) => event.type === 'tool:executing' && event.name === 'wait_for'));
    const late = await readSse(url, headers);
    await first.waitFor(({ type, data }) => type === 'tool:executing' && data['name'] === 'wait_for');
    first.stop();
    server.release();
    await sent;
    const back = await readSse(url, { ...headers, 'last-event-id': String(first.events.at(-1)?.id) });
    const ends = ({ type, data }: SseEvent): boolean => type === 'run:completed' && data['executionId'] === executionId;
    for (const stream of [whole, late, back]) await stream.waitFor(ends);
    const seen = whole.events.filter(({ id }) => id >= (first.events[0]?.id ?? 0));
    expect([...first.events, ...back.events]).to.deep.equal(seen);
    const above = (stream: SseReader): readonly string[] =>
      stream.events.flatMap(({ type, data }) =>
        type === 'run:completed' ? [(data['path'] as readonly object[] | undefined)?.length.toString() ?? 'none'] : [],
      );
    expect(above(whole)).to.deep.equal(['3', '2', '1', 'none']);
    expect(above(late)).to.deep.equal(above(whole));
    const { path } = late.events.find(({ type }) => type === 'run:completed')?.data ?? {};
    const calls = events().filter(({ type }) => type === 'tool:executing');
    expect(path).to.deep.equal(
      calls.slice(0, 3).map((call) => ({ executionId: call.executionId, callId: 'callId' in call ? call.callId : '' })),
    );
    const own = await readSse(url.replace('&family', ''), {
      ...headers,
      'last-event-id': String(first.events.at(-1)?.id),
    });
    await own.waitFor(ends);
    expect(own.events.some(({ data }) => data['executionId'] !== executionId)).to.equal(false);
    for (const stream of [whole, late, back, own]) stream.stop();
  });

  const stored = async (): Promise<UIMessage[]> => {
    const headers = { authorization: `Bearer ${server.token}` };
    const response = await fetch(`${server.url}/api/chat/${id}`, { headers });
    return ((await response.json()) as { readonly messages: UIMessage[] }).messages;
  };

  it('ask people in the messages of the run, of which another page answers', async () => {
    const first = chatClient(server, { id });
    await first.chat.sendMessage({ text: DELICATE });
    expect(shown(first.chat.messages.at(-1))).to.deep.equal([
      'ask_boss output-available so far',
      'ask_clerk output-available so far',
      'send_reminder approval-requested',
    ]);
    expect(await stored()).to.deep.equal(plain(first.chat.messages));
    const { chat, errors, ...client } = chatClient(server, {
      id,
      messages: await stored(),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
    });
    const asked = chat.messages.at(-1)?.parts.at(-1);
    expect(asked).to.deep.include({ type: 'tool-send_reminder', state: 'approval-requested', input: { text: 'tea' } });
    await chat.addToolApprovalResponse({
      id: (asked as { readonly approval: { readonly id: string } }).approval.id,
      approved: true,
    });
    await client.idle(() => textOf(chat.messages.at(-1)) !== '');
    expect(errors).to.deep.equal([]);
    const { parts = [] } = chat.messages.at(-1) ?? {};
    expect(parts.map(({ type }) => type)).to.deep.equal([
      'step-start',
      'tool-ask_boss',
      'step-start',
      'tool-send_reminder',
      'step-start',
      'text',
    ]);
    expect(parts[3]).to.deep.include({ state: 'output-available', output: { noted: 'tea' } });
    expect(shown(chat.messages.at(-1))).to.deep.equal([
      'ask_boss output-available',
      'ask_clerk output-available',
      'send_reminder output-available',
    ]);
    expect(await stored()).to.deep.equal(plain(chat.messages));
    await chat.sendMessage({ text: 'Hello again' });
    const last = events().findLast(({ type }) => type === 'run:started')?.executionId ?? '';
    const { input = [] } = (await server.host.module.runs.load(last))?.run ?? {};
    expect(input.flatMap((item) => (item.type === 'function_call' ? [item.name] : []))).to.deep.equal(['ask_boss']);
  });

  it('wait in the messages of the run for results from outside, which another page supplies', async () => {
    const first = chatClient(server, { id });
    await first.chat.sendMessage({ text: EXTERNAL });
    const call = events().at(-1);
    expect(call).to.include({ type: 'tool:executing', name: 'ask_browser' });
    expect(await stored()).to.deep.equal(plain(first.chat.messages));
    const { chat, errors, ...client } = chatClient(server, {
      id,
      messages: await stored(),
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    });
    const asked = chat.messages.at(-1)?.parts.at(-1) as ToolPart;
    expect(asked).to.deep.include({ type: 'tool-ask_browser', state: 'input-available', input: { question: 'x' } });
    await chat.addToolOutput({ tool: 'ask_browser', toolCallId: asked.toolCallId, output: 'tea' });
    await client.idle(() => textOf(chat.messages.at(-1)) !== '');
    expect(errors).to.deep.equal([]);
    expect(shown(chat.messages.at(-1))).to.deep.equal([
      'ask_guide output-available',
      'ask_page output-available',
      'ask_browser output-available',
    ]);
    expect(textOf(chat.messages.at(-1))).to.contain('tea');
    expect(await stored()).to.deep.equal(plain(chat.messages));
  });

  /** What `GET /api/runs/:id` has of the questions of the tool, once its run has ended. */
  const answers = async (): Promise<readonly object[]> => {
    const called = events().find((event) => event.type === 'tool:completed' && event.name === 'book_table');
    const headers = { authorization: `Bearer ${server.token}` };
    const response = await fetch(`${server.url}/api/runs/${called?.executionId ?? ''}`, { headers });
    const { toolCalls } = (await response.json()) as RunDetail;
    return (toolCalls[0]?.answers ?? []).map(({ input: { id: _, ...input }, answer }) => ({ ...input, ...answer }));
  };

  for (const [where, question] of [
    ['a run below', INPUT],
    ['the run itself', 'Use book_table with "x".'],
  ] as const)
    it(`ask in the messages of the run what a tool of ${where} asks, one question after the other`, async () => {
      const first = chatClient(server, { id });
      await first.chat.sendMessage({ text: question });
      // A page that is loaded again.
      const { chat, errors, ...client } = chatClient(server, {
        id,
        messages: first.chat.messages,
        sendAutomaticallyWhen: ({ messages }) =>
          lastAssistantMessageIsCompleteWithToolCalls({ messages }) ||
          lastAssistantMessageIsCompleteWithApprovalResponses({ messages }),
      });
      const asked = (): ToolPart => chat.messages.at(-1)?.parts.findLast((part) => 'toolCallId' in part) as ToolPart;
      expect(asked()).to.deep.include({
        type: 'tool-request_input',
        state: 'input-available',
        input: { toolName: 'book_table', message: 'How many?', schema: GUESTS },
      });
      const { toolCallId } = asked();
      await chat.addToolOutput({ tool: 'request_input', toolCallId, output: { guests: 2 } });
      await client.idle(() => asked().toolCallId !== toolCallId);
      expect(asked()).to.deep.include({ type: 'tool-request_input', state: 'approval-requested' });
      const { approval } = asked() as { readonly approval?: { readonly id: string; readonly requestReason?: string } };
      expect(approval?.requestReason).to.equal('Outside?');
      await chat.addToolApprovalResponse({ id: approval?.id ?? '', approved: true });
      await client.idle(() => textOf(chat.messages.at(-1)) !== '');
      expect(errors).to.deep.equal([]);
      const { result } = events().find((event) => event.type === 'tool:completed' && event.name === 'book_table') as {
        readonly result: string;
      };
      expect(JSON.parse(result)).to.deep.equal(BOOKED);
      const [called] = chat.messages.at(-1)?.parts.filter((part): part is ToolPart => 'toolCallId' in part) ?? [];
      expect(called).to.deep.include({ state: 'output-available' });
      expect(await answers()).to.deep.equal([
        { message: 'How many?', schema: GUESTS, action: 'accept', values: '{"guests":2}' },
        { message: 'Outside?', action: 'accept', values: '{}' },
      ]);
      const parts = (await stored()).at(-1)?.parts.filter(({ type }) => type === 'tool-request_input');
      expect(parts?.map((part) => 'output' in part && part.output)).to.deep.equal([{ guests: 2 }, {}]);
      await chat.sendMessage({ text: 'Hello again' });
      const last = events().findLast(({ type }) => type === 'run:started')?.executionId ?? '';
      const { input = [] } = (await server.host.module.runs.load(last))?.run ?? {};
      const name = question.split(' ')[1];
      expect(input.flatMap((item) => (item.type === 'function_call' ? [item.name] : []))).to.deep.equal([name]);
    });

  it('are followed by server code until the run ends, which decides meanwhile', async () => {
    const { chat } = chatClient(server, { id });
    await chat.sendMessage({ text: DELICATE });
    const { host } = server;
    const executionId = events()[0]?.executionId ?? '';
    const ends: (readonly (string | undefined)[])[] = [];
    for await (const event of host.follow(executionId)) {
      if (event.type === 'tool:approval_required') await host.module.loop.approve(event.executionId, event.callId);
      if (event.type === 'run:completed') ends.push((event.path ?? []).map(({ name }) => name));
    }
    expect(ends).to.deep.equal([['ask_boss', 'ask_clerk'], ['ask_boss'], []]);
    expect(await failure(host.follow('unknown').next())).to.have.property('code', 'invalid-request');
  });

  it('are cancelled with the run that waits for their approvals when the user writes instead', async () => {
    const { chat, errors } = chatClient(server, { id });
    await chat.sendMessage({ text: DELICATE });
    await chat.sendMessage({ text: 'Hello instead' });
    expect(errors).to.deep.equal([]);
    expect(textOf(chat.messages.at(-1))).to.contain('Hello instead');
    await until(() => events().filter(({ type }) => type === 'run:cancelled').length === 3);
  });

  it('interrupt an AG-UI run for their approvals', async () => {
    const headers = { authorization: `Bearer ${server.token}` };
    const settings = { url: `${server.url}/api/ag-ui`, threadId: 'thread', headers };
    const agent = new HttpAgent(settings);
    agent.messages.push({ id: 'm', role: 'user', content: DELICATE });
    const { seen, error } = await runAgent(agent);
    expect(error).to.equal(undefined);
    const { outcome } = seen.at(-1) as unknown as {
      readonly outcome: {
        readonly type: string;
        readonly interrupts: readonly { readonly id: string; readonly toolCallId: string }[];
      };
    };
    expect(outcome.type).to.equal('interrupt');
    const call = seen.findLast((event) => event.type === EventType.TOOL_CALL_START);
    expect(outcome.interrupts.map(({ toolCallId }) => toolCallId)).to.deep.equal([call?.toolCallId]);
    const other = new HttpAgent({
      ...settings,
      initialMessages: [...agent.messages, { id: 'm2', role: 'user', content: 'Hello instead' }],
    });
    expect((await runAgent(other)).seen.at(-1)).to.include({ type: 'RUN_ERROR', code: 'conflict' });
    const interruptId = outcome.interrupts[0]?.id ?? '';
    const resumed = await runAgent(agent, {
      resume: [{ interruptId, status: 'resolved', payload: { approved: true } }],
    });
    expect(resumed.error).to.equal(undefined);
    expect(resumed.seen.at(-1)).to.have.nested.property('outcome.type', 'success');
    expect(resumed.messages.at(-1)?.content).to.contain('tea');
  });

  it('interrupt an AG-UI run for results from outside', async () => {
    const headers = { authorization: `Bearer ${server.token}` };
    const agent = new HttpAgent({ url: `${server.url}/api/ag-ui`, threadId: 'thread', headers });
    agent.messages.push({ id: 'm', role: 'user', content: EXTERNAL });
    const { seen, error } = await runAgent(agent);
    expect(error).to.equal(undefined);
    const { outcome } = seen.at(-1) as unknown as {
      readonly outcome: { readonly interrupts: readonly { readonly id: string; readonly reason: string }[] };
    };
    expect(outcome.interrupts.map(({ reason }) => reason)).to.deep.equal(['bolide:result']);
    const interruptId = outcome.interrupts[0]?.id ?? '';
    const resumed = await runAgent(agent, {
      resume: [{ interruptId, status: 'resolved', payload: { output: 'tea' } }],
    });
    expect(resumed.error).to.equal(undefined);
    expect(resumed.messages.at(-1)?.content).to.contain('tea');
  });

  for (const [where, question] of [
    ['a run below', INPUT],
    ['the run itself', 'Use book_table with "x".'],
  ] as const)
    it(`interrupt an AG-UI run for what a tool of ${where} asks`, async () => {
      const headers = { authorization: `Bearer ${server.token}` };
      const settings = { url: `${server.url}/api/ag-ui`, threadId: 'thread', headers };
      const agent = new HttpAgent(settings);
      agent.messages.push({ id: 'm', role: 'user', content: question });
      const asked = async (resume?: { readonly interruptId: string; readonly payload: object }, page = agent) => {
        const run = await runAgent(page, resume === undefined ? {} : { resume: [{ status: 'resolved', ...resume }] });
        expect(run.error).to.equal(undefined);
        return run;
      };
      const first = (await asked()).interrupts;
      expect(first.map(({ reason, message }) => [reason, message])).to.deep.equal([['bolide:input', 'How many?']]);
      const answer = { interruptId: first[0]?.id ?? '', payload: { output: { guests: 2 } } };
      const second = (await asked(answer)).interrupts;
      expect(second.map(({ reason, message }) => [reason, message])).to.deep.equal([['bolide:input', 'Outside?']]);
      // An answer that is repeated is none to the next question.
      const other = new HttpAgent({ ...settings, initialMessages: agent.messages });
      expect((await asked(answer, other)).interrupts.map(({ id: asksFor }) => asksFor)).to.deep.equal([second[0]?.id]);
      await asked({ interruptId: second[0]?.id ?? '', payload: { approved: true } });
      const { result } = events().find((event) => event.type === 'tool:completed' && event.name === 'book_table') as {
        readonly result: string;
      };
      expect(JSON.parse(result)).to.deep.equal(BOOKED);
    });

  it('are messages within the outputs of their calls, also for a page that comes later, and afterwards', async () => {
    const { chat, errors } = chatClient(server, { id });
    const sent = chat.sendMessage({ text: QUESTION });
    await until(() => shown(chat.messages.at(-1)).length === 4);
    expect(shown(chat.messages.at(-1))).to.deep.equal(WORKING);
    const other = chatClient(server, { id });
    const resumed = other.chat.resumeStream();
    await until(() => shown(other.chat.messages.at(-1)).length === 4);
    expect(shown(other.chat.messages.at(-1))).to.deep.equal(WORKING);
    server.release();
    await Promise.all([sent, resumed]);
    expect([...errors, ...other.errors]).to.deep.equal([]);
    expect(shown(chat.messages.at(-1))).to.deep.equal(DONE);
    expect(plain(other.chat.messages.at(-1))).to.deep.equal(plain(chat.messages.at(-1)));
    const { messages } = (await (
      await fetch(`${server.url}/api/chat/${id}`, { headers: { authorization: `Bearer ${server.token}` } })
    ).json()) as { readonly messages: readonly UIMessage[] };
    expect(messages).to.deep.equal(plain(chat.messages));
    await chat.sendMessage({ text: 'Hello again' });
    expect(errors).to.deep.equal([]);
    expect(textOf(chat.messages.at(-1))).to.contain('Hello again');
    const last = events().findLast(({ type }) => type === 'run:started')?.executionId ?? '';
    const { input = [] } = (await server.host.module.runs.load(last))?.run ?? {};
    const results = input.flatMap((item) => (item.type === 'function_call_output' ? [item.output] : []));
    expect(results).to.have.length(1);
    expect(results[0]).to.be.a('string').that.contains('tea is here').and.does.not.contain('parts');
  });
});
