/** Converts a response's items to content parts of the AI SDK. */
import type { LanguageModelV4Content, LanguageModelV4Source, LanguageModelV4ToolCall } from '@ai-sdk/provider';
import type {
  FunctionCallItem,
  MessageItem,
  OutputItem,
  ReasoningItem,
} from '../../../business/ai/domain/types/ResponsesAPITypes';
import { isObjectList } from '../../../business/ai/domain/util/json';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { argumentsToCarry } from './carriedArguments';
import { omit, toMetadata } from './carriedItem';
import { toFilePart } from './fileItems';
import { ServerToolWriter } from './ServerToolWriter';
import type { OtherContent } from './ServerToolWriter';
import { SourceWriter } from './SourceWriter';
import type { TextBlock } from './TextBlock';

/** The writer of one response. */
export class ContentWriter {
  private readonly serverTools: ServerToolWriter;
  private readonly sources: SourceWriter;

  /** @param namesOfBuiltIns the application's names for the tools that a vendor runs, by their type */
  constructor(namesOfBuiltIns: ReadonlyMap<string, string>, createSourceId: () => string) {
    this.serverTools = new ServerToolWriter(namesOfBuiltIns);
    this.sources = new SourceWriter(createSourceId);
  }

  /** All parts of an item, followed by the sources that it is the first to cite. */
  write(item: OutputItem): LanguageModelV4Content[] {
    const blocks = this.blocks(item);
    if (blocks === undefined) return [...this.writeOther(item), ...this.takeSources()];
    const parts = blocks.map(({ type, text, citations, carried }): LanguageModelV4Content => {
      const providerMetadata = toMetadata(carried);
      if (type === 'reasoning') return { type, text, providerMetadata };
      return { type, text, ...(citations.length === 0 ? {} : { citations: [...citations] }), providerMetadata };
    });
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

  /** The parts of an item that has no texts. A call that was cut off is omitted: it must never run. */
  writeOther(item: OutputItem): OtherContent[] {
    if (item.type === 'function_call') return item.status === 'incomplete' ? [] : [callPart(item)];
    this.sources.citations(searchResults(item));
    const file = toFilePart(item);
    return file === undefined ? this.serverTools.write(item) : [file];
  }

  /** The sources that are new since the last call. */
  takeSources(): readonly LanguageModelV4Source[] {
    return this.sources.take();
  }

  private messageBlocks(item: MessageItem): readonly TextBlock[] {
    const fields = omit(item, ['type', 'role', 'content']);
    return item.content.flatMap((part, index): TextBlock[] => {
      const place = { type: 'text', list: 'content', index } as const;
      const start = index === 0 ? { item: fields } : {};
      switch (part.type) {
        case 'output_text': {
          const { text, annotations } = part;
          const omitted = annotations.length === 0 ? ['type', 'text', 'annotations'] : ['type', 'text'];
          const carried = { ...start, part: omit(part, omitted) };
          return [{ ...place, text, citations: this.sources.citations(annotations), carried }];
        }
        case 'refusal':
          return [
            { ...place, text: part.refusal, citations: [], carried: { ...start, part: omit(part, ['refusal']) } },
          ];
        default:
          // Models return no input parts.
          return [];
      }
    });
  }
}

/** What a search of Anthropic found, as citations: a turn that is paused has results, and no text that cites them. */
function searchResults(item: OutputItem): readonly JsonObject[] {
  if (item.type !== 'vendor_item' || item.item.type !== 'web_search_tool_result') return [];
  const { content } = item.item;
  if (!isObjectList(content)) return [];
  return content.map(({ url, title }) => ({ type: 'url_citation', url, title }));
}

function reasoningBlocks(item: ReasoningItem): readonly TextBlock[] {
  const { summary, content = [] } = item;
  const texts = [
    ...summary.map((part, index) => ({ list: 'summary' as const, index, text: part.text, part: omit(part, ['text']) })),
    ...content.map((part, index) => {
      // A part without text and fields would not show that there is one.
      const omitted = part.text === '' ? ['text'] : ['type', 'text'];
      return { list: 'content' as const, index, text: part.text, part: omit(part, omitted) };
    }),
  ];
  // An empty list of contents is carried, for some vendors distinguish it from none.
  const fields = omit(item, item.content?.length === 0 ? ['type', 'summary'] : ['type', 'summary', 'content']);
  const block = { type: 'reasoning', citations: [] } as const;
  // An item without any text still has its signature or encrypted content.
  if (texts.length === 0) return [{ ...block, list: 'content', index: 0, text: '', carried: { item: fields } }];
  return texts.map(({ part, ...text }, number) => ({
    ...block,
    ...text,
    carried: { ...(number === 0 ? { item: fields } : {}), part },
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
      item: { ...omit(item, ['type', 'call_id', 'name', 'arguments']), ...omitUndefined({ arguments: carried }) },
    }),
  };
}
