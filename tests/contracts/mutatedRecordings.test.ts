import { expect } from 'chai';
import { isLLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { isList, isObject } from '../../imports/business/ai/domain/util/json';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../imports/business/ai/domain/types/StreamEvents';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { modelOf, RECORDINGS, sseMessages } from '../support/recordings';
import type { Recording } from '../support/recordings';
import { seededRandom } from '../../scripts/seed/seededRandom';
import { responseContext, WIRES } from '../support/wireContexts';
import { IS_SOAK } from '../support/soak';

const SEED = Number(process.env['BOLIDE_SEED'] ?? 20_261_122);
const ROUNDS = IS_SOAK ? 20 : 2;

/** A payload of a response: its body, or one event of its stream. */
interface Payload {
  readonly event: string | undefined;
  readonly data: unknown;
}

const SUCCESSFUL = RECORDINGS.filter(({ status }) => status < 400);

function payloadsOf({ stream, text }: Recording): readonly Payload[] {
  return (stream ? sseMessages(text) : [{ event: undefined, data: text }]).map(({ event, data }) => ({
    event,
    data: data.startsWith('{') ? (JSON.parse(data) as unknown) : data,
  }));
}

function read(recording: Recording, payloads: readonly Payload[]): LLMResponse {
  const context = responseContext(recording.vendor, modelOf(recording));
  const wire = WIRES[recording.wire];
  if (!recording.stream) return wire.fromResponse(payloads[0]?.data, context);
  const decoder = wire.createDecoder(context);
  const out: ResponseStreamEvent[] = [];
  for (const { event, data } of payloads)
    decoder.push({ event, data: typeof data === 'string' ? data : JSON.stringify(data) }, out);
  decoder.end(out);
  const [completed, ...others] = out.filter((event) => event.type === 'response.completed');
  if (completed === undefined || others.length > 0) throw new Error('The stream did not complete exactly once.');
  return completed.response;
}

/** The meaning of a response, regardless of how it is split into parts, or the code of its error. */
function meaningOf(recording: Recording, payloads: readonly Payload[]): unknown {
  try {
    const { id, status, model, output, output_text, usage } = read(recording, payloads);
    const calls = output.flatMap((item) =>
      item.type === 'function_call' ? [[item.call_id, item.name, item.arguments]] : [],
    );
    const thoughts = output.flatMap((item) =>
      item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])].map(({ text }) => text) : [],
    );
    return { id, status, model, output_text, usage, calls, thoughts: thoughts.join('') };
  } catch (error) {
    if (isLLMError(error)) return { error: error.code };
    throw error;
  }
}

/** Objects of the wire, without the arguments that the model wrote. */
function objectsIn(value: unknown): readonly JsonObject[] {
  if (isList(value)) return value.flatMap(objectsIn);
  if (!isObject(value)) return [];
  return [value, ...Object.entries(value).flatMap(([key, each]) => (ARGUMENTS.has(key) ? [] : objectsIn(each)))];
}

const ARGUMENTS: ReadonlySet<string> = new Set(['arguments', 'input', 'args', 'partialArgs']);

type Random = () => number;

function pick<T>(list: readonly T[], random: Random): T {
  return list[Math.floor(random() * list.length)]!;
}

const VALUES: readonly unknown[] = [null, 1, 0, '', 'x', true, {}, { a: [1] }, [], [null], ['q']];

/** Changes that vendors make without notice. They must not affect the response. */
const HARMLESS: Readonly<Record<string, (object: JsonObject, random: Random) => void>> = {
  'an unknown field': (object, random) => (object['field_of_tomorrow'] = pick(VALUES, random)),
  'another order of fields': (object) => {
    for (const [key, value] of Object.entries(object).reverse()) {
      Reflect.deleteProperty(object, key);
      object[key] = value;
    }
  },
};

/** Damage that must lead to a response or a typed error. */
const HARMFUL: Readonly<Record<string, (object: JsonObject, random: Random) => void>> = {
  'a missing field': (object, random) => void Reflect.deleteProperty(object, pick(Object.keys(object), random)),
  'a field of another type': (object, random) => (object[pick(Object.keys(object), random)] = pick(VALUES, random)),
};

describe(`mutated recordings (seed ${SEED})`, () => {
  for (const [what, change] of Object.entries({ ...HARMLESS, ...HARMFUL })) {
    const isHarmless = what in HARMLESS;
    it(`${isHarmless ? 'yield the same response' : 'yield a response or a typed error'} with ${what}`, () => {
      const random = seededRandom(SEED);
      for (const recording of SUCCESSFUL) {
        const original = payloadsOf(recording);
        const before = meaningOf(recording, original);
        for (let round = 0; round < ROUNDS; round += 1) {
          const payloads = [...original];
          const at = Math.floor(random() * payloads.length);
          const changed = structuredClone(original[at]!);
          payloads[at] = changed;
          const objects = objectsIn(changed.data).filter((object) => Object.keys(object).length > 0);
          if (objects.length === 0) continue;
          const object = pick(objects, random);
          const written = JSON.stringify(object);
          change(object, random);
          const place = `${recording.name}: ${written.slice(0, 200)} became ${JSON.stringify(object).slice(0, 200)}`;
          let after: unknown;
          try {
            after = meaningOf(recording, payloads);
          } catch (cause) {
            throw new Error(place, { cause });
          }
          if (isHarmless) expect(after, place).to.deep.equal(before);
        }
      }
    });
  }
});
