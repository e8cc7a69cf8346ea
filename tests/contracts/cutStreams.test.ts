import { expect } from 'chai';
import fc from 'fast-check';
import { LLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../imports/business/ai/domain/types/StreamEvents';
import { decodeStream } from '../../imports/business/ai/infrastructure/streaming/decodeStream';
import { modelOf, RECORDINGS } from '../support/recordings';
import type { Recording } from '../support/recordings';
import { responseContext, WIRES } from '../support/wireContexts';
import { IS_SOAK, allInSoak } from '../support/soak';

/** Bytes of a stream that is cut at each of them. */
const LIMIT = IS_SOAK ? 60 * 1024 : 4 * 1024;
const SEEDED_PLACES = 2_000;
const OPTIONS = { streamIdleTimeout: 60_000, maxEventBytes: 8 * 1024 * 1024, abort: () => undefined };

interface Outcome {
  readonly events: readonly ResponseStreamEvent[];
  readonly completed: LLMResponse | undefined;
  readonly error: unknown;
}

async function decode(recording: Recording, chunks: Iterable<Uint8Array>): Promise<Outcome> {
  const decoder = WIRES[recording.wire].createDecoder(responseContext(recording.vendor, modelOf(recording)));
  const events: ResponseStreamEvent[] = [];
  let error: unknown;
  try {
    for await (const event of decodeStream(fromChunks(chunks), decoder, OPTIONS)) events.push(event);
  } catch (thrown) {
    error = thrown;
  }
  const last = events.find((event) => event.type === 'response.completed');
  return { events, completed: last?.type === 'response.completed' ? last.response : undefined, error };
}

async function* fromChunks(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

/** Cuts short streams at every byte, long ones within 4 bytes of an event's end and at seeded random positions. */
function cutPositions(bytes: Buffer, seed: number): readonly number[] {
  if (bytes.length <= LIMIT) return Array.from({ length: bytes.length }, (_place, index) => index);
  if (!IS_SOAK) return [];
  const found = new Set<number>();
  for (let at = bytes.indexOf('\n\n'); at !== -1; at = bytes.indexOf('\n\n', at + 1))
    for (let near = at - 4; near <= at + 6; near += 1) found.add(near);
  let state = seed;
  for (let count = 0; count < SEEDED_PLACES; count += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    found.add(state % bytes.length);
  }
  return [...found].filter((place) => place >= 0 && place < bytes.length);
}

describe('recorded streams', () => {
  const streams = RECORDINGS.filter(({ stream, status }) => stream && status === 200);
  const seed = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);

  for (const recording of allInSoak(streams, 16)) {
    const bytes = Buffer.from(recording.text);
    const cuts = cutPositions(bytes, seed);
    if (cuts.length > 0) {
      it(`${recording.name}: never looks successful when cut at one of ${cuts.length} positions (seed ${seed})`, async () => {
        const complete = await decode(recording, [bytes]);
        for (const cut of cuts) {
          const outcome = await decode(recording, [bytes.subarray(0, cut)]);
          if (outcome.error === undefined) {
            expect(outcome.completed, `${recording.name} cut at ${cut}`).to.deep.equal(complete.completed);
            expect(outcome.completed).not.to.equal(undefined);
          } else {
            expect(outcome.error, `${recording.name} cut at ${cut}`).to.be.instanceOf(LLMError);
            expect(outcome.completed, `${recording.name} cut at ${cut}`).to.equal(undefined);
          }
        }
      });
    }

    it(`${recording.name}: yields the same events however its bytes are split`, async () => {
      const complete = await decode(recording, [bytes]);
      const sizes = fc.array(fc.integer({ min: 1, max: Math.max(2, Math.ceil(bytes.length / 3)) }), {
        minLength: 1,
        maxLength: 40,
      });
      await fc.assert(
        fc.asyncProperty(sizes, async (pieces) => {
          const chunks: Buffer[] = [];
          for (let from = 0, next = 0; from < bytes.length; next += 1) {
            const size = pieces[next % pieces.length] ?? 1;
            chunks.push(bytes.subarray(from, from + size));
            from += size;
          }
          const outcome = await decode(recording, chunks);
          expect(outcome.events).to.deep.equal(complete.events);
          expect((outcome.error as Error | undefined)?.message).to.equal(
            (complete.error as Error | undefined)?.message,
          );
        }),
        { numRuns: IS_SOAK ? 100 : bytes.length > 50_000 ? 2 : 8, seed },
      );
    });
  }
});
