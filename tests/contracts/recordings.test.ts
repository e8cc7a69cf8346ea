import { expect } from 'chai';
import { LLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { GenerateOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject, ServedWire } from '../../imports/business/ai/domain/types/VendorTypes';
import { readAnthropicRequest } from '../../imports/business/ai/infrastructure/converters/anthropic/gateway/AnthropicGateway';
import { readChatCompletionsRequest } from '../../imports/business/ai/infrastructure/converters/chat/gateway/ChatCompletionsGateway';
import { readGoogleRequest } from '../../imports/business/ai/infrastructure/converters/google/gateway/GoogleGateway';
import { readResponsesRequest } from '../../imports/business/ai/infrastructure/converters/responses/gateway/ResponsesGateway';
import { createProvider } from '../../imports/business/ai/infrastructure/factories/createProvider';
import { decodeStream } from '../../imports/business/ai/infrastructure/streaming/decodeStream';
import { RECORDINGS_ROOT, modelOf, RECORDINGS } from '../support/recordings';
import type { Recording } from '../support/recordings';
import { meaningOfAnthropic } from '../support/sameMeaning/anthropic';
import { meaningOfChatRequest } from '../support/sameMeaning/chat';
import { meaningOfGoogle } from '../support/sameMeaning/google';
import { meaningOfRequest } from '../support/sameMeaning/responses';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { responseContext, wireContext, WIRES } from '../support/wireContexts';

const READ: Readonly<
  Record<ServedWire, (body: JsonObject, model: string) => GenerateOptions & { readonly stream?: boolean }>
> = {
  responses: (body) => ({ ...readResponsesRequest(body) }),
  chat_completions: (body) => readChatCompletionsRequest(body),
  anthropic_messages: (body) => readAnthropicRequest(body),
  gemini: (body, model) => readGoogleRequest(body, model),
};

const MEANING: Readonly<Record<ServedWire, (body: JsonObject, recording: Recording) => JsonObject>> = {
  responses: meaningOfRequest,
  chat_completions: (body, { vendor }) => meaningOfChatRequest(body, wireContext(vendor, '').quirks),
  anthropic_messages: meaningOfAnthropic,
  gemini: meaningOfGoogle,
};

/** Requests whose invalid history the vendor rejected; it is repaired before it is sent. */
const REPAIRED: readonly string[] = ['llama-err500-a 2', 'openai-resp-err400-ctx-a 2'];

type Outcome = { readonly response: LLMResponse } | { readonly error: unknown };

/** The provider's outcome, without what belongs to the call instead of the response. */
function comparableOutcome(outcome: Outcome): unknown {
  if ('error' in outcome) {
    expect(outcome.error).to.be.instanceOf(LLMError);
    const { code, vendorCode } = outcome.error as LLMError;
    return { code, vendorCode };
  }
  const { created_at: _, vendor, ...rest } = outcome.response;
  return { ...rest, finish: vendor.finish_reason, fields: vendor.fields, counted: vendor.usage };
}

async function replay(simulator: Simulator, recording: Recording): Promise<Outcome> {
  const { vendor, wire, request } = recording;
  const model = modelOf(recording);
  const provider = createProvider({
    vendor,
    wire,
    apiKey: 'test-key',
    baseURL: simulator.baseURL(vendor),
    allowPrivateHosts: true,
  });
  const { stream: _, ...read } = request === undefined ? { input: 'hello' } : READ[wire](request, model);
  const options = { ...read, model };
  try {
    if (!recording.stream) return { response: await provider.generate('ann', options) };
    for await (const event of provider.stream('ann', options))
      if (event.type === 'response.completed') return { response: event.response };
    throw new Error('The stream ended without a response.');
  } catch (error) {
    return { error };
  }
}

/** The recorded body, converted by the wire alone. */
async function expected(recording: Recording): Promise<Outcome> {
  const context = responseContext(recording.vendor, modelOf(recording));
  const wire = WIRES[recording.wire];
  try {
    if (!recording.stream) return { response: wire.fromResponse(JSON.parse(recording.text), context) };
    const options = { streamIdleTimeout: 60_000, maxEventBytes: 8 * 1024 * 1024, abort: () => undefined };
    for await (const event of decodeStream(bytesOf(recording), wire.createDecoder(context), options)) {
      if (event.type === 'response.completed') return { response: event.response };
    }
    throw new Error('The stream ended without a response.');
  } catch (error) {
    return { error };
  }
}

/**
 * Removes fields that the recorded client did not send and that do not affect the response: usage is requested in every
 * stream, and Azure's SDK repeats the deployment of the path in the body.
 */
function comparable(sent: JsonObject, recorded: JsonObject): JsonObject {
  const surplus = ['stream_options', 'model'].filter((field) => !(field in recorded));
  return Object.fromEntries(Object.entries(sent).filter(([field]) => !surplus.includes(field)));
}

async function* bytesOf({ text }: Recording): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

describe('recorded exchanges, through providers over HTTP', () => {
  let simulator: Simulator;
  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.close());

  const cases = new Map<string, Recording[]>();
  for (const recording of RECORDINGS) cases.set(recording.caseId, [...(cases.get(recording.caseId) ?? []), recording]);
  const counts: Record<string, { responses: number; requests: number; exchanges: number; recordedRequests: number }> =
    {};

  for (const [caseId, exchanges] of cases) {
    it(caseId, async () => {
      simulator.playRecording(caseId, { fixturesRoot: RECORDINGS_ROOT });
      for (const recording of exchanges) {
        const count = (counts[recording.api] ??= { responses: 0, requests: 0, exchanges: 0, recordedRequests: 0 });
        count.exchanges += 1;
        const outcome = await replay(simulator, recording);
        if (recording.status >= 400) {
          if (!('error' in outcome)) throw new Error(`${recording.name} succeeded.`);
          expect(outcome.error).to.be.instanceOf(LLMError).and.to.have.property('status', recording.status);
        } else {
          expect(comparableOutcome(outcome), recording.name).to.deep.equal(
            comparableOutcome(await expected(recording)),
          );
        }
        count.responses += 1;
        const sent = simulator.requests.at(-1)!.body as JsonObject;
        if (recording.request === undefined) continue;
        count.recordedRequests += 1;
        const meaning = MEANING[recording.wire];
        const [actualMeaning, recordedMeaning] = [
          meaning(comparable(sent, recording.request), recording),
          meaning(recording.request, recording),
        ];
        if (REPAIRED.includes(recording.name)) {
          expect(actualMeaning, recording.name).not.to.deep.equal(recordedMeaning);
          continue;
        }
        expect(actualMeaning, recording.name).to.deep.equal(recordedMeaning);
        count.requests += 1;
      }
      simulator.assertDone();
    });
  }

  it('cover all recordings', () => {
    for (const [api, { responses, exchanges, requests, recordedRequests }] of Object.entries(counts)) {
      console.log(`      ${api}: responses ${responses} of ${exchanges}, requests ${requests} of ${recordedRequests}`);
    }
    const total = Object.values(counts).reduce((sum, { responses }) => sum + responses, 0);
    expect(total).to.equal(198);
  });
});
