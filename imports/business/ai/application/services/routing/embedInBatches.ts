/** Embeddings of any number of inputs, in as many requests as the vendor's limits make necessary. */
import { addCosts } from '../../../domain/entities/CallCost';
import { addUsage } from '../../../domain/entities/Response';
import { LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import { isList } from '../../../domain/util/json';
import type { EmbeddingBatch, EmbeddingInput, Embeddings, EmbedOptions } from '../../../domain/types/EmbeddingTypes';

/**
 * @param inputs of the options
 * @returns the vectors in the order of the inputs, with the usage, cost, warnings and failed attempts of all requests
 * @throws LLMTimeoutError when the time is over between two requests; what `embed` throws
 */
export async function embedInBatches(
  options: EmbedOptions,
  inputs: readonly EmbeddingInput[],
  limits: EmbeddingBatch | undefined,
  embed: (options: EmbedOptions) => Promise<Embeddings>,
): Promise<Embeddings> {
  const batches = limits === undefined ? [inputs] : splitInputs(inputs, limits);
  if (batches.length === 1) return embed(options);
  const until = performance.now() + (options.timeout ?? Infinity);
  let made: Embeddings | undefined;
  for (const input of batches) {
    options.signal?.throwIfAborted();
    const next = await embed({ ...options, input, ...timeLeft(until) });
    made = made === undefined ? next : joined(made, next);
  }
  return made as Embeddings;
}

/** At least one input each: the vendor says what is wrong with one that is too long. */
function splitInputs(
  inputs: readonly EmbeddingInput[],
  { inputs: most, tokens: mostTokens = Infinity }: EmbeddingBatch,
): readonly (readonly EmbeddingInput[])[] {
  const batches: EmbeddingInput[][] = [];
  let current: EmbeddingInput[] = [];
  let tokens = 0;
  for (const input of inputs) {
    const size = maximumTokens(input);
    if (current.length === 0 || current.length === most || tokens + size > mostTokens) {
      current = [];
      tokens = 0;
      batches.push(current);
    }
    current.push(input);
    tokens += size;
  }
  return batches;
}

/** No token is shorter than a byte. */
function maximumTokens(input: EmbeddingInput): number {
  if (typeof input === 'string') return Buffer.byteLength(input);
  return isList(input) ? input.length : Buffer.byteLength(JSON.stringify(input.parts));
}

function timeLeft(until: number): Pick<EmbedOptions, 'timeout'> {
  if (until === Infinity) return {};
  const timeout = Math.floor(until - performance.now());
  if (timeout > 0) return { timeout };
  throw new LLMTimeoutError('The time was over before all inputs were sent.');
}

function joined(before: Embeddings, next: Embeddings): Embeddings {
  const attempts = [...(before.vendor.attempts ?? []), ...(next.vendor.attempts ?? [])];
  const { cost: _, unpriced: __, ...vendor } = next.vendor;
  return {
    model: next.model,
    embeddings: [...before.embeddings, ...next.embeddings],
    usage: addUsage(before.usage, next.usage),
    vendor: {
      ...vendor,
      ...addCosts([before.vendor, next.vendor]),
      warnings: [...new Set([...before.vendor.warnings, ...next.vendor.warnings])],
      ...(attempts.length === 0 ? {} : { attempts }),
    },
  };
}
