import { expect } from 'chai';
import type { JsonObject, WireName } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { WIRES, contextOf, withResponseFields } from '../../../../support/wireContexts';

/** Responses whose counts are below zero. OpenAI has reported so many output tokens for deep research. */
const BODIES: Readonly<Record<WireName, JsonObject>> = {
  responses: {
    object: 'response',
    status: 'completed',
    output: [],
    usage: { input_tokens: -1, output_tokens: -9, total_tokens: -10, output_tokens_details: { reasoning_tokens: -4 } },
  },
  chat_completions: {
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: -1, completion_tokens: -9, total_tokens: -10 },
  },
  anthropic_messages: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: 'end_turn',
    usage: { input_tokens: -1, output_tokens: -9, cache_read_input_tokens: -4 },
  },
  gemini: {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: -1, candidatesTokenCount: -9, totalTokenCount: -10 },
  },
  interactions: {
    status: 'completed',
    steps: [],
    usage: { total_input_tokens: -1, total_output_tokens: -9, total_tokens: -10 },
  },
};

for (const name of Object.keys(BODIES) as WireName[]) {
  it(`${name}: counts negative tokens as none`, () => {
    const { usage } = WIRES[name].fromResponse(BODIES[name], withResponseFields(contextOf('openai')));
    expect(usage).to.deep.equal({
      input_tokens: 0,
      output_tokens: 0,
      total_tokens: 0,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
    });
  });
}
