/**
 * Joins content blocks to the alternating turns that the Messages API requires. All tool results of a turn come first
 * in one user message. System messages inside a conversation keep their role if the model supports that.
 * https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 */
import type { AnthropicModelFeatures } from '../modelFeatures';
import { isObject } from '../../../../domain/util/json';
import type { InputItem, MessageItem } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Loss } from '../../../../domain/types/VendorTypes';

export function isSystemMessage(item: InputItem): item is MessageItem {
  return item.type === 'message' && (item.role === 'developer' || item.role === 'system');
}

type TurnFeatures = Pick<AnthropicModelFeatures, 'supportsSystemMessages' | 'mayBeginWithAssistant'>;

interface SystemContent {
  readonly item: MessageItem;
  readonly blocks: readonly JsonObject[];
  readonly path: string;
  /** How many blocks of the turn precede it. */
  readonly at: number;
}

/** Everything between two turns of the other side. */
interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: JsonObject[];
  /** System messages within a user's turn. Undefined if there are none. */
  system: SystemContent[] | undefined;
  fields: JsonObject;
}

const NO_FIELDS: JsonObject = {};

export class AnthropicTurns {
  private readonly turns: Turn[] = [];
  /** Results of a toolset's members must name the toolset. Toolset name by call id. */
  private readonly toolsets = new Map<string, unknown>();
  private readonly features: TurnFeatures;
  private readonly losses: Loss[];

  constructor(features: TurnFeatures, losses: Loss[]) {
    this.features = features;
    this.losses = losses;
  }

  add(item: InputItem, blocks: readonly JsonObject[], pathOf: (item: InputItem) => string): void {
    if (item.type === 'function_call_output') {
      // In a repaired history, results directly follow their turn, so they come first.
      this.extend('user', this.withToolsetNames(blocks));
    } else if (item.type !== 'message') {
      const toolset = item.type === 'function_call' ? item.vendor?.anthropic?.toolset_name : undefined;
      for (const block of blocks)
        if (typeof toolset === 'string' && typeof block.id === 'string') this.toolsets.set(block.id, toolset);
      this.extend('assistant', blocks);
    } else if (item.role === 'developer' || item.role === 'system') {
      const turn = this.extend('user', []);
      turn.system ??= [];
      turn.system.push({ item, blocks, path: pathOf(item), at: turn.content.length });
    } else {
      const turn = this.extend(item.role === 'assistant' ? 'assistant' : 'user', blocks);
      if (item.vendor?.anthropic !== undefined) turn.fields = { ...turn.fields, ...messageFields(item) };
    }
  }

  finish(): JsonObject[] {
    const messages: JsonObject[] = [];
    for (const turn of this.turns) {
      if (turn.system === undefined) appendMessage(messages, turn.role, turn.content, turn.fields);
      else this.writeWithSystem(turn, turn.system, messages);
    }
    return this.startWithUser(messages);
  }

  private extend(role: Turn['role'], blocks: readonly JsonObject[]): Turn {
    const last = this.turns.at(-1);
    if (last?.role === role) {
      last.content.push(...blocks);
      return last;
    }
    const turn = { role, content: [...blocks], system: undefined, fields: NO_FIELDS };
    this.turns.push(turn);
    return turn;
  }

  private withToolsetNames(blocks: readonly JsonObject[]): readonly JsonObject[] {
    if (this.toolsets.size === 0) return blocks;
    return blocks.map((block) => {
      const toolset_name = typeof block.tool_use_id === 'string' ? this.toolsets.get(block.tool_use_id) : undefined;
      return toolset_name === undefined || 'toolset_name' in block ? block : { ...block, toolset_name };
    });
  }

  /**
   * System messages follow the user's content, since they are allowed only between a user and an assistant turn.
   * Without a preceding user turn, or on a model that does not support them, their text is sent tagged, in its
   * original position.
   */
  private writeWithSystem({ content, fields }: Turn, system: readonly SystemContent[], messages: JsonObject[]): void {
    if (this.features.supportsSystemMessages && (content.length > 0 || endsInServerResult(messages.at(-1)))) {
      appendMessage(messages, 'user', content, fields);
      for (const { item, blocks } of system)
        if (blocks.length > 0) messages.push({ role: 'system', content: blocks, ...messageFields(item) });
      return;
    }
    const texts: JsonObject[] = [];
    let written = 0;
    for (const entry of system) {
      texts.push(...content.slice(written, entry.at), ...this.asUserText(entry));
      written = entry.at;
    }
    appendMessage(messages, 'user', [...texts, ...content.slice(written)], fields);
  }

  private asUserText(entry: SystemContent): readonly JsonObject[] {
    this.losses.push({
      path: entry.path,
      what: `role of a ${entry.item.role} message`,
      reason: 'No system message is allowed at this position, so it is sent as tagged user text.',
    });
    return entry.blocks.map(tagged);
  }

  /** Older models require the first message to be the user's, unless it is a compaction. */
  private startWithUser(messages: JsonObject[]): JsonObject[] {
    if (this.features.mayBeginWithAssistant || messages[0]?.role !== 'assistant' || beginsWithCompaction(messages[0]))
      return messages;
    this.losses.push({
      path: 'input',
      what: 'assistant message at the start',
      reason: 'The first message must be from the user, so a note is inserted before it.',
    });
    return [
      { role: 'user', content: [{ type: 'text', text: '(The assistant began this conversation.)' }] },
      ...messages,
    ];
  }
}

function tagged(block: JsonObject): JsonObject {
  return block.type === 'text' && typeof block.text === 'string'
    ? { ...block, text: `<operator_message>\n${block.text}\n</operator_message>` }
    : block;
}

/** Vendor fields of the message itself, without `cache_control`, which is already on its last block. */
function messageFields(item: MessageItem): JsonObject {
  const vendorFields = item.vendor?.anthropic;
  if (vendorFields === undefined) return {};
  const { cache_control: _, ...fields } = vendorFields;
  return fields;
}

/** Adjacent messages of one role form one turn. */
function appendMessage(
  messages: JsonObject[],
  role: 'user' | 'assistant',
  blocks: readonly JsonObject[],
  fields: JsonObject,
): void {
  if (blocks.length === 0) return;
  const last = messages.at(-1);
  if (last?.role === role && Array.isArray(last.content))
    last.content = [...(last.content as readonly JsonObject[]), ...blocks];
  else messages.push(fields === NO_FIELDS ? { role, content: blocks } : { role, content: blocks, ...fields });
}

function beginsWithCompaction({ content }: JsonObject): boolean {
  const first: unknown = Array.isArray(content) ? content[0] : undefined;
  return isObject(first) && first.type === 'compaction';
}

function endsInServerResult(message: JsonObject | undefined): boolean {
  if (message?.role !== 'assistant' || !Array.isArray(message.content)) return false;
  const last: unknown = message.content.at(-1);
  return (
    isObject(last) && typeof last.type === 'string' && last.type !== 'tool_result' && last.type.endsWith('_tool_result')
  );
}
