/** Converts the events of a stream to stream parts of the AI SDK. */
import type { LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import { jsonOrText } from '../../../business/ai/domain/util/json';
import type { LLMError } from '../../../business/ai/domain/errors/LLMErrors';
import type { LLMResponse, OutputItem, Usage } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../business/ai/domain/types/StreamEvents';
import { toMetadata } from './carriedItem';
import { ContentWriter } from './ContentWriter';
import { mergeBlocks } from './TextBlock';
import type { TextBlock, TextList } from './TextBlock';
import {
  finishReason,
  responseMetadata,
  responseProviderMetadata,
  responseUsage,
  toUsage,
  UNKNOWN_USAGE,
} from './writeOutcome';

type Part = LanguageModelV4StreamPart;

export interface StreamWriterOptions {
  readonly namesOfBuiltIns: ReadonlyMap<string, string>;
  readonly createSourceId: () => string;
  readonly toError: (error: unknown) => unknown;
}

/**
 * Texts stream as they arrive; their ends follow with their item, which is complete only then. A call's input arrives
 * at once, unless the request has `streamArguments`.
 */
export class StreamWriter {
  private readonly content: ContentWriter;
  private readonly toError: StreamWriterOptions['toError'];
  /** Texts so far, by block id. */
  private readonly texts = new Map<string, { readonly type: TextBlock['type']; text: string }>();
  private readonly announced = new Set<string>();
  /** Calls whose input has arrived in pieces. */
  private readonly streamed = new Set<string>();
  private readonly written: OutputItem[] = [];
  private usage: Usage | undefined;

  constructor({ namesOfBuiltIns, createSourceId, toError }: StreamWriterOptions) {
    this.content = new ContentWriter(namesOfBuiltIns, createSourceId);
    this.toError = toError;
  }

  push(event: ResponseStreamEvent): readonly Part[] {
    switch (event.type) {
      case 'response.created':
        return [{ type: 'response-metadata', ...(event.id === '' ? {} : { id: event.id }), modelId: event.model }];
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return this.delta('text', blockId(event.output_index, 'content', event.content_index), event.delta);
      case 'response.reasoning.delta': {
        const list = event.summary ? 'summary' : 'content';
        return this.delta('reasoning', blockId(event.output_index, list, event.content_index), event.delta);
      }
      case 'response.tool_use.announced':
        return this.announce(event.call_id, event.name);
      case 'response.tool_use.delta':
        this.streamed.add(event.call_id);
        return [
          ...this.announce(event.call_id, event.name),
          { type: 'tool-input-delta', id: event.call_id, delta: event.delta },
        ];
      case 'response.output_item.done':
        return this.finishItem(event.item, event.output_index);
      case 'response.usage':
        this.usage = event.usage;
        return [];
      case 'wire.message':
        return [{ type: 'raw', rawValue: jsonOrText(event.data) }];
      case 'response.completed':
        return this.complete(event.response);
      case 'response.failed':
        return this.fail(event.error);
      default:
        return [];
    }
  }

  /** Ends the stream after an error. */
  fail(error: unknown): readonly Part[] {
    const { response } = error as Partial<LLMError>;
    return [
      { type: 'error', error: this.toError(error) },
      {
        type: 'finish',
        finishReason: { unified: 'error', raw: response?.vendor.finish_reason ?? undefined },
        usage: response === undefined ? this.usageSoFar() : responseUsage(response),
      },
    ];
  }

  private usageSoFar(): LanguageModelV4Usage {
    return this.usage === undefined ? UNKNOWN_USAGE : toUsage(this.usage);
  }

  private delta(type: TextBlock['type'], id: string, delta: string): readonly Part[] {
    const open = this.texts.get(id);
    if (open !== undefined) {
      open.text += delta;
      return [{ type: `${type}-delta`, id, delta }];
    }
    this.texts.set(id, { type, text: delta });
    return [
      { type: `${type}-start`, id },
      { type: `${type}-delta`, id, delta },
    ];
  }

  private announce(callId: string, toolName: string): readonly Part[] {
    if (this.announced.has(callId)) return [];
    this.announced.add(callId);
    return [{ type: 'tool-input-start', id: callId, toolName }];
  }

  private finishItem(item: OutputItem, index: number): readonly Part[] {
    this.written.push(item);
    const blocks = this.content.blocks(item);
    if (blocks !== undefined)
      return [
        ...this.asStreamed(blocks, index).flatMap((block) => this.finishBlock(block, index)),
        ...this.content.takeSources(),
      ];
    const parts: Part[] = this.content.writeOther(item);
    if (item.type !== 'function_call') return [...parts, ...this.content.takeSources()];
    return [
      ...this.announce(item.call_id, item.name),
      ...(this.streamed.has(item.call_id)
        ? []
        : [{ type: 'tool-input-delta' as const, id: item.call_id, delta: item.arguments }]),
      { type: 'tool-input-end', id: item.call_id },
      ...parts,
    ];
  }

  /** Wires that do not number an item's parts stream them all as the first. */
  private asStreamed(blocks: readonly TextBlock[], index: number): readonly TextBlock[] {
    return (['summary', 'content'] as const).flatMap((list) => {
      const ofList = blocks.filter((block) => block.list === list);
      const [first, ...others] = ofList.map((block) => this.texts.get(blockId(index, list, block.index))?.text);
      if (first === undefined || others.length === 0 || others.some((text) => text !== undefined)) return ofList;
      const merged = mergeBlocks(ofList, first);
      return merged === undefined ? ofList : [merged];
    });
  }

  private finishBlock(block: TextBlock, index: number): readonly Part[] {
    const { type, text, citations } = block;
    const id = blockId(index, block.list, block.index);
    const providerMetadata = toMetadata(block.carried);
    const streamed = this.texts.get(id)?.text;
    const rest = text.startsWith(streamed ?? '') ? text.slice(streamed?.length ?? 0) : '';
    this.texts.delete(id);
    return [
      ...(streamed === undefined ? [{ type: `${type}-start` as const, id }] : []),
      ...(rest === '' ? [] : [{ type: `${type}-delta` as const, id, delta: rest }]),
      type === 'reasoning'
        ? { type: 'reasoning-end', id, providerMetadata }
        : { type: 'text-end', id, ...(citations.length === 0 ? {} : { citations: [...citations] }), providerMetadata },
    ];
  }

  private complete(response: LLMResponse): readonly Part[] {
    const parts: Part[] = [];
    // Providers outside of Bolide may report items in their last event only.
    response.output.forEach((item, index) => {
      if (!this.written.some((each) => isSame(each, item))) parts.push(...this.finishItem(item, index));
      // Gemini reports what supports a text after it.
      else this.content.blocks(item);
    });
    for (const [id, { type }] of this.texts) parts.push({ type: `${type}-end`, id });
    parts.push(
      ...this.content.takeSources(),
      { type: 'response-metadata', ...responseMetadata(response) },
      {
        type: 'finish',
        finishReason: finishReason(response),
        usage: responseUsage(response),
        providerMetadata: responseProviderMetadata(response),
      },
    );
    return parts;
  }
}

function blockId(outputIndex: number, list: TextList, index = 0): string {
  return `${outputIndex}-${list}-${index}`;
}

/** Whether the last event has the item that an earlier event completed. */
function isSame(written: OutputItem, item: OutputItem): boolean {
  if (written === item) return true;
  if (written.type !== item.type) return false;
  if (written.type === 'function_call' && item.type === 'function_call') return written.call_id === item.call_id;
  if (written.type === 'message' && item.type === 'message') return textsOf(written) === textsOf(item);
  if (written.id !== undefined || item.id !== undefined) return written.id === item.id;
  return JSON.stringify(written) === JSON.stringify(item);
}

function textsOf(item: OutputItem & { readonly type: 'message' }): string {
  return JSON.stringify(
    item.content.map((part) => (part.type === 'refusal' ? part.refusal : 'text' in part ? part.text : part.type)),
  );
}
