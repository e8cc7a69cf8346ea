/** Converts a response's items to content parts of the AI SDK. */
import type {
  LanguageModelV4Citation,
  LanguageModelV4Content,
  LanguageModelV4Source,
  LanguageModelV4ToolCall,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type {
  FunctionCallItem,
  MessageItem,
  OutputItem,
  OutputText,
  ReasoningItem,
} from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { argumentsToCarry } from './carriedArguments';
import { omit, toMetadata } from './carriedItem';
import { toFilePart } from './fileItems';
import { ServerToolWriter } from './ServerToolWriter';
import type { OtherContent } from './ServerToolWriter';

/** A text or reasoning part. Streams write it as a start, deltas and an end. */
export interface TextBlock {
  readonly type: 'text' | 'reasoning';
  /** The block's place within its item, as `blockKey` returns it for the deltas of a stream. */
  readonly key: string;
  readonly text: string;
  readonly citations: readonly LanguageModelV4Citation[];
  readonly providerMetadata: SharedV4ProviderMetadata;
}

/** @param list the list of the item that the text belongs to @param index in that list */
export function blockKey(list: 'content' | 'summary', index: number): string {
  return `${list}-${index}`;
}

/** The writer of one response. */
export class ContentWriter {
  private readonly serverTools: ServerToolWriter;
  private readonly createSourceId: () => string;
  private readonly sources = new Map<string, LanguageModelV4Source>();
  private readonly writtenSources = new Set<LanguageModelV4Source>();

  /** @param namesOfBuiltIns the application's names for the tools that a vendor runs, by their type */
  constructor(namesOfBuiltIns: ReadonlyMap<string, string>, createSourceId: () => string) {
    this.serverTools = new ServerToolWriter(namesOfBuiltIns);
    this.createSourceId = createSourceId;
  }

  /** All parts of an item, its new sources included. */
  write(item: OutputItem): LanguageModelV4Content[] {
    const blocks = this.blocks(item);
    if (blocks === undefined) return this.writeOther(item);
    const parts = blocks.map(({ type, text, citations, providerMetadata }): LanguageModelV4Content =>
      type === 'reasoning'
        ? { type, text, providerMetadata }
        : { type, text, ...(citations.length === 0 ? {} : { citations: [...citations] }), providerMetadata },
    );
    return [...parts, ...this.takeSources()];
  }

  /** The texts of an item; `undefined` for one that consists of other parts. */
  blocks(item: OutputItem): readonly TextBlock[] | undefined {
    switch (item.type) {
      case 'message':
        return this.messageBlocks(item);
      case 'reasoning':
        return reasoningBlocks(item);
      default:
        return undefined;
    }
  }

  /** The parts of an item that has no texts. */
  writeOther(item: OutputItem): OtherContent[] {
    if (item.type === 'function_call') return item.status === 'incomplete' ? [] : [callPart(item)];
    const file = toFilePart(item);
    return file === undefined ? this.serverTools.write(item) : [file];
  }

  /** The sources of citations since the last call. */
  takeSources(): readonly LanguageModelV4Source[] {
    const taken = [...this.sources.values()].filter((source) => !this.writtenSources.has(source));
    for (const source of taken) this.writtenSources.add(source);
    return taken;
  }

  private messageBlocks(item: MessageItem): readonly TextBlock[] {
    const fields = omit(item, ['type', 'role', 'content']);
    return item.content.flatMap((part, index): TextBlock[] => {
      const start = index === 0 ? { item: fields } : {};
      const key = blockKey('content', index);
      switch (part.type) {
        case 'output_text':
          return [
            {
              type: 'text',
              key,
              text: part.text,
              citations: this.citations(part),
              providerMetadata: toMetadata({
                ...start,
                part: omit(part, part.annotations.length === 0 ? ['type', 'text', 'annotations'] : ['type', 'text']),
              }),
            },
          ];
        case 'refusal':
          return [
            {
              type: 'text',
              key,
              text: part.refusal,
              citations: [],
              providerMetadata: toMetadata({ ...start, part: omit(part, ['refusal']) }),
            },
          ];
        default:
          // Models return no input parts.
          return [];
      }
    });
  }

  private citations({ annotations }: OutputText): LanguageModelV4Citation[] {
    return annotations.flatMap((annotation) => {
      const source = this.source(annotation);
      if (source === undefined) return [];
      const { start_index: startIndex, end_index: endIndex, cited_text: citedText } = annotation;
      return [
        {
          source,
          ...(typeof startIndex === 'number' ? { startIndex } : {}),
          ...(typeof endIndex === 'number' ? { endIndex } : {}),
          ...(typeof citedText === 'string' ? { citedText } : {}),
        },
      ];
    });
  }

  /** Every source appears once, however often it is cited. */
  private source(annotation: JsonObject): LanguageModelV4Source | undefined {
    const { type, url, title, filename, file_id } = annotation;
    if (type === 'url_citation' && typeof url === 'string')
      return this.remember(url, {
        sourceType: 'url',
        url,
        ...(typeof title === 'string' && title !== '' ? { title } : {}),
      });
    if (type !== 'file_citation' && type !== 'container_file_citation') return undefined;
    const name = [filename, file_id].find((each) => typeof each === 'string') ?? 'document';
    return this.remember(JSON.stringify([file_id, annotation.index, name]), {
      sourceType: 'document',
      mediaType: 'text/plain',
      title: name,
      ...(typeof filename === 'string' ? { filename } : {}),
    });
  }

  private remember(
    key: string,
    fields:
      | { readonly sourceType: 'url'; readonly url: string; readonly title?: string }
      | {
          readonly sourceType: 'document';
          readonly mediaType: string;
          readonly title: string;
          readonly filename?: string;
        },
  ): LanguageModelV4Source {
    const existing = this.sources.get(key);
    if (existing !== undefined) return existing;
    const source: LanguageModelV4Source = { type: 'source', id: this.createSourceId(), ...fields };
    this.sources.set(key, source);
    return source;
  }
}

function reasoningBlocks(item: ReasoningItem): readonly TextBlock[] {
  const texts = [
    ...item.summary.map((part, index) => ({
      key: blockKey('summary', index),
      text: part.text,
      part: omit(part, ['text']),
    })),
    ...(item.content ?? []).map((part, index) => ({
      key: blockKey('content', index),
      text: part.text,
      part: omit(part, ['type', 'text']),
    })),
  ];
  // An item without any text still has its signature or encrypted content. An empty list of texts is carried with it.
  const omitted = item.content?.length === 0 ? ['type', 'summary'] : ['type', 'summary', 'content'];
  const fields = omit(item, omitted);
  if (texts.length === 0)
    return [
      {
        type: 'reasoning',
        key: blockKey('content', 0),
        text: '',
        citations: [],
        providerMetadata: toMetadata({ item: fields }),
      },
    ];
  return texts.map(({ key, text, part }, index) => ({
    type: 'reasoning',
    key,
    text,
    citations: [],
    providerMetadata: toMetadata({ ...(index === 0 ? { item: fields } : {}), part }),
  }));
}

function callPart(item: FunctionCallItem): LanguageModelV4ToolCall {
  const carried = argumentsToCarry(item.arguments);
  return {
    type: 'tool-call',
    toolCallId: item.call_id,
    toolName: item.name,
    input: item.arguments,
    providerMetadata: toMetadata({
      item: {
        ...omit(item, ['type', 'call_id', 'name', 'arguments']),
        ...(carried === undefined ? {} : { arguments: carried }),
      },
    }),
  };
}
