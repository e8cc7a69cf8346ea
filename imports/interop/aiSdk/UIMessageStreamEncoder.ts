/** The UI message stream as server-sent events. https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol */
import type { LLMError } from '../../business/ai/domain/errors/LLMErrors';
import type { FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import type { RunEventEncoder } from '../RunEventEncoder';
import type { UIMessageChunk } from './UIMessages';

/** `useChat` does not check the header; other clients recognize the protocol by it. */
export const UI_MESSAGE_STREAM_HEADERS = { 'x-vercel-ai-ui-message-stream': 'v1' };

export interface ChunkEncoder {
  push(event: FamilyEvent): readonly UIMessageChunk[];
  end(): readonly UIMessageChunk[];
  fail(errorText: string): readonly UIMessageChunk[];
}

export class UIMessageStreamEncoder implements RunEventEncoder {
  readonly headers = UI_MESSAGE_STREAM_HEADERS;
  private readonly encoder: ChunkEncoder;

  constructor(encoder: ChunkEncoder) {
    this.encoder = encoder;
  }

  push(event: FamilyEvent): readonly string[] {
    return toFrames(this.encoder.push(event));
  }

  end(): readonly string[] {
    return [...toFrames(this.encoder.end()), DONE_FRAME];
  }

  fail(error: LLMError): readonly string[] {
    return [...toFrames(this.encoder.fail(error.message)), DONE_FRAME];
  }
}

const DONE_FRAME = 'data: [DONE]\n\n';

function toFrames(chunks: readonly UIMessageChunk[]): readonly string[] {
  return chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
}
