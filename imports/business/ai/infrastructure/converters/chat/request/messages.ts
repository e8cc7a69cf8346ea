/** A history of items as messages of the chat wire. */
import {
  assistantContent,
  isLegacy,
  joinTexts,
  reasoningFieldsOf,
  reasoningText,
  toToolCall,
} from './assistantMessage';
import type { AssistantText } from './assistantMessage';
import { toChatPart } from '../contentParts';
import { cacheByItem, isSameVendor } from '../../shared/conversionCache';
import { callIdFor, toAnswerMessage, toMessage } from './plainMessages';
import type { ToolAnswer } from './plainMessages';
import { vendorFieldsOf, isOfVendor, messageFieldsOf, ownFieldsOf } from '../vendorFields';
import { repairHistory } from '../../shared/repairHistory';
import type { WireContext } from '../../Wire';
import { UnsupportedFeatureError } from '../../../../domain/errors/LLMErrors';
import { isEmpty, isList } from '../../../../domain/json';
import type {
  FunctionCallItem,
  HostedItem,
  InputItem,
  MessageItem,
  ReasoningItem,
} from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Loss } from '../../../../domain/types/VendorTypes';

/** @throws UnsupportedFeatureError for content that the wire or the host cannot express */
export function toChatMessages(
  input: readonly InputItem[],
  model: string,
  context: WireContext,
): { messages: JsonObject[]; losses: Loss[] } {
  const repaired = repairHistory(input, { nativeAsync: false });
  const history = new ChatHistory(input, model, context);
  for (const item of repaired.items) history.add(item);
  history.end();
  return { messages: history.messages, losses: [...repaired.losses, ...history.losses] };
}

/** An assistant message that further items may still join. */
interface Draft {
  readonly first: InputItem;
  /** The message's own fields, where it came over this wire. */
  readonly fields: JsonObject | undefined;
  readonly texts: (readonly AssistantText[])[];
  readonly calls: JsonObject[];
  readonly reasoning: JsonObject;
  /** Images and files, which no assistant message holds. */
  readonly attachments: JsonObject[];
  refusal?: string;
  legacyCall?: JsonObject;
}

class ChatHistory {
  readonly messages: JsonObject[] = [];
  readonly losses: Loss[] = [];
  private readonly input: readonly InputItem[];
  private readonly model: string;
  private readonly context: WireContext;
  private draft: Draft | undefined;
  /** What tools and the assistant gave beside text, for the user message after the turn. */
  private following: JsonObject[] = [];
  private places: ReadonlyMap<InputItem, number> | undefined;

  constructor(input: readonly InputItem[], model: string, context: WireContext) {
    this.input = input;
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
      case 'custom_tool_call':
        this.addCall(item);
        break;
      case 'function_call_output':
      case 'custom_tool_call_output':
        this.addAnswer(
          toAnswerMessage(item, this.context, () => this.pathOf(item)),
          item,
        );
        break;
      case 'reasoning':
        this.addReasoning(item);
        break;
      case 'compaction':
        throw new UnsupportedFeatureError(
          `${this.pathOf(item)} cannot be sent: only its maker can read a compaction.`,
          { path: this.pathOf(item) },
        );
      case 'item_reference':
        throw new UnsupportedFeatureError(
          `${this.pathOf(item)} cannot be sent: chat completions keep no items to refer to.`,
          { path: this.pathOf(item) },
        );
      default:
        this.lose(item, item.type, 'chat completions take no such item back');
    }
  }

  end(): void {
    this.closeAssistant();
    this.sendFollowing();
  }

  private addMessage(item: MessageItem): void {
    this.end();
    this.messages.push(
      this.accepted(
        toMessage(item, this.context, () => this.pathOf(item)),
        item,
      ),
    );
  }

  private addText(item: MessageItem): void {
    const draft = this.draftFor(item);
    const content = assistantPieces(item, this.context, () => this.pathOf(item));
    if (content.texts.length > 0) draft.texts.push(content.texts);
    if (content.refusal !== undefined) draft.refusal = (draft.refusal ?? '') + content.refusal;
    item.content.forEach((part, index) => {
      const at = `.content[${index}]`;
      if (part.type === 'output_text' && part.annotations.length > 0)
        this.lose(item, 'annotations', 'chat completions take none in a request', at);
      if (part.type !== 'input_image' && part.type !== 'input_file') return;
      draft.attachments.push(
        { type: 'text', text: 'Attached to the last answer:' },
        toChatPart(part, this.context, this.pathOf(item) + at),
      );
    });
  }

  private addCall(item: FunctionCallItem | HostedItem): void {
    const draft = this.draftFor(item);
    const words = vendorFieldsOf(item);
    if (!isOfVendor(words, this.context.vendor)) this.loseFields(item, ownFieldsOf(words), words.from);
    if (item.type === 'function_call' && isLegacy(item))
      draft.legacyCall = { name: item.name, arguments: item.arguments };
    else draft.calls.push(toolCall(item, this.context, () => this.pathOf(item)));
  }

  /**
   * Reasoning goes back to the model that wrote it, in the field in which it came; what a request holds was judged
   * by its sender.
   */
  private addReasoning(item: ReasoningItem): void {
    const { messageFields } = this.context.quirks;
    const { origin } = item;
    const isOwn =
      origin?.wire === 'chat_completions' &&
      (origin.vendor === undefined || (origin.vendor === this.context.vendor && origin.model === this.model));
    const fields = isOwn ? reasoningFieldsOf(item).filter((field) => messageFields?.includes(field) ?? true) : [];
    if (fields.length === 0) {
      this.lose(
        item,
        'reasoning',
        isOwn ? `${this.context.vendor} does not take it back` : 'another model, vendor or wire made it',
      );
      return;
    }
    const draft = this.draftFor(item);
    for (const field of fields) draft.reasoning[field] = reasoningText(item);
  }

  private addAnswer(answer: ToolAnswer, item: InputItem): void {
    this.closeAssistant();
    this.messages.push(this.accepted(answer.message, item));
    this.following.push(...answer.following);
  }

  /**
   * What the assistant says in one turn is one message, and its calls are in it: their answers have to come right
   * after. Messages that stood apart on this wire stay apart.
   */
  private draftFor(item: InputItem): Draft {
    const fields = this.fieldsOf(item);
    const { draft } = this;
    if (draft !== undefined && (fields === undefined || draft.calls.length > 0)) {
      this.loseFields(item, fields, 'a message that was joined with the one before it');
      return draft;
    }
    this.end();
    this.draft = { first: item, fields, texts: [], calls: [], reasoning: {}, attachments: [] };
    return this.draft;
  }

  private fieldsOf(item: InputItem): JsonObject | undefined {
    const words = vendorFieldsOf(item);
    const message = messageFieldsOf(item);
    const own = item.type === 'message' ? ownFieldsOf(words) : {};
    if (message === undefined && isEmpty(own)) return undefined;
    if (isOfVendor(words, this.context.vendor)) return { ...own, ...message };
    this.loseFields(item, { ...own, ...message }, words.from);
    return undefined;
  }

  private closeAssistant(): void {
    const { draft } = this;
    this.draft = undefined;
    if (draft === undefined) return;
    this.sendFollowing();
    const message = assistantMessage(draft);
    if (message !== undefined) this.messages.push(this.accepted(message, draft.first));
    this.following.push(...draft.attachments);
  }

  private sendFollowing(): void {
    if (this.following.length === 0) return;
    this.messages.push({ role: 'user', content: this.following });
    this.following = [];
  }

  /** Some hosts refuse a message for one field that they don't know. */
  private accepted(message: JsonObject, item: InputItem): JsonObject {
    const { messageFields } = this.context.quirks;
    const refused =
      messageFields === undefined ? [] : Object.keys(message).filter((field) => !messageFields.includes(field));
    if (refused.length === 0) return message;
    const named = refused.filter((field) => message[field] !== null);
    if (named.length > 0)
      this.lose(item, named.join(', '), `${this.context.vendor} refuses a message with such a field`);
    return Object.fromEntries(Object.entries(message).filter(([field]) => !refused.includes(field)));
  }

  private loseFields(item: InputItem, fields: JsonObject | undefined, owner: unknown): void {
    const named = Object.keys(fields ?? {}).filter((field) => field !== 'content');
    if (named.length > 0) this.lose(item, named.join(', '), `only for ${String(owner)}`);
  }

  private lose(item: InputItem, what: string, reason: string, at = ''): void {
    this.losses.push({ path: this.pathOf(item) + at, what, reason });
  }

  private pathOf(item: InputItem): string {
    this.places ??= new Map(this.input.map((one, index) => [one, index]));
    const index = this.places.get(item);
    return index === undefined ? 'input' : `input[${index}]`;
  }
}

const assistantPieces = cacheByItem(
  (item: MessageItem, { vendor, quirks }) =>
    assistantContent(item, vendor, quirks.messageFields?.includes('refusal') ?? true),
  isSameVendor,
);

const toolCall = cacheByItem(
  (item: FunctionCallItem | HostedItem, { vendor, quirks }) =>
    toToolCall(item, callIdFor(item.call_id, quirks), vendor),
  isSameVendor,
);

function assistantMessage({ fields, texts, calls, reasoning, refusal, legacyCall }: Draft): JsonObject | undefined {
  const hasCalls = calls.length > 0 || legacyCall !== undefined;
  const says = hasCalls || texts.length > 0 || refusal !== undefined;
  if (!says && isEmpty(reasoning) && (fields === undefined || isEmpty(fields))) return undefined;
  const message: JsonObject = { role: 'assistant', ...fields, ...reasoning };
  if (texts.length > 0 && !isList(message.content)) message.content = joinTexts(texts);
  // What came from elsewhere says `null`, which every host takes; what came over this wire keeps its own way.
  if (fields === undefined && texts.length === 0) message.content = says ? null : '';
  if (refusal !== undefined) message.refusal = refusal;
  if (calls.length > 0) message.tool_calls = calls;
  if (legacyCall !== undefined && message.function_call === undefined) message.function_call = legacyCall;
  return message;
}
