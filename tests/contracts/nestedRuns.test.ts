/** Runs that calls start, within the run that made the calls, as unmodified clients show them: three levels of them. */
import { HttpAgent } from '@ag-ui/client';
import { expect } from 'chai';
import type { UIMessage } from 'ai';
import { runAsTool } from '../../imports/business/ai/infrastructure/tools/runAsTool';
import { runAgent } from '../support/agUi/replayAgUi';
import { chatClient, textOf } from '../support/ChatClient';
import { startChatServer } from '../support/startChatServer';
import type { ChatServer } from '../support/startChatServer';
import { readSse } from '../support/readSse';
import type { SseEvent, SseReader } from '../support/readSse';
import { until } from '../support/until';

const delegate = (name: string, below: string, task: string) =>
  runAsTool({ name, description: `Delegates to ${below}.`, run: () => ({ input: task, tools: [below] }) });
const TOOLS = [
  delegate('ask_first', 'ask_second', 'Use ask_second with "x".'),
  delegate('ask_second', 'ask_third', 'Use ask_third with "x".'),
  delegate('ask_third', 'wait_for', 'Wait for what "tea"'),
];
const QUESTION = 'Use ask_first with "x".';

type ToolPart = Extract<UIMessage['parts'][number], { readonly toolCallId: string }>;

/** The names of the tools and their states, from the outermost call to the innermost that is shown. */
function shown(message: UIMessage | undefined): readonly string[] {
  const part = message?.parts.find((each): each is ToolPart => 'toolCallId' in each);
  if (part === undefined) return [];
  const { type, state, preliminary } = part as ToolPart & { readonly preliminary?: boolean };
  const below = typeof part.output === 'object' ? shown(part.output as UIMessage) : [];
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
  beforeEach(async () => {
    server = await startChatServer(TOOLS);
  });
  afterEach(() => server.close());

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
    const events = seen as unknown as readonly Record<string, unknown>[];
    const started = events.filter(({ type }) => type === 'SUBAGENT_STARTED');
    expect(started.map(({ name }) => name)).to.deep.equal(['ask_first', 'ask_second', 'ask_third']);
    const ids = started.map(({ subagentRunId }) => subagentRunId);
    expect(started.map(({ parentSubagentRunId }) => parentSubagentRunId)).to.deep.equal([undefined, ids[0], ids[1]]);
    const calls = events.filter(({ type }) => type === 'TOOL_CALL_START');
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
    const ended = events.filter(({ type }) => type === 'SUBAGENT_FINISHED');
    expect(ended.map(({ subagentRunId }) => subagentRunId)).to.deep.equal(ids.toReversed());
    expect(ended[0]?.['result']).to.contain('tea is here');
    const texts = messages.filter(({ role, content }) => role === 'assistant' && content !== undefined);
    expect(texts.map(({ subagentRunId }) => subagentRunId)).to.have.members([undefined, ...ids]);
    agent.messages.push({ id: 'm2', role: 'user', content: 'Thank you.' });
    expect((await runAgent(agent)).error).to.equal(undefined);
    const last = server.events.events.findLast(({ type }) => type === 'run:started')?.executionId ?? '';
    const { input = [] } = (await server.host.module.runs.load(last))?.run ?? {};
    expect(input.map((item) => (item.type === 'message' ? item.role : item.type))).to.deep.equal([
      'user',
      'function_call',
      'function_call_output',
      'assistant',
      'user',
    ]);
  });

  it('are between the events of the run, also for a reader that comes later, and one that comes back', async () => {
    const headers = { authorization: `Bearer ${server.token}` };
    const { chat } = chatClient(server, { id: 'c' });
    const started = server.events.seen('run:started');
    const sent = chat.sendMessage({ text: QUESTION });
    const { executionId } = await started;
    const url = `${server.url}/api/runs/stream?executionId=${executionId}&family`;
    const [whole, first] = [await readSse(url, headers), await readSse(url, headers)];
    await server.events.seen('tool:executing', ({ name }) => name === 'wait_for');
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
    const calls = server.events.events.filter(({ type }) => type === 'tool:executing').slice(0, 3);
    expect(path).to.deep.equal(
      calls.map((call) => ({ executionId: call.executionId, callId: 'callId' in call ? call.callId : '' })),
    );
    const own = await readSse(url.replace('&family', ''), {
      ...headers,
      'last-event-id': String(first.events.at(-1)?.id),
    });
    await own.waitFor(ends);
    expect(own.events.some(({ data }) => data['executionId'] !== executionId)).to.equal(false);
    for (const stream of [whole, late, back, own]) stream.stop();
  });

  it('are messages within the outputs of their calls, also for a page that comes later, and afterwards', async () => {
    const { chat, errors } = chatClient(server, { id: 'c' });
    const sent = chat.sendMessage({ text: QUESTION });
    await until(() => shown(chat.messages.at(-1)).length === 4);
    expect(shown(chat.messages.at(-1))).to.deep.equal(WORKING);
    const other = chatClient(server, { id: 'c' });
    const resumed = other.chat.resumeStream();
    await until(() => shown(other.chat.messages.at(-1)).length === 4);
    expect(shown(other.chat.messages.at(-1))).to.deep.equal(WORKING);
    server.release();
    await Promise.all([sent, resumed]);
    expect([...errors, ...other.errors]).to.deep.equal([]);
    expect(shown(chat.messages.at(-1))).to.deep.equal(DONE);
    expect(plain(other.chat.messages.at(-1))).to.deep.equal(plain(chat.messages.at(-1)));
    const { messages } = (await (
      await fetch(`${server.url}/api/chat/c`, { headers: { authorization: `Bearer ${server.token}` } })
    ).json()) as { readonly messages: readonly UIMessage[] };
    expect(messages).to.deep.equal(plain(chat.messages));
    await chat.sendMessage({ text: 'Hello again' });
    expect(errors).to.deep.equal([]);
    expect(textOf(chat.messages.at(-1))).to.contain('Hello again');
    const last = server.events.events.findLast(({ type }) => type === 'run:started')?.executionId ?? '';
    const { input = [] } = (await server.host.module.runs.load(last))?.run ?? {};
    const results = input.flatMap((item) => (item.type === 'function_call_output' ? [item.output] : []));
    expect(results).to.have.length(1);
    expect(results[0]).to.be.a('string').that.contains('tea is here').and.does.not.contain('parts');
  });
});
