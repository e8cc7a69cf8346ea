/** Responses of other vendors as a history for Gemini: always a valid body, without their encrypted content. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toGoogle } from '../../../../../../imports/business/ai/infrastructure/converters/google/GoogleConverter';
import { normalizeOptions } from '../../../../../../imports/business/ai/application/services/ContentNormalizer';
import { toolCalls } from '../../../../../../imports/business/ai/domain/entities/Response';
import type { InputItem, LLMResponse } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { googleContext } from '../../../../../support/googleRecordings';
import { modelOf, RECORDINGS } from '../../../../../support/recordings';
import { checkGeminiContents } from '../../../../../../imports/simulator/wires/gemini/checkGeminiContents';
import { responseContext, WIRES } from '../../../../../support/wireContexts';
import type { Recording } from '../../../../../support/recordings';

const SCHEMA = join(
  __dirname,
  '../../../../../../imports/simulator/schemas/gemini.generateContent.request.schema.json',
);
const validate = new Ajv2020({ strict: false }).compile(JSON.parse(readFileSync(SCHEMA, 'utf8')) as object);

const OTHERS = RECORDINGS.filter(({ wire, stream, status }) => wire !== 'gemini' && !stream && status === 200);

/** The response, unless it failed, since failed responses are not part of a history. */
function responseOf(one: Recording): LLMResponse | undefined {
  try {
    return WIRES[one.wire].fromResponse(JSON.parse(one.text), responseContext(one.vendor, modelOf(one)));
  } catch {
    // Errors in a body with status 200 are tested with their wire.
    return undefined;
  }
}

function historyOf(response: LLMResponse): readonly InputItem[] {
  const outputs = toolCalls(response).map(({ call_id }): InputItem => ({
    type: 'function_call_output',
    call_id,
    output: 'done',
  }));
  return [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
    ...response.output,
    ...outputs,
  ];
}

describe('toGoogle for responses of other vendors', () => {
  const histories = OTHERS.flatMap((one) => {
    const response = responseOf(one);
    return response === undefined ? [] : [{ one, response }];
  });

  it('covers responses of all three other wires', () => {
    expect(new Set(histories.map(({ one }) => one.wire))).to.have.lengthOf(3);
    expect(histories.length).to.be.greaterThan(60);
  });

  for (const model of ['gemini-2.5-flash', 'gemini-3-flash-preview']) {
    it(`sends ${model} bodies that conform to the protos and to its rules`, () => {
      for (const { one, response } of histories) {
        const { body } = toGoogle(normalizeOptions({ model, input: historyOf(response) }), googleContext(), false);
        expect(validate(body), `${one.name}: ${JSON.stringify(validate.errors)}`).to.equal(true);
        // Boundary: these rules read only the model and the body. The archive is for wires that store responses.
        const refusal = checkGeminiContents({ vendor: 'google', model, body } as Parameters<
          typeof checkGeminiContents
        >[0]);
        expect(refusal, `${one.name}: ${JSON.stringify(refusal)}`).to.equal(undefined);
      }
    });
  }

  it('sends every text and call, and reports what it drops, such as encrypted content', () => {
    for (const { one, response } of histories) {
      const { body, losses } = toGoogle(
        normalizeOptions({ model: 'gemini-2.5-flash', input: historyOf(response) }),
        googleContext(),
        false,
      );
      const parts = (
        body.contents as readonly { parts: readonly { text?: string; functionCall?: { name: string } }[] }[]
      ).flatMap((content) => content.parts);
      expect(parts.map(({ text }) => text ?? '').join(''), one.name).to.include(response.output_text);
      expect(
        parts.flatMap(({ functionCall }) => functionCall?.name ?? []),
        one.name,
      ).to.deep.equal(toolCalls(response).map(({ name }) => name));
      for (const [index, item] of response.output.entries()) {
        if (item.type !== 'reasoning') continue;
        expect(
          losses.map(({ path }) => path),
          one.name,
        ).to.include(`input[${index + 1}]`);
        if (item.encrypted_content !== undefined)
          expect(JSON.stringify(body), one.name).not.to.include(item.encrypted_content);
      }
    }
  });
});
