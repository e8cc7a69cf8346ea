/**
 * Requests that public projects really sent to vendors: every conversation is accepted, and none of its text is lost.
 */
import { expect } from 'chai';
import {
  normalizeInput,
  normalizeTools,
} from '../../../../../imports/business/ai/application/services/ContentNormalizer';
import { RECORDINGS } from '../../../../support/recordings';

const conversations = RECORDINGS.flatMap(({ name, wire, request }) => {
  const input = request?.input ?? request?.messages;
  return input === undefined ? [] : [{ name, wire, input, tools: request?.tools }];
});

describe('normalizeInput, with recorded conversations', () => {
  it('covers every wire', () => {
    for (const wire of ['responses', 'chat_completions', 'anthropic_messages'])
      expect(
        conversations.filter((conversation) => conversation.wire === wire),
        wire,
      ).to.have.length.above(5);
  });

  for (const { name, wire, input, tools } of conversations) {
    it(`accepts ${name} without losing text`, () => {
      const items = normalizeInput(input);
      expect(normalizeInput(JSON.parse(JSON.stringify(items)))).to.deep.equal(items);
      for (const text of textsOf(input))
        expect(JSON.stringify(items), text).to.contain(JSON.stringify(text).slice(1, -1));
      // Callers may not write tools in Anthropic's own form.
      if (tools !== undefined && wire !== 'anthropic_messages')
        expect(normalizeTools(tools)).to.have.length((tools as readonly unknown[]).length);
    });
  }
});

/** Every `text` field, and every string that is a message's entire content. */
function textsOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) =>
    (key === 'text' || key === 'content') && typeof inner === 'string'
      ? [inner]
      : key === 'input' || key === 'vendor'
        ? []
        : textsOf(inner),
  );
}
