/** One candidate of a streamed response, assembled from its chunks. */
import { answerDetails } from '../response/responseEnvelope';
import { kindOfPart } from '../response/items';
import { GooglePartialCall, isUnsaid } from './GooglePartialCall';
import { isHollow } from '../request/parts';
import type { RunKind } from '../response/items';
import type { GooglePart } from '../googleTypes';
import type { ReplyContext } from '../../Wire';
import { LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { isObject } from '../../../../domain/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** What one arriving part did to the answer. */
export type PartStep =
  /** `place` of the part that is new or grew. */
  | { readonly step: 'text'; readonly kind: 'text' | 'thought'; readonly delta: string; readonly place: number }
  /** A call whose arguments are still to come. */
  | { readonly step: 'begun'; readonly part: GooglePart }
  | { readonly step: 'whole'; readonly kind: RunKind; readonly part: GooglePart; readonly begun: boolean };

export class CandidateAssembly {
  readonly parts: GooglePart[] = [];
  private readonly context: ReplyContext;
  private readonly fields: JsonObject = {};
  private content: JsonObject | undefined;
  private partial: GooglePartialCall | undefined;
  /** The last part is a text that goes on. */
  private growing: 'text' | 'thought' | undefined;
  private sawHollow: GooglePart | undefined;

  constructor(context: ReplyContext) {
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
        throw new LLMStreamError('A part of the stream is not a JSON object.', answerDetails(this.context));
      const step = this.take(part);
      if (step !== undefined) steps.push(step);
    }
    return steps;
  }

  private take(part: GooglePart): PartStep | undefined {
    if (isHollow(part)) {
      this.sawHollow ??= part;
      return undefined;
    }
    if (this.partial !== undefined || isPiece(part)) return this.takePiece(part);
    const kind = kindOfPart(part);
    if (kind !== 'text' && kind !== 'thought') return this.append(kind, part, false);
    const delta = String(part.text);
    const joins = isJoinable(part);
    const last = this.parts.at(-1);
    if (joins && this.growing === kind && last !== undefined) last.text = String(last.text) + delta;
    else this.parts.push({ ...part });
    this.growing = joins ? kind : undefined;
    return { step: 'text', kind, delta, place: this.parts.length - 1 };
  }

  private takePiece(part: GooglePart): PartStep | undefined {
    const begins = this.partial === undefined;
    const call = (this.partial ??= new GooglePartialCall());
    if (!begins && !call.isContinuedBy(part)) {
      throw new LLMStreamError(
        `Something else stands in the middle of the call of ${call.name}.`,
        answerDetails(this.context),
      );
    }
    const goesOn = call.add(part);
    if (call.name === '')
      throw new LLMStreamError('The stream began a function call without a name.', answerDetails(this.context));
    if (!goesOn) {
      this.partial = undefined;
      return this.append('call', call.part(), !begins);
    }
    this.growing = undefined;
    return begins ? { step: 'begun', part: call.part() } : undefined;
  }

  private append(kind: RunKind, part: GooglePart, begun: boolean): PartStep {
    this.growing = undefined;
    this.parts.push(part);
    return { step: 'whole', kind, part, begun };
  }

  /**
   * An answer of nothing but an empty text is that; beside other parts an empty text is how streams say that there
   * is no more.
   */
  result(): JsonObject {
    if (this.partial !== undefined && this.fields.finishReason === 'STOP') {
      throw new LLMStreamError(
        `The stream ended in the middle of the call of ${this.partial.name}.`,
        answerDetails(this.context),
      );
    }
    const parts = this.parts.length > 0 || this.sawHollow === undefined ? this.parts : [this.sawHollow];
    if (this.content === undefined) return this.fields;
    return { content: parts.length === 0 ? this.content : { ...this.content, parts }, ...this.fields };
  }
}

function isPiece(part: GooglePart): boolean {
  const call = part.functionCall;
  return isObject(call) && !(isUnsaid(call.willContinue) && isUnsaid(call.partialArgs));
}

function isJoinable(part: GooglePart): boolean {
  for (const field in part) if (field !== 'text' && field !== 'thought' && !isUnsaid(part[field])) return false;
  return true;
}

/** Later values replace earlier ones, except those that each chunk says for its own piece only. */
function mergeFields(fields: JsonObject, later: JsonObject): void {
  for (const field in later) {
    const value = later[field];
    const known = fields[field];
    if (field === 'content' || (field === 'finishReason' && value === '') || (isUnsaid(value) && known !== undefined))
      continue;
    if (!isObject(known) || !isObject(value)) fields[field] = value;
    else if (field === 'citationMetadata' || field === 'logprobsResult') fields[field] = concatenated(known, value);
    else fields[field] = { ...known, ...value };
  }
}

function concatenated(before: JsonObject, later: JsonObject): JsonObject {
  const out: JsonObject = { ...before };
  for (const [field, value] of Object.entries(later)) {
    const known = out[field];
    if (!Array.isArray(known) || !Array.isArray(value)) out[field] = value;
    else if (field === 'citations' || field === 'citationSources') out[field] = unitedOnce(known, value);
    else out[field] = [...(known as unknown[]), ...(value as unknown[])];
  }
  return out;
}

/** Some chunks repeat what earlier ones cited. */
function unitedOnce(known: readonly unknown[], later: readonly unknown[]): unknown[] {
  const said = new Set(known.map((one) => JSON.stringify(one)));
  return [...known, ...later.filter((one) => !said.has(JSON.stringify(one)))];
}
