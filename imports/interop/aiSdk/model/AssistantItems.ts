/** Restores the items of an assistant message from its parts. */
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4ReasoningFilePart,
  LanguageModelV4ReasoningPart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import { isEmpty } from '../../../business/ai/domain/util/json';
import type {
  Content,
  FunctionCallItem,
  InputItem,
  MessageItem,
  ReasoningItem,
  ReasoningText,
  SummaryText,
} from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { unreachable } from '../../../business/ai/domain/util/unreachable';
import { unsupportedFunctionality } from './aiSdkErrors';
import { argumentsOf } from './carriedArguments';
import { fromMetadata, partsOfText } from './carriedItem';
import { restoreFile } from './fileItems';
import type { PromptContext } from './PromptContext';
import { readFile } from './readFile';
import { readToolResult } from './readToolResult';
import { vendorPartOf } from './vendorOptions';

type AssistantPart = Extract<LanguageModelV4Message, { readonly role: 'assistant' }>['content'][number];

/** The last item, as long as further parts may belong to it. */
type OpenItem =
  | { readonly type: 'message'; readonly fields: JsonObject; readonly content: Content[] }
  | {
      readonly type: 'reasoning';
      readonly fields: JsonObject;
      readonly summary: SummaryText[];
      readonly content: ReasoningText[];
    };

export class AssistantItems {
  private readonly context: PromptContext;
  private readonly items: InputItem[] = [];
  private readonly calls = new Set<string>();
  private open: OpenItem | undefined;

  constructor(context: PromptContext) {
    this.context = context;
  }

  /** @throws UnsupportedFunctionalityError for a custom part of another provider */
  add(part: AssistantPart): void {
    switch (part.type) {
      case 'text':
        this.addText(part);
        break;
      case 'reasoning':
        this.addReasoning(part);
        break;
      case 'file':
      case 'reasoning-file':
        this.addFile(part);
        break;
      case 'tool-call':
        this.addCall(part);
        break;
      case 'tool-result':
        this.addResult(part);
        break;
      case 'custom': {
        const { item } = fromMetadata(part.providerOptions);
        if (item === undefined)
          throw unsupportedFunctionality(
            `custom part "${part.kind}"`,
            `The custom part "${part.kind}" comes from another provider, and its content cannot be sent.`,
          );
        this.push(serverItem(item));
        break;
      }
      default:
        unreachable(part);
    }
  }

  all(): readonly InputItem[] {
    this.close();
    return this.items;
  }

  private addText({ text, providerOptions }: LanguageModelV4TextPart): void {
    const carried = fromMetadata(providerOptions);
    const { content } = this.message(carried.item);
    for (const each of partsOfText(text, carried)) {
      // Boundary: a client may have written the fields. Providers check every item of a prompt.
      const fields = { ...each.part, ...vendorPartOf(providerOptions, each.part) };
      content.push(
        each.part.type === 'refusal'
          ? { ...fields, type: 'refusal', refusal: each.text }
          : { annotations: [], ...fields, type: 'output_text', text: each.text },
      );
    }
  }

  private addReasoning({ text, providerOptions }: LanguageModelV4ReasoningPart): void {
    const carried = fromMetadata(providerOptions);
    const { item } = carried;
    const isOurs = item !== undefined || carried.part !== undefined || carried.parts !== undefined;
    if (!isOurs && this.open?.type !== 'reasoning') {
      this.warn('reasoning of another provider', 'Only the model that produced it accepts it.');
      return;
    }
    const { summary, content } = this.reasoning(item);
    // An item without any text is represented by one empty part.
    if (text === '' && carried.part === undefined && carried.parts === undefined) return;
    for (const each of partsOfText(text, carried)) {
      if (each.part.type === 'summary_text') summary.push({ ...each.part, type: 'summary_text', text: each.text });
      else content.push({ ...each.part, type: 'reasoning_text', text: each.text });
    }
  }

  private addFile(part: LanguageModelV4FilePart | LanguageModelV4ReasoningFilePart): void {
    const { item } = fromMetadata(part.providerOptions);
    if (item !== undefined && part.data.type === 'data') this.push(serverItem(restoreFile(item, part.data.data)));
    else if (part.type === 'file')
      // The cast is safe: the normalizer accepts images and files of the assistant, and converters report the loss.
      this.message(undefined).content.push({
        ...readFile(part, this.context.providerId),
        ...vendorPartOf(part.providerOptions),
      });
    else this.warn('a reasoning file of another provider', 'Only the model that produced it accepts it.');
  }

  private addCall(part: LanguageModelV4ToolCallPart): void {
    const { item } = fromMetadata(part.providerOptions);
    if (part.providerExecuted === true) {
      if (item === undefined)
        this.warn(`the call of "${part.toolName}"`, 'It was run by the servers of another provider.');
      else this.push(serverItem(item));
      return;
    }
    this.calls.add(part.toolCallId);
    const { arguments: carried, ...fields } = item ?? {};
    const call: FunctionCallItem = {
      ...fields,
      ...vendorPartOf(part.providerOptions, fields),
      type: 'function_call',
      call_id: part.toolCallId,
      name: part.toolName,
      arguments: argumentsOf(part.input, carried),
    };
    this.push(call);
  }

  private addResult(part: LanguageModelV4ToolResultPart): void {
    const { item, isElsewhere } = fromMetadata(part.providerOptions);
    if (isElsewhere === true) return;
    if (item !== undefined) this.push(serverItem(item));
    else if (this.calls.has(part.toolCallId)) this.push(readToolResult(part, this.context));
    else this.warn(`the result of "${part.toolName}"`, 'It comes from the servers of another provider.');
  }

  /** The message that the next part belongs to. @param fields of the item that the part starts, if it does */
  private message(fields: JsonObject | undefined): OpenItem & { readonly type: 'message' } {
    if (fields === undefined && this.open?.type === 'message') return this.open;
    this.close();
    return (this.open = { type: 'message', fields: fields ?? {}, content: [] });
  }

  private reasoning(fields: JsonObject | undefined): OpenItem & { readonly type: 'reasoning' } {
    if (fields === undefined && this.open?.type === 'reasoning') return this.open;
    this.close();
    return (this.open = { type: 'reasoning', fields: fields ?? {}, summary: [], content: [] });
  }

  private push(item: InputItem): void {
    this.close();
    this.items.push(item);
  }

  private close(): void {
    const { open } = this;
    this.open = undefined;
    if (open?.type === 'message') {
      const { fields, content } = open;
      const message: MessageItem = { ...fields, type: 'message', role: 'assistant', content };
      this.items.push(message);
    } else if (open !== undefined) {
      const { fields, summary, content } = open;
      const reasoning: ReasoningItem = {
        ...fields,
        type: 'reasoning',
        summary,
        ...(content.length === 0 && fields.content === undefined ? {} : { content }),
      };
      this.items.push(reasoning);
    }
  }

  private warn(feature: string, details: string): void {
    this.context.warnings.push({ type: 'unsupported', feature, details });
  }
}

/** Types of items that other parts express, or that only the application may write. */
const OTHER_PARTS: ReadonlySet<unknown> = new Set(['message', 'reasoning', 'function_call', 'function_call_output']);

/** Boundary: a client may have written the item. Its type must be one that a server creates. */
function serverItem(item: JsonObject): InputItem {
  if (isEmpty(item) || typeof item.type !== 'string' || OTHER_PARTS.has(item.type))
    throw unsupportedFunctionality(
      `part with the item type "${String(item.type)}"`,
      '"providerOptions.bolide.item" of this part must be an item that the provider returned for such a part.',
    );
  return item as unknown as InputItem;
}
