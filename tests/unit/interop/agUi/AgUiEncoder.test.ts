import { expect } from 'chai';
import { AgenticLoop } from '../../../../imports/business/ai/application/services/AgenticLoop';
import type { AgentEvent, AgentEventBody } from '../../../../imports/business/ai/domain/types/AgentEvents';
import { ToolRegistry } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { AgUiEvent } from '../../../../imports/interop/agUi/AgUiEvents';
import type { AgUiMessage } from '../../../../imports/interop/agUi/AgUiMessages';
import { parseInterruptId } from '../../../../imports/interop/agUi/agUiIds';
import { deferred } from '../../../support/deferred';
import { recordEvents } from '../../../support/recordEvents';
import { answer, calling } from '../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../imports/testing/ScriptedProvider';
import { encodeRun, QUESTION } from '../../../support/agUi/encodeRun';
import { replayAgUi } from '../../../support/agUi/replayAgUi';

const EXECUTION = '0b9d8a2e-6c0f-4d5c-9d0a-2f7f5a1e4b11';
const USAGE = {
  input_tokens: 10,
  output_tokens: 5,
  total_tokens: 15,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens_details: { reasoning_tokens: 0 },
};

function run(...bodies: readonly AgentEventBody[]): readonly AgentEvent[] {
  return [{ type: 'run:started', userId: 'ann', model: 'm' } as const, ...bodies].map((body, index) => ({
    ...body,
    executionId: EXECUTION,
    at: 1_000 + index,
    seq: index + 1,
  }));
}

const typesOf = (events: readonly AgUiEvent[]) => events.map(({ type }) => type);
const turn = (iteration: number) => ({ type: 'iteration:start', iteration }) as const;
const said = (iteration: number, text: string) =>
  ({ type: 'llm:response', iteration, response: answer(text) }) as const;
const text = (delta: string) => ({ type: 'llm:delta', kind: 'text', delta }) as const;
const reasoning = (delta: string) => ({ type: 'llm:delta', kind: 'reasoning', delta }) as const;
const completed = (response = answer('Clear.')) =>
  ({ type: 'run:completed', response, usage: USAGE, iterations: 1 }) as const;
const call = { callId: 'c/1', name: 'weather' };
const requested = (blocking = true) =>
  [
    turn(1),
    { type: 'llm:response', iteration: 1, response: calling({ name: 'weather', call_id: 'c/1' }) },
    { type: 'tool:pending', ...call, call_id: 'c/1', arguments: '{}', blocking },
  ] as const;

describe('AgUiEncoder', () => {
  it('encodes a streamed answer: run, step, reasoning, text', async () => {
    const events = encodeRun(
      run(turn(1), reasoning('Hm. '), reasoning('Yes.'), text('Cl'), text('ear.'), said(1, 'Clear.'), completed()),
    );
    expect(typesOf(events)).to.deep.equal([
      'RUN_STARTED',
      'STATE_SNAPSHOT',
      'STEP_STARTED',
      'REASONING_START',
      'REASONING_MESSAGE_START',
      'REASONING_MESSAGE_CONTENT',
      'REASONING_MESSAGE_CONTENT',
      'REASONING_MESSAGE_END',
      'REASONING_END',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'STEP_FINISHED',
      'RUN_FINISHED',
    ]);
    expect(events.at(-1)).to.deep.include({
      outcome: { type: 'success' },
      result: { executionId: EXECUTION, text: 'Clear.' },
    });
    const replay = await replayAgUi(events, { messages: [QUESTION] });
    expect(replay.messages.map(({ role, content }) => [role, content])).to.deep.equal([
      ['user', 'How is it in Rome?'],
      ['reasoning', 'Hm. Yes.'],
      ['assistant', 'Clear.'],
    ]);
  });

  it('reports the tokens of the model calls by model', () => {
    const events = encodeRun(run(turn(1), said(1, 'a'), turn(2), said(2, 'b'), completed()));
    const finished = events.at(-1);
    expect(finished?.type === 'RUN_FINISHED' && finished.usage).to.deep.equal([
      {
        provider: 'scripted',
        model: 'scripted-model',
        inputTokens: 20,
        outputTokens: 10,
        totalTokens: 30,
        reasoningTokens: 0,
        cachedInputTokens: 0,
        cacheWriteInputTokens: 0,
      },
    ]);
  });

  it('discards the text of an attempt that failed', async () => {
    const retry = { type: 'llm:retry', iteration: 1, providerId: 'openai', reason: 'overloaded', delay: 5 } as const;
    const events = encodeRun(run(turn(1), text('Clou'), retry, text('Clear.'), said(1, 'Clear.'), completed()));
    const replay = await replayAgUi(events, { messages: [QUESTION] });
    expect(replay.error).to.equal(undefined);
    expect(replay.messages.map(({ content }) => content)).to.deep.equal(['How is it in Rome?', 'Clear.']);
    expect(events).to.deep.include({
      timestamp: 1_003,
      type: 'CUSTOM',
      name: 'bolide:retry',
      value: { iteration: 1, providerId: 'openai', reason: 'overloaded', delay: 5 },
    });
  });

  it('discards the text of a model call that another process repeats', async () => {
    const again = { type: 'run:started', userId: 'ann', model: 'm' } as const;
    const events = encodeRun(
      run(turn(1), reasoning('Hm'), text('Clou'), again, turn(1), text('Clear.'), said(1, 'Clear.'), completed()),
    );
    const replay = await replayAgUi(events, { messages: [QUESTION] });
    expect(replay.error).to.equal(undefined);
    expect(replay.messages.map(({ content }) => content)).to.deep.equal(['How is it in Rome?', '', 'Clear.']);
  });

  it('replaces a streamed text that the response contradicts', async () => {
    const events = encodeRun(run(turn(1), text('Cloudy.'), said(1, 'Clear.'), completed()));
    const replay = await replayAgUi(events, { messages: [QUESTION] });
    expect(replay.messages.map(({ content }) => content)).to.deep.equal(['How is it in Rome?', 'Clear.']);
  });

  it('closes the open text of a cancelled run', async () => {
    const events = encodeRun(run(turn(1), text('Cle'), { type: 'run:cancelled', usage: USAGE }));
    const replay = await replayAgUi(events, { messages: [QUESTION] });
    expect(replay.error).to.equal(undefined);
    expect(replay.outcome).to.equal('cancelled');
    expect(replay.messages.at(-1)?.content).to.equal('Cle');
  });

  it('ends a failed run with RUN_ERROR and its code', async () => {
    const error = { code: 'rate-limited', message: 'Too many requests.' } as const;
    const events = encodeRun(run(turn(1), text('Cle'), { type: 'run:failed', error, usage: USAGE }));
    expect(events.at(-1)).to.deep.equal({ timestamp: 1_003, type: 'RUN_ERROR', ...error });
    const replay = await replayAgUi(events, { messages: [QUESTION] });
    expect(replay.seen.at(-1)).to.include({ type: 'RUN_ERROR', code: 'rate-limited' });
  });

  it('maintains the live state of calls below the application’s own state', async () => {
    const events = encodeRun(
      run(
        ...requested(false),
        { type: 'tool:executing', ...call },
        { type: 'tool:progress', ...call, fraction: 0.5, note: 'half' },
        { type: 'tool:failed', ...call, error: { failure: 'threw', message: 'No sky.' }, executionTime: 3 },
        { type: 'run:cancelled', usage: USAGE },
      ),
      { state: { page: 7 } },
    );
    const { state, messages } = await replayAgUi(events, { messages: [QUESTION], state: { page: 7 } });
    expect(state).to.deep.equal({
      page: 7,
      bolide: {
        executionId: EXECUTION,
        runId: 'run',
        toolCalls: {
          [`${EXECUTION}:c/1`]: {
            name: 'weather',
            blocking: false,
            state: 'failed',
            progress: 0.5,
            note: 'half',
            error: 'No sky.',
          },
        },
      },
    });
    expect(messages.at(-1)).to.include({ role: 'tool', content: 'Error: No sky.' });
  });

  it('leaves a state alone that is not an object', () => {
    const events = encodeRun(run(...requested(), { type: 'tool:executing', ...call }), { state: ['a'] });
    expect(typesOf(events)).to.not.include.members(['STATE_SNAPSHOT', 'STATE_DELTA']);
  });

  it('ends with an interrupt when a call needs approval, and ignores what follows', async () => {
    const hash = '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a';
    const events = encodeRun(
      run(
        ...requested(),
        { type: 'tool:approval_required', ...call, arguments: '{}', argumentsHash: hash },
        { type: 'tool:executing', ...call },
      ),
    );
    const replay = await replayAgUi(events, { messages: [QUESTION] });
    expect(replay.outcome).to.equal('interrupt');
    const [interrupt] = replay.interrupts;
    expect(interrupt).to.include({ reason: 'tool_call', toolCallId: `${EXECUTION}:c/1` });
    expect(parseInterruptId(interrupt?.id ?? '')).to.deep.equal({
      executionId: EXECUTION,
      callId: 'c/1',
      argumentsHash: hash,
    });
    expect(typesOf(events).slice(-4)).to.deep.equal([
      'STATE_SNAPSHOT',
      'MESSAGES_SNAPSHOT',
      'STEP_FINISHED',
      'RUN_FINISHED',
    ]);
  });

  it('names the pending calls of the front end’s tools', async () => {
    const events = encodeRun(run(...requested(), { type: 'tool:executing', ...call }), { frontEndTools: ['weather'] });
    const replay = await replayAgUi(events, { messages: [QUESTION] });
    expect(replay.outcome).to.equal('success');
    expect(replay.pendingToolCallIds).to.deep.equal([`${EXECUTION}:c/1`]);
  });

  it('waits for the server’s blocking calls before it asks the client', async () => {
    const other = { callId: 'c2', name: 'clock' };
    const events = run(
      turn(1),
      {
        type: 'llm:response',
        iteration: 1,
        response: calling({ name: 'weather', call_id: 'c/1' }, { name: 'clock', call_id: 'c2' }),
      },
      { type: 'tool:pending', ...call, call_id: 'c/1', arguments: '{}', blocking: true },
      { type: 'tool:pending', ...other, call_id: 'c2', arguments: '{}', blocking: true },
      { type: 'tool:approval_required', ...call, arguments: '{}', argumentsHash: 'a' },
      { type: 'tool:executing', ...other },
      { type: 'tool:completed', ...other, result: 'noon', executionTime: 1 },
    );
    expect(typesOf(encodeRun(events.slice(0, -1)))).to.not.include('RUN_FINISHED');
    const replay = await replayAgUi(encodeRun(events), { messages: [QUESTION] });
    expect(replay.interrupts).to.have.length(1);
    expect(replay.messages.at(-1)).to.include({ role: 'tool', content: 'noon' });
  });

  it('asks about a non-blocking call once the model has answered', () => {
    const events = run(
      ...requested(false),
      { type: 'tool:approval_required', ...call, arguments: '{}', argumentsHash: 'a' },
      turn(2),
      said(2, 'It is on its way.'),
    );
    expect(typesOf(encodeRun(events.slice(0, -1)))).to.not.include('RUN_FINISHED');
    expect(encodeRun(events).at(-1)).to.deep.include({ type: 'RUN_FINISHED' });
  });

  it('does not ask while a late result is about to be delivered', () => {
    const late = { callId: 'c2', name: 'job' };
    const events = run(
      ...requested(false),
      { type: 'tool:pending', ...late, call_id: 'c2', arguments: '{}', blocking: false },
      { type: 'tool:approval_required', ...call, arguments: '{}', argumentsHash: 'a' },
      { type: 'tool:executing', ...late },
      turn(2),
      { type: 'tool:completed', ...late, result: '42', executionTime: 1 },
      { type: 'result:arrived', ...late, state: 'completed' },
      said(2, 'Both are on their way.'),
      { type: 'nonblocking:result', callIds: ['c2'] },
      turn(3),
      said(3, '42.'),
    );
    expect(typesOf(encodeRun(events.slice(0, -1)))).to.not.include('RUN_FINISHED');
    expect(typesOf(encodeRun(events))).to.include('RUN_FINISHED');
  });

  it('continues an approved run as another AG-UI run', async () => {
    const finished = deferred<string>();
    const tools = new ToolRegistry()
      .register({ name: 'send', needsApproval: true, execute: () => finished.promise })
      .register({ name: 'weather', execute: () => 'clear' });
    const provider = new ScriptedProvider([
      calling({ name: 'send', call_id: 's' }, { name: 'weather', call_id: 'w' }),
      answer('Sent.'),
    ]);
    const loop = new AgenticLoop({ provider, toolExecutor: tools });
    const record = recordEvents(loop);
    const running = loop.execute('ann', { model: 'm', input: 'Send it.', tools: ['send', 'weather'] });
    await record.seen('tool:completed');
    const first = await replayAgUi(encodeRun(record.events), { messages: [QUESTION] });
    expect(first.outcome).to.equal('interrupt');
    const seen = record.events.length;
    const { executionId, callId, argumentsHash } = parseInterruptId(first.interrupts[0]?.id ?? '') ?? {
      executionId: '',
      callId: '',
    };
    await loop.approve(executionId, callId, argumentsHash);
    finished.resolve('done');
    await running;
    const given = { messages: first.messages as AgUiMessage[], state: first.state };
    const [past, events] = [record.events.slice(0, seen), record.events.slice(seen)];
    const second = await replayAgUi(
      encodeRun(events, { ...given, answered: new Map([[callId, 'decision']]) }, past),
      given,
    );
    expect(second.error).to.equal(undefined);
    expect(second.outcome).to.equal('success');
    expect(second.messages.map(({ role, content }) => [role, content])).to.deep.equal([
      ['user', 'How is it in Rome?'],
      ['assistant', undefined],
      ['tool', 'clear'],
      ['tool', 'done'],
      ['assistant', 'Sent.'],
    ]);
  });
});
