/** Translates every recorded stream to every scheme, and checks its meaning and the target's grammar. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { AnySchema, ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import { LLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { SCHEME_OF_WIRE } from '../../imports/business/ai/domain/types/VendorTypes';
import type { JsonObject, ServedScheme } from '../../imports/business/ai/domain/types/VendorTypes';
import { DEFAULT_FIELDS } from '../../imports/business/ai/infrastructure/converters/responses/gateway/ResponsesGateway';
import { SCHEMES } from '../../imports/business/ai/infrastructure/streaming/schemes';
import { UnifiedStreamAdapter } from '../../imports/business/ai/infrastructure/streaming/UnifiedStreamAdapter';
import { modelOf } from '../support/recordings';
import type { Recording } from '../support/recordings';
import { CHECKS, eventsIn, expectFailure, framesIn } from '../support/streamGrammar';
import {
  bodyOf,
  completedIn,
  CREATED,
  decodeText,
  meaningOf,
  responseOf,
  SCHEME_NAMES,
  STREAMS,
  contentOfChunks,
  transcodeRecording,
  DEFAULT_VENDOR,
  wireOf,
} from '../support/transcoding';
import { IS_SOAK, allInSoak, sampled } from '../support/soak';

function compiled(name: string): ValidateFunction {
  const schema = JSON.parse(readFileSync(join(__dirname, '../fixtures/schemas', name), 'utf8')) as AnySchema;
  return new Ajv2020({ strict: false, validateFormats: false }).compile(schema);
}

function violations(validate: ValidateFunction, data: unknown): string {
  return validate(data)
    ? ''
    : `${JSON.stringify(validate.errors?.slice(0, 3))} in ${JSON.stringify(data).slice(0, 300)}`;
}

const isOpenResponsesEvent = compiled('open-responses/streaming-events.json');
const isOpenAIEvent = compiled('openai.responses.stream-event.schema.json');
const isChatChunk = compiled('openai.chat-completions.chunk.schema.json');

/** Events of Open Responses that have another name at OpenAI. */
const NOT_OPENAI = new Set(['response.reasoning.delta', 'response.reasoning.done']);

/**
 * Fields of Responses vendors that Open Responses does not allow (their own tools, repeated schemas); not
 * corrected.
 */
function isOpen(response: LLMResponse | undefined): boolean {
  if (response === undefined || response.vendor.wire !== 'responses') return true;
  const event = {
    type: 'response.completed',
    sequence_number: 0,
    response: { ...DEFAULT_FIELDS, ...SCHEMES.openai_responses.write(response) },
  };
  return isOpenResponsesEvent(event);
}

function vendorAs(recording: Recording, target: ServedScheme): Recording['vendor'] {
  return SCHEME_OF_WIRE[recording.wire] === target ? recording.vendor : DEFAULT_VENDOR[target];
}

/** Recordings with the schemes to which they are translated. */
function translations(recordings: readonly Recording[]): readonly (readonly [Recording, ServedScheme])[] {
  return sampled(
    recordings.flatMap((recording) => SCHEME_NAMES.map((target) => [recording, target] as const)),
    ([recording, target]) => [recording.name, `${SCHEME_OF_WIRE[recording.wire]} to ${target}`],
  );
}

const TRANSLATIONS = translations(STREAMS);

for (const recording of STREAMS) {
  const source = SCHEME_OF_WIRE[recording.wire];
  const targets = TRANSLATIONS.flatMap(([each, target]) => (each === recording ? [target] : []));

  describe(`${recording.name}, a stream of ${source}`, () => {
    let response: LLMResponse | undefined;

    before(async () => {
      response = await responseOf(recording);
    });

    for (const target of targets) {
      it(`has the same meaning in ${target}`, async () => {
        const { lines, chunks, error } = await transcodeRecording(recording, target, { relayUsageEvents: true });
        const text = lines.join('');
        if (response === undefined) {
          expect(error).to.be.instanceOf(LLMError);
          expectFailure(target, text);
          return;
        }
        expect(error).to.equal(undefined);
        CHECKS[target](text);
        const back = completedIn(
          await decodeText(wireOf(target), text, vendorAs(recording, target), modelOf(recording)),
        );
        expect(meaningOf(back)).to.deep.equal(meaningOf(response));
        const { text: output_text, calls } = meaningOf(response);
        expect(contentOfChunks(chunks)).to.deep.include({ text: output_text, calls });
        expect(contentOfChunks(chunks).finish.length, 'one finish').to.equal(1);
        expect(chunks.filter(({ usage }) => usage !== undefined && usage !== null).length, 'usage once').to.equal(1);
      });

      it(`is collected as a response of ${target}`, async () => {
        const adapter = new UnifiedStreamAdapter(source, target);
        const collected = adapter.collect(bodyOf(recording.text), {
          vendor: recording.vendor,
          model: modelOf(recording),
          created: CREATED,
        });
        if (response === undefined) {
          await collected.then(
            () => expect.fail('a failing stream was collected'),
            (error: unknown) => expect(error).to.be.instanceOf(LLMError),
          );
          return;
        }
        expect(await collected).to.deep.equal(SCHEMES[target].write(response));
      });
    }

    it('matches the published schemas in openai_responses', async () => {
      const { lines } = await transcodeRecording(recording, 'openai_responses');
      for (const event of eventsIn(lines.join(''))) {
        if (isOpen(response)) expect(violations(isOpenResponsesEvent, event)).to.equal('');
        if (!NOT_OPENAI.has(String(event.type)) && event.type !== 'error')
          expect(violations(isOpenAIEvent, event)).to.equal('');
      }
    });

    it('matches the published schema in openai, as lines and as chunks', async () => {
      const { lines, chunks } = await transcodeRecording(recording, 'openai', {
        relayUsageEvents: true,
        emitFunctionAnnouncements: true,
      });
      const lineEvents = eventsIn(lines.join('')).filter((event) => event.error === undefined);
      for (const chunk of [...lineEvents, ...chunks]) expect(violations(isChatChunk, chunk)).to.equal('');
    });

    it('yields equal lines and chunks if the target is the scheme of the chunks', async () => {
      const { lines, chunks, error } = await transcodeRecording(recording, 'openai', { relayUsageEvents: true });
      const pairs = lines
        .map((line, at) => [line, chunks[at]!] as const)
        .filter(([line]) => line !== 'data: [DONE]\n\n');
      if (error !== undefined) pairs.pop();
      for (const [line, chunk] of pairs) expect(JSON.parse(line.slice('data: '.length))).to.deep.equal(chunk);
    });
  });
}

describe('recorded streams on their own wire', () => {
  for (const recording of STREAMS) {
    it(`${recording.name}: returns the complete response, including unknown fields`, async () => {
      const response = await responseOf(recording);
      if (response === undefined) return;
      const scheme = SCHEME_OF_WIRE[recording.wire];
      // Ollama is one of many vendors behind `openai_compatible`.
      const reasoningField = recording.text.includes('"reasoning":') ? 'reasoning' : 'reasoning_content';
      const { lines } = await transcodeRecording(recording, scheme, { relayUsageEvents: true, reasoningField });
      const back = completedIn(await decodeText(recording.wire, lines.join(''), recording.vendor, modelOf(recording)));
      expect(FORMS[scheme](SCHEMES[scheme].write(back))).to.deep.equal(FORMS[scheme](SCHEMES[scheme].write(response)));
    });
  }
});

/** Normalizes what a stream can express in more than one way. */
const FORMS: Readonly<Record<ServedScheme, (body: JsonObject) => JsonObject>> = {
  // A stream is dated when it is received. Missing content may be omitted, null or empty; missing counts are zero.
  openai: ({ created: _, usage = ZEROS, ...body }) => ({
    ...body,
    usage,
    choices: (body.choices as JsonObject[]).map((choice) => ({
      ...choice,
      message: Object.fromEntries(
        Object.entries(choice.message as JsonObject).filter(([, value]) => value !== null && value !== ''),
      ),
    })),
  }),
  // Open Responses requires fields that a vendor may omit. Summary parts that the decoder does not number are merged.
  openai_responses: (body) => ({
    ...DEFAULT_FIELDS,
    completed_at: body.status === 'completed' ? body.created_at : null,
    ...body,
    output: (body.output as JsonObject[]).map((item) =>
      item.type === 'reasoning'
        ? { ...item, summary: (item.summary as JsonObject[]).map(({ text }) => text).join('') }
        : item,
    ),
  }),
  // Adjacent texts that the decoder does not number are merged.
  anthropic: ({ content, ...body }) => ({
    ...body,
    content: (content as JsonObject[]).reduce<JsonObject[]>(joinTexts, []),
  }),
  // The signature of a text follows in a separate part, as Google documents.
  google: ({ candidates, ...body }) => ({
    ...body,
    candidates: (candidates as JsonObject[]).map(({ content, index = 0, ...candidate }) => ({
      ...candidate,
      index,
      parts: ((content as JsonObject).parts as JsonObject[]).reduce<JsonObject[]>(joinParts, []),
    })),
  }),
};

const ZEROS: JsonObject = {
  prompt_tokens: 0,
  completion_tokens: 0,
  total_tokens: 0,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 0 },
};

function joinTexts(blocks: JsonObject[], block: JsonObject): JsonObject[] {
  const last = blocks.at(-1);
  if (last?.type !== 'text' || block.type !== 'text') return [...blocks, { citations: [], ...block }];
  const citations = [last, block].flatMap((one) => (one.citations as unknown[] | undefined) ?? []);
  return [...blocks.slice(0, -1), { ...last, text: String(last.text) + String(block.text), citations }];
}

function joinParts(parts: JsonObject[], part: JsonObject): JsonObject[] {
  const last = parts.at(-1);
  if (
    last === undefined ||
    typeof last.text !== 'string' ||
    typeof part.text !== 'string' ||
    last.thought !== part.thought
  )
    return [...parts, part];
  return [...parts.slice(0, -1), { ...last, ...part, text: last.text + part.text }];
}

/** The positions at which to truncate a stream: after every event of a short one, after some of a long one. */
function boundaries(text: string): readonly number[] {
  const found: number[] = [];
  for (const { index, 0: blank } of text.matchAll(/(\r\n){2}|\n\n/g)) found.push(index + blank.length);
  const most = IS_SOAK ? 400 : 3;
  const step = Math.max(1, Math.floor(found.length / most));
  return [0, ...found.filter((_place, at) => at % step === 0), ...found.slice(-4)];
}

describe('recorded streams truncated between two events', () => {
  for (const [recording, target] of translations(allInSoak(STREAMS, 10)))
    it(`${recording.name} in ${target}: ends with the target's error and throws it, or contains everything that the complete stream does`, async () => {
      for (const cut of boundaries(recording.text)) {
        const { lines, chunks, error } = await transcodeRecording(
          recording,
          target,
          { relayUsageEvents: true },
          recording.text.slice(0, cut),
        );
        const text = lines.join('');
        if (error === undefined) CHECKS[target](text);
        else {
          expect(error, `cut at ${cut}`).to.be.instanceOf(LLMError);
          expectFailure(target, text);
          expect(contentOfChunks(chunks).finish, `chunks, cut at ${cut}`).to.deep.equal([]);
        }
      }
    });
});

const WITH_CALLS = STREAMS.filter(({ text }) => /function_?call|tool_calls|"tool_use"/i.test(text));

describe('streams with hidden tool calls', () => {
  for (const [recording, target] of translations(WITH_CALLS)) {
    it(`${recording.name} in ${target}: has no call in its lines, and every call in its chunks`, async () => {
      const response = await responseOf(recording);
      if (response === undefined) return;
      const { lines, chunks } = await transcodeRecording(recording, target, {
        relayToolUseEvents: false,
        relayUsageEvents: true,
      });
      const shown = lines.join('');
      CHECKS[target](shown);
      const back = completedIn(
        await decodeText(wireOf(target), shown, vendorAs(recording, target), modelOf(recording)),
      );
      const { calls, ...others } = meaningOf(response);
      expect(meaningOf(back)).to.deep.equal({ ...others, calls: [] });
      expect(shown).not.to.match(
        /"finish_reason":"tool_calls"|"stop_reason":"tool_use"|"tool_calls"|"functionCall"|"type":"function_call"/,
      );
      expect(contentOfChunks(chunks).calls).to.deep.equal(calls);
      if (calls.length > 0)
        expect(contentOfChunks(chunks).finish).to.deep.equal([
          response.status === 'completed' ? 'tool_calls' : 'length',
        ]);
    });
  }
});

/** The announcement of a call, by scheme; its frame has no other content. */
const ANNOUNCED: Readonly<Record<ServedScheme, (frame: JsonObject) => unknown>> = {
  openai: (chunk) => chunk.tool_use_announced,
  openai_responses: (event) =>
    event.type === 'response.output_item.added' && (event.item as JsonObject).type === 'function_call'
      ? event.item
      : undefined,
  anthropic: (event) => (event.type === 'tool_use_announced' ? event : undefined),
  google: (chunk) => chunk.functionCallAnnouncement,
};

describe('streams with announced tool calls', () => {
  for (const [recording, target] of translations(WITH_CALLS)) {
    it(`${recording.name} in ${target}: announces each call by name, and is otherwise unchanged`, async () => {
      const response = await responseOf(recording);
      if (response === undefined) return;
      const plain = await transcodeRecording(recording, target);
      const { lines } = await transcodeRecording(recording, target, { emitFunctionAnnouncements: true });
      const events = eventsIn(lines.join(''));
      const names = events
        .map(ANNOUNCED[target])
        .filter((one) => one !== undefined)
        .map((one) => (one as JsonObject).name);
      expect(names).to.deep.equal(meaningOf(response).calls.map(({ name }) => name));
      if (target === 'openai_responses') {
        CHECKS.openai_responses(lines.join(''));
        return;
      }
      const others = framesIn(lines.join('')).filter(
        ({ data }) => data === '[DONE]' || ANNOUNCED[target](JSON.parse(data) as JsonObject) === undefined,
      );
      expect(others).to.deep.equal(framesIn(plain.lines.join('')));
    });
  }
});
