/** Assembles one step from its deltas. https://ai.google.dev/gemini-api/docs/interactions/streaming */
import { isList, isObject } from '../../../../domain/util/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import type { InteractionStep } from '../interactionsTypes';

const MEDIA: ReadonlySet<unknown> = new Set(['image', 'audio', 'video', 'document']);

export class StepAssembly {
  readonly step: InteractionStep;
  /** Pieces of a call's arguments; undefined if the call started with them. */
  private argumentPieces: string[] | undefined;

  constructor(start: InteractionStep) {
    this.step = { ...start };
  }

  /** The contents of a model's output so far. */
  get content(): JsonObject[] {
    return this.listIn('content');
  }

  /** The arguments as the model wrote them; undefined if they came parsed. */
  get argumentText(): string | undefined {
    return this.argumentPieces?.join('');
  }

  /** Adds a delta of any type. */
  add(delta: JsonObject): void {
    const { type } = delta;
    if (type === 'text') this.addText(textIn(delta.text));
    else if (type === 'arguments_delta') (this.argumentPieces ??= []).push(textIn(delta.arguments));
    else if (type === 'thought_summary') this.addSummary(delta.content);
    else if (type === 'thought_signature') this.step.signature = delta.signature;
    else if (type === 'text_annotation_delta') this.addAnnotations(delta.annotations);
    else if (MEDIA.has(type) && this.step.type === 'model_output') this.addMedia(delta);
    else this.merge(delta);
  }

  /** @returns the complete step; arguments that are not JSON stay text */
  finish(): InteractionStep {
    const { argumentText } = this;
    if (argumentText !== undefined) this.step.arguments = parsed(argumentText);
    return this.step;
  }

  private listIn(field: string): JsonObject[] {
    const list = this.step[field];
    const own = isList(list) ? list.filter(isObject) : [];
    this.step[field] = own;
    return own;
  }

  private addText(text: string): void {
    const { content } = this;
    const last = content.at(-1);
    if (last?.type === 'text') last.text = `${textIn(last.text)}${text}`;
    else content.push({ type: 'text', text });
  }

  private addAnnotations(annotations: unknown): void {
    const last = this.content.findLast(({ type }) => type === 'text');
    if (last === undefined || !isList(annotations)) return;
    last.annotations = [...(isList(last.annotations) ? last.annotations : []), ...annotations];
  }

  /** Each delta is a content of its own, but pieces of one text are joined. */
  private addSummary(content: unknown): void {
    if (!isObject(content)) return;
    const summary = this.listIn('summary');
    const last = summary.at(-1);
    if (content.type === 'text' && last?.type === 'text') last.text = `${textIn(last.text)}${textIn(content.text)}`;
    else summary.push({ ...content });
  }

  /** Data comes in pieces of base64, each of whole bytes. */
  private addMedia(delta: JsonObject): void {
    const { content } = this;
    const last = content.at(-1);
    const isPiece = last?.type === delta.type && typeof last?.data === 'string' && typeof delta.data === 'string';
    if (last !== undefined && isPiece)
      Object.assign(last, delta, { data: joined(String(last.data), String(delta.data)) });
    else content.push({ ...delta });
  }

  /** Deltas of server tools are the step's own fields. */
  private merge({ type: _, ...fields }: JsonObject): void {
    for (const [field, value] of Object.entries(fields)) {
      const before = this.step[field];
      if (isList(before) && isList(value)) this.step[field] = [...before, ...value];
      else if (isObject(before) && isObject(value)) this.step[field] = { ...before, ...value };
      else if (value !== undefined) this.step[field] = value;
    }
  }
}

/** Text that is not there is empty. */
export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** Padding ends a piece in the middle of the whole. */
function joined(before: string, piece: string): string {
  if (!before.endsWith('=')) return before + piece;
  return Buffer.concat([Buffer.from(before, 'base64'), Buffer.from(piece, 'base64')]).toString('base64');
}

function parsed(text: string): unknown {
  if (text.trim() === '') return {};
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
