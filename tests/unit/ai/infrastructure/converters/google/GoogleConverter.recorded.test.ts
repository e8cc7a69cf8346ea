/** The Gemini wire on everything that was recorded of it: answers, requests, and the loops that join them. */
import { Ajv2020 } from 'ajv/dist/2020';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { assembleGoogle } from '../../../../../../imports/business/ai/infrastructure/converters/google/stream/GoogleAssembly';
import {
  fromGoogle,
  toGoogle,
} from '../../../../../../imports/business/ai/infrastructure/converters/google/GoogleConverter';
import {
  readGoogleRequest,
  writeGoogle,
} from '../../../../../../imports/business/ai/infrastructure/converters/google/gateway/GoogleGateway';
import { readContents } from '../../../../../../imports/business/ai/infrastructure/converters/google/gateway/readContents';
import { normalizeOptions } from '../../../../../../imports/business/ai/application/services/ContentNormalizer';
import { isLLMError, LLMError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import { toolCalls } from '../../../../../../imports/business/ai/domain/entities/Response';
import type { NormalizedOptions } from '../../../../../../imports/business/ai/domain/types/LLMTypes';
import type { InputItem, LLMResponse } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import { bodyOf, chunksOf, GOOGLE, googleContext, googleReply } from '../../../../../support/googleRecordings';
import { meaningOfGoogle } from '../../../../../support/sameMeaning/google';
import { isAsked, modelOf } from '../../../../../support/recordings';
import type { AskedRecording, Recording } from '../../../../../support/recordings';

const SCHEMAS = join(__dirname, '../../../../../../imports/simulator/schemas');
const ajv = new Ajv2020({ strict: false, allErrors: true });
const validators = {
  gemini: ajv.compile(
    JSON.parse(readFileSync(join(SCHEMAS, 'gemini.generateContent.request.schema.json'), 'utf8')) as object,
  ),
  vertex: ajv.compile(
    JSON.parse(readFileSync(join(SCHEMAS, 'vertex.generateContent.request.schema.json'), 'utf8')) as object,
  ),
};

const ANSWERS = GOOGLE.filter(({ status }) => status === 200);
const ASKED = GOOGLE.filter(isAsked);

/** The answer as a body: a stream's chunks put together. */
function wholeAnswer(one: Recording): JsonObject {
  return one.stream ? assembleGoogle(chunksOf(one), googleReply()) : bodyOf(one);
}

/** The response, also the one that a failure carries. */
function read(one: Recording): LLMResponse {
  try {
    return fromGoogle(wholeAnswer(one), googleReply({ model: modelOf(one) }));
  } catch (error) {
    if (isLLMError(error) && error.response !== undefined) return error.response;
    throw error;
  }
}

/** By way of the door, as a request of a client goes. */
function asked(request: JsonObject, model: string): NormalizedOptions {
  return normalizeOptions(readGoogleRequest(request, model));
}

function contentsOf(request: JsonObject): readonly Content[] {
  return request.contents as readonly Content[];
}

interface Content {
  readonly role?: string;
  readonly parts: readonly JsonObject[];
}

// ---- loops: what a client sent after an answer, made again from our reading of that answer

interface Step {
  readonly name: string;
  readonly before: AskedRecording;
  readonly after: AskedRecording;
}

const STEPS: readonly Step[] = ASKED.flatMap((after) => {
  const before = ASKED.find(({ caseId, n }) => caseId === after.caseId && n === after.n - 1);
  if (before?.status !== 200) return [];
  const [earlier, later] = [meaningOfGoogle(before.request).contents, meaningOfGoogle(after.request).contents] as [
    unknown[],
    unknown[],
  ];
  const goesOn =
    later.length > earlier.length && JSON.stringify(later.slice(0, earlier.length)) === JSON.stringify(earlier);
  return goesOn ? [{ name: `${before.name} → ${after.name}`, before, after }] : [];
});

/** What the recorded clients changed in answers before they sent them back; we don't. */
const LEAVES_THOUGHTS_OUT = new Set(['gemini-sig-loop-a', 'gemini-tool-call-id-a']);
const LEAVES_IDS_OUT = new Set(['gemini-tool-call-id-a']);
const MAKES_IDS = new Set(['gemini-malformed-a', 'gemini-vertex-unexpected-a']);

/**
 * The conversation before, our reading of the answer, and what the client added, with its tool results as plain
 * outputs.
 */
function goneOn({ before, after }: Step): NormalizedOptions {
  const output = read(before).output;
  const earlier = contentsOf(before.request);
  const all = contentsOf(after.request);
  const answered = all[earlier.length]?.role === 'model';
  const known = readContents(all.slice(0, earlier.length + (answered ? 1 : 0))).length;
  const calls = output.filter((item) => item.type === 'function_call');
  const added = readContents(all)
    .slice(known)
    .map((item): InputItem => {
      if (item.type !== 'function_call_output') return item;
      const call = calls.shift();
      return { type: 'function_call_output', call_id: call?.call_id ?? '', output: item.output };
    });
  const history = [...readContents(earlier), ...output, ...added];
  return {
    ...asked(after.request, modelOf(after)),
    input: normalizeOptions({ model: modelOf(after), input: history }).input,
  };
}

function asTheClientWouldSend(contents: readonly Content[], caseId: string): readonly Content[] {
  return contents.map((content) => ({
    ...content,
    parts: content.parts
      .filter((part) => !(LEAVES_THOUGHTS_OUT.has(caseId) && part.thought === true))
      .map((part) => (LEAVES_IDS_OUT.has(caseId) ? withoutIds(part) : part)),
  }));
}

function withoutIds(part: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(part).map(([field, value]) => {
      if (field !== 'functionCall' && field !== 'functionResponse') return [field, value];
      const { id: _, ...others } = value as JsonObject;
      return [field, others];
    }),
  );
}

describe('recorded Gemini traffic', () => {
  it('is all here: 35 exchanges with the Gemini API, 6 with Vertex AI, one of them without its request', () => {
    const counts = new Map<string, number>();
    for (const { api } of GOOGLE) counts.set(api, (counts.get(api) ?? 0) + 1);
    expect(Object.fromEntries(counts)).to.deep.equal({
      'gemini.generateContent': 28,
      'gemini.streamGenerateContent': 7,
      'vertex.generateContent': 5,
      'vertex.streamGenerateContent': 1,
    });
    expect([ANSWERS.length, ASKED.length, STEPS.length]).to.deep.equal([34, 40, 14]);
  });

  for (const one of ANSWERS) {
    it(`writes the answer of ${one.name} as it came, after it was stored`, () => {
      expect(writeGoogle(JSON.parse(JSON.stringify(read(one))) as LLMResponse)).to.deep.equal(wholeAnswer(one));
    });

    it(`reads text, calls, model and counts of ${one.name}`, () => {
      const response = read(one);
      const body = wholeAnswer(one);
      const [candidate] = body.candidates as {
        content?: { parts?: { text?: string; thought?: boolean; functionCall?: { name: string; args: JsonObject } }[] };
      }[];
      const parts = candidate?.content?.parts ?? [];
      expect(response.output_text).to.equal(
        parts
          .filter((part) => part.thought !== true)
          .map((part) => part.text ?? '')
          .join(''),
      );
      expect(
        toolCalls(response).map(({ name, arguments: args }) => [name, JSON.parse(args) as JsonObject]),
      ).to.deep.equal(
        parts.flatMap(({ functionCall }) =>
          functionCall === undefined ? [] : [[functionCall.name, functionCall.args]],
        ),
      );
      expect(new Set(toolCalls(response).map(({ call_id }) => call_id)).size).to.equal(toolCalls(response).length);
      expect(response.model).to.equal(body.modelVersion);
      expect(response.usage.total_tokens).to.equal((body.usageMetadata as { totalTokenCount: number }).totalTokenCount);
      expect(response.vendor.warnings).to.deep.equal([]);
    });
  }

  for (const one of ASKED) {
    it(`sends the request of ${one.name} out as it came in`, () => {
      const { body, warnings, losses } = toGoogle(asked(one.request, modelOf(one)), googleContext(), one.stream);
      expect(meaningOfGoogle(body)).to.deep.equal(meaningOfGoogle(one.request));
      expect({ warnings, losses }).to.deep.equal({ warnings: [], losses: [] });
    });

    it(`sends for ${one.name} a body that the published protos describe`, () => {
      const validate = one.api.startsWith('vertex') ? validators.vertex : validators.gemini;
      const { body } = toGoogle(asked(one.request, modelOf(one)), googleContext(), one.stream);
      expect(validate(body), JSON.stringify(validate.errors)).to.equal(true);
    });
  }

  for (const one of GOOGLE.filter(({ status }) => status !== 200)) {
    it(`takes the error of ${one.name} for an error also in a body that claims success`, () => {
      const { error } = bodyOf(one) as { error: { message: string } };
      expect(() => fromGoogle(bodyOf(one), googleReply()))
        .to.throw(LLMError, error.message.slice(0, 40))
        .with.property('vendor', 'google');
    });
  }

  for (const step of STEPS) {
    it(`goes on from ${step.name} with what the client sent`, () => {
      const { body } = toGoogle(goneOn(step), googleContext(), step.after.stream);
      const { caseId } = step.after;
      const theirs = MAKES_IDS.has(caseId)
        ? contentsOf(step.after.request).map((content) => ({
            ...content,
            parts: content.parts.map((part) => withoutIds(meaningOfGoogle(part))),
          }))
        : step.after.request.contents;
      const ours = MAKES_IDS.has(caseId)
        ? contentsOf(body).map((content) => ({ ...content, parts: content.parts.map(withoutIds) }))
        : asTheClientWouldSend(contentsOf(body), caseId);
      expect(meaningOfGoogle({ contents: ours })).to.deep.equal(meaningOfGoogle({ contents: theirs }));
    });
  }
});
