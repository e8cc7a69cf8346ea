/**
 * Anything that Gemini sends, known or unknown, is returned to it unchanged, and nothing that a client sends breaks
 * the gateway.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  fromGoogle,
  toGoogle,
} from '../../../../../../imports/business/ai/infrastructure/converters/google/GoogleConverter';
import {
  readGoogleRequest,
  writeGoogle,
} from '../../../../../../imports/business/ai/infrastructure/converters/google/gateway/GoogleGateway';
import { normalizeOptions } from '../../../../../../imports/business/ai/application/services/ContentNormalizer';
import { LLMError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { JsonObject } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import { googleContext, googleResponseContext } from '../../../../../support/googleRecordings';
import { meaningOfGoogle } from '../../../../../support/sameMeaning/google';
import { IS_SOAK } from '../../../../../support/soak';

const RUNS = IS_SOAK ? 5_000 : 100;

/** Parsed JSON (no negative zero), without the names that every API rejects. */
const RESERVED = new Set(['__proto__', 'constructor', 'prototype']);
const json = fc
  .jsonValue({ maxDepth: 3 })
  .map(
    (value) =>
      JSON.parse(JSON.stringify(value), (key, inner: unknown) => (RESERVED.has(key) ? undefined : inner)) as unknown,
  );
const name = fc.stringMatching(/^[a-z][a-zA-Z]{0,8}$/).filter((word) => !RESERVED.has(word));
const record = fc.dictionary(name, json, { maxKeys: 3 });
const signature = fc.base64String({ maxLength: 24 });

/** Any part may have unknown siblings and a signature. */
const siblings = fc.record(
  { thoughtSignature: signature, partMetadata: record, videoMetadata: record, newThing: json },
  { requiredKeys: [] },
);

const content = fc.oneof(
  fc.string({ unit: 'grapheme' }).map((text) => ({ text })),
  fc.string().map((text) => ({ text, thought: true })),
  fc
    .record({ name, args: record, id: name }, { requiredKeys: ['name', 'args'] })
    .map((functionCall) => ({ functionCall })),
  fc.record({ name, args: json, extra: json }, { requiredKeys: ['name'] }).map((functionCall) => ({ functionCall })),
  fc.record({ language: name, code: fc.string() }).map((executableCode) => ({ executableCode })),
  fc
    .record({ mimeType: fc.constantFrom('image/png', 'audio/wav'), data: signature })
    .map((inlineData) => ({ inlineData })),
  json.map((value) => ({ unheardOf: value })),
  fc.constant({}),
);
const part = fc.tuple(content, siblings).map(([one, more]): JsonObject => ({ ...more, ...one }));
const parts = fc.array(part, { maxLength: 6 });

const responseBody = fc
  .record({
    parts: fc.option(parts, { nil: undefined }),
    candidate: fc.dictionary(
      name.filter((key) => !['content', 'finishReason'].includes(key)),
      json,
      { maxKeys: 2 },
    ),
    top: record,
    usage: fc.option(fc.record({ promptTokenCount: fc.nat(), thoughtsTokenCount: fc.nat(), other: json }), {
      nil: undefined,
    }),
    role: fc.constantFrom({ role: 'model' }, {}),
  })
  .map(({ parts: list, candidate, top, usage, role }): JsonObject => ({
    ...top,
    candidates: [
      { ...candidate, finishReason: 'STOP', ...(list === undefined ? {} : { content: { ...role, parts: list } }) },
    ],
    ...(usage === undefined ? {} : { usageMetadata: usage }),
  }));

describe('the Gemini wire with arbitrary parts', () => {
  it('writes every response as it was received', () => {
    fc.assert(
      fc.property(responseBody, (body) => {
        expect(writeGoogle(fromGoogle(body, googleResponseContext()))).to.deep.equal(body);
      }),
      { numRuns: RUNS },
    );
  });

  it("sends a model's parts back unchanged and in order, except for empty texts", () => {
    fc.assert(
      fc.property(parts, (list) => {
        const { output } = fromGoogle(
          { candidates: [{ content: { parts: list }, finishReason: 'STOP' }] },
          googleResponseContext(),
        );
        const nonEmpty = list.filter(
          (one) => !(one.text === '' && Object.keys(one).every((key) => key === 'text' || key === 'thought')),
        );
        const outputs = output.flatMap((item) =>
          item.type === 'function_call'
            ? [{ type: 'function_call_output' as const, call_id: item.call_id, output: 'ok' }]
            : [],
        );
        // Two calls of one response may share a wire id. The repair of the history distinguishes them, and the wire id
        // stays.
        const { body } = toGoogle(
          normalizeOptions({
            model: 'gemini-2.5-flash',
            input: [{ role: 'user', content: 'Hi' }, ...output, ...outputs],
          }),
          googleContext(),
          false,
        );
        const [, model] = body.contents as readonly { role: string; parts: unknown }[];
        expect(model?.role === 'model' ? model.parts : []).to.deep.equal(nonEmpty);
      }),
      { numRuns: RUNS },
    );
  });

  it("forwards a client's contents unchanged", () => {
    const turn = fc.record({
      role: fc.constantFrom('user', 'model'),
      parts: fc.array(fc.oneof(part.filter((one) => one.functionCall === undefined)), { minLength: 1, maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(turn, { minLength: 1, maxLength: 4 }), record, (contents, labels) => {
        const request = { contents, labels };
        const { body } = toGoogle(
          normalizeOptions(readGoogleRequest(request, 'gemini-2.5-flash')),
          googleContext(),
          false,
        );
        expect(meaningOfGoogle(body)).to.deep.equal(meaningOfGoogle(request));
      }),
      { numRuns: RUNS },
    );
  });

  it('reads any body as a request or throws a typed error', () => {
    const wild = fc.oneof(
      json,
      fc.record(
        {
          contents: fc.array(fc.oneof(json, fc.record({ role: json, parts: fc.array(fc.oneof(part, json)) }))),
          tools: fc.array(fc.oneof(json, record)),
          toolConfig: record,
          generationConfig: record,
          systemInstruction: json,
        },
        { requiredKeys: ['contents'] },
      ),
    );
    fc.assert(
      fc.property(wild, (body) => {
        try {
          toGoogle(normalizeOptions(readGoogleRequest(body, 'gemini-2.5-flash')), googleContext(), false);
        } catch (error) {
          expect(error).to.be.instanceOf(LLMError);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('reads any response or throws a typed error', () => {
    const wild = fc.oneof(
      json,
      fc.record(
        {
          candidates: fc.array(
            fc.oneof(
              json,
              fc.record(
                {
                  content: fc.oneof(json, fc.record({ parts: fc.array(fc.oneof(part, json)) })),
                  finishReason: json,
                  groundingMetadata: json,
                  citationMetadata: json,
                },
                { requiredKeys: [] },
              ),
            ),
          ),
          promptFeedback: json,
          usageMetadata: json,
          error: json,
        },
        { requiredKeys: [] },
      ),
    );
    fc.assert(
      fc.property(fc.oneof(wild, fc.array(wild, { maxLength: 3 })), (body) => {
        try {
          fromGoogle(body, googleResponseContext());
        } catch (error) {
          expect(error).to.be.instanceOf(LLMError);
        }
      }),
      { numRuns: RUNS },
    );
  });
});
