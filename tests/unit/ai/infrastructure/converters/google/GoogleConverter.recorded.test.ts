/** Recorded traffic of the Gemini wire: responses, requests, and the loops that connect them. */
import { Ajv2020 } from 'ajv/dist/2020.js';
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
import {
  bodyOf,
  chunksOf,
  GOOGLE,
  googleContext,
  googleResponseContext,
} from '../../../../../support/googleRecordings';
import { meaningOfGoogle } from '../../../../../support/sameMeaning/google';
import { hasRequest, modelOf } from '../../../../../support/recordings';
import type { RequestRecording, Recording } from '../../../../../support/recordings';

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

const RESPONSES = GOOGLE.filter(({ status }) => status === 200);
const REQUESTS = GOOGLE.filter(hasRequest);

/** The body of a response, with the chunks of a stream assembled. */
function assembledBody(one: Recording): JsonObject {
  return one.stream ? assembleGoogle(chunksOf(one), googleResponseContext()) : bodyOf(one);
}

/** The response, or the response of the error. */
function read(one: Recording): LLMResponse {
  try {
    return fromGoogle(assembledBody(one), googleResponseContext({ model: modelOf(one) }));
  } catch (error) {
    if (isLLMError(error) && error.response !== undefined) return error.response;
    throw error;
  }
}

/** Read by the gateway and normalized, like a client's request. */
function readRequest(request: JsonObject, model: string): NormalizedOptions {
  return normalizeOptions(readGoogleRequest(request, model));
}

function contentsOf(request: JsonObject): readonly Content[] {
  return request.contents as readonly Content[];
}

interface Content {
  readonly role?: string;
  readonly parts: readonly JsonObject[];
}

// ---- loops: a client's follow-up request, reproduced from the converted response

interface Step {
  readonly name: string;
  readonly before: RequestRecording;
  readonly after: RequestRecording;
}

const STEPS: readonly Step[] = REQUESTS.flatMap((after) => {
  const before = REQUESTS.find(({ caseId, n }) => caseId === after.caseId && n === after.n - 1);
  if (before?.status !== 200) return [];
  const [earlier, later] = [meaningOfGoogle(before.request).contents, meaningOfGoogle(after.request).contents] as [
    unknown[],
    unknown[],
  ];
  const goesOn =
    later.length > earlier.length && JSON.stringify(later.slice(0, earlier.length)) === JSON.stringify(earlier);
  return goesOn ? [{ name: `${before.name} → ${after.name}`, before, after }] : [];
});

/** What the recorded clients changed in responses before they sent them back, unlike these converters. */
const CLIENTS_DROPPING_THOUGHTS = new Set(['gemini-sig-loop-a', 'gemini-tool-call-id-a']);
const CLIENTS_DROPPING_IDS = new Set(['gemini-tool-call-id-a']);
const CLIENTS_GENERATING_IDS = new Set(['gemini-malformed-a', 'gemini-vertex-unexpected-a']);

/**
 * The preceding conversation, the converted response, and what the client added, with its tool results as plain
 * outputs.
 */
function followUp({ before, after }: Step): NormalizedOptions {
  const output = read(before).output;
  const earlier = contentsOf(before.request);
  const all = contentsOf(after.request);
  const hasResponse = all[earlier.length]?.role === 'model';
  const itemCount = readContents(all.slice(0, earlier.length + (hasResponse ? 1 : 0))).length;
  const calls = output.filter((item) => item.type === 'function_call');
  const added = readContents(all)
    .slice(itemCount)
    .map((item): InputItem => {
      if (item.type !== 'function_call_output') return item;
      const call = calls.shift();
      return { type: 'function_call_output', call_id: call?.call_id ?? '', output: item.output };
    });
  const history = [...readContents(earlier), ...output, ...added];
  return {
    ...readRequest(after.request, modelOf(after)),
    input: normalizeOptions({ model: modelOf(after), input: history }).input,
  };
}

function asClientSends(contents: readonly Content[], caseId: string): readonly Content[] {
  return contents.map((content) => ({
    ...content,
    parts: content.parts
      .filter((part) => !(CLIENTS_DROPPING_THOUGHTS.has(caseId) && part.thought === true))
      .map((part) => (CLIENTS_DROPPING_IDS.has(caseId) ? withoutIds(part) : part)),
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
  it('consists of 35 exchanges with the Gemini API and 6 with Vertex AI, one of them without its request', () => {
    const counts = new Map<string, number>();
    for (const { api } of GOOGLE) counts.set(api, (counts.get(api) ?? 0) + 1);
    expect(Object.fromEntries(counts)).to.deep.equal({
      'gemini.generateContent': 28,
      'gemini.streamGenerateContent': 7,
      'vertex.generateContent': 5,
      'vertex.streamGenerateContent': 1,
    });
    expect([RESPONSES.length, REQUESTS.length, STEPS.length]).to.deep.equal([34, 40, 14]);
  });

  for (const one of RESPONSES) {
    it(`writes the response of ${one.name} as it was received, after it was stored`, () => {
      expect(writeGoogle(JSON.parse(JSON.stringify(read(one))) as LLMResponse)).to.deep.equal(assembledBody(one));
    });

    it(`reads text, calls, model and usage of ${one.name}`, () => {
      const response = read(one);
      const body = assembledBody(one);
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

  for (const one of REQUESTS) {
    it(`forwards the request of ${one.name} unchanged`, () => {
      const { body, warnings, losses } = toGoogle(readRequest(one.request, modelOf(one)), googleContext(), one.stream);
      expect(meaningOfGoogle(body)).to.deep.equal(meaningOfGoogle(one.request));
      expect({ warnings, losses }).to.deep.equal({ warnings: [], losses: [] });
    });

    it(`sends a body for ${one.name} that conforms to the published protos`, () => {
      const validate = one.api.startsWith('vertex') ? validators.vertex : validators.gemini;
      const { body } = toGoogle(readRequest(one.request, modelOf(one)), googleContext(), one.stream);
      expect(validate(body), JSON.stringify(validate.errors)).to.equal(true);
    });
  }

  for (const one of GOOGLE.filter(({ status }) => status !== 200)) {
    it(`throws the error of ${one.name} even with status 200`, () => {
      const { error } = bodyOf(one) as { error: { message: string } };
      expect(() => fromGoogle(bodyOf(one), googleResponseContext()))
        .to.throw(LLMError, error.message.slice(0, 40))
        .with.property('vendor', 'google');
    });
  }

  for (const step of STEPS) {
    it(`reproduces the follow-up request of ${step.name}`, () => {
      const { body } = toGoogle(followUp(step), googleContext(), step.after.stream);
      const { caseId } = step.after;
      const theirs = CLIENTS_GENERATING_IDS.has(caseId)
        ? contentsOf(step.after.request).map((content) => ({
            ...content,
            parts: content.parts.map((part) => withoutIds(meaningOfGoogle(part))),
          }))
        : step.after.request.contents;
      const ours = CLIENTS_GENERATING_IDS.has(caseId)
        ? contentsOf(body).map((content) => ({ ...content, parts: content.parts.map(withoutIds) }))
        : asClientSends(contentsOf(body), caseId);
      expect(meaningOfGoogle({ contents: ours })).to.deep.equal(meaningOfGoogle({ contents: theirs }));
    });
  }
});
