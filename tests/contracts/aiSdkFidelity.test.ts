/** What vendors returned, as recorded, passes through the AI SDK and back into the next request without a change. */
import {
  convertToModelMessages,
  dynamicTool,
  generateText,
  jsonSchema,
  readUIMessageStream,
  streamText,
  toUIMessageStream,
} from 'ai';
import type { ModelMessage, ToolSet, UIMessage } from 'ai';
import { expect } from 'chai';
import type { InputItem, LLMResponse, OutputItem } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../imports/business/ai/domain/types/StreamEvents';
import { decodeStream } from '../../imports/business/ai/infrastructure/streaming/decodeStream';
import { createBolide } from '../../imports/interop/aiSdk/model/createBolide';
import { silenceAISDKWarnings } from '../support/silenceAISDKWarnings';
import { modelOf, RECORDINGS } from '../support/recordings';
import type { Recording } from '../support/recordings';
import { answer } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import { bodyOf } from '../support/transcoding';
import { responseContext, WIRES } from '../support/wireContexts';
import { allInSoak } from '../support/soak';

const HELLO: ModelMessage = { role: 'user', content: 'Hello' };
const THANKS: ModelMessage = { role: 'user', content: 'Thanks.' };

/** Recordings with status 200 in which the vendor reports an error. */
const FAILED: ReadonlySet<string> = new Set([
  'anthropic-in-stream-error-a 2',
  'gemini-malformed-a 1',
  'gemini-vertex-unexpected-a 1',
  'groq-in-stream-error-a 1',
  'openai-resp-stream-error-failed-a 1',
]);

/** The events of a recording, or its response; `undefined` if the vendor or the wire reports an error. */
async function outcomeOf(recording: Recording): Promise<readonly ResponseStreamEvent[] | LLMResponse | undefined> {
  const context = responseContext(recording.vendor, modelOf(recording));
  const wire = WIRES[recording.wire];
  try {
    if (!recording.stream) return wire.fromResponse(JSON.parse(recording.text), context);
    const limits = { streamIdleTimeout: 60_000, maxEventBytes: 8 * 1024 * 1024, abort: () => undefined };
    const events: ResponseStreamEvent[] = [];
    for await (const event of decodeStream(bodyOf(recording.text), wire.createDecoder(context), limits))
      events.push(event);
    return events;
  } catch {
    return undefined;
  }
}

function responseOf(outcome: readonly ResponseStreamEvent[] | LLMResponse): LLMResponse {
  if (!Array.isArray(outcome)) return outcome as LLMResponse;
  const last = (outcome as readonly ResponseStreamEvent[]).at(-1);
  if (last?.type !== 'response.completed') throw new Error('The recording does not end with a response.');
  return last.response;
}

/** The called functions, so that the AI SDK finds each and has a result for it. */
function toolsOf({ output }: LLMResponse): ToolSet {
  const names = output.flatMap((item) => (item.type === 'function_call' ? [item.name] : []));
  return Object.fromEntries(
    names.map((name) => [
      name,
      dynamicTool({ inputSchema: jsonSchema({ type: 'object' }), execute: () => Promise.resolve('done') }),
    ]),
  );
}

/** What the next request has of the model's output. */
async function itemsAfter(messages: readonly ModelMessage[]): Promise<readonly InputItem[]> {
  const provider = new ScriptedProvider([answer('Bye.')]);
  const bolide = createBolide({ provider });
  await generateText({ model: bolide('scripted/model'), messages: [HELLO, ...messages, THANKS] });
  const { input } = provider.calls[0]!.options;
  return (input as readonly InputItem[]).slice(1, -1).filter(({ type }) => type !== 'function_call_output');
}

/** A call that was cut off never runs, and a message without any part is represented by nothing. */
function expectedOf(output: readonly OutputItem[]): readonly OutputItem[] {
  return output.filter(
    (item) =>
      !(item.type === 'function_call' && item.status === 'incomplete') &&
      !(item.type === 'message' && item.content.length === 0),
  );
}

/** Returns each item as it ended: OpenAI encrypts reasoning once more for the last event, and Gemini adds citations. */
function itemsOfStream(
  outcome: readonly ResponseStreamEvent[] | LLMResponse,
  { output }: LLMResponse,
): readonly OutputItem[] {
  if (!Array.isArray(outcome)) return output;
  const done = new Map<number, OutputItem>();
  for (const event of outcome as readonly ResponseStreamEvent[])
    if (event.type === 'response.output_item.done') done.set(event.output_index, event.item);
  return output.map((item, index) => done.get(index) ?? item);
}

function comparable(items: readonly unknown[]): unknown {
  return JSON.parse(JSON.stringify(items));
}

async function throughUIMessages(result: ReturnType<typeof streamText>): Promise<readonly ModelMessage[]> {
  let last: UIMessage = { id: 'none', role: 'assistant', parts: [] };
  for await (const message of readUIMessageStream({
    stream: toUIMessageStream({ stream: result.stream, sendReasoning: true, sendSources: true }),
  }))
    last = message;
  // A client stores the message as JSON.
  const stored = JSON.parse(JSON.stringify(last)) as UIMessage;
  return convertToModelMessages([stored]);
}

describe('Fidelity through the AI SDK', () => {
  silenceAISDKWarnings();

  for (const recording of allInSoak(
    RECORDINGS.filter(({ status, name }) => status === 200 && !FAILED.has(name)),
    40,
  )) {
    it(`preserves ${recording.name}`, async () => {
      const outcome = await outcomeOf(recording);
      if (outcome === undefined) throw new Error('The recording has no response.');
      const response = responseOf(outcome);
      const expected = comparable(expectedOf(response.output));
      const streamedItems = comparable(expectedOf(itemsOfStream(outcome, response)));
      const tools = toolsOf(response);
      const model = (): ReturnType<ReturnType<typeof createBolide>> =>
        createBolide({ provider: new ScriptedProvider([outcome]) })('scripted/model');
      const call = { messages: [HELLO], tools };

      const generated = await generateText({ ...call, model: model() });
      expect(comparable(await itemsAfter(generated.responseMessages)), 'generateText').to.deep.equal(expected);

      const streamed = streamText({ ...call, model: model() });
      await streamed.consumeStream();
      expect(comparable(await itemsAfter(await streamed.responseMessages)), 'streamText').to.deep.equal(streamedItems);
      expect(await streamed.text, 'the texts of both').to.equal(generated.text);

      const shown = await throughUIMessages(streamText({ ...call, model: model() }));
      expect(comparable(await itemsAfter(shown)), 'UI messages').to.deep.equal(streamedItems);
    });
  }
});
