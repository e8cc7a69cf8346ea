/** Approvals of tool calls as the protocol's elicitation: the person at the client sees the call, and decides. */
import type { ClientCapabilities, ElicitRequestFormParams } from '@modelcontextprotocol/server';
import { argumentsHash } from '../../ai/application/services/shared/argumentsHash';
import { fieldsOf } from '../../ai/domain/util/json';

/** What comes back with the person's answer. */
export interface AskedApproval {
  readonly callId: string;
  /** The hash of the tool's name and arguments: an answer counts only for the call that was shown. */
  readonly hash: string;
}

/** The name of the question, and of its field. */
export const APPROVAL = 'approval';
const FIELD = 'approve';

/** Characters of arguments that a person can be expected to read. */
const MAX_SHOWN = 4_000;

export function hashOfCall(name: string, args: unknown): string {
  return argumentsHash(JSON.stringify([name, args]));
}

/** Whether the client shows questions with fields. */
export function asksPeople({ elicitation }: Pick<ClientCapabilities, 'elicitation'> = {}): boolean {
  // Clients of revisions without modes declare an empty object.
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** @returns undefined if the arguments are too long for anybody to decide on */
export function toQuestion(name: string, args: unknown): ElicitRequestFormParams | undefined {
  const shown = visible(JSON.stringify(args, null, 2));
  if (shown.length > MAX_SHOWN) return undefined;
  return {
    mode: 'form',
    message: `The tool "${name}" needs your approval. It is called with:\n${shown}`,
    requestedSchema: {
      type: 'object',
      properties: { [FIELD]: { type: 'boolean', title: 'Approve the call' } },
      required: [FIELD],
    },
  };
}

/**
 * Whether nobody has decided: the question was closed, or the client shows none now.
 * https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#response-actions
 */
export function isDismissed(answer: unknown): boolean {
  return fieldsOf(answer)['action'] === 'cancel';
}

/** @param answer as the client sent it; undefined: it sent none */
export function isApproved(answer: unknown): boolean {
  const { action, content } = fieldsOf(answer);
  return action === 'accept' && fieldsOf(content)[FIELD] === true;
}

/** Characters that would show something else than what is there are written out. */
function visible(text: string): string {
  return text.replace(
    /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
