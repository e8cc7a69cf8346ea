import { expect } from 'chai';
import type { AgentEvent, AgentEventBody } from '../../../../imports/business/ai/domain/types/AgentEvents';
import type { OutputItem } from '../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { UIMessageEncoder } from '../../../../imports/interop/aiSdk/UIMessageEncoder';
import type { UIMessageEncoderOptions } from '../../../../imports/interop/aiSdk/UIMessageEncoder';
import { UIMessageStreamEncoder } from '../../../../imports/interop/aiSdk/UIMessageStreamEncoder';
import type { UIMessageChunk } from '../../../../imports/interop/aiSdk/UIMessages';
import { LLMStreamError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { recordedRun, RUN_ID } from '../../../support/recordedRun';
import { readUIMessage } from '../../../support/readUIMessage';
import { answer, callItem, response, textItem, usage } from '../../../../imports/testing/responses';

function encode(events: readonly AgentEvent[], options: UIMessageEncoderOptions = {}): readonly UIMessageChunk[] {
  const encoder = new UIMessageEncoder(options);
  return [...events.flatMap((event) => encoder.push(event)), ...encoder.end()];
}

function run(...bodies: readonly AgentEventBody[]): readonly AgentEvent[] {
  const started: AgentEventBody = { type: 'run:started', userId: 'ann', model: 'm' };
  return [started, ...bodies].map((body, index) => ({ executionId: RUN_ID, at: 0, seq: index + 1, ...body }));
}

const CALL = { callId: 'c', name: 'search' };
const step = (iteration = 1): AgentEventBody => ({ type: 'iteration:start', iteration });
const responded = (...output: readonly OutputItem[]): AgentEventBody => ({
  type: 'llm:response',
  iteration: 1,
  response: response({ output }),
});
const pending = (text = '{"q":1}'): AgentEventBody => ({
  type: 'tool:pending',
  ...CALL,
  call_id: 'c',
  arguments: text,
  blocking: true,
});
const text = (delta: string): AgentEventBody => ({ type: 'llm:delta', kind: 'text', delta });
const reasoning = (delta: string): AgentEventBody => ({ type: 'llm:delta', kind: 'reasoning', delta });
const typesOf = (chunks: readonly UIMessageChunk[]): string => chunks.map(({ type }) => type).join(' ');

describe('UIMessageEncoder', () => {
  it('encodes a run with every kind of call as one message with a step for each model call', async () => {
    const chunks = encode(await recordedRun());
    const message = await readUIMessage(chunks);
    expect(message.id).to.equal(RUN_ID);
    expect(message.metadata).to.deep.include({ executionId: RUN_ID, iterations: 3 });
    expect(message.metadata).to.have.nested.property('usage.totalTokens', 45);
    expect(message.parts.map(({ type, ...part }) => [type, 'state' in part ? part.state : undefined])).to.deep.equal([
      ['step-start', undefined],
      ['tool-quick', 'output-available'],
      ['tool-broken', 'output-error'],
      ['tool-guarded', 'output-available'],
      ['tool-slow', 'output-available'],
      ['data-tool-progress', undefined],
      ['step-start', undefined],
      ['text', 'done'],
      ['data-tool-result', undefined],
      ['step-start', undefined],
      ['text', 'done'],
    ]);
    expect(message.parts[3]).to.deep.include({ input: { to: 'ann' }, output: 'allowed' });
    expect(message.parts[3]).to.have.nested.property('approval.approved', true);
    expect(message.parts[2]).to.include({ errorText: 'it broke' });
    expect(message.parts[5]).to.deep.include({
      data: { toolCallId: 's', toolName: 'slow', fraction: 0.5, note: 'half' },
    });
    expect(typesOf(chunks))
      .to.match(/ finish-step finish$/)
      .and.not.contain('reset-step');
  });

  it('sends the text of a run that was not streamed', async () => {
    const reply = answer('Hello.');
    const chunks = encode(
      run(
        step(),
        { type: 'llm:response', iteration: 1, response: reply },
        {
          type: 'run:completed',
          response: reply,
          usage: usage(1, 2),
          iterations: 1,
        },
      ),
    );
    expect((await readUIMessage(chunks)).parts).to.deep.equal([
      { type: 'step-start' },
      { type: 'text', text: 'Hello.', state: 'done' },
    ]);
    expect(chunks.at(-1)).to.deep.include({ type: 'finish', finishReason: 'stop' });
  });

  it('adds only what was not streamed', async () => {
    const chunks = encode(run(step(), text('Hel'), responded(textItem('Hello.'))));
    expect(chunks.flatMap((chunk) => (chunk.type === 'text-delta' ? [chunk.delta] : []))).to.deep.equal(['Hel', 'lo.']);
  });

  it('replaces streamed text that the response does not contain', async () => {
    const chunks = encode(run(step(), text('Goodbye'), responded(textItem('Hello.'))));
    expect(typesOf(chunks)).to.contain('reset-step');
    expect((await readUIMessage(chunks)).parts.filter(({ type }) => type === 'text')).to.deep.equal([
      { type: 'text', text: 'Hello.', state: 'done' },
    ]);
  });

  it('replaces the text of a model call that starts again after a crash', async () => {
    const chunks = encode(run(step(), reasoning('Hm'), text('Half an ans'), step(), responded(textItem('All of it.'))));
    expect((await readUIMessage(chunks)).parts).to.deep.equal([
      { type: 'step-start' },
      { type: 'text', text: 'All of it.', state: 'done' },
    ]);
  });

  it('shows the input of a call while the model writes it, and nothing of a model call that starts again', async () => {
    const written = (delta: string, callId = 'c'): AgentEventBody => ({
      type: 'tool:arguments_delta',
      callId,
      name: 'search',
      delta,
    });
    const whole = encode(
      run(
        step(),
        text('I search.'),
        written('{"q'),
        written('":1'),
        responded(textItem('I search.'), callItem(CALL)),
        pending(),
      ),
    );
    const upTo = whole.findLastIndex(({ type }) => type === 'tool-input-delta') + 1;
    const [, , part] = (await readUIMessage(whole.slice(0, upTo))).parts;
    expect(part).to.deep.include({ type: 'tool-search', state: 'input-streaming', input: { q: 1 } });
    expect((await readUIMessage(whole)).parts[2]).to.deep.include({ state: 'input-available', input: { q: 1 } });
    const again = encode(
      run(step(), written('{"q', 'lost'), step(), written('{"q'), responded(callItem(CALL)), pending()),
    );
    const calls = (await readUIMessage(again)).parts.filter(({ type }) => type === 'tool-search');
    expect(calls).to.have.lengthOf(1);
    expect(calls[0]).to.have.property('toolCallId', 'c');
  });

  it('streams reasoning as parts of its own, and ends each when the next begins', async () => {
    const thought = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] } as const;
    const events = run(step(), reasoning('H'), reasoning('m.'), text('Yes.'), responded(thought, textItem('Yes.')));
    const chunks = encode(events);
    expect(typesOf(chunks)).to.contain(
      'reasoning-start reasoning-delta reasoning-delta reasoning-end text-start text-delta text-end',
    );
    const { parts } = await readUIMessage(chunks);
    expect(parts.map(({ type }) => type)).to.deep.equal(['step-start', 'reasoning', 'text', 'custom']);
    expect(parts[3]).to.have.nested.property('providerMetadata.bolide.output[0].summary[0].text', 'Hm.');
    expect(JSON.stringify(encode(events, { sendReasoning: false }))).not.to.contain('Hm.');
  });

  it('asks for an approval, and ends while only people can continue the run', async () => {
    const hash = 'a'.repeat(64);
    const chunks = encode(
      run(step(), responded(callItem({ name: 'search', call_id: 'c' })), pending(), {
        type: 'tool:approval_required',
        ...CALL,
        arguments: '{"q":1}',
        argumentsHash: hash,
      }),
    );
    expect(chunks.at(-1)).to.deep.include({ type: 'finish', finishReason: 'tool-calls' });
    const part = (await readUIMessage(chunks)).parts[1];
    expect(part).to.deep.include({ type: 'tool-search', state: 'approval-requested', input: { q: 1 } });
    expect(part).to.have.nested.property('approval.id').that.contains(hash);
  });

  it('reports a rejected call as denied, with the reason', async () => {
    const error = { failure: 'rejected', message: 'The user rejected this call: no' } as const;
    const { parts } = await readUIMessage(
      encode(
        run(
          step(),
          responded(),
          pending(),
          { type: 'tool:approval_required', ...CALL, arguments: '{}', argumentsHash: 'b'.repeat(64) },
          { type: 'tool:failed', ...CALL, error, executionTime: 0 },
        ),
      ),
    );
    expect(parts[1]).to.deep.include({ state: 'output-denied' });
    expect(parts[1]).to.have.nested.property('approval.approved', false);
    expect(parts[1]).to.have.nested.property('approval.reason', error.message);
  });

  it('asks whether an interrupted call may run again', async () => {
    const { parts } = await readUIMessage(
      encode(
        run(
          step(),
          responded(),
          pending(),
          { type: 'tool:executing', ...CALL },
          { type: 'tool:needs_review', ...CALL, startTime: 5 },
        ),
      ),
    );
    expect(parts[1]).to.deep.include({ state: 'approval-requested' });
    expect(parts[1]).to.have.nested.property('approval.requestReason').that.contains('interrupted');
  });

  it('keeps results that are JSON as values, and other text as text', async () => {
    const outputOf = async (result: string): Promise<unknown> => {
      const events = run(step(), responded(), pending(), { type: 'tool:completed', ...CALL, result, executionTime: 0 });
      return ((await readUIMessage(encode(events))).parts[1] as { output?: unknown }).output;
    };
    expect(await outputOf('{"a":[1]}')).to.deep.equal({ a: [1] });
    expect(await outputOf('42')).to.equal(42);
    expect(await outputOf('null')).to.equal(null);
    expect(await outputOf('12345678901234567890')).to.equal('12345678901234567890');
    expect(await outputOf('{ "a": 1 }')).to.equal('{ "a": 1 }');
    expect(await outputOf('"quoted"')).to.equal('"quoted"');
    expect(await outputOf('[cut')).to.equal('[cut');
  });

  it('keeps arguments that are not JSON as text', async () => {
    const { parts } = await readUIMessage(encode(run(step(), responded(), pending('{"q": '))));
    expect(parts[1]).to.deep.include({ state: 'input-available', input: '{"q": ' });
  });

  it('sends cited pages as sources, generated images as files, and hosted calls as a custom part', async () => {
    const cited = {
      type: 'message',
      role: 'assistant',
      content: [
        {
          type: 'output_text',
          text: 'See there.',
          annotations: [
            { type: 'url_citation', url: 'https://a.example/', title: 'A' },
            { type: 'url_citation', url: 'https://a.example/', title: 'A' },
          ],
        },
      ],
    } as const;
    const image = { type: 'image_generation_call', id: 'i', result: 'aGk=', output_format: 'webp' } as const;
    const { parts } = await readUIMessage(encode(run(step(), responded(image, cited))));
    expect(parts.map(({ type }) => type)).to.deep.equal(['step-start', 'text', 'source-url', 'file', 'custom']);
    expect(parts[2]).to.deep.include({ url: 'https://a.example/', title: 'A' });
    expect(parts[3]).to.deep.include({ mediaType: 'image/webp', url: 'data:image/webp;base64,aGk=' });
  });

  it('ends a failed run with its error and its usage', async () => {
    const chunks = encode(
      run(step(), text('Half'), {
        type: 'run:failed',
        error: { code: 'timeout', message: 'The run took longer than 5 ms.' },
        usage: usage(3, 4),
      }),
    );
    expect(chunks.at(-1)).to.deep.equal({ type: 'error', errorText: 'The run took longer than 5 ms.' });
    expect(chunks.at(-2)).to.have.nested.property('messageMetadata.usage.totalTokens', 7);
    const error = await readUIMessage(chunks).catch((thrown: unknown) => thrown);
    expect(error).to.have.property('message', 'The run took longer than 5 ms.');
  });

  it('ends a cancelled run with an abort', () => {
    expect(encode(run(step(), { type: 'run:cancelled', usage: usage(0, 0) })).at(-1)).to.include({ type: 'abort' });
  });

  it('takes the message id and the metadata from its options', () => {
    expect(encode(run(), { messageId: 'msg-1', messageMetadata: { by: 'me' } })[0]).to.deep.equal({
      type: 'start',
      messageId: 'msg-1',
      messageMetadata: { executionId: RUN_ID, by: 'me' },
    });
  });
});

describe('UIMessageStreamEncoder', () => {
  it('writes each chunk as an event, and [DONE] last', () => {
    const encoder = new UIMessageStreamEncoder(new UIMessageEncoder());
    const frames = [...run(step(), text('a\nb')).flatMap((event) => encoder.push(event)), ...encoder.end()];
    expect(frames.every((frame) => /^data: [^\n]+\n\n$/.test(frame))).to.equal(true);
    expect(frames.at(-1)).to.equal('data: [DONE]\n\n');
    expect(encoder.headers).to.deep.equal({ 'x-vercel-ai-ui-message-stream': 'v1' });
  });

  it('ends with the error of the stream itself', () => {
    const encoder = new UIMessageStreamEncoder(new UIMessageEncoder());
    expect(encoder.fail(new LLMStreamError('Too slow.'))).to.deep.equal([
      'data: {"type":"error","errorText":"Too slow."}\n\n',
      'data: [DONE]\n\n',
    ]);
  });
});
