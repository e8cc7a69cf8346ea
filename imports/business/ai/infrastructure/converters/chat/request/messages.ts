/**
 * Converts a history of items to the `messages` of a chat completions request.
 * https://platform.openai.com/docs/api-reference/chat/create#chat-create-messages
 */
import {
  assistantContent,
  isLegacy,
  joinTexts,
  reasoningFieldsOf,
  reasoningPartsOf,
  reasoningText,
  toToolCall,
} from './assistantMessage';
import type { AssistantText } from './assistantMessage';
import { toChatAnnotation } from '../annotations';
import { toChatPart } from '../contentParts';
import { cacheByItem, isSameVendor } from '../../shared/conversionCache';
import { callIdFor, toToolMessage, toPlainMessage } from './plainMessages';
import type { ToolMessage } from './plainMessages';
import { vendorFieldsOf, isFromVendor, messageFieldsOf, ownFieldsOf } from '../vendorFields';
import { pathsIn } from '../../shared/pathsIn';
import { repairSlices } from '../../shared/repairHistory';
import type { WireContext } from '../../Wire';
import { UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { isSearchOfXai } from '../../../../domain/run/clientCall';
import { isEmpty, isList } from '../../../../domain/util/json';
import { SLICE } from '../../../../domain/util/slices';
import type { Slices } from '../../../../domain/util/slices';
import type {
  FunctionCallItem,
  HostedItem,
  InputItem,
  MessageItem,
  OutputText,
  ReasoningItem,
} from '../../../../domain/types/ResponsesAPITypes';
import type { Content } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Loss } from '../../../../domain/types/VendorTypes';

/** @throws UnsupportedFeatureError for content that the wire or the vendor cannot express */
export function* toChatMessages(
  input: readonly InputItem[],
  model: string,
  context: WireContext,
): Slices<{ messages: JsonObject[]; losses: Loss[] }> {
  const repaired = yield* repairSlices(input, { nativeAsync: false });
  const builder = new ChatMessageBuilder(input, model, context);
  for (const [index, item] of repaired.items.entries()) {
    if (index > 0 && index % SLICE === 0) yield;
    builder.add(item);
  }
  builder.end();
  return { messages: builder.messages, losses: [...repaired.losses, ...builder.losses] };
}

/** An assistant message that further items can still join. */
interface Draft {
  readonly first: InputItem;
  /** The message's own fields, if it came from this wire. */
  readonly fields: JsonObject | undefined;
  readonly texts: (readonly AssistantText[])[];
  readonly calls: JsonObject[];
  readonly reasoning: JsonObject;
  readonly thoughts: JsonObject[];
  /** Images and files, which an assistant message cannot contain. */
  readonly attachments: JsonObject[];
  /** Annotations of files that the host has parsed. */
  readonly annotations: JsonObject[];
  refusal?: string;
  legacyCall?: JsonObject;
}

class ChatMessageBuilder {
  readonly messages: JsonObject[] = [];
  readonly losses: Loss[] = [];
  private readonly model: string;
  private readonly context: WireContext;
  private draft: Draft | undefined;
  /** Images and files of tool results and the assistant, to be sent in a user message after the turn. */
  private pendingAttachments: JsonObject[] = [];
  private readonly paths: (item: InputItem) => string;

  constructor(input: readonly InputItem[], model: string, context: WireContext) {
    this.paths = pathsIn(input);
    this.model = model;
    this.context = context;
  }

  add(item: InputItem): void {
    switch (item.type) {
      case 'message':
        if (item.role === 'assistant') this.addText(item);
        else this.addMessage(item);
        break;
      case 'function_call':
        this.addCall(item);
        break;
      case 'custom_tool_call':
        if (isSearchOfXai(item.call_id)) this.recordLoss(item, item.type, 'It is a search that xAI made itself.');
        else this.addCall(item);
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.addToolMessage(
          toToolMessage(item, this.context, () => this.pathOf(item)),
          item,
        );
        break;
      case 'reasoning':
        this.addReasoning(item);
        break;
      case 'compaction':
        throw new UnsupportedFeatureError(
          `Cannot send "${this.pathOf(item)}": only the vendor that created a compaction can read it.`,
          { path: this.pathOf(item) },
        );
      case 'item_reference':
        throw new UnsupportedFeatureError(
          `Cannot send "${this.pathOf(item)}": chat completions store no items that it could refer to.`,
          { path: this.pathOf(item) },
        );
      default:
        this.recordLoss(item, item.type, 'Chat completions have no such item.');
    }
  }

  end(): void {
    this.closeAssistant();
    this.flushAttachments();
  }

  private addMessage(item: MessageItem): void {
    this.end();
    this.messages.push(
      this.withoutRefusedFields(
        toPlainMessage(item, this.context, () => this.pathOf(item)),
        item,
      ),
    );
  }

  private addText(item: MessageItem): void {
    const draft = this.draftFor(item);
    const content = cachedAssistantContent(item, this.context, () => this.pathOf(item));
    if (content.texts.length > 0) draft.texts.push(content.texts);
    if (content.refusal !== undefined) draft.refusal = (draft.refusal ?? '') + content.refusal;
    item.content.forEach((part, index) => {
      const at = `.content[${index}]`;
      if (part.type === 'output_text') this.addAnnotations(draft, item, part, at);
      if (part.type !== 'input_image' && part.type !== 'input_file') return;
      draft.attachments.push(
        { type: 'text', text: 'Attached to the last answer:' },
        toChatPart(part, this.context, this.pathOf(item) + at),
      );
    });
  }

  private addAnnotations(draft: Draft, item: MessageItem, { annotations }: OutputText, at: string): void {
    if (annotations.length === 0) return;
    const isTaken = ({ type }: JsonObject): boolean =>
      type === 'file' && this.context.quirks.acceptsFileAnnotations === true;
    draft.annotations.push(...annotations.filter(isTaken).map(toChatAnnotation));
    if (!annotations.every(isTaken))
      this.recordLoss(item, 'annotations', 'Chat completions accept no annotations in a request.', at);
  }

  private addCall(item: FunctionCallItem | HostedItem): void {
    const draft = this.draftFor(item);
    const vendorFields = vendorFieldsOf(item);
    if (!isFromVendor(vendorFields, this.context.vendor))
      this.recordLostFields(item, ownFieldsOf(vendorFields), vendorFields.from);
    if (item.type === 'function_call' && isLegacy(item))
      draft.legacyCall = { name: item.name, arguments: item.arguments };
    else draft.calls.push(cachedToolCall(item, this.context, () => this.pathOf(item)));
  }

  /**
   * Sends reasoning back only to the model that wrote it, in the form that it came in. Reasoning without a vendor was
   * put into the request by the caller, who is responsible for it.
   */
  private addReasoning(item: ReasoningItem): void {
    const { messageFields } = this.context.quirks;
    const { origin } = item;
    const isOwn =
      origin?.wire === 'chat_completions' &&
      (origin.vendor === undefined || (origin.vendor === this.context.vendor && origin.model === this.model));
    const fields = isOwn ? reasoningFieldsOf(item).filter((field) => messageFields?.includes(field) ?? true) : [];
    const parts = isOwn ? reasoningPartsOf(item) : [];
    if (fields.length === 0 && parts.length === 0) {
      this.recordLoss(
        item,
        'reasoning',
        isOwn
          ? `${this.context.vendor} does not accept reasoning in a request.`
          : 'It was created by another model, vendor or wire.',
      );
      return;
    }
    const draft = this.draftFor(item);
    for (const field of fields) draft.reasoning[field] = reasoningText(item);
    draft.thoughts.push(...parts);
  }

  private addToolMessage(toolMessage: ToolMessage, item: InputItem): void {
    this.closeAssistant();
    this.messages.push(this.withoutRefusedFields(toolMessage.message, item));
    this.pendingAttachments.push(...toolMessage.attachments);
  }

  /**
   * All output of one assistant turn is one message that includes its calls, because the results must follow the
   * calls directly. Messages that were separate on this wire stay separate.
   */
  private draftFor(item: InputItem): Draft {
    const fields = this.messageFieldsFor(item);
    const { draft } = this;
    if (draft !== undefined && (fields === undefined || draft.calls.length > 0)) {
      this.recordLostFields(item, fields, 'a message that was merged into the previous one');
      return draft;
    }
    this.end();
    this.draft = {
      first: item,
      fields,
      texts: [],
      calls: [],
      reasoning: {},
      thoughts: [],
      attachments: [],
      annotations: [],
    };
    return this.draft;
  }

  private messageFieldsFor(item: InputItem): JsonObject | undefined {
    const vendorFields = vendorFieldsOf(item);
    const message = messageFieldsOf(item);
    const own = item.type === 'message' ? ownFieldsOf(vendorFields) : {};
    if (message === undefined && isEmpty(own)) return undefined;
    if (isFromVendor(vendorFields, this.context.vendor)) return { ...own, ...message };
    this.recordLostFields(item, { ...own, ...message }, vendorFields.from);
    return undefined;
  }

  private closeAssistant(): void {
    const { draft } = this;
    this.draft = undefined;
    if (draft === undefined) return;
    this.flushAttachments();
    const message = assistantMessage(draft);
    if (message !== undefined) this.messages.push(this.withoutRefusedFields(message, draft.first));
    this.pendingAttachments.push(...draft.attachments);
  }

  private flushAttachments(): void {
    if (this.pendingAttachments.length === 0) return;
    this.messages.push({ role: 'user', content: this.pendingAttachments });
    this.pendingAttachments = [];
  }

  /** Some vendors reject a message because of a single unknown field. */
  private withoutRefusedFields(message: JsonObject, item: InputItem): JsonObject {
    const { messageFields } = this.context.quirks;
    const refused =
      messageFields === undefined ? [] : Object.keys(message).filter((field) => !messageFields.includes(field));
    if (refused.length === 0) return message;
    const nonNull = refused.filter((field) => message[field] !== null);
    if (nonNull.length > 0)
      this.recordLoss(item, nonNull.join(', '), `${this.context.vendor} rejects messages with this field.`);
    return Object.fromEntries(Object.entries(message).filter(([field]) => !refused.includes(field)));
  }

  private recordLostFields(item: InputItem, fields: JsonObject | undefined, owner: unknown): void {
    const lost = Object.keys(fields ?? {}).filter((field) => field !== 'content');
    if (lost.length > 0) this.recordLoss(item, lost.join(', '), `It applies only to ${String(owner)}.`);
  }

  private recordLoss(item: InputItem, what: string, reason: string, at = ''): void {
    this.losses.push({ path: this.pathOf(item) + at, what, reason });
  }

  private pathOf(item: InputItem): string {
    return this.paths(item);
  }
}

const ASSISTANT_PARTS: ReadonlySet<string> = new Set<Content['type']>([
  'input_text',
  'output_text',
  'refusal',
  'input_image',
  'input_file',
]);

const cachedAssistantContent = cacheByItem((item: MessageItem, context, path) => {
  const unknown = item.content.findIndex(({ type }) => !ASSISTANT_PARTS.has(type));
  // Throws the error of a part of unknown type, as in every other message.
  const part = item.content[unknown];
  if (part !== undefined) toChatPart(part, context, `${path()}.content[${unknown}]`);
  return assistantContent(item, context.vendor, context.quirks.messageFields?.includes('refusal') ?? true);
}, isSameVendor);

const cachedToolCall = cacheByItem(
  (item: FunctionCallItem | HostedItem, { vendor, quirks }) =>
    toToolCall(item, callIdFor(item.call_id, quirks), vendor),
  isSameVendor,
);

function assistantMessage({ fields, texts, thoughts, ...draft }: Draft): JsonObject | undefined {
  const { calls, reasoning, refusal, legacyCall, annotations } = draft;
  const hasCalls = calls.length > 0 || legacyCall !== undefined;
  const hasTexts = texts.length > 0 || thoughts.length > 0;
  const hasContent = hasCalls || hasTexts || refusal !== undefined;
  if (!hasContent && isEmpty(reasoning) && (fields === undefined || isEmpty(fields))) return undefined;
  const message: JsonObject = { role: 'assistant', ...fields, ...reasoning };
  if (hasTexts && !isList(message.content)) message.content = joinTexts(texts, thoughts);
  // `null` is accepted by every vendor; a message that came from this wire keeps the form it had.
  if (fields === undefined && !hasTexts) message.content = hasContent ? null : '';
  // Without the calls that it came with, because the client left them out.
  if (!hasContent && message.content === null) message.content = '';
  if (refusal !== undefined) message.refusal = refusal;
  if (calls.length > 0) message.tool_calls = calls;
  if (annotations.length > 0) message.annotations ??= annotations;
  if (legacyCall !== undefined && message.function_call === undefined) message.function_call = legacyCall;
  return message;
}
