/**
 * Leaves out what a client has already: `useChat` continues an assistant message after its calls were decided, and
 * would add repeated parts a second time.
 */
import type { FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import type { ReadMessage, ReadCall } from './readUIMessages';
import { UIMessageEncoder } from './UIMessageEncoder';
import type { UIMessageEncoderOptions } from './UIMessageEncoder';
import { callIn } from './UIMessages';
import type { UIMessageChunk } from './UIMessages';

export class ContinuedUIMessage {
  private readonly encoder: UIMessageEncoder;
  /** Steps that the client has. */
  private readonly steps: number;
  private readonly toolParts: ReadonlyMap<string, ReadCall>;
  private step = 0;

  /** @param known the message as the client has it */
  constructor(known: ReadMessage, options: UIMessageEncoderOptions = {}) {
    this.encoder = new UIMessageEncoder({ messageId: known.id, ...options });
    this.steps = known.parts.filter(({ kind }) => kind === 'step').length;
    this.toolParts = new Map(known.parts.flatMap((part) => ('toolCallId' in part ? [[part.toolCallId, part]] : [])));
  }

  push(event: FamilyEvent): readonly UIMessageChunk[] {
    return this.newOf(this.encoder.push(event));
  }

  end(): readonly UIMessageChunk[] {
    return this.newOf(this.encoder.end());
  }

  fail(errorText: string): readonly UIMessageChunk[] {
    return this.newOf(this.encoder.fail(errorText));
  }

  private newOf(chunks: readonly UIMessageChunk[]): readonly UIMessageChunk[] {
    return chunks.filter((chunk, index) => {
      const next = chunks[index + 1];
      const isAsked = next?.type === 'tool-input-available' && callIn(next.providerMetadata) !== undefined;
      // The step that a person is asked in is none of the model's.
      return this.isNew(chunk.type === 'start-step' && isAsked ? next : chunk);
    });
  }

  private isNew(chunk: UIMessageChunk): boolean {
    switch (chunk.type) {
      case 'start-step':
        this.step += 1;
        return this.step > this.steps;
      case 'finish-step':
      case 'reset-step':
      case 'text-start':
      case 'text-delta':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'source-url':
      case 'file':
      case 'custom':
      case 'steering-message':
        return this.step > this.steps;
      case 'tool-input-available':
        return !this.toolParts.has(chunk.toolCallId);
      case 'tool-approval-request':
        return (
          this.toolParts.get(chunk.toolCallId)?.approval?.id !== chunk.approvalId &&
          this.stageOf(chunk.toolCallId) < STAGES['output-available']
        );
      case 'tool-approval-response':
        return ![...this.toolParts.values()].some(
          ({ state, approval }) => approval?.id === chunk.approvalId && STAGES[state] > STAGES['approval-requested'],
        );
      case 'tool-output-available':
      case 'tool-output-error':
      case 'tool-output-denied':
        return this.stageOf(chunk.toolCallId) < STAGES['output-available'];
      default:
        return true;
    }
  }

  private stageOf(toolCallId: string): number {
    const part = this.toolParts.get(toolCallId);
    if (part === undefined) return -1;
    return part.isPreliminary ? STAGES['approval-responded'] : STAGES[part.state];
  }
}

const STAGES = {
  'input-streaming': 0,
  'input-available': 0,
  'approval-requested': 1,
  'approval-responded': 2,
  'output-available': 3,
  'output-error': 3,
  'output-denied': 3,
} as const satisfies Record<ReadCall['state'], number>;
