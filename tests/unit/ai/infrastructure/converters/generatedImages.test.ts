/** Images that Gemini's models generate, as clients of the other wires receive them. */
import { expect } from 'chai';
import type { OutputItem } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { writeAnthropic } from '../../../../../imports/business/ai/infrastructure/converters/anthropic/gateway/AnthropicGateway';
import { writeChatCompletions } from '../../../../../imports/business/ai/infrastructure/converters/chat/gateway/ChatCompletionsGateway';
import {
  readResponsesRequest,
  writeResponses,
} from '../../../../../imports/business/ai/infrastructure/converters/responses/gateway/ResponsesGateway';
import { eventsOf, response, textItem } from '../../../../../imports/testing/responses';
import { encoded, encodedEvents } from '../../../../support/encoding';
import { CHECKS } from '../../../../support/streamGrammar';

const IMAGE: OutputItem = {
  type: 'vendor_item',
  origin: { wire: 'gemini', vendor: 'google' },
  item: { inlineData: { mimeType: 'image/png', data: 'aW1hZ2U=' }, thoughtSignature: 'sig' },
};
const DRAFT: OutputItem = { ...IMAGE, item: { ...IMAGE.item, thought: true } };
const ANSWER = response({
  output: [DRAFT, textItem('Here it is.'), IMAGE],
  vendor: { name: 'google', wire: 'gemini', finish_reason: 'STOP', warnings: [], losses: [] },
});
const EVENTS = eventsOf(ANSWER);
const CHAT_IMAGES = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aW1hZ2U=' } }];
const NOTE = '[The model generated an image (image/png), which the Messages API cannot return.]';

describe('Images of Gemini', () => {
  it('are image_generation_calls for Responses clients, who may send them back', () => {
    const expected = { type: 'image_generation_call', status: 'completed', result: 'aW1hZ2U=', output_format: 'png' };
    const output = writeResponses(ANSWER).output as JsonObject[];
    expect(output[2]).to.deep.include(expected).and.to.have.property('id').that.matches(/^ig_/);
    expect(output.filter(({ type }) => type === expected.type)).to.have.length(1);
    const { input } = readResponsesRequest({ model: 'any', input: output });
    expect(input[2]).to.deep.equal(IMAGE);

    CHECKS.openai_responses(encoded('openai_responses', EVENTS));
    const items = encodedEvents('openai_responses', EVENTS)
      .map(({ type, item }) => [type, item as JsonObject | undefined] as const)
      .filter(([, item]) => item?.['type'] === expected.type);
    expect(items.map(([type, item]) => [type, item?.['result']])).to.deep.equal([
      ['response.output_item.added', null],
      ['response.output_item.done', 'aW1hZ2U='],
    ]);
  });

  it('are among the images of a message for chat completions clients', () => {
    const [choice] = writeChatCompletions(ANSWER).choices as { message: JsonObject }[];
    expect(choice!.message).to.deep.include({ content: 'Here it is.', images: CHAT_IMAGES });

    CHECKS.openai(encoded('openai', EVENTS));
    const deltas = encodedEvents('openai', EVENTS).flatMap(({ choices }) => choices as { delta: JsonObject }[]);
    expect(deltas.flatMap(({ delta }) => delta['images'] ?? [])).to.deep.equal(CHAT_IMAGES);
  });

  it('leave a note for Anthropic’s clients', () => {
    expect((writeAnthropic(ANSWER).content as JsonObject[]).map(({ text }) => text)).to.deep.equal([
      'Here it is.',
      NOTE,
    ]);

    CHECKS.anthropic(encoded('anthropic', EVENTS));
    const text = encodedEvents('anthropic', EVENTS)
      .map(({ delta }) => (delta as { text?: string } | undefined)?.text ?? '')
      .join('');
    expect(text).to.equal(`Here it is.${NOTE}`);
  });
});
