import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import { z } from 'zod';
import { agent } from '../../../imports/library/Agent';
import type { Agent, AgentOptions } from '../../../imports/library/Agent';
import { AgentRun } from '../../../imports/library/AgentRun';
import { tool } from '../../../imports/library/tool';
import { reduceUIMessage } from '../../../imports/interop/aiSdk/reduceUIMessage';
import { toUIMessageStream } from '../../../imports/interop/aiSdk/uiMessageStream';
import { childId } from '../../../imports/business/ai/application/services/shared/childId';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { runAsTool } from '../../../imports/business/ai/infrastructure/tools/runAsTool';
import type { LLMResponse } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { runOf } from '../../../imports/business/ai/domain/entities/Run';
import type { AgentEvent } from '../../../imports/business/ai/domain/types/AgentEvents';
import { ScriptedProvider, untilAborted } from '../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../imports/testing/ScriptedProvider';
import { deferred } from '../../support/deferred';
import { failure } from '../../support/failure';
import { nextTurn } from '../../support/nextTurn';
import { answer, calling } from '../../../imports/testing/responses';

function scripted(steps: readonly ScriptedStep[], options: AgentOptions = {}): Agent {
  return agent({ provider: new ScriptedProvider(steps), ...options });
}

async function all<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of iterable) values.push(value);
  return values;
}

const types = (events: readonly AgentEvent[]): string[] => events.map(({ type }) => type);

describe('AgentRun', () => {
  it('knows its execution id at once', async () => {
    const run = scripted([answer('Hello.')]).stream('Hi', { executionId: 'run-1' });
    expect(run.executionId).to.equal('run-1');
    expect(await run.result).to.include({ executionId: 'run-1', text: 'Hello.', finishReason: 'completed' });
  });

  it('ends although nobody reads it', async () => {
    const run = scripted([answer('Hello.')]).stream('Hi');
    expect((await run.result).text).to.equal('Hello.');
  });

  it('iterates its events, from the first to the last one', async () => {
    const run = scripted([answer('Hello.')]).stream('Hi');
    const events = ['run:started', 'iteration:start', 'llm:delta', 'llm:response', 'run:completed'];
    expect(types(await all(run))).to.deep.equal(events);
    expect(types(await all(run.events))).to.deep.equal(events);
  });

  it('receives only the events of its own run', async () => {
    const assistant = scripted([answer('One.'), answer('Two.')]);
    const runs = [assistant.stream('1'), assistant.stream('2')];
    const texts = await Promise.all(runs.map(async ({ textStream }) => (await all(textStream)).join('')));
    expect(texts.sort()).to.deep.equal(['One.', 'Two.']);
    for (const run of runs)
      expect([...new Set((await all(run)).map(({ executionId }) => executionId))]).to.deep.equal([run.executionId]);
  });

  it('has the events of runs below it, in which it approves calls, between its own', async () => {
    const pay = tool({ name: 'pay', description: 'Pays.', needsApproval: true, execute: () => 'paid' });
    const inner = runAsTool({ name: 'inner', run: () => ({ input: 'Pay.', tools: ['pay'] }) });
    const outer = runAsTool({ name: 'outer', run: () => ({ input: 'Have it paid.', tools: ['inner'] }) });
    const called = (name: string): LLMResponse =>
      calling({ name, call_id: 'c', arguments: name === 'pay' ? {} : { input: 'x' } });
    const steps = [called('outer'), called('inner'), called('pay'), answer('third'), answer('second'), answer('first')];
    const run = scripted(steps, { tools: [outer, inner, pay] }).stream('Go.', { executionId: 'root' });
    const child = childId('root', 'c');
    const lines: string[] = [];
    for await (const event of run.familyEvents) {
      const { executionId, type, path = [] } = event;
      lines.push(`${path.map(({ name }) => `${name} `).join('')}${type}`);
      if (type === 'tool:approval_required') {
        expect(executionId).to.equal(childId(child, 'c'));
        expect(path).to.deep.equal([
          { executionId: 'root', callId: 'c', name: 'outer' },
          { executionId: child, callId: 'c', name: 'inner' },
        ]);
        await run.approve(event, event.argumentsHash);
      }
    }
    const begins = ['run:started', 'iteration:start', 'llm:response', 'tool:pending'];
    const ends = ['tool:completed', 'iteration:start', 'llm:delta', 'llm:response', 'run:completed'];
    const of = (path: string, names: readonly string[]): readonly string[] => names.map((name) => `${path}${name}`);
    expect(lines).to.deep.equal([
      ...of('', [...begins, 'tool:executing']),
      ...of('outer ', [...begins, 'tool:executing']),
      ...of('outer inner ', [...begins, 'tool:approval_required', 'tool:executing', ...ends]),
      ...of('outer ', ends),
      ...of('', ends),
    ]);
    expect(types(await all(run.events))).to.deep.equal([...begins, 'tool:executing', ...ends]);
    expect((await all(run.textStream)).join('')).to.equal('first');
    const lasting = lines.filter((line) => !line.endsWith(' llm:delta'));
    expect((await all(run.familyEvents)).length).to.equal(lasting.length);
    const messages = await Promise.all(
      [{ sendRuns: true }, {}].map(async (options) => reduceUIMessage(await all(toUIMessageStream(run, options)))),
    );
    const outputs = messages.map(({ parts }) => parts.flatMap((part) => ('output' in part ? [part.output] : [])));
    expect(outputs[0]).to.have.nested.property('[0].parts[1].output.parts[1].output', 'paid');
    expect(outputs[1]).to.deep.equal(['second']);
  });

  it('gives a call of a tool with its events', async () => {
    const run = scripted([calling({ name: 'add', arguments: { a: 1, b: 2 } }), answer('3')], {
      tools: [
        tool({ name: 'add', parameters: z.object({ a: z.number(), b: z.number() }), execute: ({ a, b }) => a + b }),
      ],
    }).stream('Add.');
    const completed = (await all(run)).find((event) => event.type === 'tool:completed');
    expect(completed).to.include({ name: 'add', result: '3' });
    expect(completed?.type === 'tool:completed' && completed.toolCall.state).to.equal('completed');
  });

  it('serves two readers of different speed, and neither misses anything', async () => {
    const words = Array.from({ length: 500 }, (_, index) => `${index} `);
    const run = scripted([answer(words.join(''))]).stream('Count');
    const slow = async (): Promise<string> => {
      let text = '';
      for await (const part of run.textStream) {
        text += part;
        await nextTurn();
      }
      return text;
    };
    const [first, second] = await Promise.all([slow(), all(run.textStream)]);
    expect(first).to.equal(words.join(''));
    expect(second.join('')).to.equal(words.join(''));
  });

  it('continues when a reader leaves early', async () => {
    const run = scripted([answer('one two three')]).stream('Count');
    for await (const event of run) if (event.type === 'run:started') break;
    for await (const _ of run.textStream) break;
    expect((await run.result).text).to.equal('one two three');
  });

  it('is cancelled by its signal and by cancel(), which waits for its end', async () => {
    const controller = new AbortController();
    const assistant = scripted([untilAborted, untilAborted]);
    const first = assistant.stream('1', { signal: controller.signal });
    controller.abort();
    expect(await failure(first.result)).to.have.property('code', 'aborted');
    const second = assistant.stream('2');
    const reading = failure(all(second.textStream));
    await second.cancel();
    expect(await reading).to.have.property('code', 'aborted');
    expect(types((await failureEvents(second)) ?? [])).to.include('run:cancelled');
    await second.cancel();
  });

  it('has ended when cancel() resolves', async () => {
    const loop = new AgenticLoop({ provider: new ScriptedProvider([untilAborted]), toolExecutor: new ToolRegistry() });
    const ends: string[] = [];
    loop.on('run:cancelled', ({ executionId }) => ends.push(executionId));
    const options = { model: 'x', input: 'Hi', executionId: 'run-1' };
    await new AgentRun({ loop, userId: 'ann', options, metadata: {} }).cancel();
    expect(ends).to.deep.equal(['run-1']);
  });

  it('leaves nothing behind at its signal and its loop', async () => {
    const { signal } = new AbortController();
    const loop = new AgenticLoop({
      provider: new ScriptedProvider(Array.from({ length: 20 }, () => answer('Hello.'))),
      toolExecutor: new ToolRegistry(),
    });
    const start = (executionId: string): AgentRun =>
      new AgentRun({ loop, userId: 'ann', options: { model: 'x', input: 'Hi', executionId, signal }, metadata: {} });
    const runs = Array.from({ length: 20 }, (_, index) => start(`run-${index}`));
    expect(getEventListeners(signal, 'abort')).not.to.have.length(0);
    await Promise.all(runs.map((run) => all(run)));
    await Promise.all(runs.map((run) => run.cancel()));
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
    expect(loop.listenerCount('event')).to.equal(1);
    // The id is free again.
    expect(await failure(start('run-1').result)).not.to.have.property('code', 'conflict');
  });

  it('throws nothing to a process that awaits neither result nor usage', async () => {
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown): void => void unhandled.push(reason);
    process.on('unhandledRejection', onUnhandled);
    try {
      const run = scripted([new Error('broken')]).stream('Hi');
      expect(run.usage).to.be.a('promise');
      await failure(all(run));
      await nextTurn();
      await nextTurn();
    } finally {
      process.off('unhandledRejection', onUnhandled);
    }
    expect(unhandled).to.deep.equal([]);
  });

  it('throws the error that ended it, with a report, after its last event', async () => {
    const run = scripted([calling({ name: 'nothing' }), new Error('broken')]).stream('Hi');
    const events = await failureEvents(run);
    expect(events?.at(-1)?.type).to.equal('run:failed');
    const error = await failure(run.result);
    expect(runOf(error)).to.have.property('executionId', run.executionId);
    expect(await failure(all(run.textStream))).to.equal(error);
    // Logs and responses of apps are JSON.
    expect(JSON.parse(JSON.stringify(error))).to.have.nested.property('run.executionId', run.executionId);
  });

  it('ends with the error of a run that could not start', async () => {
    const assistant = scripted([answer('Hello.')]);
    const run = assistant.stream('Hi', { toolChoice: { type: 'function', name: 'absent' } });
    const error = await failure(run.result);
    expect(error).to.have.property('code', 'invalid-request');
    expect(await failure(all(run.events))).to.equal(error);
    expect(await failure(run.approve('call'))).to.equal(error);
    await run.cancel();
  });

  it('refuses an execution id that is in progress', async () => {
    const assistant = scripted([untilAborted]);
    const run = assistant.stream('Hi', { executionId: 'same' });
    expect(() => assistant.stream('Hi', { executionId: 'same' }))
      .to.throw('in progress')
      .with.property('code', 'conflict');
    await run.cancel();
  });

  it('passes decisions and results of its calls on', async () => {
    const run = scripted([calling({ name: 'pay', call_id: 'c1' }, { name: 'ask', call_id: 'c2' }), answer('Done.')], {
      tools: [
        tool({ name: 'pay', needsApproval: true, execute: () => 'paid' }),
        tool({ name: 'ask', kind: 'external', parameters: { type: 'object' } }),
      ],
    }).stream('Pay and ask.');
    for await (const event of run) {
      if (event.type === 'tool:approval_required')
        expect(await run.reject(event.callId, 'Too much.', event.argumentsHash)).to.be.oneOf([
          'failed',
          'awaiting_approval',
        ]);
      if (event.type === 'tool:executing' && event.name === 'ask')
        expect(await run.submitToolResult(event.callId, { output: 'blue' })).to.equal('accepted');
    }
    const { toolCalls, text } = await run.result;
    expect(text).to.equal('Done.');
    expect(toolCalls.map(({ state }) => state)).to.deep.equal(['failed', 'completed']);
  });

  describe("with onPending: 'return'", () => {
    it('settles at the first answer, and delivers later ones through followUps and events', async () => {
      const found = deferred<string>();
      const run = scripted([calling({ name: 'research' }), answer('I am on it.'), answer('12 sources.')], {
        tools: [tool({ name: 'research', blocking: false, execute: () => found.promise })],
        onPending: 'return',
      }).stream('Research.');
      const read = (await all(run.textStream)).join('');
      expect(read).to.equal('I am on it.');
      const { text, pending } = await run.result;
      expect(text).to.equal('I am on it.');
      expect(pending.map(({ name }) => name)).to.deep.equal(['research']);
      found.resolve('12');
      expect((await all(run.followUps)).map(({ output_text }) => output_text)).to.deep.equal(['12 sources.']);
      expect(types(await all(run)).at(-1)).to.equal('run:completed');
      expect((await all(run.textStream)).join('')).to.equal('I am on it.');
    });

    it('can still be cancelled', async () => {
      const run = scripted([calling({ name: 'research' }), answer('I am on it.')], {
        tools: [tool({ name: 'research', blocking: false, execute: () => new Promise(() => undefined) })],
        onPending: 'return',
      }).stream('Research.');
      await run.result;
      await run.cancel();
      expect(types((await failureEvents(run)) ?? []).at(-1)).to.equal('run:cancelled');
      expect(await failure(all(run.followUps))).to.have.property('code', 'aborted');
    });
  });
});

/** The events before the error. */
async function failureEvents(run: AsyncIterable<AgentEvent>): Promise<AgentEvent[] | undefined> {
  const events: AgentEvent[] = [];
  try {
    for await (const event of run) events.push(event);
  } catch {
    return events;
  }
  return undefined;
}
