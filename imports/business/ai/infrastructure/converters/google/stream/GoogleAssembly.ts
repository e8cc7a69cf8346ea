/**
 * Assembles the chunks of a stream to the response that would have been sent without streaming.
 * https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
 */
import { errorDetails, parseEnvelope, blockReasonOf } from '../response/responseEnvelope';
import { CandidateAssembly } from './CandidateAssembly';
import { isAbsent } from './GooglePartialCall';
import type { PartStep } from './CandidateAssembly';
import type { GooglePart } from '../googleTypes';
import type { ResponseContext } from '../../Wire';
import { LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { isObject } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** Assembles an array of chunks, which `streamGenerateContent` returns without `alt=sse`. */
export function assembleGoogle(chunks: readonly unknown[], context: ResponseContext): JsonObject {
  const assembly = new GoogleAssembly(context);
  for (const chunk of chunks) assembly.push(parseEnvelope(chunk, context));
  return assembly.result();
}

export class GoogleAssembly {
  private readonly context: ResponseContext;
  private readonly fields: JsonObject = {};
  private readonly usage: JsonObject = {};
  private readonly candidates = new Map<number, CandidateAssembly>();

  constructor(context: ResponseContext) {
    this.context = context;
  }

  /** Returns the changes to the first candidate. */
  push(chunk: JsonObject): readonly PartStep[] {
    for (const field in chunk) {
      if (field === 'candidates') continue;
      if (field === 'usageMetadata' && isObject(chunk.usageMetadata)) assignDefined(this.usage, chunk.usageMetadata);
      else if (isAbsent(chunk[field]) && this.fields[field] !== undefined) continue;
      // Ids are derived from the first responseId, so it is never replaced.
      else if (field !== 'responseId' || this.fields.responseId === undefined) this.fields[field] = chunk[field];
    }
    if (!Array.isArray(chunk.candidates)) return [];
    let steps: readonly PartStep[] = [];
    for (const candidate of chunk.candidates) {
      if (!isObject(candidate))
        throw new LLMStreamError('A candidate of the stream is not a JSON object.', errorDetails(this.context));
      const candidateIndex = typeof candidate.index === 'number' ? candidate.index : 0;
      const assembly = this.candidates.get(candidateIndex) ?? new CandidateAssembly(this.context);
      this.candidates.set(candidateIndex, assembly);
      const candidateSteps = assembly.push(candidate);
      if (candidateIndex === 0) steps = candidateSteps;
    }
    return steps;
  }

  /** The token counts received so far. */
  get usageMetadata(): JsonObject | undefined {
    return Object.keys(this.usage).length === 0 ? undefined : this.usage;
  }

  /** Parts of the first candidate, in order. */
  get parts(): readonly GooglePart[] {
    return this.candidates.get(0)?.parts ?? [];
  }

  /**
   * The wire has no end marker. A response is complete if each candidate has a finish reason, or the prompt was
   * blocked.
   */
  get isEnded(): boolean {
    if (blockReasonOf(this.fields) !== undefined) return true;
    return this.candidates.size > 0 && [...this.candidates.values()].every((candidate) => candidate.isEnded);
  }

  /** @throws LLMStreamError if the response is incomplete */
  result(): JsonObject {
    if (!this.isEnded)
      throw new LLMStreamError('The stream ended before the response was complete.', errorDetails(this.context));
    return {
      ...this.fields,
      ...(this.candidates.size === 0
        ? {}
        : { candidates: byIndex(this.candidates).map((candidate) => candidate.result()) }),
      ...omitUndefined({ usageMetadata: this.usageMetadata && this.usage }),
    };
  }
}

function byIndex(candidates: ReadonlyMap<number, CandidateAssembly>): CandidateAssembly[] {
  return [...candidates].sort(([one], [other]) => one - other).map(([, candidate]) => candidate);
}

function assignDefined(target: JsonObject, source: JsonObject): void {
  for (const field in source)
    if (!isAbsent(source[field]) || target[field] === undefined) target[field] = source[field];
}
