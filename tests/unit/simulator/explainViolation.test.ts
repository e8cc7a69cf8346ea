/** Every body that violates a schema gets an explanation that points at the violation. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import { expect } from 'chai';
import fc from 'fast-check';
import type { JsonObject } from '../../../imports/business/ai/domain/types/VendorTypes';
import { loadRecordedCase, listRecordedCases } from '../../../imports/simulator/exchange/loadRecordedCase';
import { RECORDINGS_ROOT } from '../../support/recordings';
import { asObject, isArray, isObject, parseJson } from '../../../imports/simulator/json';
import { explainViolation } from '../../../imports/simulator/validation/explainViolation';
import { allInSoak, itInSoak } from '../../support/soak';

const SCHEMA_OF = {
  responses: 'openai.responses',
  chat_completions: 'openai-compatible.chat-completions',
  anthropic_messages: 'anthropic.messages',
  gemini: 'gemini.generateContent',
} as const;

describe('explainViolation', () => {
  const schemas = new Map<string, { readonly schema: JsonObject; readonly validate: ValidateFunction }>();

  const schemaNamed = (name: string): { readonly schema: JsonObject; readonly validate: ValidateFunction } => {
    const known = schemas.get(name);
    if (known !== undefined) return known;
    const file = path.join(__dirname, '../../../imports/simulator/schemas', `${name}.request.schema.json`);
    const schema = asObject(parseJson(readFileSync(file, 'utf8')));
    const generated = {
      schema,
      validate: new Ajv2020({ strict: false, logger: false, validateFormats: false }).compile(schema),
    };
    schemas.set(name, generated);
    return generated;
  };

  itInSoak('explains every schema violation with a path at or next to the mutated field', () => {
    const requests = listRecordedCases(RECORDINGS_ROOT)
      .flatMap((id) => loadRecordedCase(id, RECORDINGS_ROOT))
      .filter(
        ({ request, wire, vendor }) =>
          isObject(request) && JSON.stringify(request).length < 20_000 && !(wire === 'gemini' && vendor !== 'google'),
      );
    let broken = 0;
    let near = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...requests),
        fc.nat(),
        fc.constantFrom('remove', 'number', 'object', 'word', 'add'),
        ({ request, wire }, pick, change) => {
          const { schema, validate } = schemaNamed(SCHEMA_OF[wire]);
          const places = placesIn(request);
          const place = places[pick % places.length]!;
          // Unknown top-level fields are found earlier, by their names alone.
          fc.pre(change !== 'add' || place.length > 1);
          const body = changed(structuredClone(request), place, change);
          const explained = explainViolation(schema, body);
          if (validate(body)) return;
          broken += 1;
          expect(explained, `${change} at ${place.join('.')}`).not.to.equal(undefined);
          if (isNear(explained!.path, place)) near += 1;
        },
      ),
      { numRuns: 300, seed: 7 },
    );
    expect(broken).to.be.greaterThan(50);
    expect(near / broken, `${near} of ${broken} point at the mistake`).to.be.greaterThan(0.9);
  });

  it('finds no violation in valid recorded bodies', () => {
    for (const id of allInSoak(listRecordedCases(RECORDINGS_ROOT), 60)) {
      for (const { request, wire } of loadRecordedCase(id, RECORDINGS_ROOT)) {
        const { schema, validate } = schemaNamed(SCHEMA_OF[wire]);
        if (request !== undefined && validate(request))
          expect(explainViolation(schema, request), id).to.equal(undefined);
      }
    }
  });
});

type Place = readonly string[];

function placesIn(value: unknown, at: Place = []): Place[] {
  const entries = isArray(value) ? [...value.entries()] : isObject(value) ? Object.entries(value) : [];
  return entries.flatMap(([key, item]) => [[...at, String(key)], ...placesIn(item, [...at, String(key)])]);
}

function changed(body: unknown, place: Place, change: string): unknown {
  const parent = place
    .slice(0, -1)
    .reduce<unknown>((at, step) => (isArray(at) ? at[Number(step)] : asObject(at)[step]), body) as Record<
    string,
    unknown
  >;
  const last = place.at(-1)!;
  if (change === 'remove') {
    if (Array.isArray(parent)) parent.splice(Number(last), 1);
    else Reflect.deleteProperty(parent, last);
  } else if (change === 'add') {
    if (!isArray(parent)) parent.frobnicate = 1;
  } else parent[last] = { number: -7.5, object: { frobnicate: 1 }, word: 'frobnicate' }[change];
  return body;
}

/** On the path to the mutation, below it, or in the same object. */
function isNear(explained: Place, place: Place): boolean {
  const shared = explained.filter(
    (step, index) => step === place[index] && explained.slice(0, index).every((before, at) => before === place[at]),
  ).length;
  return shared >= Math.min(explained.length, place.length) - 1;
}
