/**
 * What public projects really sent to vendors, put before the door: every conversation passes, and nothing of its
 * text is lost.
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

describe('recorded conversations at the door', () => {
  it('there are some of every form', () => {
    for (const wire of ['responses', 'chat_completions', 'anthropic_messages'])
      expect(
        conversations.filter((conversation) => conversation.wire === wire),
        wire,
      ).to.have.length.above(5);
  });

  for (const { name, wire, input, tools } of conversations) {
    it(`${name} passes`, () => {
      const items = normalizeInput(input);
      expect(normalizeInput(JSON.parse(JSON.stringify(items)))).to.deep.equal(items);
      for (const text of textsOf(input))
        expect(JSON.stringify(items), text).to.contain(JSON.stringify(text).slice(1, -1));
      // Anthropic's own form of a tool is not one that callers may write.
      if (tools !== undefined && wire !== 'anthropic_messages')
        expect(normalizeTools(tools)).to.have.length((tools as readonly unknown[]).length);
    });
  }
});

/** Everything that stands in a `text` field, and strings that are a message's whole content. */
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
