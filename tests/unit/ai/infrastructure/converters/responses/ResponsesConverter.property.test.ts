/**
 * Unknown fields of vendors and clients survive a round trip through the Responses wire, wherever they are and whatever
 * their name.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  readResponse,
  toResponses,
} from '../../../../../../imports/business/ai/infrastructure/converters/responses/ResponsesConverter';
import {
  readResponsesRequest,
  writeResponses,
} from '../../../../../../imports/business/ai/infrastructure/converters/responses/gateway/ResponsesGateway';
import {
  RESPONSES,
  responsesContext,
  responsesResponseContext,
  STREAMS,
  terminalResponse,
} from '../../../../../support/responsesRecordings';
import { meaningOfRequest } from '../../../../../support/sameMeaning/responses';
import type { LLMResponse } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import { IS_SOAK } from '../../../../../support/soak';

const RUNS = { numRuns: IS_SOAK ? 300 : 100 };

/** Known fields would change the item instead of extending it. */
const TAKEN = new Set([
  'type',
  'role',
  'content',
  'summary',
  'output',
  'arguments',
  'call_id',
  'text',
  'refusal',
  'annotations',
  'encrypted_content',
  'input',
  'tools',
  'toString',
  'valueOf',
]);
const key = fc
  .oneof(
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        'vendor',
        'origin',
        'deferred',
        'name',
        'state',
        'blocking',
        'item',
        'phase',
        'logprobs',
        'detail',
        '__proto__',
        'constructor',
      ),
    },
    { weight: 1, arbitrary: fc.string({ maxLength: 12 }) },
  )
  .filter((name) => !TAKEN.has(name));
const extras = fc.array(fc.tuple(key, fc.jsonValue({ maxDepth: 2 })), { maxLength: 4 });

/** Adds unknown fields; existing ones stay. */
function withExtras(fields: JsonObject, strangers: readonly (readonly [string, unknown])[]): JsonObject {
  return Object.fromEntries([...strangers.filter(([name]) => !Object.hasOwn(fields, name)), ...Object.entries(fields)]);
}

/** Adds unknown fields to an item, its parts, and their parts. */
function strange(item: JsonObject): fc.Arbitrary<JsonObject> {
  const lists = ['content', 'summary', 'output'].filter((name) => Array.isArray(item[name]));
  return fc
    .tuple(
      extras,
      fc.tuple(
        ...lists.map((name) =>
          fc.tuple(
            ...(item[name] as readonly JsonObject[]).map((part) => extras.map((more) => withExtras(part, more))),
          ),
        ),
      ),
    )
    .map(([more, parts]) =>
      withExtras({ ...item, ...Object.fromEntries(lists.map((name, index) => [name, parts[index]])) }, more),
    );
}

const recorded = [...RESPONSES.map(({ text }) => JSON.parse(text) as JsonObject), ...STREAMS.map(terminalResponse)];
const strangeResponse = fc
  .constantFrom(...recorded)
  .chain((body) =>
    fc
      .tuple(extras, fc.tuple(...(body.output as readonly JsonObject[]).map(strange)))
      .map(([more, output]) => withExtras({ ...body, output }, more)),
  );

const text = fc.string({ minLength: 1, maxLength: 20 });
const inputPart: fc.Arbitrary<JsonObject> = fc.oneof(
  text.map((text) => ({ type: 'input_text', text })),
  fc.constant({ type: 'input_image', image_url: 'https://example.com/a.png', file_id: null }),
  fc.constant({ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AA==' }),
  fc.constant({ type: 'input_hologram', beams: [1, 2] }),
);
const outputPart: fc.Arbitrary<JsonObject> = fc.oneof(
  text.map((text) => ({
    type: 'output_text',
    text,
    annotations: [{ type: 'url_citation', url: 'https://example.com', title: '', start_index: 0, end_index: 1 }],
  })),
  text.map((refusal) => ({ type: 'refusal', refusal })),
);
const outputText = fc.tuple(
  fc.constantFrom('user', 'developer', 'system'),
  fc.oneof(text, fc.array(inputPart, { maxLength: 3 })),
);
const assistantMessage = fc
  .tuple(fc.nat(999), fc.oneof(text, fc.array(outputPart, { maxLength: 3 })))
  .map(([n, content]) => ({ type: 'message', id: `msg_${n}`, role: 'assistant', content, status: null }));

/** Parts of a valid history. */
const stretch: fc.Arbitrary<readonly JsonObject[]> = fc.oneof(
  outputText.map(([role, content]) => [{ role, content }]),
  assistantMessage.map((message) => [message]),
  assistantMessage.map((message) => [
    { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'sealed' },
    message,
  ]),
  fc.uuid().chain((id) =>
    fc.oneof(text, fc.array(inputPart, { maxLength: 2 })).map((output) => [
      { type: 'function_call', call_id: id, name: 'look', arguments: '{"at":' },
      { type: 'function_call_output', call_id: id, output },
    ]),
  ),
  text.map((id) => [
    { type: 'hologram_call', id, status: null, beams: [{ vendor: 1 }], output: [{ vendor: { a: 1 } }] },
  ]),
  text.map((encrypted_content) => [{ type: 'compaction', id: null, encrypted_content }]),
);
const strangeRequest = fc
  .tuple(fc.array(stretch, { maxLength: 5 }), extras)
  .chain(([stretches, more]) => fc.tuple(fc.tuple(...stretches.flat().map(strange)), fc.constant(more)))
  .map(([input, more]) =>
    withExtras(
      { model: 'm', input },
      more.filter(([name]) => name !== 'vendor' && name !== '__proto__'),
    ),
  );

describe('the Responses wire with unknown fields', () => {
  it('restores a response with unknown fields on itself, its items and parts', () => {
    fc.assert(
      fc.property(strangeResponse, (body) => {
        expect(writeResponses(readResponse(body, responsesResponseContext()))).to.deep.equal(body);
      }),
      RUNS,
    );
  });

  it('restores it after it was stored as JSON, too', () => {
    fc.assert(
      fc.property(strangeResponse, (body) => {
        const stored = JSON.parse(JSON.stringify(readResponse(body, responsesResponseContext()))) as LLMResponse;
        expect(writeResponses(stored)).to.deep.equal(JSON.parse(JSON.stringify(body)));
      }),
      RUNS,
    );
  });

  it('restores a request with unknown fields on itself, its items and parts', () => {
    fc.assert(
      fc.property(strangeRequest, (body) => {
        const { body: again, losses } = toResponses(
          { model: 'none', ...readResponsesRequest(body) },
          responsesContext(),
          false,
        );
        expect(losses).to.deep.equal([]);
        expect(meaningOfRequest(again)).to.deep.equal(meaningOfRequest(body));
      }),
      RUNS,
    );
  });
});
