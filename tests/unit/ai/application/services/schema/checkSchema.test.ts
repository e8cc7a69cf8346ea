/** Schemas of strangers: nothing they make Bolide do holds the event loop, and one user's work delays no other's. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { expect } from 'chai';
import {
  assertUntrustedSchema,
  checkValue,
} from '../../../../../../imports/business/ai/application/services/schema/checkSchema';
import type { Verdict } from '../../../../../../imports/business/ai/application/services/schema/SchemaValidator';
import { LLMInvalidRequestError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { JsonObject } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import { outOfCpuTime } from '../../../../../support/outOfCpuTime';
import { itInSoak } from '../../../../../support/soak';

/**
 * The longest time that the event loop was held while `work` ran, in milliseconds: the shortest of a few, since a busy
 * machine may pause one of them.
 */
async function longestStall(work: (attempt: number) => Promise<unknown>): Promise<number> {
  let shortest = Infinity;
  for (let attempt = 0; attempt < 5 && shortest >= STALL_MS; attempt += 1) {
    const delays = monitorEventLoopDelay({ resolution: 5 });
    delays.enable();
    await work(attempt);
    await new Promise((resolve) => setImmediate(resolve));
    delays.disable();
    shortest = Math.min(shortest, delays.max / 1e6);
  }
  return shortest;
}

async function untrusted(schema: JsonObject, value: unknown, repair = false): Promise<Verdict> {
  return checkValue({ schema, untrusted: true, userId: 'mallory' }, value, repair);
}

async function errorOf(schema: JsonObject): Promise<LLMInvalidRequestError> {
  const error = await assertUntrustedSchema(schema, 'mallory').then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error instanceof LLMInvalidRequestError) return error;
  throw new Error('the schema was accepted', { cause: error });
}

/** Below what a stall of a whole check takes. Milliseconds. */
const STALL_MS = 400;

/** Takes far longer than the time limit on any machine: 0.15 s for each pattern on a slow one. */
const QUADRATIC: JsonObject = { allOf: Array.from({ length: 200 }, () => ({ not: { pattern: 'x*y' } })) };
const WIDE = {
  type: 'array',
  items: { anyOf: Array.from({ length: 400 }, (_, index) => ({ const: `a long constant, number ${index}` })) },
};

/** References to a large definition, which the compiler copies into each of its users. */
function repeatedReferences(): JsonObject {
  const names = Array.from({ length: 1_200 }, (_, index) => `p${index}`);
  const large = { properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])) };
  return {
    $defs: { large },
    properties: Object.fromEntries(names.map((name) => [name, { $ref: '#/$defs/large' }])),
  };
}

describe('a schema of a stranger', () => {
  it('is judged as one of the program is', async () => {
    const schema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
    expect((await untrusted(schema, { n: 1 })).violations).to.deep.equal([]);
    expect((await untrusted(schema, { n: '1' })).violations).to.deep.equal([
      { path: '$.n', message: 'must be a number, not a string' },
    ]);
    expect((await errorOf({ type: 'objekt' })).path).to.equal('$.type');
  });

  it('has optional nulls removed', async () => {
    const schema = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['a'] };
    const { violations, repaired } = await untrusted(schema, { a: 'x', b: null }, true);
    expect(violations).to.have.length(1);
    expect(repaired).to.deep.equal({ value: { a: 'x' } });
    expect((await untrusted(schema, { a: null }, true)).repaired).to.equal(undefined);
  });

  it('is given up with its CPU time, in another thread', async () => {
    const refused = await outOfCpuTime(() => errorOf(repeatedReferences()));
    // Here, it would be compiled.
    expect(refused.message).to.match(/could not be compiled within 2000 ms/);
    const { violations } = await outOfCpuTime(() => untrusted(QUADRATIC, 'x'.repeat(19_900)));
    expect(violations[0]?.message).to.match(/could not be checked against its schema within 2000 ms/);
  });

  for (const [title, schema, value] of [
    ['with many quadratic patterns', QUADRATIC, 'x'.repeat(19_900)],
    ['with a pattern that backtracks without end', { pattern: '^(a+)+$' }, `${'a'.repeat(60)}!`],
  ] as const)
    itInSoak(`holds no event loop: ${title}`, async () => {
      let verdict: Verdict | undefined;
      const stall = await longestStall(async () => {
        verdict = await untrusted(schema, value);
      });
      expect(verdict?.violations[0]?.message).to.match(/could not be checked against its schema within 2000 ms/);
      expect(stall).to.be.lessThan(STALL_MS);
    });

  itInSoak('holds no event loop while errors are collected and worded', async () => {
    let verdict: Verdict | undefined;
    const stall = await longestStall(async () => {
      verdict = await untrusted(WIDE, new Array(9_000).fill(0));
    });
    expect(verdict?.violations).to.not.be.empty;
    expect(verdict?.violations.length).to.be.at.most(20);
    expect(stall).to.be.lessThan(STALL_MS);
  });

  itInSoak('holds no event loop while it is compiled', async () => {
    let refused: LLMInvalidRequestError | undefined;
    const stall = await longestStall(async (attempt) => {
      // A new one each time: the verdict on one that was seen before is known.
      refused = await errorOf({ ...repeatedReferences(), title: `attempt ${attempt}` });
    });
    expect(refused?.message).to.match(/could not be compiled within 2000 ms|too much memory|too large/);
    expect(stall).to.be.lessThan(STALL_MS);
  });
});

describe('a schema of the program', () => {
  it('is checked in place', () => {
    for (const [schema, value] of [
      [
        { type: 'object', properties: { n: { type: 'number' }, s: { type: 'string', pattern: '^[a-z]+$' } } },
        { n: 1, s: 'abc' },
      ],
      [{ pattern: '^(a|b)+$' }, 'ab'],
    ] as const) {
      // A schema that a busy machine took long to check is checked in a thread from then on.
      const verdicts = Array.from({ length: 10 }, (_, at) =>
        checkValue({ schema: { ...schema, title: String(at) }, untrusted: false, userId: 'u' }, value),
      );
      expect(verdicts.filter((verdict) => !(verdict instanceof Promise))).to.deep.include({ violations: [] });
    }
  });

  it('leaves what takes longer than a moment to another thread', async () => {
    const { violations } = await outOfCpuTime(() =>
      checkValue({ schema: QUADRATIC, untrusted: false, userId: 'u' }, 'x'.repeat(19_900)),
    );
    expect(violations[0]?.message).to.match(/could not be checked against its schema within 2000 ms/);
  });

  itInSoak('holds the event loop no longer than a moment, whatever a model writes', async () => {
    let verdict: Verdict | undefined;
    const stall = await longestStall(async () => {
      verdict = await checkValue({ schema: QUADRATIC, untrusted: false, userId: 'u' }, 'x'.repeat(19_900));
    });
    expect(verdict?.violations[0]?.message).to.match(/could not be checked/);
    expect(stall).to.be.lessThan(STALL_MS);
  });
});
