/** The turns of a chat's run: a message that was sent while the run answered another one begins a turn of its own. */
import type { AgentEvent, AgentEventOf, FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import { RUN_END_EVENTS } from '../../business/ai/domain/types/AgentEvents';

/** What a turn is streamed from. */
export interface RunTurn {
  readonly executionId: string;
  /** The message that begins the turn. Absent: the run's input does. */
  readonly messageId?: string;
}

/** Messages to a run that begin a turn have such ids; others are part of an answer. */
const QUEUED = 'chat-';
/** Separates the parts of a message's id. Ids of the runs of chats have none. */
const SEPARATOR = '#';

export function queuedMessageId(fingerprint: string): string {
  return `${QUEUED}${fingerprint}`;
}

export function isQueuedMessage(messageId: string): boolean {
  return messageId.startsWith(QUEUED);
}

export function beginsTurn(event: AgentEvent): event is AgentEventOf<'message:delivered'> {
  return event.type === 'message:delivered' && isQueuedMessage(event.messageId);
}

/** The turn that an assistant message of the chat is. */
export function turnOf(id: string): RunTurn {
  const at = id.indexOf(SEPARATOR);
  return at === -1 ? { executionId: id } : { executionId: id.slice(0, at), messageId: id.slice(at + 1) };
}

/**
 * The events of a turn, from the message that begins it to the one that begins the next.
 * @param parts messages whose turns are part of this one
 * @returns whether the turn has begun; undefined if it may still begin
 */
export async function* eventsOfTurn(
  events: AsyncIterable<FamilyEvent>,
  messageId: string | undefined,
  parts: ReadonlySet<string> = new Set(),
): AsyncGenerator<FamilyEvent, boolean | undefined, undefined> {
  let hasBegun = messageId === undefined;
  for await (const event of events) {
    if (event.path !== undefined) {
      if (hasBegun) yield event;
      continue;
    }
    if (beginsTurn(event) && event.messageId === messageId) hasBegun = true;
    else if (hasBegun && beginsTurn(event) && !parts.has(event.messageId)) {
      yield event;
      return true;
    }
    if (hasBegun) yield event;
    else if (RUN_END_EVENTS.has(event.type)) return false;
  }
  return hasBegun ? true : undefined;
}
