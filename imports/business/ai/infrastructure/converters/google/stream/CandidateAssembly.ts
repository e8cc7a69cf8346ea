/**
 * Assembles one candidate of a streamed response. Adjacent texts of one kind are joined to one part. A part with a
 * thought signature or any other sibling field stays separate: signed parts must not be joined with other parts, and
 * the assembled parts are sent back as they are. https://ai.google.dev/gemini-api/docs/thought-signatures
 */
import { errorDetails } from '../response/responseEnvelope';
import { kindOfPart } from '../response/items';
import { GooglePartialCall, isAbsent } from './GooglePartialCall';
import { isEmptyText } from '../request/parts';
import type { PartKind } from '../response/items';
import type { GooglePart } from '../googleTypes';
import type { ResponseContext } from '../../Wire';
import { LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { isObject } from '../../../../domain/util/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** The change that an arriving part made. */
export type PartStep =
  /** `partIndex` is the index of the new or extended part. */
  | { readonly step: 'text'; readonly kind: 'text' | 'thought'; readonly delta: string; readonly partIndex: number }
  /** A call of whose arguments more have yet to arrive. `text` is their JSON so far. */
  | { readonly step: 'started' | 'continued'; readonly part: GooglePart; readonly text: string }
  | { readonly step: 'complete'; readonly kind: PartKind; readonly part: GooglePart; readonly wasStarted: boolean };

export class CandidateAssembly {
  readonly parts: GooglePart[] = [];
  private readonly context: ResponseContext;
  private readonly fields: JsonObject = {};
  private content: JsonObject | undefined;
  private partial: GooglePartialCall | undefined;
  /** The kind of the last part, if text may still be appended to it. */
  private openKind: 'text' | 'thought' | undefined;
  private emptyText: GooglePart | undefined;

  constructor(context: ResponseContext) {
    this.context = context;
  }

  get isEnded(): boolean {
    const { finishReason } = this.fields;
    return typeof finishReason === 'string' && finishReason !== '' && finishReason !== 'FINISH_REASON_UNSPECIFIED';
  }

  push(candidate: JsonObject): readonly PartStep[] {
    mergeFields(this.fields, candidate);
    const { content } = candidate;
    if (!isObject(content)) return [];
    this.content ??= {};
    for (const field in content) if (field !== 'parts') this.content[field] = content[field];
    const { parts } = content;
    if (!Array.isArray(parts)) return [];
    const steps: PartStep[] = [];
    for (const part of parts) {
      if (!isObject(part))
        throw new LLMStreamError('A part of the stream is not a JSON object.', errorDetails(this.context));
      const step = this.addPart(part);
      if (step !== undefined) steps.push(step);
    }
    return steps;
  }

  private addPart(part: GooglePart): PartStep | undefined {
    if (isEmptyText(part)) {
      this.emptyText ??= part;
      return undefined;
    }
    if (this.partial !== undefined || isPartialCall(part)) return this.addToPartialCall(part);
    const kind = kindOfPart(part);
    if (kind !== 'text' && kind !== 'thought') return this.append(kind, part, false);
    const delta = String(part.text);
    const joins = isPlainText(part);
    const last = this.parts.at(-1);
    if (joins && this.openKind === kind && last !== undefined) last.text = String(last.text) + delta;
    else this.parts.push({ ...part });
    this.openKind = joins ? kind : undefined;
    return { step: 'text', kind, delta, partIndex: this.parts.length - 1 };
  }

  private addToPartialCall(part: GooglePart): PartStep | undefined {
    const isFirst = this.partial === undefined;
    const call = (this.partial ??= new GooglePartialCall());
    if (!isFirst && !call.isContinuedBy(part)) {
      throw new LLMStreamError(
        `The stream interrupted the partial call of "${call.name}" with another part.`,
        errorDetails(this.context),
      );
    }
    const hasMore = call.add(part);
    if (call.name === '')
      throw new LLMStreamError('The stream started a function call without a name.', errorDetails(this.context));
    if (!hasMore) {
      this.partial = undefined;
      return this.append('call', call.part(), !isFirst);
    }
    this.openKind = undefined;
    return { step: isFirst ? 'started' : 'continued', part: call.part(), text: call.argumentText };
  }

  private append(kind: PartKind, part: GooglePart, wasStarted: boolean): PartStep {
    this.openKind = undefined;
    this.parts.push(part);
    return { step: 'complete', kind, part, wasStarted };
  }

  /** An empty text is kept only if it is the sole part. Next to other parts, it merely marks the end of the stream. */
  result(): JsonObject {
    if (this.partial !== undefined && this.fields.finishReason === 'STOP') {
      throw new LLMStreamError(
        `The stream ended inside the partial call of "${this.partial.name}".`,
        errorDetails(this.context),
      );
    }
    const parts = this.parts.length > 0 || this.emptyText === undefined ? this.parts : [this.emptyText];
    if (this.content === undefined) return this.fields;
    return { content: parts.length === 0 ? this.content : { ...this.content, parts }, ...this.fields };
  }
}

function isPartialCall(part: GooglePart): boolean {
  const call = part.functionCall;
  return isObject(call) && !(isAbsent(call.willContinue) && isAbsent(call.partialArgs));
}

function isPlainText(part: GooglePart): boolean {
  for (const field in part) if (field !== 'text' && field !== 'thought' && !isAbsent(part[field])) return false;
  return true;
}

/**
 * Later values replace earlier ones, except citations and log probabilities, which each chunk sends for its own
 * text.
 */
function mergeFields(fields: JsonObject, later: JsonObject): void {
  for (const field in later) {
    const value = later[field];
    const previous = fields[field];
    if (
      field === 'content' ||
      (field === 'finishReason' && value === '') ||
      (isAbsent(value) && previous !== undefined)
    )
      continue;
    if (!isObject(previous) || !isObject(value)) fields[field] = value;
    else if (field === 'citationMetadata' || field === 'logprobsResult') fields[field] = concatenate(previous, value);
    else fields[field] = { ...previous, ...value };
  }
}

function concatenate(before: JsonObject, later: JsonObject): JsonObject {
  const out: JsonObject = { ...before };
  for (const [field, value] of Object.entries(later)) {
    const previous = out[field];
    if (!Array.isArray(previous) || !Array.isArray(value)) out[field] = value;
    else if (field === 'citations' || field === 'citationSources') out[field] = union(previous, value);
    else out[field] = [...(previous as unknown[]), ...(value as unknown[])];
  }
  return out;
}

/** Some chunks repeat earlier citations. */
function union(previous: readonly unknown[], later: readonly unknown[]): unknown[] {
  const seen = new Set(previous.map((one) => JSON.stringify(one)));
  return [...previous, ...later.filter((one) => !seen.has(JSON.stringify(one)))];
}
