import { expect } from 'chai';
import { toolCalls } from '../../imports/business/ai/domain/entities/Response';
import { LLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { InputItem, LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../imports/business/ai/domain/types/StreamEvents';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { createProvider } from '../../imports/business/ai/infrastructure/factories/createProvider';
import { startCannedResponseServer } from '../support/cannedResponseServer';
import type { CannedResponseServer } from '../support/cannedResponseServer';
import { ANTHROPIC_SHAPES } from '../support/vendorShapes/anthropicShapes';
import { CHAT_SHAPES } from '../support/vendorShapes/chatShapes';
import { TO_STREAM } from '../support/vendorShapes/frames';
import { GEMINI_SHAPES } from '../support/vendorShapes/geminiShapes';
import { RESPONSES_SHAPES } from '../support/vendorShapes/responsesShapes';
import type { VendorShape } from '../support/vendorShapes/VendorShape';

type Outcome = { readonly response: LLMResponse; readonly error?: LLMError };

/** The response, or the response of the error. */
async function outcomeOf(work: Promise<LLMResponse>): Promise<Outcome> {
  try {
    return { response: await work };
  } catch (error) {
    if (error instanceof LLMError && error.response !== undefined) return { response: error.response, error };
    throw error;
  }
}

async function finalResponse(events: AsyncIterable<ResponseStreamEvent>): Promise<LLMResponse> {
  for await (const event of events) if (event.type === 'response.completed') return event.response;
  throw new Error('The stream ended without a response.');
}

/** Everything except the time of the call. */
function comparable({ response: { created_at: _, ...rest }, error }: Outcome): unknown {
  return { ...rest, failure: error && { code: error.code, vendorCode: error.vendorCode, message: error.message } };
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** Texts that occur nowhere in the other value. */
function textsMissingIn(value: unknown, texts: readonly string[]): readonly string[] {
  const all = JSON.stringify(value);
  return texts.filter((text) => !all.includes(JSON.stringify(text).slice(1, -1)));
}

/** The output of the model, without the envelope around it. */
function modelOutputIn({ output, content, candidates, choices }: JsonObject): unknown {
  const first = ((candidates ?? choices ?? [{}]) as readonly JsonObject[])[0];
  return output ?? content ?? (first?.content as JsonObject | undefined)?.parts ?? first?.message ?? [];
}

function user(text: string): InputItem {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

const ALL: readonly VendorShape[] = [...RESPONSES_SHAPES, ...CHAT_SHAPES, ...ANTHROPIC_SHAPES, ...GEMINI_SHAPES];

describe('responses as documented by vendors, over HTTP', () => {
  let server: CannedResponseServer;
  before(async () => {
    server = await startCannedResponseServer();
  });
  after(() => server.close());

  for (const shape of ALL) {
    it(`${shape.vendor} ${shape.wire}: ${shape.name}`, async () => {
      const {
        vendor,
        wire,
        body: { model },
      } = shape;
      const provider = createProvider({
        vendor,
        wire,
        apiKey: 'test-key',
        baseURL: server.url,
        allowPrivateHosts: true,
        defaultModel: typeof model === 'string' ? model : 'requested-model',
      });
      server.respondWith(JSON.stringify(shape.body), 'application/json');
      const generated = await outcomeOf(provider.generate('ann', { input: [user('hi')] }));
      server.respondWith(TO_STREAM[shape.wire](shape.body), 'text/event-stream');
      const streamed = await outcomeOf(finalResponse(provider.stream('ann', { input: [user('hi')] })));

      const { response } = generated;
      expect(response).to.include({ status: shape.status, output_text: shape.text });
      expect(generated.error === undefined, 'no error').to.equal(shape.status !== 'failed');
      expect(comparable(streamed)).to.deep.equal(comparable(generated));
      expect(textsMissingIn({ response, role: 'assistant' }, textsIn(shape.body)), 'lost texts').to.deep.equal([]);

      const outputs = toolCalls(response).map(({ call_id }): InputItem => ({
        type: 'function_call_output',
        call_id,
        output: 'ok',
      }));
      await outcomeOf(
        finalResponse(provider.stream('ann', { input: [user('hi'), ...response.output, ...outputs, user('go on')] })),
      );
      expect(
        textsMissingIn(server.lastRequestBody, textsIn(modelOutputIn(shape.body))),
        'texts not sent back',
      ).to.have.members(shape.textsNotReturned);
    });
  }
});
