import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { ResponseStreamEvent } from '../../../business/ai/domain/types/StreamEvents';
import type { StreamWriter } from './StreamWriter';

export interface EventSource {
  readonly events: AsyncIterator<ResponseStreamEvent>;
  /** The first event, which has been read already. */
  readonly first: IteratorResult<ResponseStreamEvent>;
  readonly signal: AbortSignal | undefined;
}

/**
 * Reads the next event when the consumer asks for more; a consumer that cancels ends the request. An error becomes an
 * error part, except an abort, with whose reason the stream itself fails: that is what the AI SDK expects of each.
 */
export function toReadableStream(
  { events, first, signal }: EventSource,
  writer: StreamWriter,
  start: LanguageModelV4StreamPart,
): ReadableStream<LanguageModelV4StreamPart> {
  let next: IteratorResult<ResponseStreamEvent> | undefined = first;
  return new ReadableStream<LanguageModelV4StreamPart>(
    {
      start: (controller) => {
        controller.enqueue(start);
      },
      pull: async (controller) => {
        try {
          for (;;) {
            const result = next ?? (await events.next());
            next = undefined;
            if (result.done === true) {
              controller.close();
              return;
            }
            const parts = writer.push(result.value);
            for (const part of parts) controller.enqueue(part);
            if (parts.length > 0) return;
          }
        } catch (error) {
          if (signal?.aborted === true) {
            controller.error(signal.reason);
            return;
          }
          for (const part of writer.fail(error)) controller.enqueue(part);
          controller.close();
        }
      },
      cancel: async () => {
        await events.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}
