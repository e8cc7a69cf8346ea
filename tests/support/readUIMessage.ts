/** Reads chunks of a UI message stream as the AI SDK does, and fails for any that its schema rejects. */
import { safeValidateTypes } from '@ai-sdk/provider-utils';
import { readUIMessageStream, uiMessageChunkSchema } from 'ai';
import type { UIMessage, UIMessageChunk } from 'ai';
import type { UIMessageChunk as OurChunk } from '../../imports/interop/aiSdk/UIMessages';

/** @throws what the AI SDK's reader throws, the text of an `error` chunk included */
export async function readUIMessage(chunks: Iterable<OurChunk>, message?: UIMessage): Promise<UIMessage> {
  const valid: UIMessageChunk[] = [];
  for (const chunk of chunks) {
    const checked = await safeValidateTypes({ value: JSON.parse(JSON.stringify(chunk)), schema: uiMessageChunkSchema });
    if (!checked.success) throw checked.error;
    valid.push(checked.value);
  }
  let last = message;
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of valid) controller.enqueue(chunk);
      controller.close();
    },
  });
  for await (const read of readUIMessageStream({
    stream,
    terminateOnError: true,
    ...(message === undefined ? {} : { message }),
  }))
    last = read;
  if (last === undefined) throw new Error('The stream holds no message.');
  // The reader leaves fields undefined that JSON would omit.
  return JSON.parse(JSON.stringify(last)) as UIMessage;
}
