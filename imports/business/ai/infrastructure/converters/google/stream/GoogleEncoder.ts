/**
 * Encodes domain events as an SSE stream of `streamGenerateContent`: unnamed frames with CRLF, each a
 * `GenerateContentResponse`, and no end marker.
 * https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
 */
import { isObject } from '../../../../domain/util/json';
import type { LLMError } from '../../../../domain/errors/LLMErrors';
import type {
  Content,
  FunctionCallItem,
  LLMResponse,
  OutputItem,
  ReasoningText,
  SummaryText,
} from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { parseArguments } from '../../shared/callArguments';
import { PLACEHOLDER_SIGNATURE } from '../request/ContentsBuilder';
import { writeGoogle } from '../gateway/GoogleGateway';
import { partsOfItem } from '../request/parts';
import type { PartsContext } from '../request/parts';
import { siblingsOf } from '../googleTypes';
import type { GooglePart } from '../googleTypes';
import { BaseStreamEncoder } from '../../stream/BaseStreamEncoder';
import type { ContentEvent } from '../../stream/BaseStreamEncoder';
import { NO_FRAMES } from '../../stream/StreamEncoder';
import type { StreamEncoderOptions } from '../../stream/StreamEncoder';
import { googleStreamError } from './googleStreamError';
import { DeltaBackfill } from '../../stream/DeltaBackfill';

/** Media in the output came over this wire, so nothing in it is unsupported. */
const OUTPUT_CONTEXT: PartsContext = { fetchesUrls: true, mediaInResults: true };

const BEFORE_TEXT = 'data: {"candidates":[{"content":{"role":"model","parts":[{"text":';

export class GoogleEncoder extends BaseStreamEncoder {
  private readonly backfill = new DeltaBackfill();
  private id: string;
  private model: string;
  /** The rest of a frame after its part. */
  private afterPart: string;
  private wroteParts = false;
  private callCount = 0;
  private summaryIndex = 0;

  constructor(options: StreamEncoderOptions) {
    super(options);
    this.id = options.id;
    this.model = options.model;
    this.afterPart = this.tail();
  }

  protected encode(event: ContentEvent): readonly string[] {
    switch (event.type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        this.backfill.noteDelta(event.output_index);
        this.wroteParts = true;
        return [`${BEFORE_TEXT}${JSON.stringify(event.delta)}${this.afterPart}`];
      case 'response.reasoning.delta': {
        this.backfill.noteDelta(event.output_index);
        this.wroteParts = true;
        // Parts of a summary become paragraphs, as in a response without streaming.
        const partIndex = event.summary ? (event.content_index ?? 0) : 0;
        const text = partIndex > this.summaryIndex ? `\n\n${event.delta}` : event.delta;
        this.summaryIndex = partIndex;
        return [`${BEFORE_TEXT}${JSON.stringify(text)},"thought":true${this.afterPart}`];
      }
      case 'response.created':
        if (event.id !== '') this.id = event.id;
        this.model = event.model;
        this.afterPart = this.tail();
        return NO_FRAMES;
      case 'response.tool_use.announced':
        if (this.options.emitFunctionAnnouncements !== true) return NO_FRAMES;
        return [frame({ ...this.chunk([]), functionCallAnnouncement: { id: event.call_id, name: event.name } })];
      case 'response.tool_use.done':
        return [this.partsFrame([this.callPart(event.item)])];
      case 'response.output_item.done':
        return this.finishItem(event.output_index, event.item);
      case 'vendor.event':
        return event.origin.wire === 'gemini' ? [frame(event.raw)] : NO_FRAMES;
      case 'response.output_item.added':
      case 'response.tool_use.delta':
      case 'response.annotation.added':
      case 'response.usage':
        return NO_FRAMES;
    }
  }

  protected complete(response: LLMResponse): readonly string[] {
    const body = writeGoogle(response);
    if (!Array.isArray(body.candidates)) return [frame(body)];
    const [first, ...others] = body.candidates.filter(isObject);
    const candidates = first === undefined ? others : [this.withoutParts(first), ...others];
    return [frame({ ...body, candidates })];
  }

  protected endMarker(): readonly string[] {
    return NO_FRAMES;
  }

  protected encodeError(error: LLMError): readonly string[] {
    return [frame(googleStreamError(error))];
  }

  private tail(): string {
    return `}]},"index":0}],"modelVersion":${JSON.stringify(this.model)},"responseId":${JSON.stringify(this.id)}}\r\n\r\n`;
  }

  private chunk(parts: readonly GooglePart[]): JsonObject {
    return {
      candidates: [{ content: { role: 'model', parts }, index: 0 }],
      modelVersion: this.model,
      responseId: this.id,
    };
  }

  private partsFrame(parts: readonly GooglePart[]): string {
    this.wroteParts = true;
    return frame(this.chunk(parts));
  }

  /**
   * A call of this wire is written as it was received. Any other is written with its id, so that its result can refer
   * to it, and the first one with a placeholder signature.
   */
  private callPart(call: FunctionCallItem): GooglePart {
    this.callCount += 1;
    // An id derived from the response's id was generated by the decoder, not by the vendor.
    const isOwn = call.vendor?.google !== undefined || call.call_id.startsWith(`call_${this.id}_`);
    if (isOwn) return partsOfItem(call, OUTPUT_CONTEXT, () => 'output').parts[0] ?? {};
    const functionCall = { id: call.call_id, name: call.name, args: parseArguments(call).value };
    return this.callCount === 1 ? { functionCall, thoughtSignature: PLACEHOLDER_SIGNATURE } : { functionCall };
  }

  private finishItem(output_index: number, item: OutputItem): readonly string[] {
    if (item.type === 'vendor_item') return item.origin.wire === 'gemini' ? [this.partsFrame([item.item])] : NO_FRAMES;
    if (item.type !== 'message' && item.type !== 'reasoning') return NO_FRAMES;
    const texts = this.backfill.missingDeltas(output_index, item).flatMap((event) => this.encode(event));
    const signatures = (item.type === 'message' ? item.content : [...item.summary, ...(item.content ?? [])]).flatMap(
      signaturePart,
    );
    return signatures.length === 0 ? texts : [...texts, this.partsFrame(signatures)];
  }

  /** The parts have already been sent, so only the other fields of the candidate remain. */
  private withoutParts(candidate: JsonObject): JsonObject {
    if (!isObject(candidate.content)) return candidate;
    const { parts: _, ...content } = candidate.content;
    return { ...candidate, content: this.wroteParts ? { ...content, parts: [{ text: '' }] } : content };
  }
}

function frame(chunk: JsonObject): string {
  return `data: ${JSON.stringify(chunk)}\r\n\r\n`;
}

/**
 * Signatures follow their text, possibly on an empty part
 * (https://ai.google.dev/gemini-api/docs/thought-signatures).
 */
function signaturePart(part: Content | SummaryText | ReasoningText): GooglePart[] {
  const siblings = siblingsOf(part);
  if (siblings === undefined) return [];
  return [
    {
      text: '',
      ...(part.type === 'summary_text' || part.type === 'reasoning_text' ? { thought: true } : {}),
      ...siblings,
    },
  ];
}
